"""The trace that a dispatcher tries first: it takes the calls whose keys are its own, and no others."""

import abc
import collections
import dataclasses
import enum
from itertools import permutations

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.dispatch import specialize
from autograph.runtime.dispatch.decorator import function
from tests.comparing import of_expression


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(specialize, "MANY_CALLS", 3)


class Text(str):
    pass


class Loud(str):
    def __eq__(self, other):
        raise AssertionError("nobody compares this")

    __hash__ = str.__hash__


class Rows(np.ndarray):
    pass


class Color(enum.Enum):
    RED = 1


class Strange:
    """Asks to be left alone."""

    def __eq__(self, other):
        raise AssertionError("nobody compares this")

    __hash__ = object.__hash__


class Thing:
    pass


class Heir(Thing):
    __slots__ = ("x",)


class Shape(abc.ABC):
    pass


class Sly(type):
    """Takes its classes for any others."""

    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__


class Stolen(metaclass=Sly):
    pass


@dataclasses.dataclass
class Place:
    x: object
    y: object = 2.5


@dataclasses.dataclass
class Inner(Place):
    z: object = 1


@dataclasses.dataclass(slots=True)
class Tight:
    x: object
    y: object = 2.5


def place(**fields):
    made = object.__new__(Place)
    made.__dict__.update(fields)
    return made


Pair = collections.namedtuple("Pair", "a b")
VALUES = [
    *(1, 1.0, True, False, None, 1j, np.float64(1), np.float32(1), np.bool_(True), 1 << 80),
    *(np.ones(3), np.ones(4), np.ones((3, 1)), np.ones(3, int), np.ones(3, ">f8"), np.float64(2) * np.ones(())),
    *(np.ones(3).view(Rows), np.zeros(3, [("a", int)]), np.zeros(3, "datetime64[s]"), np.zeros(3, "datetime64[D]")),
    *("a", "b", Text("a"), "a" * 40, b"a", "", Color.RED, len, np.sin, pytest.raises, int, float),
    *(["a", "b"], ["a", "c"], ["a", Text("b")], ("a", "b"), ["a"], [], (), {}, [1, 2], [1, 2.0], (1, 2), [True, 2]),
    *([np.ones(2), 1], [1.0] * 40, [1] * 40, ["a"] * 40, {"a": 1}, {"b": 1}, {"a": 1.0}, Pair(1, 2), Pair(1, "a")),
    *([["a"], ["b"]], [[1, [2.0]], "a"], [[1, [2.0]], "b"], [[1, [2]], "a"], [[1, 2.0], "a"], {"§": 1}, {"§": [1]}),
    *({"a": np.ones(2), "b": [1, "x"]}, {"a": np.ones(3), "b": [1, "x"]}, {"b": [1, "x"], "a": np.ones(2)}, {1: 2}),
    *([{"a": [1]}, {}], [{"a": [1]}, {"a": 1}], ({"a": [1]}, {}), [[[[[[[[1]]]]]]]], [[1] * 9] * 9, [[1] * 9] * 6),
    *([["a"], [Text("a")]], [["a"], [Loud("a")]], ["a", Loud("a")], Loud("a"), [[None], [True, False]], [[None], [1]]),
    *([1.0] * 70, [1] * 70, (1,) * 70, ["a"] * 70, [np.ones(2)] * 65, [True] * 70, [], [[1] * 70], [[1] * 20]),
    *("a" * 33, "a" * 32, ("a" * 33,), ["a" * 33, 1]),
    *(Thing(), Heir(), Shape(), [Thing(), Thing()], [Thing(), Heir()], (Thing(), Thing()), [Thing()], [Thing(), 1]),
    *([Shape()] * 2, [Thing()] * 70, [Thing()] * 20, {"a": Thing()}),
    *([[Thing(), Thing()], [Heir()]], [Thing(), Strange()]),
    *(Place(1), Place(1, 2), Place(np.ones(3)), Place("a"), Place([1, 2]), Place(Thing()), Inner(1)),
    *(Tight(1), Tight("a"), place(x=1), place(x=1, y=2.5, z=1), place(y=2.5, x=1), place(x=1, y=Place(1))),
    *([Place(1), Place(2)], (Place("a"),)),
    *(Strange(), range(3), slice(1, 2), [[1, 2], [3]], [None], [None, "a"], {1, 2}),
]


def inline_cached(f, *args, **kwargs):
    for _ in range(5):
        f(*args, **kwargs)
    assert f._specializer.inline_cache() is not None


def the_one_that_ran(f, *args, **kwargs):
    before = {trace: trace.calls for trace in f.traces}
    f(*args, **kwargs)
    return next(trace for trace in f.traces if trace.calls > before.get(trace, 0))


@pytest.mark.parametrize("parameters", ["x", "x, /", "*, x", "x, y=None"])
def test_the_cached_trace_takes_its_own_calls_and_no_others(tracer, parameters):
    name = {} if "*" not in parameters else {"x": None}
    few = VALUES if parameters == "x" else VALUES[::7]
    for one in few:
        f = function(eval(f"lambda {parameters}: 0"))
        f._specializer._warned = True
        call = (lambda f, value: f(x=value)) if name else (lambda f, value: f(value))
        for _ in range(5):
            call(f, one)
        for other in few:
            if f._specializer.inline_cache() is None:
                break
            before = {trace: trace.calls for trace in f.traces}
            call(f, other)
            (ran,) = [trace for trace in f.traces if trace.calls > before.get(trace, 0)]
            values = f._bind(x=other) if name else f._bind(other)
            assert ran.key == f._specializer.key(values), (one, other)


@pytest.mark.parametrize(
    "value", [1, np.ones(3), ["a", "b"], (1, 2), None, "a", [1.0] * 40, [1.0] * 70, "a" * 40, np.sin, {"a": 1}]
    + [["a"] * 70, Thing(), Shape(), [Thing(), Shape()], (Thing(),), {"a": Thing()}]
    + [Place(1), Place(np.ones(3), [1, 2]), [Place(1), Place(2)], Inner("a", Place(1.5))],
)
def test_the_cached_trace_is_entered_without_a_key(tracer, value):
    f = function(lambda x: 0)
    inline_cached(f, value)
    f._specializer.traces.find.clear()
    f(value)
    assert len(tracer) == 1


@pytest.mark.parametrize("other", [Stolen(), [Stolen(), Stolen()]])
def test_a_metaclass_that_takes_its_classes_for_others_is_not_asked(other):
    f = function(lambda x: type(x[0] if type(x) is list else x).__name__)
    value = [Thing(), Thing()] if type(other) is list else Thing()
    inline_cached(f, value)
    assert f(value) == "Thing"
    assert f(other) == "Stolen"
    assert f(value) == "Thing"


def test_a_dataclass_whose_fields_come_to_be_hidden(monkeypatch):
    f = function(lambda p: p.x)
    inline_cached(f, Place(1))
    assert f(Place(1)) == 1
    monkeypatch.setattr(Place, "x", property(lambda self: 7, lambda self, value: None), raising=False)
    assert f(Place(1)) == 7
    monkeypatch.undo()
    assert f(Place(1)) == 1


def test_a_dataclass_that_changes_elsewhere_is_found_without_a_key_again(tracer, monkeypatch):
    f = function(lambda x: 0)
    inline_cached(f, Place(1))
    monkeypatch.setattr(Place, "note", "as traces of other functions do", raising=False)
    f(Place(1))
    f._specializer.traces.find.clear()
    f(Place(1))
    assert len(tracer) == 1


def test_all_that_is_variadic(tracer):
    f = function(lambda *xs, **ys: 0)
    inline_cached(f, 1, np.ones(3), a=2)
    for args, kwargs in [((1,), {"a": 2}), ((1, np.ones(3)), {"b": 2}), ((1.0, np.ones(3)), {"a": 2}), ((), {})]:
        assert the_one_that_ran(f, *args, **kwargs).number > 1
    assert the_one_that_ran(f, 1, np.ones(3), a=2).number == 1


@pytest.mark.parametrize("make", [lambda n: [1.0] * n, lambda n: dict.fromkeys("abcde"[:n], 1)], ids=["list", "dict"])
def test_containers_of_any_length_are_tested_by_their_class(tracer, make):
    values = [make(n) for n in range(1, 6)]
    f = function(lambda x: 0)
    f(values[0]), f(values[1])
    inline_cached(f, values[2])
    kept = f._specializer.inline_cache()
    f._specializer.traces.find.clear()
    assert all(the_one_that_ran(f, value) is kept for value in (*values, type(values[0])()))
    class Derived(type(values[0])): ...
    for other in (Derived(values[0]), np.ones(2), 1.0, (1.0,), [np.ones(2)] if type(values[0]) is dict else {"a": 1}):
        assert the_one_that_ran(f, other) is not kept


def test_open_dimensions(tracer):
    f = function(lambda x: 0)
    f(np.ones(3)), f(np.ones(4)), f(np.ones((2, 3))), f(np.ones((4, 3)))
    inline_cached(f, np.ones(9))
    f._specializer.traces.find.clear()
    f(np.ones(7))
    assert len(f.traces) == 2
    inline_cached(f, np.ones((5, 3)))
    assert the_one_that_ran(f, np.ones((2, 3))) is not the_one_that_ran(f, np.ones(2))
    assert the_one_that_ran(f, np.ones((2, 5))).number > 4


def test_a_cached_trace_that_is_dropped_is_gone(tracer):
    f = function(lambda x: 0, max_traces=1)
    f._specializer._warned = True
    inline_cached(f, 1)
    f(1.0)
    assert f._specializer.inline_cache() is None
    f(1)
    assert len(tracer) == 3
    inline_cached(f, 1)
    f.cache_clear()
    f(1)
    assert len(tracer) == 4


def test_guards_of_the_cached_trace_are_checked():
    factor = 2

    def scaled(x):
        return x * factor

    f = ag.function(scaled)
    inline_cached(f, 3)
    factor = "ab"
    assert f(3) == "ababab"
    factor = 2
    assert f(3) == 6


def test_a_cached_trace_with_nothing_to_look_at_is_run_at_once():
    def ratio(a, b):
        return a // b

    def frames(a, b):
        with pytest.raises(ZeroDivisionError) as caught:
            f(a, b)
        return [(each.name, each.lineno, each.path) for each in caught.traceback]

    f = ag.function(ratio)
    by_entry = frames(1, 0)
    inline_cached(f, 7, 2)
    (trace,) = f.traces
    before, trace.entry = trace.calls, None
    assert trace.is_bare and f(7, 2) == 3 and frames(1, 0) == by_entry
    assert trace.calls == before + 2


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
@pytest.mark.parametrize("count", [2, 3, 5, 9])
def test_arguments_that_are_one_object(count):
    names = [f"x{n}" for n in range(count)]
    added = ", ".join(f"np.add({name}, 1, out={name})" for name in names)
    plain = of_expression(", ".join(names), f"[{added}]", globals())
    f = ag.function(plain)
    inline_cached(f, *np.zeros((count, 2)))
    for one, other in permutations(range(count), 2):
        outcomes = []
        for each in (plain, f):
            args = [*np.arange(2.0 * count).reshape(count, 2)]
            args[one] = args[other]
            outcomes.append(np.array(each(*args)).tolist())
        assert outcomes[0] == outcomes[1]
