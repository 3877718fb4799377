"""Gradients through lists that an operation makes of an array, and the program then changes, by finite differences.

The gradient of the array is that of the items the list was made with, at the places they had then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

pytestmark = pytest.mark.once


def reverses(xs, x):
    xs.reverse()


def sorts(xs, x):
    xs.sort()


def sorts_by_a_key(xs, x):
    xs.sort(key=lambda v: -v)


def inserts(xs, x):
    xs.insert(1, x[0] * x[1])


def takes_the_first(xs, x):
    xs.append(xs.pop(0) * 2)


def sets_an_item(xs, x):
    xs[-1] = xs[0] * x[1]


def sets_each(xs, x):
    for i, v in enumerate(xs):
        xs[i] = v * v


def sets_a_slice(xs, x):
    xs[1:3] = [x[0] * 3]


def deletes(xs, x):
    del xs[0], xs[1]


def clears(xs, x):
    xs.clear()
    xs += [x[1], x[0] ** 2]


def reverses_in_a_loop(xs, x):
    for _ in range(len(x) - 1):
        xs.reverse()
        xs[0] *= 2


def changes_on_one_path(xs, x):
    if x[0] > 0:
        xs.reverse()
        xs.pop()
    else:
        xs.append(x[1])


def repeats(xs, x):
    xs *= 2


CHANGES = [
    reverses, sorts, sorts_by_a_key, inserts, takes_the_first, sets_an_item, sets_each, sets_a_slice, deletes, clears,
    reverses_in_a_loop, changes_on_one_path, repeats,
]  # fmt: skip
X = np.array([1.2, -0.7, 2.5, 0.4])


class Holder:
    """Holds a list."""

    def __init__(self, items: Any) -> None:
        self.items = items


def told(xs):
    """A number that depends on what is in a list, and where."""
    total = 0.0
    for i, v in enumerate(xs):
        total += v * (i + 1) + v * v
    return total * xs[0]


def in_a_variable(change):
    def f(x):
        xs = x.tolist()
        change(xs, x)
        return told(xs)

    return f


def in_an_attribute(change):
    def f(x):
        holder = Holder(x.tolist())
        change(holder.items, x)
        return told(holder.items)

    return f


def in_another_list(change):
    def f(x):
        rows = np.stack([x, x * x]).tolist()
        change(rows[1], x)
        rows.reverse()
        return told(rows[0]) + told(rows[1])

    return f


def in_a_loop(change):
    def f(x):
        total = 0.0
        for n in range(int(len(x) / 2)):
            xs = (x * (n + 1)).tolist()
            change(xs, x)
            total += told(xs)
        return total

    return f


@pytest.mark.parametrize("place", [in_a_variable, in_an_attribute, in_another_list, in_a_loop])
@pytest.mark.parametrize("change", CHANGES)
def test_gradient(change: Callable[..., Any], place: Callable[..., Any]) -> None:
    function = place(change)
    if place is in_another_list and change in (sorts, sorts_by_a_key):      # of what is not known to be a list
        with pytest.raises(ag.errors.DerivativeError, match="`sort` changes in place"):
            ag.grad(function)(X)
        return
    wanted = [(function(X + step) - function(X - step)) / 2e-6 for step in 1e-6 * np.eye(len(X))]
    np.testing.assert_allclose(ag.grad(function)(X), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("change", [reverses, sets_each, inserts])
def test_second_derivative(change: Callable[..., Any]) -> None:
    gradient = ag.grad(in_a_variable(change))
    wanted = [(gradient(X + step) - gradient(X - step)) / 2e-6 for step in 1e-6 * np.eye(len(X))]
    np.testing.assert_allclose(ag.hessian(in_a_variable(change))(X), wanted, rtol=1e-4, atol=1e-4)
