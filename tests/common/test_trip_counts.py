"""Calls that may run many iterations are found before they run."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from autograph.common.trip_counts import loop_depth, runs_long

pytestmark = pytest.mark.versions

MANY = 3_000_000


def straight(n: int) -> int:
    return n + 1


def single(n: Any) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


def nested(n: Any) -> int:
    total = 0
    while n > 0:
        for i in range(3):
            total += i
        n -= 1
    return total


def partition(xs: Any) -> int:
    i, j = 0, len(xs) - 1
    while i < j:
        while xs[i] < 0:
            i += 1
        while xs[j] > 0:
            j -= 1
    return i


def skipping(n: Any) -> int:
    for i in range(n):
        if i % 2:
            continue
        print(i)
    return 0


def one_after_the_other(n: Any) -> int:
    for _ in range(n):
        print()
    for _ in range(n):
        print()
    return 0


def in_a_comprehension(n: Any) -> Any:
    return [[i * j for i in range(n)] for j in range(n)]


def constant() -> None:
    for i in range(3_000_000):
        print(i)


def of_a_global() -> None:
    for i in range(MANY):
        print(i)


def test_depth() -> None:
    functions = straight, single, nested, one_after_the_other, partition, skipping
    assert [loop_depth(each.__code__) for each in functions] == [0, 1, 2, 1, 1, 1]
    assert loop_depth(in_a_comprehension.__code__) >= 1


def up_to(n: int) -> int:
    i = 0
    while i < n:
        i += 1
    return i


def until_one(n: int) -> int:
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return n


class Model:
    def __init__(self, n: int) -> None:
        self.n = n

    def run(self) -> int:
        return sum(i for i in range(self.n) if i % 2) + single(self.n)

    def loop(self) -> None:
        for i in range(self.n):
            print(i)


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (single, (MANY,)),
        (up_to, (MANY,)),
        (nested, (2000,)),
        (single, ([0] * MANY,)),
        (nested, (np.zeros((2000, 2)),)),
        (constant, ()),
        (of_a_global, ()),
        (Model.loop, (Model(MANY),)),
    ],
)
def test_long_calls(function: Any, values: tuple[Any, ...]) -> None:
    assert runs_long(function, values)


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (straight, (MANY,)),
        (until_one, (MANY,)),
        (single, (1000,)),
        (single, (-MANY,)),
        (nested, (100,)),
        (Model.loop, (Model(9),)),
        (len, ([],)),
    ],
)
def test_short_calls(function: Any, values: tuple[Any, ...]) -> None:
    assert not runs_long(function, values)


def test_docstrings_are_not_counted():
    def documented(xs: Any) -> int:
        """Count."""
        total = 0
        for x in xs:
            for y in xs:
                total += x < y
        return total

    documented.__code__ = documented.__code__.replace(co_consts=("long " * MANY, *documented.__code__.co_consts[1:]))
    assert documented([1, 2]) == 1
    assert not runs_long(documented, ([1, 2],))


def test_attributes_stay_as_fast_as_they_are() -> None:
    """In Python 3.11 and 3.12 an object whose `__dict__` was read refers to it, and its attributes are slow."""
    model = Model(9)
    before = gc.get_referents(model)
    assert not runs_long(Model.loop, (model,))
    assert gc.get_referents(model) == before


def test_items_of_lists_of_a_class_of_the_users_are_not_looked_at() -> None:
    class Rows(list[int]):
        pass

    assert not runs_long(single, (Rows([MANY]),))
