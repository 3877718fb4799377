"""Gradients through lists and dicts whose contents change while the program runs, against finite differences.

How often the loops iteration is known only when the program runs, so that none of them is unrolled. What the reverse
adds to the gradients of a container's items, it adds to those that were in it then.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.tracing.state import undo_log


@pytest.fixture(autouse=True)
def in_a_small_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many objects as there are after other tests nobody looks through."""
    monkeypatch.setattr(undo_log, "MANY", 10_000_000)


def summed(p, n):
    xs = [p, 0.5]
    while n > 0 and p <= p:
        n -= 1
        for _ in range(3):
            p *= 0.9
            xs.insert(0, p)
            del xs[4:]
        p += 0.1 * sum(xs)
    return p


def window(p, n):
    xs, s = [p, 2 * p, 3 * p], 0.0
    while n > 0 and p <= p:
        n -= 1
        xs.pop(0)
        xs.append(s + p * n)
        s = s * 0.5 + max(xs) - min(xs) * p
    return s


def averaged(p, n):
    xs, s = [p, 2 * p, 3 * p], 0.0
    while n > 0 and p <= p:
        n -= 1
        xs.pop(0)
        xs.append(s + p)
        s = s * 0.5 + np.mean(xs) * n
    return s


def replaced(p, n):
    xs, s = [p, 2 * p, 3 * p], 0.0
    while n > 0 and p <= p:
        n -= 1
        xs[n % 3] = s + p * n
        s = s * 0.5 + sum(xs) * p
    return s


def by_keys(p, n):
    xs, s = {0: p, 1: 2 * p}, 0.0
    while n > 0 and p <= p:
        n -= 1
        s = s * 0.5 + sum(xs.values()) * n
        xs[n] = s * p
        if n > 1:
            del xs[n]
    return s


def nested(p, n):
    xs, s = [[p, 2 * p], [3 * p, p * p]], 0.0
    while n > 0 and p <= p:
        n -= 1
        xs[0].pop(0)
        xs[0].append(s + p * n)
        s = s * 0.5 + np.sum(np.array(xs) * n) + sum(map(sum, xs))
        xs.insert(0, [s, p])
        xs.pop()
    return s


def arrays(p, n):
    xs, s = [np.array([p, 1.0]), np.array([2.0, p])], p
    while n > 0 and p <= p:
        n -= 1
        xs.pop(0)
        xs.append(np.array([s, p * n]))
        s = s * 0.5 + np.stack(xs).sum() * n + np.concatenate(xs)[1] + sum(xs)[0]
    return s


def turned(p, n):
    xs, s = [p, 2 * p, 3 * p], 0.0
    while n > 0 and p <= p:
        n -= 1
        xs.reverse()
        xs[1:] = [s, p]
        s = s * 0.5 + sum(xs) * p + sorted(xs)[1]
    return s


PROGRAMS = [summed, window, averaged, replaced, by_keys, nested, arrays, turned]
named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


@named
def test_gradient(program: Callable[..., Any]) -> None:
    wanted = (program(0.7 + 1e-6, 4) - program(0.7 - 1e-6, 4)) / 2e-6
    assert ag.grad(program)(0.7, 4) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.once
@named
def test_second_derivative(program: Callable[..., Any]) -> None:
    slope = ag.grad(program)
    wanted = (slope(0.7 + 1e-6, 4) - slope(0.7 - 1e-6, 4)) / 2e-6
    assert ag.grad(slope)(0.7, 4) == pytest.approx(wanted, rel=1e-5, abs=1e-6)


# What the function does to the argument that is asked for -------------------------------------------------------------


@dataclass
class Layer:
    w: float
    seen: list[float]


def lengthens(xs):
    s = sum(x * x for x in xs)
    xs.append(1.0)
    return s


def shortens(xs):
    s = xs[0] * xs[1]
    xs.pop(0)
    xs[0] = 3.0
    return s


def lengthens_in_a_loop(xs):
    n, s = 3, 0.0
    while n > 0 and s < 1000:
        n -= 1
        s += xs[0] * xs[1]
        xs.insert(0, s)
    return s


def changes_keys(d):
    s = d["a"] * d["b"]
    d["c"] = s
    del d["a"]
    return s


def changes_within(d):
    s = d["w"][0] * d["b"]
    d["w"][0] = 7.0
    d["last"] = d["w"]
    return s


def sets_attributes(layer):
    s = layer.w * layer.seen[0]
    layer.seen.append(s)
    layer.w = 5.0
    return s


CHANGES = [
    (lengthens, [1.0, 2.0], [2.0, 4.0]),
    (shortens, [1.0, 2.0], [2.0, 1.0]),
    (lengthens_in_a_loop, [1.0, 2.0], [26.0, 10.0]),
    (changes_keys, {"a": 2.0, "b": 3.0}, {"a": 3.0, "b": 2.0}),
    (changes_within, {"w": [2.0], "b": 3.0}, {"w": [3.0], "b": 2.0}),
    (sets_attributes, Layer(2.0, [3.0]), Layer(3.0, [2.0])),
]


@pytest.mark.parametrize("staged", [False, True], ids=["alone", "in a staged function"])
@pytest.mark.parametrize(("function", "argument", "gradient"), CHANGES, ids=[each[0].__name__ for each in CHANGES])
def test_arguments_are_changed_as_by_a_call(function: Any, argument: Any, gradient: Any, staged: bool) -> None:
    """The gradient is that in what the argument held before."""
    plain, given = copy.deepcopy(argument), copy.deepcopy(argument)
    function(plain)
    find = ag.grad(function)
    assert (ag.function(lambda argument: find(argument)) if staged else find)(given) == gradient
    assert given == plain
    if isinstance(given, dict) and "last" in given:
        assert given["last"] is given["w"]


def test_second_derivative_in_a_list_that_gets_longer() -> None:
    def slope(xs):
        first, second = ag.grad(lengthens_in_a_loop)(xs)
        return first * 2 - second

    step = 1e-6
    points = [([1.0 + a, 2.0 + b], [1.0 - a, 2.0 - b]) for a, b in [(step, 0), (0, step)]]
    wanted = [(slope(up) - slope(down)) / (2 * step) for up, down in points]
    assert ag.grad(slope)([1.0, 2.0]) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("count", [0, 3])
def test_changes_are_written_before_the_reverse(count: int) -> None:
    """And not in its loops, which may have no iteration."""

    def halved(p, x, xs):
        xs[0] *= 0.5
        if p > 1:
            return p
        s = 0.0
        for v in x:
            s += v * v * p
        return s

    xs = [3.0]
    in_x, in_xs = ag.grad(halved, argnums=(1, 2))(0.5, np.ones(count), xs)
    assert (in_x.tolist(), in_xs, xs) == ([1.0] * count, [0.0], [1.5])


def test_a_pullback_is_that_at_the_arguments_as_they_were() -> None:
    def squared(xs):
        xs[0] *= 2
        xs[1] = xs[0]
        return xs[0] * xs[1]

    xs = [np.ones(2), np.zeros(2)]
    value, pullback = ag.vjp(squared, xs)
    assert value.tolist() == [4.0, 4.0]
    for _ in range(2):
        ((first, second),) = pullback(np.ones(2))
        assert (first.tolist(), second.tolist()) == ([8.0, 8.0], [0.0, 0.0])
    assert xs[0].tolist() == [2.0, 2.0] and xs[1] is xs[0]


def test_defaults_of_pop_have_gradients():
    def f(x, n):
        found = {}
        for i in range(n):
            found[i] = x * 3
        return found.pop(0, 1.0) * found.pop("none", x) * found.pop(n, 2.0)

    x = np.array(0.7)
    for each in (0.7, x):
        assert ag.grad(f)(each, 3) == pytest.approx(12 * 0.7)
        assert ag.grad(f)(each, 0) == pytest.approx(2.0)
    assert x == 0.7
    assert ag.grad(ag.grad(f))(0.7, 3) == pytest.approx(12.0)
