"""`math.dist` of points that are tuples or lists of Python's, to the last bit."""

from __future__ import annotations

import math
import random
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.comparing import assert_same

Point = namedtuple("Point", "x y")


def lengths(points: list[Any], others: list[Any]) -> Any:
    found = []
    for k in range(len(points)):
        found.append(math.dist(points[k], others[k]))
    return found


def nearest(points: list[Any], others: list[Any]) -> Any:
    left, tour, total = set(range(1, len(points))), [0], 0.0
    while left:
        here = points[tour[-1]]
        best = min(left, key=lambda k: math.dist(here, points[k]))
        total += math.dist(here, others[best])
        left.remove(best)
        tour.append(best)
    return tour, total


def from_one(points: list[Any], others: list[Any]) -> Any:
    found, (first, *_) = [], others
    for p in points:
        found.append((math.dist(p, (first[0], 2.5)), math.dist((1, first[0]), p), math.dist((0.5, 1, 2), [*p, 1])))
    return found


def close(points: list[Any], q: Any) -> Any:
    return min(points, key=lambda p: math.dist(p, q)), [math.dist(q, p) for p in points]


def points(dimensions: int, size: float, count: int = 40) -> list[tuple[float, ...]]:
    draw = random.Random(dimensions)

    def number() -> float:
        return draw.uniform(-1, 1) * 10 ** draw.uniform(-size, size)

    return [tuple(number() for _ in range(dimensions)) for _ in range(count)]


PAIRS = [
    *[(points(n, size), points(n, size)[::-1]) for n in (1, 2, 3, 4, 8, 9) for size in (0, 3, 150, 300)],
    (points(2, 1), points(2, 1)),
    ([list(each) for each in points(3, 1)], points(3, 1)[::-1]),
    ([(k, 2 * k) for k in range(20)], [(k * k, 0.5) for k in range(20)]),
    ([(k, 2**40) for k in range(20)], [(2**1100 if k == 9 else 5, True) for k in range(20)]),
    ([(0.0, -0.0), (5e-324, 0.0), (1e-300, 1e-320)], [(-0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]),
    ([(1e308, -1e308), (np.float64(1), 2.0), (True, 2.0)], [(-1e308, 0), (5.0, 6.0), (5.0, np.float32(6))]),
    ([(1.0, 2.0)] * 5 + [(1.0, 2.0, 3.0)], [(0.0, 0.0)] * 6),
    ([(1.0, 2.0)] * 5 + [(1.0, "b")], [(0.0, 0.0)] * 6),
    ([(1.0, 2.0)] * 5 + [None], [(0.0, 0.0)] * 6),
    ([(1.0, 2.0)] * 5 + [Point(4.0, 5.0)], [(0.0, 0.0)] * 6),
    ([(1.0, float("nan")), (1.0, float("inf"))], [(0.0, 0.0), (2.0, 3.0)]),
    ([()] * 3, [()] * 3),
    ([Point(1.0, k) for k in range(5)], [Point(k, 2.0) for k in range(5)]),
]


@pytest.mark.parametrize("engine", ["native", "numpy", None])
def test_each_bit_is_that_of_python(engine: str | None) -> None:
    for function in (lengths, nearest, from_one):
        code = ag.function(function) if engine is None else ag.function(function, engine=engine)
        for pair in PAIRS:
            assert_same(code, *pair)
            assert_same(ag.function(function, engine=engine or "auto"), *pair)


@pytest.mark.parametrize("engine", ["native", "numpy", None])
def test_points_and_tuples_of_numbers(engine: str | None) -> None:
    for given, others in PAIRS:
        for q in [*others[:1], (1, 2.5), (0.5,)]:
            assert_same(ag.function(close, engine=engine or "auto"), given, q)


def test_nothing_calls_python() -> None:
    pair = points(2, 1), points(2, 1)[::-1]
    ag.function(lengths, engine="native")(*pair)
    code = ag.function(lengths, engine="native")
    for _ in range(3):
        code(*pair)
    assert "left to Python" not in str(code.explain(*pair))
