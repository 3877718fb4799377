"""Builtins over generators whose elements only the graph knows: added and compared one by one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.graph.graph import walk
from autograph.runtime.tracing.reductions import ADDS
from tests.comparing import assert_same

NUMBERS = [3, -7, 12, 0, 5, -1, 12, -7]
LISTS: list[list[Any]] = [
    NUMBERS, [0.5, -2.5, 7.25, math.inf], [1, 2.5, True, -3], [math.nan, 1.0, 2.0], [1.0, math.nan, 0.5],
    [-0.0, 0.0, -0.0], [0.0, -0.0], [10**30, 2, 0.5], [10**400, 1], [True, False], [2], [], ["b", "a", "c"],
    ["a", 1], [None], [1 + 2j, 3], [np.float64(0.1), np.float64(0.2), 3], [np.int8(100), np.int8(100)],
    [np.float32(1e38), np.float32(3e38)],
]  # fmt: skip


def summed(xs):
    return sum(x for x in xs)


def summed_products(xs):
    return sum(xs[k] * xs[k] for k in range(len(xs)))


def summed_if(xs):
    return sum(x for x in xs if x > 1)


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
    summed, summed_products, summed_if, counted, summed_pairs, summed_from, least, greatest, greatest_of_default,
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


def computed(function: Callable[..., Any], xs: Any) -> set[str]:
    """The operations of the graph of a function."""
    staged = ag.function(function, strict="plain")
    staged(xs)
    return {node.op for node in walk(staged.traces[0].graph.block)}


@pytest.mark.parametrize("function", [summed_products, least, greatest_difference, place_of_least, nearest])
def test_no_list_is_made_of_the_elements(function: Callable[..., Any]) -> None:
    used = {"min", "max"} if function is summed_products and not ADDS else {"sum", "min", "max"}
    assert computed(function, NUMBERS * 5).isdisjoint(used)


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
