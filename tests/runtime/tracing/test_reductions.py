"""Builtins over generators whose elements only the graph knows: added and compared one by one."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common.cpython_internals import COMPENSATES
from autograph.runtime.graph.graph import walk
from tests.comparing import assert_same

NUMBERS = [3, -7, 12, 0, 5, -1, 12, -7]
LISTS: list[list[Any]] = [
    NUMBERS, [0.5, -2.5, 7.25, math.inf], [1, 2.5, True, -3], [math.nan, 1.0, 2.0], [1.0, math.nan, 0.5],
    [-0.0, 0.0, -0.0], [0.0, -0.0], [10**30, 2, 0.5], [10**400, 1], [True, False], [2], [], ["b", "a", "c"],
    ["a", 1], [None], [1 + 2j, 3], [np.float64(0.1), np.float64(0.2), 3], [np.int8(100), np.int8(100)],
    [np.float32(1e38), np.float32(3e38)], [0.1] * 30, [1e16, 1.0, -1e16, 3.5, 1e100, -1e100], [math.inf, 1.0],
    [1e308, 1e308, -1e308], [math.inf, -math.inf], [1, 2, 0.1, 0.2], [0.1, 0.2, 3, 10**25, 0.5], [0.1, True, 0.7],
    [1e16, np.float64(1.0), 0.1], [0.1, 1j, 0.7], [1e16, -0.0, 1.0, 1.0],
]  # fmt: skip


def summed(xs):
    return sum(x for x in xs)


def summed_products(xs):
    return sum(xs[k] * xs[k] for k in range(len(xs)))


def summed_if(xs):
    return sum(x for x in xs if x > 1)


def mixed(xs):
    return sum(x if x > 1 else 2 for x in xs), sum(0.5 if k % 3 else k for k in range(len(xs) * 10))


def of_generators(xs):
    total = sum(v for v in (w * 2 for w in xs) if v != 6)
    rest = (w for w in xs)
    return total, max(v if v != 12 else 0.5 for v in rest), [*rest]


def counted(xs):
    return sum(1 for x in xs if x == x)


def summed_pairs(xs):
    return sum(x * y for x in xs for y in xs)


def summed_from(xs):
    return sum((x for x in xs), 5)


def least(xs):
    return min(x for x in xs)


def greatest(xs):
    return max(x for x in xs if x != 12)


def greatest_of_default(xs):
    return max((x for x in xs if x == 1000), default="none")


def greatest_difference(xs):
    return max(abs(x - y) for x in xs for y in xs)


def first_of_equals(xs):
    return max((x for x in xs), key=lambda x: x // 10), min((x for x in xs), key=lambda x: x // 10)


def place_of_least(xs):
    return min(range(len(xs)), key=lambda k: xs[k]), max(range(len(xs)), key=lambda k: abs(xs[k]))


def nearest(xs):
    found = []
    for x in xs:
        found.append(min(xs, key=lambda y: abs(x - y - 1)))
    return found


def of_key_with_effects(xs):
    seen = []

    def key(x):
        seen.append(x)
        return -x

    return min(xs, key=key), seen


def caught(xs):
    try:
        return max(x for x in xs if x == 1000)
    except ValueError as error:
        return str(error)


FUNCTIONS = [
    summed, summed_products, summed_if, mixed, of_generators, counted, summed_pairs, summed_from, least, greatest,
    greatest_of_default,
    greatest_difference, first_of_equals, place_of_least, nearest, of_key_with_effects, caught,
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_and_errors_are_those_of_python(function: Callable[..., Any], engine: str) -> None:
    staged = ag.function(function, engine=engine)
    has_lines = sys.version_info >= (3, 11) or function is not first_of_equals      # see "Tracebacks" in docs/limits.md
    for xs in [*LISTS, *LISTS] if has_lines else LISTS[:8]:
        assert_same(staged, xs)
        assert_same(ag.function(function, engine=engine), xs)


def computed(function: Callable[..., Any], *args: Any) -> set[str]:
    """The operations of the graph of a function."""
    staged = ag.function(function, strict="plain")
    staged(*args)
    return {node.op for node in walk(staged.traces[0].graph.block)}


@pytest.mark.parametrize("function", [summed_products, least, greatest_difference, place_of_least, nearest])
def test_no_list_is_made_of_the_elements(function: Callable[..., Any]) -> None:
    used = {"min", "max"} if function is summed_products and COMPENSATES else {"sum", "min", "max"}
    assert computed(function, NUMBERS * 5).isdisjoint(used)


def test_no_list_is_made_of_what_are_floats_for_sure() -> None:
    """If numbers of a list may be integers, `sum` may not add up what rounding loses."""

    def waves(xs, n):
        return sum(math.sin(k) / 3 for k in range(n)), sum(xs[k] * 0.1 for k in range(n)), sum(k / 7 for k in range(n))

    numbers = np.linspace(-3.0, 7.0, 200)
    assert "sum" not in computed(waves, numbers, 200)
    for engine in ("numpy", "native"):
        staged = ag.function(waves, engine=engine)
        for count in (200, 1, 0, 73):
            assert_same(staged, numbers, count)


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
def test_what_rounding_loses_is_added_as_in_python(engine: str) -> None:
    """From Python 3.12 on, `sum` of floats compensates for it: also in machine code, over lists and copies of them."""

    def sums(rows, n):
        found = []
        for row in rows:
            for k in range(len(row) - n):
                found.append(sum(row[k : k + n]))
                found.append(sum(sorted(row[k : k + n])))
            found.append(sum(row))
        return found, sum(rows[k % len(rows)][0] for k in range(n))

    draw = random.Random(5)
    rows = [[draw.choice((1.0, -1.0)) * 10.0 ** draw.randint(-20, 20) for _ in range(30)] for _ in range(20)]
    staged = ag.function(sums, engine=engine)
    for last in (1e300, 1e308, math.inf, -0.0, 3, math.nan):
        assert_same(staged, [*rows, [1e308, 2.0, last, 1e308, -1e308, 3.0, 4.0]], 5)


class Distance:
    def __init__(self, size: float) -> None:
        self.size = size

    def __lt__(self, other):
        return self.size < other.size

    def __add__(self, other):
        return Distance(self.size + other.size)

    def __radd__(self, other):
        return Distance(self.size + other)

    def __repr__(self) -> str:
        return f"Distance({self.size})"


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_objects_are_added_and_compared_by_their_methods(engine: str) -> None:
    def both(xs):
        made = [Distance(x) for x in xs]
        return sum(each for each in made), min(each for each in made), min(made, key=lambda each: -each.size)

    assert_same(ag.function(both, engine=engine), [3, 1.5, 2])


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_arrays_are_added(engine: str) -> None:
    def rows(a):
        return sum(a[k] * k for k in range(len(a))), sum(a[k] for k in range(0))

    def chosen(a, n):
        return sum(a[k] for k in range(n)), min(a[k, 0] for k in range(n))

    staged = ag.function(rows, engine=engine)
    for a in (np.arange(6.0).reshape(3, 2), np.arange(40.0).reshape(20, 2)):
        assert_same(staged, a)
        assert_same(ag.function(chosen, engine=engine), a, 3)


def test_sums_and_extremes_have_gradients() -> None:
    def f(xs, n):
        return sum(xs[k] * k for k in range(n)) + max(xs[k] ** 2 for k in range(n))

    np.testing.assert_allclose(ag.grad(f)(np.array([1.0, -3.0, 2.0]), 3), [0.0, 1.0 - 6.0, 2.0])
