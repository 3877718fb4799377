"""Machine code that reads the fields of named tuples."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import pytest

import autograph as ag
from tests.comparing import assert_same, result_or_error
from tests.runtime.engines.native.programs import regions


class Typed(NamedTuple):
    x: float
    y: float


Point = namedtuple("Point", "x y")


class Doubled(Point):
    """Its `x` is no field."""

    __slots__ = ()

    @property
    def x(self) -> Any:  # type: ignore[override]
        return 2 * self[0]


class Noted(Point):
    """Its instances have a dict, which does not hide the fields."""


class Swapped(Typed):
    """Its `x` is the field `y`."""

    x = Typed.y  # type: ignore[assignment]


class Read(Point):
    """It makes its attributes up."""

    def __getattribute__(self, name: str) -> Any:
        return 7.5 if name == "x" else super().__getattribute__(name)


def noted(*args: Any) -> Noted:
    made = Noted(*args)
    made.__dict__["x"] = 100.0
    return made


def short(kind: Any) -> Any:
    """A named tuple without its second field."""
    return tuple.__new__(kind, (1.5,))


def corners(points: list[Any]) -> Any:
    kept: list[Any] = []
    for point in points:
        while len(kept) >= 2:
            one, other = kept[-2], kept[-1]
            if (other.x - one.x) * (point.y - one.y) > (other.y - one.y) * (point.x - one.x):
                break
            kept.pop()
        kept.append(point)
    return kept


def sums(points: list[Any]) -> Any:
    total = 0.0
    for point in reversed(points):
        total += point.x * point.y
    return total


def drawn(kind: Any, number: Any) -> list[Any]:
    return [kind(number(k * 37 % 11), number(k * 61 % 13)) for k in range(12)]


POINTS: list[list[Any]] = [
    drawn(Point, int), drawn(Typed, float), drawn(Point, float) + drawn(Typed, int), drawn(Doubled, float),
    drawn(noted, float), drawn(Swapped, float), drawn(Read, float), [*drawn(Point, float), short(Point)],
    [*drawn(Typed, float), None], drawn(Point, lambda k: 2**70 + k), drawn(Point, str), [],
    [*drawn(Point, float), *drawn(Doubled, float), *drawn(noted, int), *drawn(Typed, float), short(Typed)],
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "native", "default"])
@pytest.mark.parametrize("function", [corners, sums], ids=lambda each: each.__name__)
def test_fields(function: Any, engine: str) -> None:
    staged = ag.function(function) if engine == "default" else ag.function(function, engine=engine)
    names = (function.__name__,)
    for points in (*POINTS, *POINTS):   # they are not copied: the short ones cannot be
        wanted, found = result_or_error(function, points, names=names), result_or_error(staged, points, names=names)
        assert repr(found) == repr(wanted)


def test_no_callbacks() -> None:
    staged = ag.function(corners, engine="native")
    for _ in range(3):
        staged(drawn(Point, float))
    assert [each.nodes[0].op for region in regions(staged) for each in region.obstacles] == []
    called = [each for region in regions(staged) for code in region.compiled for each in code.callbacks]
    assert not [each for each in called if each.count.value]


@pytest.mark.parametrize("engine", ["numpy", "native", "default"])
def test_fields_are_not_set(engine: str) -> None:
    def sets(points: list[Any]) -> None:
        for point in points:
            point.x = point.y

    staged = ag.function(sets) if engine == "default" else ag.function(sets, engine=engine)
    for _ in range(2):
        assert_same(staged, drawn(Point, float))


@pytest.mark.parametrize("engine", ["numpy", "native", "default"])
def test_class_that_changes(engine: str) -> None:
    kind = namedtuple("kind", "x y")  # noqa: PYI024
    staged = ag.function(sums) if engine == "default" else ag.function(sums, engine=engine)
    points = drawn(kind, float)
    for _ in range(3):
        assert staged(points) == sums(points)
    kind.x = property(lambda self: self[0] + 1)  # type: ignore[assignment]
    for _ in range(3):
        assert staged(points) == sums(points)
