"""`is` tells equal values apart that never change: which tuple, frozenset or number it is that came from outside."""

from __future__ import annotations

import datetime
import functools
import operator
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import autograph as ag

Point = namedtuple("Point", "x y")
ENGINES = ["numpy", "native", "auto"]


class Pair(tuple[Any, ...]):
    pass


class User:
    pass


class Box:
    def __init__(self, held: Any) -> None:
        self.held = held


MAKERS: dict[str, Callable[[], Any]] = {
    "tuple": lambda: tuple([1, 2]),
    "nested tuple": lambda: tuple([tuple([1, 2]), 3]),
    "tuple of a list": lambda: ([1], 2),
    "tuple of an array": lambda: (np.arange(2.0), 1),
    "tuple of constants": lambda: tuple([None, True, "a"]),
    "long tuple": lambda: tuple(range(int("40"))),
    "tuple subclass": lambda: Pair([1, 2]),
    "namedtuple": lambda: Point(1, 2),
    "frozenset": lambda: frozenset([1, 2]),
    "slice": lambda: slice(1, 2),
    "range": lambda: range(3),
    "partial": lambda: functools.partial(int, base=2),
    "float": lambda: float("1.5"),
    "NaN": lambda: float("nan"),
    "complex": lambda: complex("1+2j"),
    "NumPy scalar": lambda: np.float64(1.5),
    "dtype": lambda: np.dtype("i4,f4"),
    "bytes": lambda: bytes([1, 2, 3]),
    "text": lambda: "".join(["a", "bc"]),
    "Fraction": lambda: Fraction(1, 3),
    "date": lambda: datetime.date(2020, 1, 2),
    "memoryview": lambda: memoryview(b"ab"),
    "array": lambda: np.arange(2.0),
    "list": lambda: [1, 2],
    "object": object,
    "instance": User,
    "empty tuple": lambda: (),
}
KINDS = pytest.mark.parametrize("kind", MAKERS)
X: Any = None
Y: Any = None
BOX = Box(None)


@pytest.fixture(autouse=True)
def _engine(request: pytest.FixtureRequest) -> Iterator[None]:
    global X, Y
    X, Y = (MAKERS[request.node.callspec.params["kind"]]() for _ in range(2))
    BOX.held = X
    yield


def globals_(x: Any, y: Any, n: Any) -> Any:
    return x is X, x is not Y, X is Y, BOX.held is X, x is BOX.held


def arguments(x: Any, y: Any, n: Any) -> Any:
    return x is y, y is not x


def in_a_list(x: Any, y: Any, n: Any) -> Any:
    items = [x, y]
    return items[0] is X, items[1] is X, [item is Y for item in items]


def asks(a: Any, b: Any) -> Any:
    return a is b


def in_a_helper(x: Any, y: Any, n: Any) -> Any:
    return asks(x, X), asks(x, y), asks(Y, y)


def on_paths(x: Any, y: Any, n: Any) -> Any:
    if n > 0:
        x = y
    return x is X, x is y, x is not Y


def in_a_loop(x: Any, y: Any, n: Any) -> Any:
    found = 0
    for _ in range(n):
        if x is X:
            found += 1
        x, y = y, x
    return found, x is X


def until_found(x: Any, y: Any, n: Any) -> Any:
    while n > 0:
        n -= 1
        if x is X:
            return n
    return -1


FUNCTIONS = [globals_, arguments, in_a_list, in_a_helper, on_paths, in_a_loop, until_found]


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
@KINDS
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arguments_and_globals(function: Any, kind: str) -> None:
    first, second = MAKERS[kind](), MAKERS[kind]()
    for engine in ENGINES:
        staged = ag.function(function, engine=engine)
        for x, y in ((X, Y), (first, second), (first, first), (Y, X), (X, X)):
            for n in (0, 3):
                assert staged(x, y, n) == function(x, y, n)


def items_of_arguments(xs: Any) -> Any:
    return xs[0] is X, xs[1] is not Y, xs[0] is xs[1], any(item is X for item in xs)


def values_of_arguments(d: Any) -> Any:
    return d["a"] is X, d.get("b") is Y


def attributes_of_arguments(box: Any) -> Any:
    return box.held is X, box.held is not Y


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
@KINDS
def test_parts_of_arguments(kind: str) -> None:
    made = MAKERS[kind]()
    items, values, attributes = map(ag.function, (items_of_arguments, values_of_arguments, attributes_of_arguments))
    for a, b in ((X, Y), (made, made), (made, X), (X, X), (Y, MAKERS[kind]())):
        assert items([a, b]) == items_of_arguments([a, b])
        assert items((a, b)) == items_of_arguments((a, b))
        assert values({"a": a, "b": b}) == values_of_arguments({"a": a, "b": b})
        assert attributes(Box(a)) == attributes_of_arguments(Box(a))


def of_globals(n: Any) -> Any:
    return X is Y, BOX.held is X, BOX.held is not Y, n + 1


@KINDS
def test_globals_that_are_bound_again(kind: str) -> None:
    global X, Y
    x, y, z = X, Y, MAKERS[kind]()
    staged = ag.function(of_globals)
    for X, Y, BOX.held in ((x, y, x), (x, x, x), (x, y, y), (x, x, y), (z, x, z), (x, z, y)):
        assert staged(1) == of_globals(1)


@KINDS
def test_closures(kind: str) -> None:
    mine = MAKERS[kind]()

    def function(x: Any) -> Any:
        return x is mine, x is not X

    staged = ag.function(function)
    for x in (mine, X, MAKERS[kind](), mine):
        assert staged(x) == function(x)
    mine = MAKERS[kind]()
    for x in (mine, X, MAKERS[kind](), mine):
        assert staged(x) == function(x)


class Sentinels:
    missing: Any = None


def of_a_class(x: Any) -> Any:
    return x is Sentinels.missing


@KINDS
def test_attributes_of_classes(kind: str) -> None:
    if kind == "partial" and sys.version_info >= (3, 13):
        pytest.skip("a partial of a class, which is a descriptor since 3.13, is no place that is watched")
    Sentinels.missing = X
    staged = ag.function(of_a_class)
    for x in (X, Y, X, MAKERS[kind]()):
        assert staged(x) == of_a_class(x)


class Holder:
    held: Any = None

    def compare(self, x: Any) -> Any:
        self.kept = x
        return self.kept is X, self.kept is self.held, self.held is x


@KINDS
def test_attributes_that_a_class_has_for_an_object(kind: str) -> None:
    Holder.held = Y
    method = Holder().compare
    staged = ag.function(method)
    for x in (X, MAKERS[kind](), Y, X):
        assert staged(x) == method(x)


def numbers(x: Any, y: Any) -> Any:
    return id(x) == id(X), id(y) != id(Y), len({id(x), id(y), id(X)}), id(x) in {id(BOX.held)}


@pytest.mark.parametrize("kind", ["tuple", "nested tuple", "namedtuple", "frozenset", "slice", "list", "object"])
def test_numbers_of_objects(kind: str) -> None:
    made = MAKERS[kind]()
    staged = ag.function(numbers)
    for x, y in ((X, Y), (made, Y), (Y, Y), (X, X), (made, made)):
        assert staged(x, y) == numbers(x, y)


def by_functions(x: Any) -> Any:
    return operator.is_(x, X), operator.is_not(x, X), list(map(operator.is_, [x, Y], [X, X]))


@KINDS
def test_functions_of_operator(kind: str) -> None:
    staged = ag.function(by_functions)
    for x in (X, Y, X, MAKERS[kind]()):
        assert staged(x) == by_functions(x)
