"""Objects that loops and branches make anew, in one variable after another: the graph has their attributes only."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

import autograph as ag

ENGINES = ["numpy", *["native"] * (find_spec("llvmlite") is not None)]


class Vec:
    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vec) -> Vec:
        return type(self)(self.x + other.x, self.y + other.y)

    def __mul__(self, k: float) -> Vec:
        return Vec(self.x * k, self.y * k)

    def norm(self) -> float:
        return self.x * self.x + self.y * self.y


class Slotted(Vec):
    __slots__ = ("x", "y")


@dataclass
class Data:
    x: float
    y: float

    __add__, __mul__, norm = Vec.__add__, Vec.__mul__, Vec.norm


def summed(kind: Any, n: int) -> Any:
    a, v = kind(0.0, 0), kind(0.5, 1)
    for _ in range(n):
        a = a + v
    return a, a.norm()


def stepped(kind: Any, n: int) -> Any:
    a = kind(1.0, 0.0)
    steps = 0
    while a.norm() > 0.01 and steps < n:
        a = kind(a.x * 0.9 - a.y * 0.1, a.y * 0.9 + a.x * 0.1)
        steps += 1
    return steps, a.x, a.y


def best(kind: Any, n: int) -> Any:
    found = kind(0.0, 0.0)
    for i in range(n):
        if (i * 7) % 11 > found.x:
            found = kind((i * 7) % 11, i)
    return found


def swapped(kind: Any, n: int) -> Any:
    a, b = kind(1.0, 2.0), kind(3.0, 5.0)
    for _ in range(n):
        a, b = b, kind(a.x + b.x, a.y)
    return a, b, a is b


def aliased(kind: Any, n: int) -> Any:
    a = kind(1.0, 2.0)
    b = a
    for i in range(n):
        a = kind(a.x + 1, b.y)
        if i % 3 == 0:
            b = a
        b.y += 0.5
    return a, b, a is b


def kept(kind: Any, n: int) -> Any:
    a, seen = kind(0.0, 1.0), []
    for i in range(n):
        a = kind(i, a.y)
        seen.append(a)
        a.y += 1.0
    return a, seen, [each is a for each in seen]


def linked(kind: Any, n: int) -> Any:
    a = kind(0.0, None)
    for i in range(n):
        a = kind(i, a)
    return a.x, n < 2 or a.y.y.x


def changed(kind: Any, n: int) -> Any:
    a = kind(0.0, 1.0)
    method = a.norm
    for i in range(n):
        a = kind(a.x + i, 1.0)
        a.x *= 0.5
    return a, method()


def referred(kind: Any, n: int) -> Any:
    a = kind(0.0, 1.0)
    seen = weakref.ref(a)
    for i in range(n):
        a = kind(a.x + i, 1.0)
    return a.x, seen() is a


def of_argument(a: Any, n: int) -> Any:
    first = a
    for _ in range(n):
        a = a + first
    return a, a is first


PROGRAMS: list[Callable[[Any, int], Any]] = [summed, stepped, best, swapped, aliased, kept, linked, changed, referred]
KINDS = [Vec, Slotted, Data]


def shown(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [shown(each) for each in value]
    if isinstance(value, (Vec, Data)):
        return type(value), type(value.x), value.x, type(value.y), shown(value.y)
    return value


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program: Callable[[Any, int], Any], kind: Any, engine: str) -> None:
    if program is referred and kind is Slotted and not hasattr(Slotted(1.0, 2.0), "__weakref__"):
        return
    function = ag.function(program, engine=engine)
    for n in (5, 12, 0, 1, 30):
        assert shown(function(kind, n)) == shown(program(kind, n))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_argument_stays_itself(kind: Any, engine: str) -> None:
    function = ag.function(of_argument, engine=engine)
    for n in (0, 3, 0, 20):
        assert shown(function(kind(1.5, 2.5), n)) == shown(of_argument(kind(1.5, 2.5), n))
    a = kind(1.0, 2.0)
    assert function(a, 0)[0] is a


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", [summed, stepped, best, swapped])
def test_the_loop_has_no_objects(program: Callable[[Any, int], Any], kind: Any) -> None:
    text = str(ag.function(program, engine="numpy").graph(kind, 100))
    loop = text[text.index("body(") : text.rindex("->")]
    assert "new(" not in loop.rpartition("->")[0] and "call(" not in loop
