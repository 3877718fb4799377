"""cloudpickle, and all that sends functions by it: staged and converted functions by value and by name."""

import functools
import inspect
import pickle
import subprocess
import sys
import textwrap
import types

import pytest

import autograph as ag
from tests.ecosystem.probes import package

cloudpickle = package("cloudpickle")
K = 3


def sent(thing):
    return pickle.loads(cloudpickle.dumps(thing))


@ag.function
def of_a_module(x):
    return x * K if x > 1 else x


def test_what_can_be_imported_goes_by_name():
    assert sent(of_a_module) is of_a_module
    assert len(cloudpickle.dumps(of_a_module)) < 400


def test_modules_may_be_registered_to_go_by_value():
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    try:
        same = sent(of_a_module)
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    assert same is not of_a_module and [same(x) for x in (1, 2)] == [1, 6]


def test_lambdas_and_closures_go_by_value_with_their_options():
    def made(k):
        @ag.function(engine="native", static_argnames="y")
        def inner(xs, *, y=1):
            total = 0.0
            for x in xs:
                if x > k:
                    total += x * y
            return total

        inner.note = "mine"
        return inner

    same = sent(made(1.0))
    assert type(same) is type(made(1.0)) and same._options == {"engine": "native", "static_argnames": "y"}
    assert [same([1.0, 2.0, 3.0]), same([2.0], y=3), same.note, same.__name__] == [5.0, 6.0, "mine", "inner"]
    assert same.explain([1.0]).where(kind="engine") and same.__wrapped__ is same.python_function
    assert sent(ag.function(lambda x: x * K if x > 1 else x))(2.0) == 6.0
    assert sent(same)([2.0]) == 2.0


@pytest.mark.usefixtures("traced_at_once")
def test_functions_that_refer_to_themselves():
    source = """
    import autograph as ag
    factorial = ag.function(lambda n: 1 if n < 2 else n * factorial(n - 1))
    def even(n): return n == 0 or odd(n - 1)
    odd = ag.function(lambda n: n != 0 and even(n - 1))
    converted = ag.convert(lambda n: 1 if n < 2 else n * converted(n - 1))
    """
    names = vars(types.ModuleType("__dynamic__"))
    exec(textwrap.dedent(source), names)
    with pytest.warns(ag.errors.SourceWarning):
        assert [sent(names["factorial"])(5), sent(names["even"])(5), sent(names["odd"])(5)] == [120, False, True]
    assert sent(names["converted"])(5) == 120


def test_converted_functions():
    for convert in ag.convert, ag.to_graph:
        same = sent(convert(lambda x: x * K if x > 1 else x))
        assert [same(1), same(2)] == [1, 6]
        staged = sent(ag.function(convert(lambda x: x * K if x > 1 else x)))
        assert [staged(1), staged(2)] == [1, 6]


def test_gradients():
    assert sent(ag.grad(lambda x: x**3 if x > 0 else -x))(2.0) == 12.0


def test_classes_and_their_methods():
    class Local:
        scale = 2

        def __init__(self, k):
            self.k, self.callback = k, self.method

        @ag.function
        def method(self, x):
            return x * self.k if x > 1 else self.scale

        @staticmethod
        @ag.function
        def static(x):
            return -x if x > 0 else x

        @classmethod
        @ag.function
        def on_class(cls, x):
            return cls.scale * x

        @property
        @ag.function
        def doubled(self):
            return self.k * 2

    same, method, kind = sent(Local(5)), sent(Local(5).method), sent(Local)
    assert [same.method(2), same.callback(1), same.static(3), same.on_class(4), same.doubled] == [10, 2, -3, 8, 10]
    assert [method(3), kind(1).method(7), kind.method(kind(2), 3)] == [15, 7, 6]


@pytest.mark.usefixtures("traced_at_once")
def test_a_worker_process_reads_the_source(tmp_path):
    program = """
    import sys, pickle, cloudpickle, autograph as ag
    K = 3
    @ag.function
    def f(xs):
        t = 0
        for x in xs:
            if x > 1:
                t += x * K
        return t
    sys.stdout.buffer.write(cloudpickle.dumps([f, ag.function(lambda x: x if x > 1 else -x), ag.grad(lambda x: x * x)]))
    """
    worker = """
    import sys, pickle
    f, g, h = pickle.load(sys.stdin.buffer)
    print(f([1, 2, 3]), g(0), h(2.0), f.traces[0].graph is not None, g.python_function.__code__.co_filename)
    """
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(program))
    data = subprocess.run([sys.executable, str(script)], capture_output=True, check=True).stdout
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(worker)], input=data, capture_output=True)
    assert done.stdout.decode() == f"15 0 4.0 True {script}\n", done.stderr


@pytest.mark.usefixtures("traced_at_once")
def test_a_cell_of_a_notebook_takes_its_lines_along(tmp_path):
    program = """
    import sys, linecache, cloudpickle, autograph as ag
    text = "f = ag.function(lambda x: x * 2 if x > 1 else x)\\n"
    linecache.cache["<cell 1>"] = len(text), None, text.splitlines(True), "<cell 1>"
    exec(compile(text, "<cell 1>", "exec"))
    sys.stdout.buffer.write(cloudpickle.dumps(f))
    """
    worker = "import sys, pickle; f = pickle.load(sys.stdin.buffer); print(f(2), f.traces[0].plain)"
    data = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, check=True).stdout
    done = subprocess.run([sys.executable, "-c", worker], input=data, capture_output=True)
    assert done.stdout.decode() == "4 \n", done.stderr


def test_what_ray_does_with_functions():
    """`ray.remote` takes what `inspect.isfunction` takes, and sends it by its own copy of cloudpickle."""

    def remote(function):
        assert inspect.isfunction(function) and not inspect.isclass(function)
        signature, data = inspect.signature(function), cloudpickle.dumps(function)

        @functools.wraps(function)
        def call(*args):
            signature.bind(*args)
            return pickle.loads(data)(*args)

        return call

    @remote
    @ag.function
    def f(x, y=2):
        return x * y if x > 1 else x

    assert [f(1), f(2), f(2, 5), f.__name__] == [1, 4, 10, "f"]
