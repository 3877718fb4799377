"""`math.hypot` and `math.dist` in machine code: the bits of Python's, and Python's own results where it is left."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions

SPECIAL = [0.0, -0.0, 5e-324, 2.3e-308, 1e-300, 1e-160, 1.0, 3.0, -4.0, 1e160, 1.7e308, math.inf, -math.inf, math.nan]


def of_one(xs: list[float], ys: list[float]) -> Any:
    return [math.hypot(x) for x in xs]


def of_two(xs: list[float], ys: list[float]) -> Any:
    found = []
    for x in xs:
        for y in ys:
            found.append(math.hypot(x, y))
    return found


def of_four(xs: list[float], ys: list[float]) -> Any:
    found = []
    for x in xs:
        for y in ys:
            found.append(math.hypot(x, 0.3, y, 2))
    return found


def between(xs: list[float], ys: list[float]) -> Any:
    found = []
    for x in xs:
        for y in ys:
            found.append(math.dist((x, y, 1), (y, 0.5, 2.5)))
    return found


def total(xs: list[float], ys: list[float]) -> float:
    found = 0.0
    for x in xs:
        found += math.hypot(x, 0.25)
    return found


def drawn(count: int, seed: int) -> list[float]:
    draw = random.Random(seed)
    return [draw.uniform(-1, 1) * 10 ** draw.uniform(-12, 12) for _ in range(count)]


@pytest.mark.parametrize("function", [of_one, of_two, of_four, between, total])
@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_same_bits(function, engine):
    staged = ag.function(function, engine=engine)
    for xs, ys in ((drawn(40, 1), drawn(50, 2)), (SPECIAL, SPECIAL), ([3.0, 5.0], [4.0, 12.0]), ([1, True], [2, 2.0])):
        assert repr(staged(xs, ys)) == repr(function(xs, ys))
    if engine == "native":
        assert any(region.compiled for region in regions(staged))
        assert "left to Python" not in str(staged.explain(drawn(40, 1), drawn(50, 2)))


def test_errors():
    def tangled(xs):
        found = 0.0
        for x in xs:
            found += math.dist((x, 1.0), (x,))
        return found

    for function in (tangled, ag.function(tangled, engine="native")):
        with pytest.raises(ValueError, match="same number of dimensions"):
            function([1.0, 2.0])
