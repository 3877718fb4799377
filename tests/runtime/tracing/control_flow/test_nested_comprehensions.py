"""Comprehensions with several `for`s, of whose elements only the graph knows how many there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.comparing import assert_same


def empty_cells(grid: list[list[int]]) -> Any:
    cells = [(r, c) for r in range(9) for c in range(9) if grid[r][c] == 0]
    return len(cells), cells


def of_few_rows(grid: list[list[int]]) -> Any:
    return [grid[r][c] for r in range(3) for c in range(r + 1) if grid[r][c] > 1]


def of_a_pair(xs: list[float], ys: list[float], limit: float) -> Any:
    return [x * 2 for part in (xs, ys) for x in part if x < limit]


def different(grid: list[list[int]], limit: int) -> Any:
    return {grid[r][c] % 5 for r in range(9) if r != 3 for c in range(r, 9) if grid[r][c] > limit}


def in_sums(grid: list[list[int]], limit: int) -> Any:
    return sum(grid[r][c] for r in range(9) for c in range(9) if grid[r][c] > limit)


def of_three(n: int, limit: int) -> Any:
    return [(a, b, c) for a in range(1, 12) for b in range(a, 12) for c in range(b, 12) if a * b + c == n and c > limit]


def with_effects(xs: list[int], limit: int) -> Any:
    log: list[Any] = []

    def note(k: int) -> int:
        log.append(k)
        return k

    return [note(x) for k in range(9) for x in xs if x > limit + note(k)], log


def raises(grid: list[list[int]], limit: int) -> Any:
    return [10 // grid[r][c] for r in range(9) for c in range(10) if grid[r][c] > limit]


def of_arrays(x: Any, limit: float) -> Any:
    return [x[i, j] for i in range(9) for j in range(9) if x[i, j] > limit]


GRID = [[(r * 7 + c * 5) % 9 for c in range(9)] for r in range(9)]
CALLS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (empty_cells, [(GRID,), ([[0] * 9] * 9,), ([[1] * 9] * 9,), (GRID[:5],), ([[0.0, True] * 5] * 9,)]),
    (of_few_rows, [(GRID,), ([[0] * 9] * 3,), (GRID[:2],)]),
    (of_a_pair, [([1.0, 2.0], [3.0], 2.5), ([1.0] * 20, [], 2.5), ([], [], 1.0), ([1, 2.0], [True], 1.5)]),
    (different, [(GRID, 3), (GRID, 99), (GRID, -1)]),
    (in_sums, [(GRID, 3), (GRID, 99), ([[1.5] * 9] * 9, 1)]),
    (of_three, [(20, 3), (5, 0), (1000, 0)]),
    (with_effects, [([1, 5, 9, 12], 2), ([], 2), ([100] * 3, 0)]),
    (raises, [(GRID, 20), (GRID, 0), ([[*row, 2] for row in GRID], 0), ([[*row, 2] for row in GRID], -1)]),
    (of_arrays, [(np.array(GRID) * 1.5, 4.0), (np.array(GRID), 4), (np.zeros((9, 8)), -1.0)]),
]


@pytest.mark.parametrize("engine", ["numpy", "native", None])
@pytest.mark.parametrize("function, calls", CALLS, ids=[function.__name__ for function, _ in CALLS])
def test_same(function: Any, calls: list[tuple[Any, ...]], engine: str | None) -> None:
    staged = ag.function(function) if engine is None else ag.function(function, engine=engine)
    for call in calls * 2:
        assert_same(staged, *call, names=["note"])


@pytest.mark.parametrize("function, call", [
    (empty_cells, (GRID,)), (of_few_rows, (GRID,)), (different, (GRID, 3)), (of_three, (20, 3)),
    (of_arrays, (np.array(GRID) * 1.5, 4.0)),
])  # fmt: skip
def test_is_staged(function: Any, call: tuple[Any, ...]) -> None:
    staged = ag.function(function, engine="numpy")
    staged(*call)
    assert [trace.plain for trace in staged.traces] == [""]
