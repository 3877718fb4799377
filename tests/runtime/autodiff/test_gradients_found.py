"""Gradients of what drawn programs have found: each once was wrong, failed or was refused."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

X = np.array([0.5, -0.4, 0.3])


def array_of_unknown_things(x):
    things, total = [x[0] * 1], 0.0
    for i in range(len(x)):
        things.append(x[i] * i)
    for thing in things:
        total = total + np.sum(np.array([thing, x[0]]) * x[1])
    return total


def asks_unknown_things(x):
    rows, total = [x * 1], 0.0
    for i in range(3):
        rows.append(x * i)
    for row in rows:
        if row.any() and not row.all():
            total = total + row[row.argmax()]
    return total


def tuples_in_a_list(x):
    found = []
    for v in x:
        found.append((v * v, (-v, v * 2)) if v > 0 else v)
    return found[0][0] * found[0][1][1] + found[1]


PROGRAMS = [array_of_unknown_things, asks_unknown_things, tuples_in_a_list]


@pytest.mark.parametrize("function", PROGRAMS)
def test_gradient(function: Callable[[Any], Any]) -> None:
    wanted = [(function(X + step) - function(X - step)) / 2e-6 for step in np.eye(3) * 1e-6]
    assert np.allclose(ag.grad(function)(X), wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_maximum_leaves_out_may_be_infinitely_steep() -> None:
    found = ag.grad(lambda x: np.sum(1 / np.maximum(x, 0.0)))(np.array([2.0, -1.0]))
    assert found.tolist() == [-0.25, 0.0]


POWERS = [lambda x: abs(x**1.4 * x**0.3), lambda x: abs(x**x), lambda x: (x**0.5 * x**0.5).real]


@pytest.mark.parametrize("function", POWERS)
def test_powers_of_negative_numbers_are_complex(function: Callable[[float], float]) -> None:
    gradient = ag.grad(function)
    for x in (-2.3, 2.3):
        for derivative, below in ((gradient, function), (ag.grad(gradient), gradient)):
            assert np.isclose(derivative(x), (below(x + 1e-6) - below(x - 1e-6)) / 2e-6, atol=1e-6)


def test_reduce() -> None:
    xs = [1.5, 2.0, -0.5]
    assert ag.grad(lambda xs: functools.reduce(operator.mul, xs))(xs) == [-1.0, -0.75, 3.0]
    assert ag.grad(lambda xs: functools.reduce(operator.mul, xs, 2.0))(np.array(xs)).tolist() == [-2.0, -1.5, 6.0]
    powers = ag.grad(lambda a: functools.reduce(operator.matmul, [x * a for x in xs])[0, 1])(np.eye(2))
    assert np.allclose(powers, [[0, -4.5], [0, 0]])


def through_lists(x):
    found = []
    for v in x:
        found.append(np.tanh(v * x))
    first, *rest = np.split(np.concatenate(found), 3)
    return np.sum(np.array(found) ** 3) + np.sum(np.stack(rest) * first) + x.tolist()[0] ** 3


def steepest(x):
    direction, steps = x, 0
    while direction @ direction > 1e-3 and steps < 4:
        step = direction @ direction / np.sqrt(x @ x + 1)
        direction = direction - step * x / 2
        steps += 1
    return np.sum(direction**3)


@pytest.mark.once
@pytest.mark.parametrize("function", [through_lists, steepest])
def test_second_derivatives(function: Callable[[Any], Any]) -> None:
    gradient = ag.grad(function)
    wanted = [(gradient(X + step) - gradient(X - step)) / 2e-6 for step in np.eye(3) * 1e-6]
    assert np.allclose(ag.hessian(function)(X), wanted, rtol=1e-5, atol=1e-7)


def sorted_by_keys(x):
    found = []
    for i in range(3):
        found.append((x[i] ** 2, i))
    found.sort(key=lambda pair: -pair[0])
    rows = sorted([np.stack([v, v * v]) for v in x], key=lambda row: row[1])
    return found[0][0] * 2 + found[1][0] * x[1] + rows[0][0] * rows[2][1] + sorted(x, key=abs)[1] ** 3


def table_of_chains(x):
    found = np.zeros((3, 2))
    for i in range(3):
        found[i] = ag.grad(lambda y, i=i: np.sum(np.ravel(y * x)[i] ** 2))(x)[:2]
    return np.sum(found.reshape(2, 3) ** 2)


def repeated_list(x):
    delayed = [x * 1] * len(x)
    total = 0.0
    for v in x:
        first = delayed.pop(0)
        delayed.append(np.tanh(v * first))
        delayed[-1] += first
        total += sum(np.sum(each) for each in delayed)
    return total + delayed[0][0]


def newton(x):
    found = x * 0.5
    for _ in range(9):
        slopes = np.diag(0.3 * found**2) + np.eye(3) + np.diag(x[:2], 1)
        step = np.linalg.solve(slopes, found + 0.1 * found**3 - x)
        found = found - step
        if step @ step < 1e-20:
            break
    return np.sum(found**2)


def becomes_integers(x):
    pairs, s, p = np.stack([x, x * x[0]], axis=1), x[0] * 0.0, x[1]
    for i in range(3):
        for (j, (u, v)), w in zip(enumerate(pairs), x):
            s = s + u * v * p * w * j
        (u, _), *rest = pairs
        s += u * rest[0][1]
        pairs[pairs > 0.4] = p
        pairs[[0, 1], 0] = p * x[0]
        if i > 0:
            pairs = np.array([[1, 2], [3, 4]])
    return s


def may_become_integers(x):
    z, p = x * 1.0, x[0]
    for i in range(3):
        z[z > 0.4] = p
        z[[0, 1]] = p * x[0]
        z[2] = p * p
        np.add.at(z, [0, 0], p)
        p = p * np.sum(z) / 3
        z = x * p if i < len(z) else np.arange(3)
    return p


SECOND = [sorted_by_keys, table_of_chains, repeated_list, newton, becomes_integers, may_become_integers]


@pytest.mark.once
@pytest.mark.parametrize("function", SECOND)
def test_derivatives_up_to_the_second(function: Callable[[Any], Any]) -> None:
    gradient, steps = ag.grad(function), np.eye(3) * 1e-6
    assert np.allclose(gradient(X), [(function(X + step) - function(X - step)) / 2e-6 for step in steps], rtol=1e-5)
    wanted = [(gradient(X + step) - gradient(X - step)) / 2e-6 for step in steps]
    assert np.allclose(ag.hessian(function)(X), wanted, rtol=1e-5, atol=1e-7)
