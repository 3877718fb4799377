"""Functions that call themselves under conditions that are known only when the graph runs."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.tracing.calls.bounds import Recursion


def polished(x: Any) -> Any:
    return x if abs(x * x - 2).sum() < 1e-9 else polished((x + 2 / x) / 2)


def is_even(n: Any) -> Any:
    return n == 0 or is_odd(n - 1)


def is_odd(n: Any) -> Any:
    return n != 0 and is_even(n - 1)


def flooded(grid: Any, row: Any, column: Any) -> Any:
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]) or grid[row, column]:
        return 0
    grid[row, column] = 1
    return 1 + sum([flooded(grid, row + 1, column), flooded(grid, row, column + 1), flooded(grid, row, column)])


@pytest.mark.parametrize(
    ("function", "make"),
    [(polished, lambda: (np.ones(2),)), (is_even, lambda: (np.array(6.0),)),
     (flooded, lambda: (np.zeros((3, 3)), np.array(0), np.array(1)))],
)  # fmt: skip
def test_one_as_deep_as_the_data_says_is_noticed_soon(
    function: Any, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, enter = [], Recursion.enter

    def entered(self: Recursion, *args: Any) -> None:
        begun.append(self)
        enter(self, *args)

    monkeypatch.setattr(Recursion, "enter", entered)
    staged = ag.function(function)
    assert np.array_equal(staged(*make()), function(*make()))
    assert "to know how deep the recursion of" in staged.traces[0].plain
    assert 4 < len(begun) < 12


@ag.function(engine="native")
def quicksort(xs: Any, low: int, high: int) -> None:
    if low >= high:
        return
    i, j, pivot = low, high, xs[(low + high) // 2]
    while i <= j:
        while xs[i] < pivot:
            i += 1
        while xs[j] > pivot:
            j -= 1
        if i <= j:
            xs[i], xs[j] = xs[j], xs[i]
            i, j = i + 1, j - 1
    quicksort(xs, low, j)
    quicksort(xs, i, high)


def test_one_that_numbers_begin_and_data_go_on_with_is_traced_once() -> None:
    xs = [float(7 * i % 101) for i in range(101)]
    quicksort(xs, 0, 100)
    assert xs == sorted(xs)
    assert len(quicksort.traces) == 1


# It ends while it is traced -------------------------------------------------------------------------------------------


def by_a_number(x: Any, n: int = 20) -> Any:
    return x if n == 0 or x > 100 else by_a_number(x + n, n - 1)


def by_a_list(x: Any, items: Any = (1, 2) * 5) -> Any:
    return x if len(items) == 0 or x > 100 else by_a_list(x + items[0], items[1:])


def by_a_list_that_shrinks(x: Any) -> Any:
    items = list(range(20))

    def rest(x: Any) -> Any:
        if len(items) == 0:
            return x
        x = x + items.pop()
        return rest(x) if x < 100 else x

    return rest(x)


class Counter:
    def __init__(self) -> None:
        self.left = 20

    def rest(self, x: Any) -> Any:
        if self.left == 0:
            return x
        self.left -= 1
        return self.rest(x + 1) if x < 100 else x


def by_an_attribute(x: Any) -> Any:
    return Counter().rest(x) if x > 0 else x


def by_a_variable(x: Any) -> Any:
    left = 20

    def rest(x: Any) -> Any:
        nonlocal left
        if left == 0:
            return x
        left -= 1
        return rest(x + 1) if x < 100 else x

    return rest(x)


@pytest.mark.parametrize("function", [by_a_number, by_a_list, by_a_list_that_shrinks, by_an_attribute, by_a_variable])
def test_one_that_ends_by_what_is_known_is_traced_to_its_end(function: Any) -> None:
    staged = ag.function(function, strict="plain")
    for x in (1.5, 50.0, 150.0, -1.0):
        assert staged(x) == function(x)


def test_staging_where_the_stack_is_nearly_full() -> None:
    def dive(n: int) -> Any:
        @ag.function
        def leaf(x: Any) -> Any:
            return x + 1

        return dive(n - 1) if n else leaf(1.0)

    room = sys.getrecursionlimit() - len(inspect.stack())
    results = set()
    for n in range(room - 150, room, 3):
        try:
            results.add(dive(n))
        except RecursionError:
            results.add("too deep")
    assert results == {2.0, "too deep"}
