"""Objects that are others at each call, or change between calls: never is a trace used for what it was not made for.

The first are arguments of one class with different contents; the second one object, which is changed from outside.
"""

from __future__ import annotations

import array
import copy
import datetime
import decimal
import fractions
import functools
import operator
import pathlib
import re
import string
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import outcomes

pytestmark = pytest.mark.filterwarnings("ignore:.*has been traced:autograph.errors.RetraceWarning")


class Box:
    size = 5

    def __init__(self, k: Any) -> None:
        self.k = k

    def times(self, x: Any) -> Any:
        return self.k * x

    def hidden(self) -> Any:
        return getattr(self, "".join("k"))

    @classmethod
    def sized(cls, x: Any) -> Any:
        return cls.size * x

    @property
    def triple(self) -> Any:
        return self.k * 3

    def __call__(self, x: Any) -> Any:
        return x + self.k


class Slots:
    __slots__ = ("__own", "k")

    def __init__(self, k: Any) -> None:
        self.k = self.__own = k

    def own(self) -> Any:
        return self.__own

    def change(self, k: Any) -> None:
        self.__own = k


class Numbers(list):
    pass


class Table(dict):
    def __missing__(self, key: Any) -> int:
        return 77


class Fallback:
    def __init__(self, k: Any) -> None:
        self._k = k

    def __getattr__(self, name: str) -> Any:
        if name == "k":
            return self._k
        raise AttributeError(name)


@dataclass
class Square:
    side: int

    def __post_init__(self) -> None:
        self.area = self.side**2


@dataclass
class Account:
    balance: int
    entries: list[Any] = field(default_factory=list)

    def add(self, amount: int) -> Account:
        self.balance += amount
        self.entries.append(amount)
        return self


def multiply(k: Any) -> Callable[[Any], Any]:
    return lambda x: x * k


def with_default(k: Any) -> Callable[[Any], Any]:
    return lambda x, k=k: x * k


def counted(function: Callable[[Any], Any]) -> Any:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        wrapper.calls += 1
        return function(x)

    wrapper.calls = 0
    return wrapper


def outcome(function: Any, *args: Any) -> Any:
    """What a call does, and what its arguments are then."""
    try:
        result = function(*args)
    except Exception as error:
        result = error
    return outcomes._Description().of((result, args))


def of_text(texts: str) -> list[Any]:
    return [eval(f"lambda x: x * {text}") for text in texts.split()]


# Another object at each call ------------------------------------------------------------------------------------------

OTHERS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int], Any]]] = {
    "lambdas": (lambda f, x: f(x), lambda k: of_text("0 1 2 3 4 5 6 7 8")[k]),
    "closures": (lambda f, x: f(x), multiply),
    "defaults": (lambda f, x: f(x), with_default),
    "methods": (lambda f, x: f(x), lambda k: Box(k).times),
    "callables": (lambda f, x: f(x), Box),
    "partials": (lambda f, x: f(x), lambda k: functools.partial(operator.mul, k)),
    "partials_of_closures": (lambda f, x: f(x), lambda k: functools.partial(multiply(k))),
    "builtin_methods": (lambda f, x: f(x), lambda k: ([2] * k).count),
    "cached": (lambda f, x: f(x), lambda k: functools.lru_cache(multiply(k))),
    "static_methods": (lambda f, x: f(x), lambda k: staticmethod(multiply(k))),
    "vectorized": (lambda f, x: f(x), lambda k: np.vectorize(multiply(k))),
    "in_a_dict": (lambda d, x: d["f"][0](x), lambda k: {"f": [multiply(k)]}),
    "in_an_object": (lambda o, x: o.k(x), lambda k: Box(multiply(k))),
    "long_bytes": (lambda b, x: b[0] + x, lambda k: bytes([k] * 50)),
    "bytes": (lambda b, x: b[0] + x, lambda k: bytes([k] * 5)),
    "texts": (lambda b, x: b + str(x), str),
    "frozensets": (lambda b, x: sum(b) + x, lambda k: frozenset(range(k))),
    "slices": (lambda s, x: s.stop + x, slice),
    "patterns": (lambda r, x: (len(r.pattern) + x, r.match("aaaa") is None), lambda k: re.compile("a" * k)),
    "decimals": (lambda d, x: (d * x, d > 2, int(d)), decimal.Decimal),
    "fractions": (lambda d, x: x if d > 2 else d.numerator, lambda k: fractions.Fraction(k, 3)),
    "dates": (lambda d, x: d.day + x, lambda k: datetime.date(2020, 1, k + 1)),
    "deltas": (lambda d, x: d.days + x if d > datetime.timedelta(3) else d * x, datetime.timedelta),
    "deques": (lambda d, x: d[0] + x + len(d), lambda k: deque([k] * (k + 1))),
    "bytearrays": (lambda d, x: d[0] + x + len(d), lambda k: bytearray([k] * (k + 1))),
    "counters": (lambda d, x: d["a"] + x + len(d), lambda k: Counter("a" * k)),
    "ordered": (lambda d, x: d["a"] + x + len(d), lambda k: OrderedDict(a=k)),
    "defaulting": (lambda d, x: d["a"] + x + len(d), lambda k: defaultdict(int, a=k)),
    "array_module": (lambda d, x: d[0] + x + len(d), lambda k: array.array("i", [k] * (k + 1))),
    "getters": (lambda g, x: g((x, 3, 4)), lambda k: operator.itemgetter(k % 3)),
    "sets": (lambda d, x: sum(d) + x + len(d), lambda k: set(range(k))),
    "slots": (lambda o, x: (o.k + x, o.own()), Slots),
    "lists_of_a_class": (lambda d, x: d[0] + x, lambda k: Numbers([k])),
    "dicts_of_a_class": (lambda d, x: d["a"] + d["b"] + x, lambda k: Table(a=k)),
    "properties": (lambda o, x: o.triple + x, Box),
    "getattr_method": (lambda o, x: o.k + x, Fallback),
    "names_computed": (lambda o, x: o.hidden() + x, Box),
    "vars": (lambda o, x: vars(o)["k"] + o.__dict__["k"] + x, Box),
    "namespaces": (lambda o, x: o.k + x, lambda k: types.SimpleNamespace(k=k)),
    "paths": (lambda p, x: len(p.name) + x, lambda k: pathlib.PurePath("x" * (k + 1))),
    "keys": (lambda d, x: len(d) + x, lambda k: dict.fromkeys(range(k)).keys()),
    "proxies": (lambda d, x: d["k"] + x, lambda k: types.MappingProxyType({"k": k})),
    "templates": (lambda t, x: t.substitute(a=x), lambda k: string.Template(f"{k} $a")),
    "polynomials": (lambda p, x: p(x), lambda k: np.poly1d([k, 1])),
    "exceptions": (lambda e, x: e.args[0] + x, ValueError),
    "objects_in_objects": (lambda o, x: (o.k.k + x, o.k.own()), lambda k: Box(Slots(k))),
    "computed_fields": (lambda o, x: (o.side, o.area + x), Square),
    "iterators": (lambda d, x: next(d) + x, lambda k: iter([k])),
    "generators": (lambda d, x: sum(d) + x, lambda k: (i for i in range(k))),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_object_at_each_call(name: str) -> None:
    function, make = OTHERS[name]
    for order in (range(8), range(8)[::-1], [0, 1] * 4):
        staged = ag.function(function)
        for k in order:
            assert outcome(staged, make(k), 2) == outcome(function, make(k), 2), k


# The same object, changed ---------------------------------------------------------------------------------------------


def put(name: str, value: Any) -> Callable[[Any], None]:
    return lambda thing: setattr(thing, name, value)


def swapped() -> Box:
    box = Box(Box(1))
    box.other = box.k
    return box


CHANGED: dict[str, tuple[Any, ...]] = {
    "deque": (lambda o, x: (o.k[0], o.k.append(x)), lambda: Box(deque([1])), lambda o: o.k.appendleft(5)),
    "set": (lambda o, x: (o.k.add(x), 3 in o.k), lambda: Box({1}), lambda o: o.k.add(3), lambda o: o.k.clear()),
    "bytearray": (lambda o, x: (o.k[0], o.k.append(x)), lambda: Box(bytearray(b"ab")), lambda o: o.k.clear()),
    "array": (lambda o, x: (o.k[0], o.k.append(x)), lambda: Box(array.array("i", [1])), lambda o: o.k.insert(0, 3)),
    "list_of_a_class": (lambda o, x: (o[0], o.append(x)), lambda: Numbers([1]), lambda o: o.insert(0, 3)),
    "dict_of_a_class": (lambda o, x: (o[0], o["q"]), lambda: Table({0: 1}), lambda o: o.update({0: 3, "q": 1})),
    "counter": (lambda o, x: (o["a"], o["q"]), lambda: Counter("ab"), lambda o: o.update("aaq")),
    "long_list": (lambda o, x: (o.k[0], len(o.k)), lambda: Box(list(range(99))), lambda o: o.k.insert(0, 3)),
    "long_dict": (lambda o, x: (o.k[0], len(o.k)), lambda: Box(dict.fromkeys(range(99))), lambda o: o.k.update({0: 5})),
    "short_list": (lambda o, x: (o.k[0], len(o.k)), lambda: Box([1, 2]), lambda o: o.k.insert(0, 3)),
    "odd_keys": (lambda o, x: o.k[int] + o.k[1, 2], lambda: Box({int: 1, (1, 2): 2}), lambda o: o.k.update({int: 5})),
    "slots": (lambda o, x: (o.k, o.own()), lambda: Slots(1), put("k", 4), lambda o: o.change(5)),
    "slots_set": (lambda o, x: (o.k, o.change(x), o.own()), lambda: Slots(1), put("k", 4), lambda o: o.change(5)),
    "new_attribute": (lambda o, x: hasattr(o, "z"), lambda: Box(1), put("z", 4), lambda o: delattr(o, "z")),
    "default": (lambda o, x: getattr(o, "z", 3), lambda: Box(1), put("z", 4), lambda o: delattr(o, "z")),
    "of_the_class": (lambda o, x: o.size, lambda: Box(1), put("size", 4), lambda o: delattr(o, "size")),
    "method": (lambda o, x: o.times(x), lambda: Box(1), put("times", lambda x: 99)),
    "property": (lambda o, x: o.triple, lambda: Box(1), put("k", 7)),
    "call": (lambda o, x: o(x), lambda: Box(1), put("k", 7)),
    "setattr": (lambda o, x: (setattr(o, "k", o.k + x), o.k), lambda: Box(1), put("k", 9)),
    "vars": (lambda o, x: (vars(o).update(k=o.k + x), o.k), lambda: Box(1), put("k", 9)),
    "bound_method": (lambda f, x: f(x), lambda: Box(1).times, lambda f: setattr(f.__self__, "k", 7)),
    "bound_to_dataclass": (
        lambda f, x: f(x).balance,
        lambda: Account(1).add,
        lambda f: setattr(f.__self__, "balance", 7),
    ),
    "bound_to_list": (lambda f, x: f(x), lambda: [1].count, lambda f: f.__self__.append(2)),
    "partial": (
        lambda f, x: f(x),
        lambda: functools.partial(lambda a, b: a[0] + b, [1]),
        lambda f: f.args[0].insert(0, 7),
    ),
    "partial_keyword": (
        lambda f, x: f(x),
        lambda: functools.partial(lambda b, a: a[0] + b, a=[1]),
        lambda f: f.keywords["a"].insert(0, 7),
    ),
    "partial_array": (lambda f, x: f(x), lambda: functools.partial(np.add, np.ones(2)), lambda f: f.args[0].fill(7)),
    "partial_object": (lambda f, x: f(x), lambda: functools.partial(Box(3)), lambda f: setattr(f.func, "k", 7)),
    "computed_field": (lambda o, x: (o, o.area, o == Square(1)), lambda: Square(1), put("area", 7), put("side", 9)),
    "dataclass": (
        lambda o, x: (o.add(x) is o, o),
        lambda: Account(1),
        put("balance", 9),
        lambda o: o.entries.append(8),
    ),
    "dataclass_within": (lambda o, x: (o.k, o.k.area), lambda: Box(Square(1)), lambda o: setattr(o.k, "area", 3)),
    "function": (lambda f, x: (f(x), f.calls), lambda: counted(multiply(2)), put("calls", 9)),
    "function_attribute": (lambda f, x: f.__dict__.get("z", 0), lambda: counted(multiply(2)), put("z", 9)),
    "default_list": (lambda f, x: f(x), lambda: lambda x, k=[1]: x + k[0], lambda f: f.__defaults__[0].insert(0, 9)),
    "default_number": (lambda f, x: f(x), lambda: lambda x, k=1: x + k, put("__defaults__", (9,))),
    "class": (lambda c, x: c.n * x, lambda: type("K", (), {"n": 3}), put("n", 7)),
    "copied": (lambda o, x: copy.copy(o).k, lambda: Box(1), put("k", 9)),
    "copied_deeply": (lambda o, x: copy.deepcopy(o).k.k, lambda: Box(Box(1)), lambda o: setattr(o.k, "k", 9)),
    "sorted": (
        lambda o, x: sorted(o, key=operator.attrgetter("k"))[0].k,
        lambda: [Box(1), Box(2)],
        lambda o: setattr(o[0], "k", 9),
    ),
    "deep": (lambda o, x: o.k[0].k["a"].k, lambda: Box([Box({"a": Box(1)})]), lambda o: setattr(o.k[0].k["a"], "k", 9)),
    "class_of_attribute": (
        lambda o, x: type(o.k).__name__,
        lambda: Box("a"),
        put("k", 3),
        put("k", True),
        put("k", 1.0),
    ),
    "iterator": (lambda o, x: next(o.k) + x, lambda: Box(iter(range(9))), lambda o: next(o.k)),
    "exception": (lambda e, x: e.args[0] + x, lambda: ValueError(4), put("args", (8,))),
    "number": (lambda o, x: o.k + x, lambda: Box(True), put("k", np.int8(4)), put("k", np.float32(4))),
    "array_attribute": (lambda o, x: o.k * x, lambda: Box(np.ones(3)), put("k", np.ones(4)), put("k", np.ones(4, int))),
    "same_object": (lambda o, x: o.k is o.other, swapped, put("k", Box(1)), lambda o: setattr(o, "k", o.other)),
    "same_as_argument": (
        lambda o, x: o[0] is o[1].k,
        lambda: [b := Box(1), Box(b)],
        lambda o: setattr(o[1], "k", Box(1)),
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_the_same_object_changed(name: str) -> None:
    function, make, *changes = CHANGED[name]
    staged = ag.function(function)
    mine, theirs = make(), make()
    for change in (lambda thing: None, *changes):
        change(mine)
        change(theirs)
        for _ in range(2):
            assert outcome(staged, mine, 2) == outcome(function, theirs, 2)


SOMETHING: Any = None


def read_global(x: Any) -> Any:
    return SOMETHING.k + x


@pytest.mark.parametrize("make", [Box, Slots, lambda k: types.SimpleNamespace(k=k)])
def test_a_global_object_changed(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SOMETHING", make(1))
    staged = ag.function(read_global)
    assert staged(2) == 3
    SOMETHING.k = 5
    assert staged(2) == 7
    monkeypatch.setitem(globals(), "SOMETHING", make(8))
    assert staged(2) == 10


def test_a_method_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(lambda box, x: (box.times(x), box.sized(x)))
    assert staged(Box(3), 2) == (6, 10)
    monkeypatch.setattr(Box, "times", lambda self, x: x * 1000)
    assert staged(Box(3), 2) == (2000, 10)
    monkeypatch.setattr(Box, "size", 7)
    assert staged(Box(3), 2) == (2000, 14)


def test_an_attribute_nobody_reads_may_change() -> None:
    staged = ag.function(lambda box, x: box.k + x)
    box = Box(1)
    box.seen = 0
    for _ in range(3):
        staged(box, 2)
        box.seen += 1
    assert len(staged.traces) == 1


def test_a_static_object_changed() -> None:
    staged = ag.function(lambda box, x: box.k + x, static_argnames=["box"])
    box = Box(1)
    assert staged(box, 2) == 3
    box.k = 5
    assert staged(box, 2) == 7


class Missing:
    pass


MISSING = Missing()


@ag.function
def is_missing(x, y=MISSING):
    return x if y is MISSING else y


def test_an_argument_is_what_the_module_has_or_not():
    other = Missing()
    for y in [MISSING, other, MISSING, other]:
        assert is_missing(1, y) is (1 if y is MISSING else other)
    is_missing.cache_clear()
    for y in [other, MISSING, other]:
        assert is_missing(1, y) is (1 if y is MISSING else other)
    assert is_missing(1) == 1


def looks_around(x):
    return x + len(sys._getframe(0).f_locals)


def test_a_function_that_cannot_be_staged_keeps_its_attributes():
    looks_around.table = table = np.ones(2)
    staged = ag.function(looks_around)
    assert staged(1) == looks_around(1)
    assert looks_around.table is table
