"""Gradients of what operations write into arrays, by `out=` and in place, and of sums of lists; finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError

pytestmark = pytest.mark.once

X = np.array([0.3, -1.2, 0.8])


def named(x):
    y = x * 2
    np.add(x, x * x, out=y)
    return np.sum(y * y)


def given_back(x):
    y = x * 2
    z = np.add(x, x * x, out=y)
    return np.sum(z * z) + y[0]


def masked(x):
    y = x * 2
    np.add(x, x * x, out=y, where=x > 0)
    return np.sum(y * y)


def by_position(x):
    y = x * x
    np.exp(y, y)
    return np.sum(y**3)


def of_function(x):
    y = x * x
    np.clip(y, -0.5, 0.5, out=y)
    return np.sum(y**3)


def of_method(x):
    y = x * x
    y.clip(0.1, 0.5, out=y)
    return np.sum(y**3)


def into_part(x):
    y = np.concatenate([x, x[:1]])
    np.cumsum(x, out=y[1:])
    return np.sum(y**3)


def reduced(x):
    y = x * 3
    np.sum([x, x * x], axis=0, out=y)
    return np.sum(y**3)


def reduced_where(x):
    y = x * 3
    np.sum([x, x * x], axis=0, where=[[True], [False]], out=y)
    return np.sum(y**3)


def by_position_into_functions(x):
    y, total, least = x * x, np.zeros(()), np.zeros(())
    np.clip(y, 0.1, 0.5, y)
    np.cumsum(y, 0, None, y)
    np.dot(y, x, total)
    np.concatenate([x[:1], x[:2]], 0, y)
    y.min(None, least)
    return np.sum(y**3) + total * least


def into_several(x):
    whole, rest = np.zeros(3), np.zeros(3)
    np.divmod(x, 0.7, out=(whole, rest))
    part = np.modf(x * 3, rest[:], whole)[0]
    return np.sum(rest * rest * x) + np.sum(part * whole)


def into_one_that_counts(x):
    rest = np.zeros(3)
    np.divmod(x, 0.7, np.zeros(3), rest)
    return np.sum(rest * rest * x)


def chosen(x):
    which = np.array([1, 0, 1])
    return np.sum(which.choose(x, x * x)) + np.sum(which.choose([x, 2 * x]) * x)


def remainder(x):
    y = x * x
    y %= x + 2
    return np.sum(y**2)


def added_and_taken(x):
    y = x * 1.0
    np.add.at(y, [0, 0, 1], x)
    np.subtract.at(y, [2, 2, 1], x * x)
    return np.sum(y * y)


def sorted_in_place(x):
    y = x * x
    y.sort()
    return y[0] + y[1] ** 2


def listed(x):
    found = []
    for v in x:
        found.append(v * v)
    return sum(found) + sum(v**3 for v in x)


def of_lists(x):
    return np.sum([v * v for v in x]) + math.hypot(*x) + math.prod([v for v in x])


@pytest.mark.parametrize(
    "function",
    [named, given_back, masked, by_position, of_function, of_method, into_part, reduced, reduced_where, added_and_taken,
     by_position_into_functions, into_several, into_one_that_counts, chosen, remainder, sorted_in_place, listed,
     of_lists],
)  # fmt: skip
def test_gradient(function: Callable[[Any], Any]) -> None:
    wanted = [(function(X + step) - function(X - step)) / 2e-6 for step in np.eye(3) * 1e-6]
    assert np.allclose(ag.function(ag.grad(function))(X), wanted, rtol=1e-5)


def test_changes_in_place_without_derivative_are_refused() -> None:
    def byteswapped(x):
        y = x * x
        y.byteswap(True)
        return y[0]

    def replaced_in_place(x):
        y = x * x
        np.nan_to_num(y, copy=False)
        return y[0]

    def into_one_of_several(x):
        rest = np.zeros(3)
        np.divmod(x, 0.7, out=(None, rest))
        return np.sum(rest * rest)

    for function in (byteswapped, replaced_in_place, into_one_of_several):
        with pytest.raises(DerivativeError, match=r"test_gradients_into.py:\d+: `(byteswap|np.nan_to_num|np.divmod)` "):
            ag.function(ag.grad(function))(X)
