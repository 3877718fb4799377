"""Objects that traced code meets are those that the program has, wherever they are kept."""

from __future__ import annotations

import enum
from typing import Any

import pytest

import autograph as ag
from autograph.runtime.journal import attributes


class Dot:
    def __init__(self, value: Any) -> None:
        self.value = value


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Pair:
    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __eq__(self, other: object) -> bool:
        return type(other) is Pair and other.numbers == self.numbers


NAN = float("nan")


class Grid:
    """Objects by keys."""

    def __init__(self, keys: Any, first: float) -> None:
        self.keys = keys
        self.cells = {key: Dot(first + place) for place, key in enumerate(keys)}


def cell(grid: Grid, place: int) -> Any:
    return grid.cells[grid.keys[place]]


def cells_above(grid: Grid, limit: float) -> Any:
    found = []
    for key in grid.cells:
        if grid.cells[key].value > limit:
            found.append(grid.cells[key])
    return found


def exchange(grid: Grid, x: float) -> Any:
    grid.cells[grid.keys[0]] = grid.cells[grid.keys[1]]
    grid.cells[grid.keys[0]].value += x
    return grid.cells


@pytest.mark.parametrize(
    "keys",
    [(0.5, 1.5), (None, 1), ((0, 1), (1, 0)), (((0, "a"), None), 2j), (Color.RED, (Color.BLUE, 2)), (b"a", "a"),
     (frozenset({1}), int), (NAN, 1.0), (Pair(0, 1), Pair(1, 0)), (len, (max, Pair(2)))],
)  # fmt: skip
@pytest.mark.parametrize("function", [cell, cells_above, exchange])
def test_objects_by_keys_of_any_kind(function: Any, keys: Any) -> None:
    staged = ag.function(function)
    for first in (1.0, 5.0, 9.0):
        for argument in (0, 1):
            plain, other = Grid(keys, first), Grid(keys, first)
            wanted, found = function(plain, argument), staged(other, argument)
            assert _places(found, other) == _places(wanted, plain)
            assert [dot.value for dot in other.cells.values()] == [dot.value for dot in plain.cells.values()]


def _places(found: Any, grid: Grid) -> Any:
    """Which of the grid's objects are in what a function returned."""
    parts = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else [found]
    return [[part is dot for dot in grid.cells.values()] for part in parts]


class Number:
    __slots__ = ("value", "text")


class Constant(Number):
    @property
    def value(self) -> float:  # type: ignore[override]
        raise AssertionError("nobody has asked for it")


def test_looking_at_what_an_object_holds_calls_no_property() -> None:
    number, constant = Number(), Constant()
    number.value, number.text, constant.text = 1, "one", "two"
    assert attributes(number) == {"value": 1, "text": "one"}
    assert attributes(constant) == {"text": "two"}
