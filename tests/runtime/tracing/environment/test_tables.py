"""Tables of numbers that a function reads, while it changes lists that may be rows of them, as only the graph knows."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

WEIGHTS = [[float(i * j + 1) for i in range(6)] for j in range(6)]


class Grid:
    def __init__(self, weights: list[list[float]], row: list[float]) -> None:
        self.weights, self.row = weights, row


def by_argument(u: list[list[float]], n: int, weights: list[list[float]]) -> Any:
    for _ in range(n):
        new = [[0.0] * len(u[0]) for _ in range(len(u))]
        for i in range(1, len(u) - 1):
            for j in range(1, len(u[0]) - 1):
                new[i][j] = u[i - 1][j] + weights[i + 1][j] * 0.5
        u = new
    return u


def by_global(u: list[list[float]], n: int) -> Any:
    return by_argument(u, n, WEIGHTS)


def by_attribute(u: list[list[float]], n: int, grid: Grid) -> Any:
    return by_argument(u, n, grid.weights)


def row_of_an_object(u: list[list[float]], n: int, grid: Grid) -> Any:
    for i in range(n):
        u[i % 3][0] += 1.0
    return grid.row[0], grid.row


def rows_of_an_object(u: list[list[float]], n: int, grid: Grid) -> Any:
    total = grid.row[0]
    for i in range(n):
        u[i % 3][0] += grid.weights[i % 3][1]
        total += grid.weights[(i + 1) % 3][0]
    return total, grid.row[0], grid.row


def table() -> list[list[float]]:
    return [[float(i - j) for i in range(6)] for j in range(6)]


@pytest.mark.parametrize("function", [by_argument, by_global, by_attribute])
def test_tables_are_objects_of_the_graph(function: Callable[..., Any]) -> None:
    own = {by_argument: [WEIGHTS], by_global: [], by_attribute: [Grid(WEIGHTS, [1.0])]}[function]
    compiled = ag.function(function, engine="native")
    for n in (2, 5, 2):
        assert compiled(table(), n, *own) == function(table(), n, *own)
    assert "machine code (tier 2)" in str(compiled.explain(table(), 2, *own))


def test_rows_are_asked_for_by_one_request() -> None:
    compiled = ag.function(by_argument, engine="native")
    compiled(table(), 2, table())
    lines = str(compiled.explain(table(), 2, table())).split("\n")
    assert sum("is one object of the graph" in each for each in lines) == 2     # `u` and `weights`


def jumped(jumps: dict[int, int], squares: list[int]) -> Any:
    """Keys that depend on the arguments look into a short dict."""
    seen = []
    for square in squares:
        for step in range(4):
            if square + step in jumps:
                seen.append(jumps[square + step])
    return seen


def looked_up(jumps: dict[int, int], squares: list[int]) -> Any:
    total = 0
    for square in squares:
        total += jumps[square]
    return total, jumps


TABLES = [{3: 7, 5: 2}, {3: 7.5, 5: 2, 4: 2**70}, {3: True, 4: False, 5: 1}, {3: math.nan, 5: 0}]


@pytest.mark.parametrize("jumps", TABLES)
@pytest.mark.parametrize("function", [jumped, looked_up])
def test_short_dicts_are_looked_into_by_staged_keys(function: Callable[..., Any], jumps: dict[int, Any]) -> None:
    compiled = ag.function(function, engine="native")
    for squares in ([3, 5] * 20, [5, 3, 5], [], [3, 4, 6], [True, 3.0, 5]):
        outcomes = []
        for each in (function, compiled):
            try:
                outcomes.append(each(jumps, squares))
            except KeyError as error:
                outcomes.append(repr(error))
        assert repr(outcomes[0]) == repr(outcomes[1])
    assert "`jumps` is one object of the graph" in str(compiled.explain(jumps, [3, 5] * 20))


def test_derivatives_of_short_dicts() -> None:
    """By the numbers of a dict, each is an argument of its own."""
    def weighted(weights: dict[int, float], n: int) -> float:
        return sum(weights[i % 2] * i for i in range(n))

    for _ in range(2):
        assert ag.grad(weighted)({0: 1.0, 1: 2.0}, 5) == {0: 6.0, 1: 4.0}


def all_pairs(points: list[tuple[float, float]], others: list[tuple[float, float]]) -> Any:
    found = []
    for x, y in points:
        found.append([math.sin(x - z) ** 2 + math.cos(y) * math.cos(w) for z, w in others])
    return found


def scaled(points: list[tuple[float, float]], factors: np.ndarray) -> Any:
    total = 0.0
    for x, y in points:
        total += sum([x * factors[n] * factors[n] + y * factors[n] + factors[n] / 2 for n in range(len(points))])
    return total


@pytest.mark.parametrize("function, other, is_whole", [(all_pairs, [], True), (scaled, np.arange(1.0, 9.0), False)])
def test_long_code_over_numbers_becomes_loops(function: Callable[..., Any], other: Any, is_whole: bool) -> None:
    compiled = ag.function(function, engine="native")
    points = [(0.5 * n, 1.0 - n) for n in range(8)]
    for given in (points, points[::-1], [(1, 2.5)] * 8, [(1.0, 2.0, 3.0)] * 8):
        try:
            wanted = function(given, other if len(other) else [*points])
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error).partition("(")[0]):
                compiled(given, other if len(other) else [*points])
        else:
            assert compiled(given, other if len(other) else [*points]) == wanted
    assert ("points" in compiled.traces[0].signature.paths) == is_whole


ALIASES = {
    "none": lambda grid: [[1.0, 2.0] for _ in range(3)],
    "long": lambda grid: [[1.0, 2.0] for _ in range(20)],
    "the table": lambda grid: grid.weights,
    "rows": lambda grid: [grid.weights[0], grid.weights[1], grid.row],
    "a row": lambda grid: [[1.0, 2.0], grid.row, [3.0, 4.0]],
    "a row of a long one": lambda grid: [[1.0, 2.0], grid.row, *([3.0, 4.0] for _ in range(20))],
}


@pytest.mark.parametrize("order", [[*ALIASES], [*ALIASES][::-1], *[[each] for each in ALIASES]], ids="-".join)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("function", [row_of_an_object, rows_of_an_object])
def test_changes_show_under_other_names(function: Callable[..., Any], shared: bool, order: list[str]) -> None:
    compiled = ag.function(function, engine="native")
    for name in order:
        weights = copy.deepcopy(WEIGHTS)
        grid = Grid(weights, weights[0] if shared else [5.0, 6.0])
        u = ALIASES[name](grid)
        other = copy.deepcopy((u, grid))
        wanted = function(u, 40, grid)
        given = compiled(other[0], 40, other[1])
        assert (given, other[0], vars(other[1])) == (wanted, u, vars(grid)), name
        assert given[-1] is other[1].row
