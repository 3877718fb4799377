"""Loops over the items of lists and tuples, and over their parts, whose references the lists keep meanwhile."""

from __future__ import annotations

import gc
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.comparing import assert_same

ENGINES = ["native", "numpy", None]
Pair = namedtuple("Pair", "x y")
NAN = float("nan")


class Row(list[Any]):
    """A list that is iterated by code of the user's."""

    def __iter__(self) -> Any:
        return iter([len(self), 1.5])


class Falling:
    """An object that empties a list when nothing refers to it any longer."""

    def __init__(self, things: list[Any]) -> None:
        self.things = things

    def __del__(self) -> None:
        self.things.clear()


def staged(function: Any, engine: str | None) -> Any:
    return ag.function(function) if engine is None else ag.function(function, engine=engine)


def sums(pairs: Any) -> Any:
    total, last = 0.0, None
    for x, y in pairs:
        total += x * 2 + y
        last = x
    return total, last


def places(pairs: Any) -> Any:
    found = []
    for k, (x, y) in enumerate(pairs):
        found.append(x + k)
        found.append(y)
    return found


def joined(pairs: Any) -> Any:
    found, count = {}, 0
    for name, number in zip(pairs, pairs[1:]):
        (a, b), (c, _) = name, number
        found[a, c] = b
        count += 1
    return found, count


def kept(pairs: Any) -> Any:
    names, firsts = [], {}
    for name, number in pairs:
        names.append(name)
        firsts.setdefault(number, name)
    return names, firsts


def greatest(pairs: Any) -> Any:
    return max(y for _, y in pairs), min(x for x, _ in pairs), max(pairs), max(pairs, key=lambda p: p[1])


def single(pairs: Any) -> Any:
    total, seen = 0, []
    for pair in pairs:
        total += pair[0]
        seen.append(pair)
    return total, seen


FUNCTIONS = [sums, places, joined, kept, greatest, single]
FLOATS = [(k * 0.5, k % 7 * 1.25) for k in range(40)]
LISTS = {
    "floats": FLOATS,
    "integers": [(k, k % 7) for k in range(40)],
    "kinds": [(k if k % 3 else k * 0.5, k % 7 + 0.25) for k in range(40)],
    "lists": [[k * 0.5, k] for k in range(40)],
    "lists and tuples": [[k * 0.5, k] if k % 5 else (k * 0.5, k) for k in range(40)],
    "large": [(k * 2**40, 2**70 if k == 17 else k) for k in range(40)],
    "nan": [(k * 0.5, NAN if k == 17 else k * 0.25) for k in range(40)],
    "short": [*FLOATS[:17], (1.0,), *FLOATS],
    "long": [*FLOATS[:17], [1.0, 2.0, 3.0], *FLOATS],
    "none": [*FLOATS[:17], None, *FLOATS],
    "nones": [*FLOATS[:17], (None, None), *FLOATS],
    "named": [Pair(k * 0.5, k % 7 * 1.25) for k in range(40)],
    "named later": [*FLOATS[:17], *[Pair(k * 0.5, k % 7 * 1.25) for k in range(40)]],
    "user's": [*FLOATS[:17], Row([2.0, 3.0]), *FLOATS],
    "arrays": [np.array([k, k * 0.5]) for k in range(20)],
    "array later": [*FLOATS[:17], np.array([1.0, 2.0]), *FLOATS],
    "texts": [(f"n{k}", k % 7) for k in range(40)],
    "letters": ["ab", "cd"],
    "empty": [],
    "one": FLOATS[:1],
    "booleans": [(k % 2 == 0, k * 1.5) for k in range(40)],
    "complex": [(k * 1j, k) for k in range(20)],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_items_of_any_kind(function: Any, engine: str | None) -> None:
    together = staged(function, engine)
    for pairs in LISTS.values():
        alone = staged(function, engine)
        for each in (pairs, tuple(pairs)):
            for code in (alone, together):
                assert_same(code, each)


def replaced(pairs: list[Any]) -> Any:
    found = []
    for x, y in pairs:
        pairs[-1] = (y, x)
        pairs[0] = None
        found.append((x, y))
    return found


def cleared(pairs: list[Any]) -> Any:
    found = []
    for x, y in pairs:
        if len(found) == 9:
            pairs.clear()
        found.append([x, y])
    return found, pairs


def emptied(rows: list[Any]) -> Any:
    found = []
    for row in rows:
        rows.pop(0)
        found.append(row)
        row.append(len(found))
    return found, rows


def grown(pairs: list[Any]) -> Any:
    total = 0.0
    for x, y in pairs:
        total += x
        if len(pairs) < 99:
            pairs.append((y, x))
    return total, pairs


def parts_go(rows: list[Any]) -> Any:
    found = []
    for name, part in rows:
        rows[0].clear()
        rows[1].clear()
        found.append(name)
        found.append(part)
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_that_change_meanwhile(engine: str | None) -> None:
    for function in (replaced, cleared, grown):
        for pairs in (FLOATS, LISTS["lists"], LISTS["texts"][:0] or LISTS["integers"]):
            assert_same(staged(function, engine), list(pairs))
    for function in (emptied, parts_go):
        for _ in range(2):
            assert_same(staged(function, engine), [[f"n{k}", [k]] for k in range(30)])


def let_go(things: list[Any]) -> Any:
    found = 0
    for thing, number in things:
        things[number] = None
        found += number
        thing = None
    return found


def test_objects_that_empty_the_list_when_they_go() -> None:
    code, results = staged(let_go, "native"), []
    code([(Falling([]), k) for k in range(9)])
    for each in (let_go, code, code):
        things: list[Any] = []
        things += [(Falling(things), k) for k in range(9)]
        try:
            results.append((each(things), len(things)))
        except (TypeError, IndexError) as error:
            results.append((type(error), str(error)))
    assert results == results[:1] * 3


@pytest.mark.parametrize("function", FUNCTIONS)
def test_references_are_neither_lost_nor_kept(function: Any) -> None:
    code = staged(function, "native")
    pairs = [(f"n{k}" if function is kept else k * 1.5, 1000.5 + k) for k in range(50)]
    parts = [part for pair in pairs for part in pair]
    for _ in range(3):
        code(pairs)
    gc.collect()
    before = [*map(sys.getrefcount, parts), *map(sys.getrefcount, pairs)]
    for _ in range(20):
        code(pairs)
    gc.collect()
    assert [*map(sys.getrefcount, parts), *map(sys.getrefcount, pairs)] == before


def compared(xs: list[Any], limit: Any) -> Any:
    found = []
    for x in xs:
        try:
            found.append(x < limit)
        except TypeError as error:
            found.append(str(error))
    return found


def best_of(xs: list[Any]) -> Any:
    best = None
    for x in xs:
        if x > best:
            best = x
    return best


def greatest_of(xs: list[Any]) -> Any:
    return max(x for x in xs)


def least_of(xs: list[Any]) -> Any:
    return min(x * 1 if x else x for x in xs)


@pytest.mark.parametrize("engine", ENGINES)
def test_comparisons_with_none_are_errors(engine: str | None) -> None:
    for function, args in ((compared, [1.5, None]), (compared, [None]), (compared, [2]), (best_of, [])):
        for xs in ([1.0, 2.0], [1, 2], [np.float64(1), np.float64(2)], [True], []):
            assert_same(staged(function, engine), xs, *args[:1] if function is compared else ())
    for xs in ([1.0, None, 2.0], [None, None], [3, None], [NAN, 1.0], []):
        assert_same(staged(greatest_of, engine), xs)
        assert_same(staged(least_of, engine), xs)
