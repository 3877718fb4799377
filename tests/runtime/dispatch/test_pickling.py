"""Staged and converted functions are copied and pickled as functions are, and look like functions to who asks."""

import concurrent.futures
import copy
import dataclasses
import doctest
import functools
import inspect
import io
import linecache
import marshal
import multiprocessing
import pickle
import pydoc
import re
import subprocess
import sys
import textwrap
import types
import typing
import warnings

import pytest

import autograph as ag


@ag.function
def positive(x: int, y: "float" = 2.0) -> float:
    """The sum, if `x` is positive.

    >>> positive(1)
    3.0
    """
    return x + y if x > 0 else y


def plain(x):
    return x * 2 if x > 0 else x


@ag.convert
def converted(x):
    if x > 0:
        return "positive"
    return "not"


class Model:
    scale = 2

    def __init__(self, k=3):
        self.k = k
        self.callback = self.apply

    @ag.function
    def apply(self, x):
        return x * self.k if x > 0 else self.scale

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

    @functools.cached_property
    def cached(self):
        return self.apply(10)

    @functools.partialmethod
    @ag.function
    def partial_method(self, x):
        return self.k + x


class Adder:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x + self.k if x > 0 else x


PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def sent(thing, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(thing, protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_found_under_its_name_pickles_by_that(protocol):
    assert sent(positive, protocol) is positive
    assert sent(Model.apply, protocol) is Model.apply
    assert sent(converted, protocol) is converted


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_not_found_pickles_as_the_plain_function_and_the_options(protocol):
    staged = ag.function(plain, static_argnames="x", max_traces=3)
    staged.note = "mine"
    same = sent(staged, protocol)
    assert (same.python_function, same._options) == (plain, {"static_argnames": "x", "max_traces": 3})
    assert [same(3), same(-3), same.__name__, same.note, len(same.traces)] == [6, -3, "plain", "mine", 2]
    assert sent(ag.grad(plain), protocol)(3.0) == 2.0


def test_what_plain_pickle_cannot_take_it_refuses_in_its_own_words():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(ag.function(lambda x: x))


def test_methods_and_objects():
    model = sent(Model(5))
    assert [model.apply(2), model.callback(2), sent(model.apply)(-1), sent(Model.static)(4)] == [10, 10, 2, -4]
    assert [sent(Model.on_class)(3), model.doubled, model.cached, model.partial_method(1)] == [6, 10, 50, 6]
    assert sent(ag.function(Adder(3)))(1) == 4
    assert sent(functools.partial(positive, y=5))(1) == 6


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies(copied):
    assert copied(positive) is positive and copied(converted) is converted
    local = ag.function(lambda x: x + 1)
    assert copied(local) is local
    model = Model(4)
    method = copied(model.apply)
    assert method(2) == 8 and (method.__self__ is model) == (copied is copy.copy)
    assert [each(2) for each in copied([model.apply, positive])] == [8, 4.0]


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_other_processes(start):
    context = multiprocessing.get_context(start)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        calls = [positive, Model(7).apply, Model.static, ag.function(plain), converted, ag.function(Adder(1))]
        assert [pool.submit(call, 2).result() for call in calls] == [4.0, 14, -2, 4, "positive", 3]
        assert [*pool.map(positive, [1, -1])] == [3.0, 2.0]


def test_it_looks_like_a_function():
    bound = Model().apply
    assert inspect.isfunction(positive) and isinstance(positive, types.FunctionType) and not inspect.ismethod(positive)
    assert inspect.ismethod(bound) and isinstance(bound, types.MethodType) and not inspect.isfunction(bound)
    assert str(inspect.signature(positive)) == "(x: int, y: 'float' = 2.0) -> float"
    assert str(inspect.signature(bound)) == "(x)"
    assert inspect.getsource(positive) == inspect.getsource(positive.python_function)
    assert inspect.getfile(positive) == __file__ and inspect.getmodule(positive) is sys.modules[__name__]
    assert inspect.unwrap(positive) is positive.python_function
    assert not inspect.iscoroutinefunction(positive) and not inspect.isgeneratorfunction(positive)
    assert typing.get_type_hints(positive) == {"x": int, "y": float, "return": float}
    assert inspect.getdoc(positive).startswith("The sum")
    assert "function positive" in pydoc.render_doc(positive, renderer=pydoc.plaintext)


def test_doctests_are_found():
    module = types.ModuleType(__name__)
    vars(module).update(positive=positive)
    (found,) = doctest.DocTestFinder(exclude_empty=True).find(positive, "positive", globs={"positive": positive})
    assert doctest.DocTestRunner().run(found) == (0, 1)


def test_in_the_hands_of_functools_and_dataclasses():
    counts = []

    @ag.function
    def fresh():
        counts.append(len(counts))
        return [1, 2]

    Record = dataclasses.make_dataclass("Record", [("items", list, dataclasses.field(default_factory=fresh))])
    first, second = Record(), Record()
    assert first.items == second.items == [1, 2] and first.items is not second.items and counts == [0, 1]

    dispatched = functools.singledispatch(lambda x: "other")
    dispatched.register(int)(positive)
    assert [dispatched(1), dispatched("a")] == [3.0, "other"]

    cached = functools.lru_cache(positive)
    assert [cached(1), cached(1), cached.cache_info().hits] == [3.0, 3.0, 1]
    assert functools.reduce(ag.function(lambda a, b: a + b if b > 1 else a), [1, 2, 3]) == 6
    assert sorted([3, 1, 2], key=ag.function(lambda x: -x)) == [3, 2, 1]


SCRIPT = """
    import multiprocessing, autograph as ag

    @ag.function
    def f(x):
        return x * 2 if x > 0 else x

    class Model:
        @ag.function
        def m(self, x):
            return x + 1 if x > 0 else x

    if __name__ == "__main__":
        for start in "spawn", "forkserver", "fork":
            with multiprocessing.get_context(start).Pool(1) as pool:
                print(pool.map(f, [1, -1]), pool.apply(Model().m, (1,)))
"""


def test_functions_of_scripts_are_taken_by_name(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[2, -1] 2\n" * 3, "")


# By value -------------------------------------------------------------------------------------------------------------


class ByValue(pickle.Pickler):
    """Takes functions and classes of the module `cell` by value, without the files of codes, as cloudpickle does."""

    def reducer_override(self, thing):
        if type(thing) is staticmethod:
            return staticmethod, (thing.__func__,)
        if getattr(thing, "__module__", None) != "cell" or type(thing) not in (types.FunctionType, type):
            return NotImplemented
        if type(thing) is type:
            names = {name: part for name, part in vars(thing).items() if name not in ("__dict__", "__weakref__")}
            return type, (thing.__name__, thing.__bases__, names)
        code = thing.__code__
        names = {name: thing.__globals__[name] for name in names_in(code) if name in thing.__globals__}
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        state = (names, thing.__defaults__, vars(thing), thing.__name__, thing.__qualname__)
        return blank_function, (marshal.dumps(without_file(code)), cells), state, None, None, filled


def names_in(code):
    return {*code.co_names}.union(*(names_in(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def without_file(code):
    inner = (without_file(each) if isinstance(each, types.CodeType) else each for each in code.co_consts)
    return code.replace(co_filename="<dynamic-code>", co_consts=tuple(inner))


def blank_function(code, cells):
    names = {"__name__": "cell", "__builtins__": __builtins__}
    return types.FunctionType(marshal.loads(code), names, closure=tuple(map(types.CellType, cells)))


def filled(function, state):
    names, function.__defaults__, attributes, function.__name__, function.__qualname__ = state
    function.__module__ = "cell"
    function.__globals__.update(names)
    vars(function).update(attributes)


CELL = """
import functools
import autograph as ag

def innermost(x):
    return x * 3 if x > 1 else x

def helper(x):
    return innermost(x) + 1 if x > 0 else x

def default(x, helper=helper):
    return helper(x)

def counted(f):
    @functools.wraps(f)
    def call(x):
        return f(x) if x > 0 else -f(-x)
    return call

wrapped, closed = counted(helper), (lambda k: lambda x: helper(x) if x > k else x)(0)
part = functools.partial(default)

class Model:
    def method(self, x):
        return self.own(x) if x > 0 else x

    @staticmethod
    def own(x):
        return innermost(x) if x > 1 else x

switch = ag.function(ag.convert(lambda x: helper(x) if x > 1 else x))
converted_helper = ag.convert(lambda x: innermost(x) if x > 1 else x)

names_a_helper = ag.function(lambda x: helper(x))
names_a_default = ag.function(lambda x: default(x))
names_a_wrapper = ag.function(lambda x: wrapped(x))
names_a_closure = ag.function(lambda x: closed(x))
names_a_partial = ag.function(lambda x: part(x))
names_a_class = ag.function(lambda x: Model().method(x))
names_a_switch = ag.function(lambda x: converted_helper(x))
names_itself = ag.function(lambda x: x if x < 1 else helper(x) + names_itself(x - x))
of_a_partial = ag.function(functools.partial(lambda f, x: f(x), helper))
gradient = ag.grad(lambda x: helper(x) * x)

@ag.function
def found(x):
    return helper(x)
"""
STAGED = ["found", *re.findall(r"^(\w+) = ag\.(?:function|grad)", CELL, re.MULTILINE)]


@pytest.fixture
def cell(monkeypatch):
    """A cell of a notebook: its text is not on disk."""
    module, name = types.ModuleType("cell"), "<cell 7>"
    monkeypatch.setitem(sys.modules, "cell", module)
    monkeypatch.setitem(linecache.cache, name, (len(CELL), None, CELL.splitlines(True), name))
    exec(compile(CELL, name, "exec"), vars(module))
    return module


@pytest.mark.parametrize("name", STAGED)
def test_what_goes_by_value_is_staged_with_its_helpers(name, cell, monkeypatch):
    staged, expected = getattr(cell, name), getattr(cell, name)(2.0)
    for _ in range(2):      # a worker may send it on
        data = io.BytesIO()
        ByValue(data).dump(staged)
        monkeypatch.delitem(sys.modules, "cell", raising=False)
        monkeypatch.delitem(linecache.cache, "<cell 7>")
        staged = pickle.loads(data.getvalue())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert staged(2.0) == expected
    (trace,) = staged.traces
    assert (trace.plain, [event.message for event in trace.events if event.kind == "callback"]) == ("", [])


def test_by_name_no_helper_is_looked_at(cell, monkeypatch):
    monkeypatch.setattr("autograph.runtime.dispatch.pickling._functions", None)
    assert sent(cell.found) is cell.found
