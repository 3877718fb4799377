"""Gradients through iterators that are passed on, taken from one by one, and gone through in parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError

pytestmark = pytest.mark.once


def made(x, n):
    """A list whose length only the graph knows."""
    xs = [x * 0.5]
    for i in range(n):
        xs.append(x * x * i)
    return xs


def first_and_rest(x, n):
    it = iter(made(x, n))
    first = next(it)
    return first * sum(it)


def half_consumed(x, n):
    it = iter(made(x, n))
    total = 0.0
    for each in it:
        total += each * x
        if total > 0.3:
            break
    return total * sum(it)


def half_of_a_known_list(x, n):
    it = iter([x, 2 * x, 3 * x, 4 * x])
    total = 0.0
    for each in it:
        total += each
        if total > 2:
            break
    return total * sum(it)


def rows(x, n):
    it = iter(np.array([[x, 1.0], [2.0, x * x], [x, x]]))
    found = next(it)
    for row in it:
        found = found * row
    return found.sum()


def in_a_while(x, n):
    it = iter(np.array([x, 1.0, x * x]))
    total = 0.0
    while total < 0.9:
        total += next(it)
    return total * sum(it)


def in_pairs(x, n):
    xs = made(x, n)
    it = zip(xs, reversed(xs))
    a, b = next(it)
    return a * b + sum(c * d for c, d in it)


def numbered(x, n):
    it = enumerate(made(x, n))
    _, found = next(it)
    for number, each in it:
        found = found * 0.5 + each * number
    return found


def helped(x, n):
    def take(it: Iterator[Any]) -> Any:
        return next(it) * 2

    it = iter(made(x, n))
    return take(it) + take(it) * x


def by_default(x, n):
    it = iter(made(x, n))
    return next(it) * next(it) + next(it, 3.0) + next(it, x)


def several(x, n):
    its = [iter([x, 2 * x]), iter([x * x, x])]
    total = 0.0
    for i in range(n):
        total += next(its[i % 2])
    return total


def loop_in_loop(x, n):
    it = iter(made(x, n))
    total = 0.0
    for a in it:
        for b in it:
            total += a * b
            break
    return total


def of_a_dict(x, n):
    d = {"a": x}
    for i in range(n):
        d[str(i)] = x * x * i
    it = iter(d.values())
    return next(it) * sum(it)


def starred(x, n):
    first, second, *rest = iter([x, 2 * x, x * x, 1.0])
    return first * second + sum(rest)


ITERATING = [
    first_and_rest, half_consumed, half_of_a_known_list, rows, in_a_while, in_pairs, numbered, helped, by_default,
    several, loop_in_loop, of_a_dict, starred,
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("function", ITERATING)
def test_gradients_are_those_of_finite_differences(function: Callable[..., Any], n: int):
    x, step = 0.73, 1e-6
    wanted = (function(x + step, n) - function(x - step, n)) / (2 * step)
    value, gradient = ag.value_and_grad(function)(x, n)
    assert (value, gradient) == (pytest.approx(function(x, n)), pytest.approx(wanted, rel=1e-6))
    second = (ag.grad(function)(x + step, n) - ag.grad(function)(x - step, n)) / (2 * step)
    assert ag.grad(ag.grad(function))(x, n) == pytest.approx(second, rel=1e-6, abs=1e-6)


# What two loops go through, one after the other: which items they get, only the iterator knows.


def in_two_loops(make: Callable[[Any], Any]) -> Callable[..., Any]:
    def f(x, limit):
        it, total = make(x), 0.0
        for number, each in it:
            total += each * (number + 1)
            if total > limit:
                break
        for number, each in it:
            total = total * 2 + each * number
        return total

    return f


def reversed_in_two_loops(x, limit):
    it, total = reversed(x), 0.0
    for each in it:
        total += each * each
        if total > limit:
            break
    for each in it:
        total = total * 2 + each
    return total


def again_and_again(x, limit):
    it, total = enumerate(x), 0.0
    for i in range(3):
        for number, each in it:
            total += each * number
            if total > i * limit:
                break
        total = total * total
    return total


def at_once(x, limit):
    total = 0.0
    for number, each in enumerate(iter(x)):
        total += each * each * number
    for one, other in zip(iter(x), reversed(x)):
        total += one * one * other
    return total * limit


def extremes(x, limit):
    (k, p), (_, q) = max(enumerate(x)), min(enumerate(x))
    return p * k + q * limit


@pytest.mark.parametrize("limit", [0.1, 0.9])
@pytest.mark.parametrize(
    "function",
    [in_two_loops(enumerate), in_two_loops(lambda x: zip(x, x[::-1])), reversed_in_two_loops, again_and_again, at_once,
     extremes],
)  # fmt: skip
def test_arrays_gone_through_by_several_loops(function: Callable[..., Any], limit: float):
    x, step = np.array([0.3, 0.4, 0.8, 0.5]), 1e-6
    wanted = [(function(x + step * one, limit) - function(x - step * one, limit)) / (2 * step) for one in np.eye(4)]
    np.testing.assert_allclose(ag.grad(function)(x, limit), wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("make", [itertools.cycle, itertools.chain, lambda xs: filter(None, xs)])
def test_iterators_of_other_classes_are_refused_if_the_graph_goes_through_them(make: Callable[..., Any]):
    def f(x, n):
        return next(make(made(x, n)))

    with pytest.raises(DerivativeError, match=rf"{__file__}:\d+"):
        ag.grad(f)(0.7, 2)
