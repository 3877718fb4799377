"""Loops over containers of texts, tuples and the like that are too long to unroll become loops of the graph."""

from __future__ import annotations

import random
from typing import Any

import pytest

import autograph as ag
from tests.comparing import assert_same

NAMES = [f"city {i}" for i in range(12)]
FIXED = (*NAMES,)
ENGINES = ["numpy", "native", "auto"]


class Map:
    def __init__(self, names, table, roads):
        self.names = names
        self.table = table
        self.roads = roads
        self.half = 0.5

    def __repr__(self):
        return f"Map({vars(self)})"


def shortest(map):
    d = map.table
    for k in map.names:
        for i in map.names:
            for j in map.names:
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return max(max(row.values()) for row in d.values())


def by_rows(map):
    d, changes = map.table, 0
    for k in map.names:
        for i in map.names:
            via, row = d[i][k], d[i]
            for j in map.names:
                new = via + d[k][j]
                if new < row[j]:
                    row[j] = new
                    changes += 1
    return changes


def by_keys(map):
    total = 0.0
    for i in map.table:
        for j in map.table:
            for k in map.table:
                if map.table[i][j] > map.table[j][k]:
                    total += map.table[k][i]
    return total


def of_the_module(map):
    best = ("", "", 1e9)
    for i in NAMES:
        for j in FIXED:
            for k in FIXED:
                if i != j and map.table[i][j] + map.table[j][k] < best[2]:
                    best = (i, j, map.table[i][j] + map.table[j][k])
    return best


def stops(map):
    for i in map.names:
        for j in map.names:
            for k in map.names:
                map.table[i][j] -= 0.25
                if map.table[i][j] + map.table[j][k] < 0.0:
                    return i, j, k
    return None


def roads(map):
    length = dict.fromkeys(map.names, 0.0)
    for _ in map.names:
        for start, end, miles in map.roads:
            if length[start] < length[end] + miles:
                length[start] = length[end] + miles
    return length


def fails(map):
    for i in map.names:
        for j in map.names:
            for k in map.names:
                map.table[i][j] += map.table[j][k] - map.table[k][i]
                if map.table[i][j] > 40.0:
                    del map.table[k][j]
    return map


def attributes(map):
    total = 0.0
    for _ in map.names:
        for _ in map.names:
            for name in FIXED:
                total += map.table["city 1"][name] * getattr(map, "half")
    return total


FUNCTIONS = [shortest, by_rows, by_keys, of_the_module, stops, roads, fails, attributes]


def example(seed: int) -> Any:
    draw = random.Random(seed)
    table = {i: {j: 0.0 if i == j else draw.uniform(1.0, 20.0) for j in NAMES} for i in NAMES}
    roads = [(draw.choice(NAMES), draw.choice(NAMES), draw.random()) for _ in range(200)]
    return Map([*NAMES], table, roads)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_is_as_in_plain_python(function: Any, engine: str) -> None:
    staged = ag.function(function, engine=engine)
    for seed in range(3):
        assert_same(staged, example(seed))


@pytest.mark.parametrize("function", [shortest, by_rows, by_keys, of_the_module, stops, roads, fails])
def test_it_is_staged(function: Any) -> None:
    staged = ag.function(function)
    assert "for(" in str(staged.graph(example(0)))


def test_other_names_are_read_anew() -> None:
    staged, map = ag.function(shortest), example(0)
    staged(map)
    map.names = NAMES[::-1]
    assert_same(staged, map)
    map.names[3] = "no city"
    assert_same(staged, map)
    assert len(staged.traces) == 1
