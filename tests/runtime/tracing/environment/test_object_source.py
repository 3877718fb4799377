"""Objects that traced code meets are those that the program has, wherever they are kept."""

from __future__ import annotations

import enum
import functools
import types
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.tracing.environment import object_source
from autograph.runtime.tracing.state.undo_log import attributes


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


# The same thing at several places -------------------------------------------------------------------------------------


class Both:
    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second


def second_of(pair: Both, x: float) -> Any:
    found = []
    if x > 0:
        found.append(pair.second)
    return found, pair.second, x


def item_of_second(pair: Both, x: float) -> Any:
    return pair.second[0] * x


THINGS: dict[str, Any] = {
    "object": lambda: Dot(1),
    "array": lambda: np.arange(3.0),
    "list": lambda: [1.5, 2],
    "deque": lambda: deque([2]),
}


@pytest.mark.parametrize("thing", THINGS)
def test_what_is_read_at_one_place_was_at_another_one_as_well(thing: str) -> None:
    make = THINGS[thing]
    for function in (second_of, item_of_second) if thing != "object" else (second_of,):
        staged = ag.function(function)
        for _ in range(2):
            one, other = make(), make()
            if thing != "object":
                other[0] = 7
            for pair in (Both(one, one), Both(one, other)):
                wanted, found = function(pair, 2.0), staged(pair, 2.0)
                if function is second_of:
                    assert found[1] is found[0][0] is pair.second
                else:
                    assert found == wanted


ARRAY = np.arange(3.0)
KEPT = Dot(ARRAY)


def test_an_attribute_that_is_a_global_as_well_is_not_written() -> None:
    staged = ag.function(lambda x: KEPT.value * x + ARRAY)
    assert ".value = " not in str(staged.graph(2.0))
    assert staged(2.0).tolist() == [0.0, 3.0, 6.0]


# In places without a name ---------------------------------------------------------------------------------------------


class Equal(Dot):
    def __eq__(self, other: object) -> bool:
        return type(other) is Equal

    def __hash__(self) -> int:
        return 1


class Inside(NamedTuple):
    dot: Dot


def owner(dot: Dot, x: float) -> float:
    dot.value += x
    return dot.value


def inside(holder: Any) -> Any:
    if isinstance(holder, functools.partial):
        return holder.args[0]
    if isinstance(holder, types.MethodType):
        return holder.__self__
    if isinstance(holder, weakref.ref):
        return holder()
    part = next(iter(holder))
    return part[0] if isinstance(part, tuple) else part


def value_inside(holder: Any, x: float) -> Any:
    return inside(holder).value + x


def object_inside(holder: Any, x: float) -> Any:
    found = []
    if x > 0:
        found.append(inside(holder))
    return found


def change_inside(holder: Any, x: float) -> Any:
    dot = inside(holder)
    dot.value += x
    return dot


HOLDERS: dict[str, Any] = {
    "key": lambda dot: {dot: 1},
    "part of a key": lambda dot: {(dot, 1): 1},
    "named part of a key": lambda dot: {Inside(dot): 1},
    "frozenset": lambda dot: frozenset([dot]),
    "partial": lambda dot: functools.partial(owner, dot),
    "method": lambda dot: types.MethodType(owner, dot),
    "weak reference": weakref.ref,
}
HELD: Any = None
ATTRIBUTE = Dot(None)


def argument(use: Any, holder: Any, x: float) -> Any:
    return use(holder, x)


def in_an_argument(use: Any, holders: Any, x: float) -> Any:
    return use(holders[0], x)


def from_outside(use: Any, _: Any, x: float) -> Any:
    return use(HELD, x)


def attribute(use: Any, _: Any, x: float) -> Any:
    return use(ATTRIBUTE.value, x)


@pytest.mark.parametrize("program", [argument, in_an_argument, from_outside, attribute])
@pytest.mark.parametrize("kind", [Dot, Equal])
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("use", [value_inside, object_inside, change_inside])
def test_objects_in_places_without_a_name(
    use: Any, holder: str, kind: Any, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def calls(function: Any) -> Any:
        dots = [kind(1.0), kind(5.0)]
        for dot, before in ((dots[0], 1.0), (dots[0], 50.0), (dots[0], 50.0), (dots[1], 5.0), (dots[1], 9.0)):
            dot.value = before
            held = HOLDERS[holder](dot)
            monkeypatch.setitem(globals(), "HELD", held)
            monkeypatch.setattr(ATTRIBUTE, "value", held)
            given = (held,) if program is in_an_argument else held if program is argument else None
            result = function(use, given, 2.0)
            part = result[0] if isinstance(result, list) else result
            yield (part if isinstance(part, float) else part is dot), [each.value for each in dots]

    assert list(calls(ag.function(program))) == list(calls(program))


class Unwritten:
    """A key that is not ready to be shown yet."""

    def __repr__(self) -> str:
        raise AssertionError("nobody has asked for it")


class Numbered(enum.Enum):
    ONE = 1

    def __repr__(self) -> str:
        raise AssertionError("nobody has asked for it")


def of_the_argument(table: Any, x: float) -> Any:
    for key in table:
        if x > 1:
            table[key] = table[key] + x
    return table


def of_the_attribute(table: Any, x: float) -> Any:
    if x > 1:
        for key in KEYED.value:
            KEYED.value[key] += x
    return sum(KEYED.value.values()), len(ALL)


KEYED = Dot({})
ALL: Any = frozenset()


@pytest.mark.parametrize("function", [of_the_argument, of_the_attribute])
@pytest.mark.parametrize(
    "keys", [(Unwritten(), Unwritten()), ((Unwritten(), 1), 2), (Inside(Dot(Unwritten())), 1), (Numbered.ONE, None)]
)
def test_keys_are_not_asked_how_they_are_written(
    function: Any, keys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "ALL", frozenset(keys))
    staged = ag.function(function)
    for x in (0.5, 2.0, 3.0):
        results = []
        for each in (function, staged):
            monkeypatch.setattr(KEYED, "value", dict.fromkeys(keys, 1.5))
            results.append(each(dict.fromkeys(keys, 2.5), x))
        assert results[0] == results[1]


def counts_up(dot: Dot, x: float) -> Any:
    if x > 0:
        dot.total += x  # type: ignore[attr-defined]
    return dot.total, len(dot.value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [lambda: [0.5] * 100_000, lambda: dict.fromkeys(range(100_000), 0.5)])
def test_numbers_in_long_containers_are_not_looked_at_one_by_one(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, has_parts = [], object_source.has_parts
    monkeypatch.setattr(object_source, "has_parts", lambda part: asked.append(part) or has_parts(part))
    staged, dot = ag.function(counts_up), Dot(make())
    dot.total = 0.0  # type: ignore[attr-defined]
    for calls in (1, 2, 3):
        assert staged(dot, 2.0) == (2.0 * calls, 100_000)
    assert len(asked) < 1000


class Scaled(list[float]):
    def scaled(self, x: float) -> float:
        return x * len(self)


@pytest.mark.parametrize("first", [Scaled([1.0]).scaled, [].append, Scaled.scaled])
def test_methods_are_distinguished_after_other_methods(first: Any) -> None:
    """A method of an object that no guard can watch is staged by reference, another one is a constant."""

    @ag.function
    def of_owner(method: Any, x: float) -> float:
        return method.__self__.value + x

    ag.function(lambda method: None)(first)
    dots = [Dot(1.0), Dot(5.0)]
    assert [of_owner(types.MethodType(owner, dot), 2.0) for dot in (*dots, *dots)] == [3.0, 7.0, 3.0, 7.0]


class Wheel:
    """Objects that know a hub, which knows all of them."""

    def __init__(self, count: int) -> None:
        self.hub = Dot(1.0)
        self.spokes = [Dot(self.hub) for _ in range(count)]
        vars(self.hub).update({f"spoke{number}": spoke for number, spoke in enumerate(self.spokes)})


def sum_of_hubs(x: float, *spokes: Dot) -> float:
    for spoke in spokes:
        x = x + spoke.value.value
    return x


def test_objects_that_others_share_are_searched_once(monkeypatch):
    """The search grows with the number of objects, not with that of the ways to them."""
    search, calls = object_source.ObjectSources._initial_parts, []
    monkeypatch.setattr(
        object_source.ObjectSources, "_initial_parts", lambda self, thing: (calls.append(thing), search(self, thing))[1]
    )

    def searched(count: int) -> int:
        calls.clear()
        staged = ag.function(sum_of_hubs)
        assert staged(2.0, *Wheel(count).spokes) == count + 2.0
        assert not staged.traces[0].plain
        return len(calls)

    assert searched(40) < 5 * searched(10)
