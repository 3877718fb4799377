"""Containers inside others: which are staged, and what if a row of a matrix has another name."""

from __future__ import annotations

import copy
import gc
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.tracing.environment.nested_containers import are_outside

MANY = np.arange(100)
ROW: list[Any]
ROWS: list[list[Any]]


class Grid:
    def __init__(self) -> None:
        self.row = [1, 2]
        self.rows = [[1, 2.5], [3, math.inf], [True, -0.0]]
        self.cube = [[[0] * 2 for _ in range(2)] for _ in range(2)]
        self.table = {"a": [1, 2], "b": [3, 4]}
        self.pair = ([1, 2], [3, 4])
        self.inner = [{"x": [1, 2]}, {"x": [3, 4]}]


def put(self: Grid, i: int, value: Any) -> None:
    self.rows[i][1] = value


def put_by_number(self: Grid, i: int, value: Any) -> Any:
    self.rows[0][0] = value
    return self.rows[0][0], self.rows[i]


def add(self: Grid, i: int, value: Any) -> None:
    self.rows[i][0] += value


def swap(self: Grid, i: int, value: Any) -> None:
    self.rows[i], self.rows[i + 1] = self.rows[i + 1], self.rows[i]
    self.rows[i][0] = value


def grow(self: Grid, i: int, value: Any) -> Any:
    self.rows[i].append(value)
    self.rows.append([value, i])
    return len(self.rows[i]), self.rows[-1]


def alias(self: Grid, i: int, value: Any) -> Any:
    self.rows = [self.rows[0]] * 3
    self.rows[i][0] = value
    return self.rows


def put_in_cube(self: Grid, i: int, value: Any) -> Any:
    self.cube[i][0][i] = value
    return sum(self.cube[i][0]), max(self.cube[0][0])


def put_in_dict(self: Grid, i: int, value: Any) -> Any:
    self.table["a"][i] = value
    return self.table["a"]


def put_in_tuple(self: Grid, i: int, value: Any) -> Any:
    self.pair[0][i] = value
    return self.pair


def put_deep(self: Grid, i: int, value: Any) -> Any:
    self.inner[i]["x"][1] = value
    return self.inner


def shortest(self: Grid, n: int, value: Any) -> None:
    for k in range(2):
        for i in range(2):
            for j in range(2):
                self.rows[i][j] = min(self.rows[i][j], self.rows[i][k] + self.rows[k][j])


CHANGES = [
    put, put_by_number, add, swap, grow, alias, put_in_cube, put_in_dict, put_in_tuple, put_deep, shortest
]  # fmt: skip


def typed(value: Any) -> Any:
    """The value with the types of its parts; equal only if all bits are."""
    return [typed(part) for part in vars(value).items()] if isinstance(value, Grid) else repr(value)


@pytest.mark.parametrize("function", CHANGES)
@pytest.mark.parametrize("value", [5, 2.5, math.inf, True])
def test_rows_of_attributes_are_changed_in_graphs(function: Callable[..., Any], value: Any) -> None:
    staged = ag.function(function, strict=("plain",))
    one, other = Grid(), Grid()
    for number in (0, 1, 0):
        assert typed(staged(one, number, value)) == typed(function(other, number, value))
        assert typed(one) == typed(other)


def fill(rows: list[list[Any]]) -> None:
    for x in MANY:
        rows.append([x])
    for row in rows:
        row[0] = 7


def attribute_and_attribute(grid: Grid, row: Any) -> Any:
    before = grid.row[0]
    fill(grid.rows)
    return before, grid.row[0]


def attribute_and_argument(grid: Grid, row: list[Any]) -> Any:
    fill(grid.rows)
    return row[0]


def attribute_and_global(grid: Grid, row: Any) -> Any:
    fill(grid.rows)
    return ROW[0]


def global_and_attribute(grid: Grid, row: Any) -> Any:
    fill(ROWS)
    return grid.row[0]


def global_and_global(grid: Grid, row: Any) -> Any:
    fill(ROWS)
    return ROW[0]


def change_of_the_row(grid: Grid, row: list[Any]) -> Any:
    for x in MANY:
        grid.rows.append([x])
    row[0] = 3
    return sum([each[0] for each in grid.rows])


def by_item(grid: Grid, row: list[Any]) -> Any:
    grid.rows[0][0] = 8
    return row[0]


def deeper(grid: Grid, row: list[Any]) -> Any:
    grid.cube[0][0][1] = 8
    return row[1]


SEVERAL = [
    attribute_and_attribute, attribute_and_argument, attribute_and_global, global_and_attribute, global_and_global,
    change_of_the_row, by_item, deeper,
]  # fmt: skip


def arranged(shared: bool) -> tuple[Grid, list[Any]]:
    """Arguments whose rows are other names of the row, or not."""
    global ROW, ROWS
    grid = Grid()
    if shared:
        grid.rows[0] = grid.cube[0][0] = grid.row
    ROWS, ROW = grid.rows, grid.row
    return grid, grid.row


@pytest.mark.parametrize("function", SEVERAL)
@pytest.mark.parametrize("order", [[True, True, False], [False, False, True, False]])
def test_a_row_with_another_name(function: Callable[..., Any], order: list[bool]) -> None:
    found: list[list[Any]] = []
    for each in (function, ag.function(function)):
        found.append([])
        for shared in order:
            arguments = arranged(shared)
            result = each(*arguments)
            found[-1].append(copy.deepcopy((result, vars(arguments[0]))))
            assert (arguments[0].rows[0] is arguments[1]) == shared
    assert typed(found[1]) == typed(found[0])


def test_rows_without_another_name_are_staged() -> None:
    staged = ag.function(attribute_and_attribute, strict=("plain",))
    grid, row = arranged(shared=False)
    assert staged(grid, row) == (1, 1) and grid.rows[5] == [7]


def test_a_container_is_found_in_others() -> None:
    row, cycle, grid = [1.0], list[Any](), Grid()
    cycle.append(cycle)
    grid.row = row
    places = [([row], 1), ([[0], {"a": (row,)}], 3), (([(1.0, 2.0)] * 3, [row]), 2), ([grid], 2), ([cycle, [[row]]], 3)]
    for around, level in places:
        assert not are_outside([row], [around], level)
        assert are_outside([row], [around], level - 1)
        assert are_outside([[1.0]], [around], 9)


def test_containers_in_tuples_that_the_garbage_collector_ignores() -> None:
    empty, numbers, array = dict[Any, Any](), (1.0, "a"), np.zeros(2)
    gc.collect()
    for value in (empty, numbers, array, [1], {1: [2]}):
        pairs = [(1, 2.0), (3, value), (4, ("b", 5.0))]
        gc.collect()
        for around in (pairs, tuple(pairs), [pairs], [[(6, each)] for each in pairs]):
            assert not are_outside([value], [around], 9)
            assert are_outside([[1]], [around], 9) and are_outside([{}], [around], 9)
