"""`ag.function`: decorating, calling, methods; with a fake tracer, whose graphs call the plain function."""

import copy
import functools
import inspect
import pickle
import re

import numpy as np
import pytest

from autograph.runtime.dispatch.decorator import function
from autograph.runtime.dispatch.function import BoundFunction, Function, run_eagerly


@function
def scale(x, factor=2, *, offset=0):
    """Scale and shift."""
    return x * factor + offset


class Counter:
    step = 2

    def __init__(self, count=0):
        self.count = count

    @function
    def add(self, n):
        """Count n up."""
        self.count += n
        return self.count

    @function
    @property
    def doubled(self):
        """Twice the count."""
        return 2 * self.count

    @doubled.setter
    def doubled(self, value):
        self.count = value // 2

    @function
    @staticmethod
    def twice(x):
        return 2 * x

    @staticmethod
    @function
    def thrice(x):
        return 3 * x

    @function
    @classmethod
    def steps(cls, n):
        return cls.step * n

    @classmethod
    @function
    def more_steps(cls, n):
        return cls.step * n + 1


class Child(Counter):
    step = 10

    @function
    def add(self, n):
        return super().add(2 * n)


pytestmark = pytest.mark.usefixtures("tracer")


@pytest.fixture(autouse=True)
def fresh():
    yield
    scale.cache_clear()
    for staged in (Counter.add, Child.add, Counter.twice, Counter.thrice):
        staged.cache_clear()


# Decorating -----------------------------------------------------------------------------------------------------------


def test_it_looks_like_the_function():
    assert (scale.__name__, scale.__qualname__, scale.__doc__) == ("scale", "scale", "Scale and shift.")
    assert scale.__module__ == __name__
    assert str(inspect.signature(scale)) == "(x, factor=2, *, offset=0)"
    assert scale.__wrapped__ is scale.python_function
    assert callable(scale)
    assert scale.__defaults__ == (2,) and scale.__kwdefaults__ == {"offset": 0}
    assert scale.__code__ is scale.python_function.__code__
    assert not hasattr(scale, "nothing")
    assert repr(scale) == "<staged function scale, 0 traces>"


def test_other_code_and_defaults(tracer):
    def add(x, y=1):
        return x + y

    def multiply(x, y, *, z=3):
        return x * y * z

    staged = function(add)
    staged.note = "mine"
    assert staged(5) == 6
    staged.__defaults__ = (2,)
    assert staged(5) == add(5) == 7
    staged.__code__, staged.__kwdefaults__ = multiply.__code__, {"z": 4}
    assert (staged(5), staged(5, z=1), add(5), staged.note) == (40, 10, 40, "mine")
    assert staged.__code__ is add.__code__ is multiply.__code__


def test_with_and_without_arguments():
    @function(strict=True)
    def strict(x):
        return x

    assert strict(3) == 3
    assert function(lambda x: x + 1)(3) == 4
    assert function()(abs)(-1) == 1


def one(x):
    return x


def keyword(*, k=1):
    return k


@pytest.mark.parametrize(
    "partial", [functools.partial(one, 1, 2), functools.partial(one, y=1), functools.partial(keyword, 1)]
)
def test_what_cannot_be_called_raises_at_the_call(partial):
    staged = function(partial)
    with pytest.raises(TypeError) as error:
        partial()
    with pytest.raises(TypeError, match=re.escape(str(error.value))):
        staged()


@pytest.mark.parametrize("written_in_c, arguments", [(max, (1, 3)), (getattr, ("a", "upper")), ({1: 2}.get, (1,))])
def test_functions_without_a_signature_take_what_they_take(written_in_c, arguments):
    staged = function(written_in_c)
    assert staged(*arguments) == written_in_c(*arguments)
    with pytest.raises(TypeError):
        staged()


def test_partials():
    staged = function(functools.partial(scale.python_function, factor=3))
    assert staged(2) == 6
    assert staged(2, factor=4, offset=1) == 9


def test_callable_objects(tracer):
    class Affine:
        def __init__(self, a):
            self.a = a

        def __call__(self, x):
            return self.a * x

    three = Affine(3)
    staged = function(three)
    assert staged(4) == 12
    three.a = 5
    assert staged(4) == 20
    assert len(tracer) == 1


def test_bound_methods():
    counter = Counter(1)
    staged = function(Counter.add.python_function.__get__(counter))
    assert staged(2) == 3 and counter.count == 3


def test_functions_written_in_c_take_anything():
    staged = function(max)
    assert staged(1, 3, 2) == 3
    assert staged([1], default=0) == 1


def test_nested_functions_are_separate():
    def make(n):
        @function
        def inner(x):
            return x + n

        return inner

    one, two = make(1), make(2)
    assert (one(0), two(0)) == (1, 2)
    assert len(one.traces) == len(two.traces) == 1


def test_a_staged_function_keeps_its_options():
    staged = function(static_argnames="n")(lambda x, n: x * n)
    assert function(staged) is staged
    other = function(staged, passes=False)
    other(2, 3), other(2, 4)
    assert len(other.traces) == 2


CANNOT = ", which cannot be a graph: decorate a function that computes"


@pytest.mark.parametrize(
    "text, message",
    [
        ("def f():\n yield 1", f"f (<text>:1) is a generator{CANNOT} what it yields"),
        ("async def f(): pass", f"f (<text>:1) is a coroutine (async def){CANNOT} what it awaits"),
        ("async def f(): yield 1", f"f (<text>:1) is an asynchronous generator{CANNOT} what it yields"),
        ("class f: pass", "f is a class: decorate its methods with ag.function instead"),
        ("f = 3", "ag.function decorates functions, not 3"),
    ],
)
def test_what_cannot_be_staged(text, message):
    names = {}
    exec(compile(text, "<text>", "exec"), names)
    with pytest.raises(TypeError) as caught:
        function(names["f"])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"engine": "gpu"}, ValueError, "there is no engine 'gpu'; the engines are 'auto', 'numpy', 'native'"),
        ({"static_argnames": "y"}, ValueError, "static_argnames names 'y', but the parameters are 'x'"),
        ({"strict": "retrase"}, ValueError, "strict cannot refuse 'retrase'; it can refuse 'retrace', 'unroll', "),
        ({"strict": "detour"}, ValueError, "strict cannot refuse 'detour', which is now called 'native_callback'; "),
        ({"passes": {"dead": False}}, ValueError, "there is no pass 'dead', which is now called 'dce'; "),
        ({"passes": {"cze": False}}, ValueError, "there is no pass 'cze'; the passes are "),
        ({"passes": "cse"}, TypeError, "passes is a dict of the names of passes, such as {'cse': "),
        ({"max_traces": 0}, ValueError, "max_traces is the number of traces to keep, at least 1, not 0"),
        ({"input_signature": int}, TypeError, "input_signature is a list with a spec for each positional "),
        ({"jit": True}, TypeError, "ag.function has no option 'jit'; the options are 'engine', 'fastmath', 'input_"),
        ({"input_signature": [int, int]}, ValueError, "input_signature does not fit the parameters: "),
    ],
)  # fmt: skip
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        function(lambda x: x, **options)


def test_properties(tracer):
    counter = Counter(3)
    assert counter.doubled == 6 and Counter.doubled.__doc__ == "Twice the count."
    counter.doubled = 10
    assert counter.count == 5 and len(tracer) == 1


# Calling --------------------------------------------------------------------------------------------------------------


def test_one_trace_for_all_ways_to_write_a_call(tracer):
    assert [scale(1, factor=2), scale(1, 2), scale(factor=2, x=1), scale(1), scale(1, offset=0)] == [2] * 5
    assert tracer.texts == ["x: py.int, factor: py.int, offset: py.int"]


def test_one_trace_for_all_numbers_and_one_for_each_kind(tracer):
    assert [scale(n) for n in range(100)] == [2 * n for n in range(100)]
    assert scale(1.5) == 3.0
    assert scale(np.float32(1.5)) == np.float32(3)
    assert [text.split(",")[0] for text in tracer.texts] == ["x: py.int", "x: py.float", "x: f32"]


WRONG = ["()", "(1, 2, 3)", "(1, y=2)", "(1, x=1)", "(offset=1)", "(1, 2, factor=3)"]


@pytest.mark.parametrize("call", WRONG)
def test_wrong_calls_raise_what_the_function_raises(call):
    with pytest.raises(TypeError) as plain:
        eval(f"f{call}", {"f": scale.python_function})
    with pytest.raises(TypeError) as staged:
        eval(f"f{call}", {"f": scale})
    assert str(staged.value) == str(plain.value)


def test_all_kinds_of_parameters():
    @function
    def f(a, /, b, *rest, c=3, **more):
        return a, b, rest, c, more

    assert f(1, 2) == (1, 2, (), 3, {})
    assert f(1, 2, 3, 4, c=5, d=6) == (1, 2, (3, 4), 5, {"d": 6})
    assert f(1, b=2, a=3) == (1, 2, (), 3, {"a": 3})
    assert str(inspect.signature(f)) == "(a, /, b, *rest, c=3, **more)"


CLASHES = ["ag_active", "type", "self", "a0", "p0", "k0", "ag_run", "ag_trace", "ag_0", "len", "id"]


@pytest.mark.parametrize("name", CLASHES)
def test_no_parameter_clashes_with_generated_names(name):
    names = {}
    exec(f"def f({name}, other=(1, [2])): return {name} + other[1][0]", names)
    staged = function(names["f"])
    assert staged(1) == staged(1) == 3
    assert staged(np.ones(2), (1, [1])).tolist() == [2, 2]
    assert staged(**{name: 5}) == 7


def test_a_default_that_changes_is_the_function_s_own():
    @function
    def f(x, seen=[]):
        return len(seen) + x

    assert f(1) == 1
    f.python_function.__defaults__[0].append(0)
    assert f(1) == 2


def test_errors_are_those_of_the_function():
    @function
    def f(x):
        return 1 / x

    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            f(0)
        assert not [entry for entry in caught.traceback if "autograph/runtime" in str(entry.path)]


def test_nothing_of_the_library_stands_between_in_a_traceback():
    @function
    def f(x):
        raise ValueError(x)

    for _ in range(2):
        with pytest.raises(ValueError) as caught:
            f(0)
        lines = [entry.lineno - f.python_function.__code__.co_firstlineno + 1 for entry in caught.traceback[1:]]
        assert lines[0] == 0  # the dispatcher, on the function's first line
        assert lines[-1] == 2


def test_eager_runs_the_plain_function(tracer):
    run_eagerly(True)
    try:
        assert scale(3) == 6
        assert len(tracer) == 0
    finally:
        run_eagerly(False)
    assert scale(3) == 6
    assert len(tracer) == 1


# Methods --------------------------------------------------------------------------------------------------------------


def test_one_trace_for_all_instances(tracer):
    counters = [Counter(n) for n in range(5)]
    assert [counter.add(1) for counter in counters] == [1, 2, 3, 4, 5]
    assert [counter.count for counter in counters] == [1, 2, 3, 4, 5]
    assert tracer.texts == ["self: Counter, n: py.int"]


def test_one_trace_for_each_class_and_super(tracer):
    child = Child(1)
    assert child.add(1) == 3
    assert tracer.texts == ["self: Child, n: py.int", "self: Child, n: py.int"]
    assert len(Child.add.traces) == len(Counter.add.traces) == 1


def test_keyword_defaults_may_be_changed():
    @function
    def f(x, *, k=1):
        return x + k

    assert f(1) == 2
    f.__kwdefaults__["k"] = 5
    assert f(1) == 6


def test_methods_that_are_class_methods_by_their_names():
    class Base:
        @function
        def __init_subclass__(cls, tag=1):
            cls.tag = tag

        @function
        def __class_getitem__(cls, item):
            return cls, item

        @function
        def __new__(cls, value):
            made = object.__new__(cls)
            made.value = value
            return made

    class Derived(Base, tag=5):
        pass

    assert (Derived.tag, Derived[2], Derived(3).value) == (5, (Derived, 2), 3)


def test_static_and_class_methods_both_ways_round():
    for owner in (Counter, Counter(), Child):
        assert owner.twice(2) == 4
        assert owner.thrice(2) == 6
    assert (Counter.steps(3), Child.steps(3)) == (6, 30)
    assert (Counter.more_steps(3), Child().more_steps(3)) == (7, 31)


def test_a_bound_method_looks_like_one():
    counter = Counter()
    bound = counter.add
    assert isinstance(bound, BoundFunction)
    assert (bound.__name__, bound.__doc__) == ("add", "Count n up.")
    assert (bound.__self__, bound.__func__) == (counter, Counter.add)
    assert str(inspect.signature(bound)) == "(n)"
    assert bound == counter.add != Counter().add
    assert len({bound, counter.add}) == 1
    assert bound.python_function is Counter.add.python_function
    assert Counter.add(counter, 3) == 3
    assert "add" in repr(bound) and "Counter" in repr(bound)


def test_a_bound_method_explains_and_shows_its_graph():
    counter = Counter()
    assert "self: Counter, n: py.int" in str(counter.add.explain(1))
    assert counter.count == 0  # nothing ran
    assert str(counter.add.graph(1)) == str(Counter.add.graph(counter, 1))
    assert counter.add.get_concrete_function(1)(counter, 2) == 2
    assert len(counter.add.traces) == 1


# Copies ---------------------------------------------------------------------------------------------------------------


def test_pickled_by_name():
    assert pickle.loads(pickle.dumps(scale)) is scale
    counter = Counter(3)
    assert pickle.loads(pickle.dumps(counter.add))(1) == 4
    assert pickle.loads(pickle.dumps(Counter.add)) is Counter.add
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(function(lambda x: x))


def test_copied_as_functions_are():
    assert copy.copy(scale) is scale
    assert copy.deepcopy([scale]) == [scale]


def test_attributes_can_be_set():
    scale.note = "kept"
    assert scale.note == "kept"
    del scale.note
    assert isinstance(scale, Function)
