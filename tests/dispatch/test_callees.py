"""Functions called while a backend traces are converted, whatever kind of callable they are; never otherwise."""

from __future__ import annotations

import functools
import importlib
import math
import operator
import textwrap
import types
from contextlib import contextmanager

import numpy as np
import pytest

import autograph as ag
from autograph import api, importing
from autograph.conversion import conversions
from autograph.operators.backend import register, traced_by, unregister
from tests.dispatch import staging
from tests.dispatch.staging import Trace
from tests.recording import Recorder, Staged

# Each of these has the same staged `if`. The program is executed anew for each test, so that nothing is cached.
LIBRARY = """
import functools, types

def choose(c, y=0):
    if c:
        y = 1
    return y

def keep(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

class Chooser:
    def method(self, c, y=0):
        if c:
            y = 1
        return y

    __call__ = method
    static = staticmethod(choose)

    @classmethod
    def on_class(cls, c, y=0):
        if c:
            y = 1
        return y

    @property
    def prop(self):
        return self.method

    @keep
    def decorated(self, c):
        return self.method(c)

class Heir(Chooser):
    def method(self, c):
        return super().method(c)

class WithSlots:
    __slots__ = ()
    def __call__(self, c):
        y = 0
        if c:
            y = 1
        return y

class Making:
    def __init__(self, c):
        self.y = choose(c)

def closure(y):
    def inner(c):
        nonlocal y
        if c:
            y = 1
        return y
    return inner

def through(c):
    return choose(c)

def recursive(c, n=3):
    return choose(c) if n == 0 else recursive(c, n - 1)

def defaults(c, *, f=choose):
    return f(c)

def two_deep(c):
    return [through][0](c)

def generator(c):
    y = 0
    if c:
        y = 1
    yield y

def called_by_map(c):
    return list(map(choose, [c]))[0]

def as_key(c, xs):
    return max(xs, key=lambda x: 0 if x is None else choose(c))

@keep
def decorated(c):
    return choose(c)

@keep
@keep
def decorated_twice(c):
    return choose(c)

async def coroutine(c):
    return choose(c)

double = lambda c: 1 if c else 0
"""
CALLEES = {
    "a function": "choose(c)",
    "with keywords": "choose(y=0, c=c)",
    "with stars": "choose(*[c], **{'y': 0})",
    "from a function": "two_deep(c)",
    "from itself": "recursive(c)",
    "a default": "defaults(c)",
    "a local function": "closure(0)(c)",
    "a decorated function": "decorated(c)",
    "a function decorated twice": "decorated_twice(c)",
    "a method": "Chooser().method(c)",
    "a method by its class": "Chooser.method(None, c)",
    "a bound method": "[Chooser().method][0](c)",
    "an inherited method": "Heir().on_class(c)",
    "a method through super": "Heir().method(c)",
    "a static method": "Chooser.static(c)",
    "a class method": "Chooser.on_class(c)",
    "a method from a property": "Chooser().prop(c)",
    "a decorated method": "Chooser().decorated(c)",
    "an object": "Chooser()(c)",
    "an object without a dictionary": "WithSlots()(c)",
    "a partial": "functools.partial(choose, y=0)(c)",
    "a partial of a method": "functools.partial(Chooser().method, c)()",
    "a partial of a partial": "functools.partial(functools.partial(choose), c)()",
    "a MethodType": "types.MethodType(choose, c)()",
    "in a table": "{'k': choose}['k'](c)",
    "a generator": "next(generator(c))",
    "through map": "next(map(choose, [c]))",
    "through filter": "next(filter(lambda x: choose(x) is not None, [c]))",
    "through max": "max([c], [c], key=lambda xs: choose(xs[0]) is None)",
    "through sorted": "sorted([c], key=choose)",
    "from map in a function": "called_by_map(c)",
    "in a branch": "choose(c) if c is not None else 0",
    "in a comprehension": "[choose(x) for x in [c]]",
    "another module's": "other.choose(c)",
    "another module's bound method": "other.chooser.method(c)",
}
CALLER = "import functools, types\ndef f(c):\n    return {}\n"


def load(call):
    """The function `f` of a fresh module, and what it calls, partly from another one."""
    other = types.SimpleNamespace(**staging.execute(LIBRARY, __name__="other"))
    other.chooser = other.Chooser()
    return staging.execute(LIBRARY + CALLER.format(call), other=other)["f"]


@pytest.mark.parametrize("callee", CALLEES)
def test_callees_are_converted(callee):
    traced = staging.trace(load(CALLEES[callee]))
    assert ("if_stmt", ("y",)) in traced.log


@pytest.mark.parametrize("callee", CALLEES)
def test_they_are_not_while_nothing_traces(callee, monkeypatch):
    function = load(CALLEES[callee])
    monkeypatch.setattr(conversions, "_convert", lambda *_: pytest.fail("converted"))
    wanted = function(5)
    assert repr(ag.convert(function)(5)) == repr(wanted) or callee.startswith("through")
    register(backend := Recorder())
    try:
        ag.convert(function)(5)
    finally:
        unregister(backend)
    assert backend.log == []


@pytest.mark.parametrize("callee", CALLEES)
def test_they_give_what_they_gave(callee):
    """Plain values, in a trace: all goes through the operators, and nothing changes."""
    function = load(CALLEES[callee])
    assert repr(Trace(ag.convert(function), 5).result) == repr(function(5))


def test_a_lambda():
    traced = staging.trace(load("(lambda c: 1 if c else 0)(double(c))"))
    assert traced.log == [("if_exp", "c"), ("if_exp", "phi(1, 0)")]


def test_a_coroutine():
    function = load("coroutine(c).send(None)")
    backend = Recorder()
    with pytest.raises(StopIteration), registered(backend):
        ag.convert(function)(Staged("c"))
    assert backend.log == [("if_stmt", ("y",))]


def test_a_constructor_runs_as_it_is():
    """Classes are called as they are: what `__init__` does cannot be replaced."""
    with pytest.raises(TypeError, match="no concrete value"):
        staging.trace(load("Making(c)"))


def test_converted_functions_do_not_need_a_trace():
    """Of `to_graph` the constructs reach a backend by their values alone, but not its callees'."""
    names = staging.execute(LIBRARY)
    register(backend := Recorder())
    try:
        api.to_graph(names["choose"])(Staged("c"))
        with pytest.raises(TypeError, match="no concrete value"):
            api.to_graph(names["through"])(Staged("c"))
    finally:
        unregister(backend)
    assert backend.log == [("if_stmt", ("y",))]


# Once


def test_each_function_is_converted_once(monkeypatch):
    function, names = load("[choose(c) for x in range(5)]"), staging.counted(monkeypatch)
    for _ in range(3):
        staging.trace(function)
    assert sorted(names) == ["choose", "f"]


def test_functions_made_anew_are_converted_once(monkeypatch):
    function, names = load("[closure(i)(c) for i in range(5)]"), staging.counted(monkeypatch)
    staging.trace(function)
    assert sorted(names) in (["closure", "f"], ["closure", "f", "inner"])


INNER = {
    "function": "def f(c, n=3):\n    def g(x):\n        return 1 if x else 0\n    return [g(c) for i in range(n)]",
    "lambda": "def f(c, n=3):\n    g = lambda x: 1 if x else 0\n    return [g(c) for i in range(n)]",
    "method": "def f(c, n=3):\n    class C:\n        def g(self, x):\n            return 1 if x else 0\n"
              "    return [C().g(c) for i in range(n)]",
}  # fmt: skip


@pytest.mark.parametrize("inner", INNER)
def test_inner_functions_of_converted_ones_are_converted_already(inner, monkeypatch):
    function, names = staging.execute(INNER[inner])["f"], staging.counted(monkeypatch)
    before = len(api.why_unconverted)
    traced = staging.trace(function)
    assert traced.log == [("if_exp", "c")] * 3
    assert names == ["f"]
    assert len(api.why_unconverted) == before


def test_functions_of_modules_that_were_converted_on_import_are_converted_already(tmp_path, monkeypatch):
    (tmp_path / "hooked_callee.py").write_text("def g(c):\n    return 1 if c else 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with importing.install("hooked_callee"):
        hooked = importlib.import_module("hooked_callee")
    function, names = staging.execute("def f(c):\n    return g(c)", g=hooked.g)["f"], staging.counted(monkeypatch)
    assert staging.trace(function).log == [("if_exp", "c")]
    assert names == ["f"]


@contextmanager
def registered(backend):
    register(backend)
    try:
        with traced_by(backend):
            yield
    finally:
        unregister(backend)


# Exclusions

MARKED = {
    "function": "@ag.do_not_convert\ndef g(c): return 1 if c else 0",
    "called": "@ag.do_not_convert()\ndef g(c): return 1 if c else 0",
    "afterwards": "def g(c): return 1 if c else 0\ng = ag.do_not_convert(g)",
    "over convert": "@ag.do_not_convert\n@ag.convert\ndef g(c): return 1 if c else 0",
    "under convert": "@ag.convert\n@ag.do_not_convert\ndef g(c): return 1 if c else 0",
    "method": "class C:\n    @ag.do_not_convert\n    def g(self, c): return 1 if c else 0\ng = C().g",
    "static method": "class C:\n    @ag.do_not_convert\n    @staticmethod\n    def g(c): return 1 if c else 0\ng = C.g",
    "class method": "class C:\n  @ag.do_not_convert\n  @classmethod\n  def g(k, c): return 1 if c else 0\ng = C.g",
    "class": "@ag.do_not_convert\nclass C:\n    def __call__(self, c): return 1 if c else 0\ng = C()",
    "partial": "import functools\ng = functools.partial(ag.do_not_convert(lambda c: 1 if c else 0))",
    "lambda": "g = ag.do_not_convert(lambda c: 1 if c else 0)",
    "callee": "def h(c): return 1 if c else 0\n@ag.do_not_convert\ndef g(c): return h(c)",
}


@pytest.mark.parametrize("marked", MARKED)
def test_what_is_marked_runs_as_written(marked):
    names = staging.execute(MARKED[marked] + "\ndef f(c):\n    return 2 if c else g(3)")
    traced = staging.trace(names["f"])
    assert traced.log == [("if_exp", "c")]
    assert repr(traced.result) == "Staged(phi(2, 1))"
    with pytest.raises(TypeError, match="no concrete value"):
        Trace(ag.convert(names["g"]) if marked in ("function", "lambda") else names["g"], Staged("c"))


class Spying(Recorder):
    """Notes what it is asked to call, and what is called in its place."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def call(self, function):
        self.asked.append(function)
        return NotImplemented


@pytest.mark.parametrize(
    "function",
    [math.sin, math.floor, operator.neg, np.zeros, np.random.rand, [].append, functools.reduce, str.upper, "a".join],
    ids=lambda function: getattr(function, "__qualname__", repr(function)),
)
def test_what_is_not_written_in_python_is_called_as_it_is(function, monkeypatch):
    names = staging.counted(monkeypatch)
    api.to_graph(caller := staging.execute("def f(g):\n    return g")["f"])
    with registered(Recorder()):
        assert ag_call(function) is function
    assert names == [caller.__name__]


def ag_call(function):
    from autograph.operators import call

    return call(function)


def test_the_backend_is_asked_before_each_call():
    backend = Spying()
    function = load("choose(len([c]), math.sin(0.0))")
    function.__globals__["math"] = math
    with registered(backend):
        ag.convert(function)(1)
    assert backend.asked == [function.__globals__["choose"], math.sin] or backend.asked == [
        math.sin,
        function.__globals__["choose"],
    ]


def test_numpy_s_own_python_code_is_not_converted(monkeypatch):
    names = staging.counted(monkeypatch)
    function = staging.execute("import numpy as np\ndef f(x):\n    return np.linalg.norm(x), np.pad(x, 1)")["f"]
    norm, padded = Trace(ag.convert(function), np.array([3.0, 4.0])).result
    assert (norm, padded.tolist()) == (5.0, [0.0, 3.0, 4.0, 0.0])
    assert names == ["f"]


def test_the_standard_library_s_python_code_may_be():
    function = staging.execute("import textwrap\ndedent = textwrap.dedent\ndef f(x):\n    return [dedent][0](x)")["f"]
    assert Trace(ag.convert(function), " a\n b").result == textwrap.dedent(" a\n b")


def test_functions_without_source_are_called_as_they_are_and_that_is_noted():
    hidden = eval(compile("lambda x: x + 1", "<hidden>", "eval"), {"__name__": "hidden"})
    function = staging.execute("def f(x):\n    return g(x)", g=hidden)["f"]
    assert repr(Trace(ag.convert(function), Staged("x")).result) == "Staged((x + 1))"
    assert "source" in str(api.why_unconverted.get(hidden.__code__))


def test_functions_without_source_are_looked_for_once(monkeypatch):
    hidden = eval("lambda x: x + 1", {"__name__": "hidden"})
    function = staging.execute("def f(x):\n    return [g(x) for i in range(5)]", g=hidden)["f"]
    names = staging.counted(monkeypatch)
    Trace(ag.convert(function), 1)
    assert sorted(names) == ["<lambda>", "f"]


# Decorators met on the way


def test_converted_callees_run_converted():
    names = staging.execute("@ag.convert\ndef g(c):\n    return 1 if c else 0\ndef f(c):\n    return g(c)")
    assert staging.trace(names["f"]).log == [("if_exp", "c")]


def test_convert_works_in_a_call_from_unconverted_code():
    names = staging.execute("@ag.convert\ndef g(c):\n    return 1 if c else 0\ndef f(c):\n    return g(c)")
    assert Trace(names["f"], Staged("c")).log == [("if_exp", "c")]


def test_cached_functions_stay_cached():
    text = "import functools\ncalls = []\n@functools.lru_cache\ndef g(x):\n    calls.append(x)\n    return x\n"
    names = staging.execute(text + "def f(x):\n    return g(x) + g(x)")
    assert Trace(ag.convert(names["f"]), 2).result == 4
    assert names["calls"] == [2]


def test_functions_that_look_at_frames_find_the_user_s():
    text = "import sys\ndef g():\n    return sys._getframe(1).f_code.co_name, sys._getframe(1).f_lineno\n"
    names = staging.execute(text + "def f(c):\n    if c:\n        pass\n    return g()")
    assert Trace(ag.convert(names["f"]), True).result == ("f", 7)
