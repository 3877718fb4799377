"""Gradients through lists that NumPy takes for arrays, by finite differences.

An array that is made of a list is no view of it, even where a function gives a view of an array. And where a list is
broadcast, the gradient of each item is the sum of all that it came to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

pytestmark = pytest.mark.once

W = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0], [-1.0, 2.0, 0.5]])
X = np.array([1.2, -0.7, 2.5])
MADE: list[Callable[[Any], Any]] = [
    lambda xs: np.asarray(xs) * W[0],
    lambda xs: np.asarray(xs)[::-1] * W[0],
    lambda xs: np.asanyarray(xs)[::2],
    lambda xs: np.asarray(xs)[np.array([0, 0])],
    lambda xs: np.asarray(xs).reshape(3, 1) * W,
    lambda xs: np.array(xs, copy=True),
    lambda xs: np.array(xs) * np.asarray(xs)[::-1],
    lambda xs: np.ascontiguousarray(xs)[1:],
    lambda xs: np.asfortranarray(xs)[1],
    lambda xs: np.reshape(xs, (3, 1)) * W,
    lambda xs: np.ravel(xs) * W[1],
    lambda xs: np.atleast_2d(xs) * W,
    lambda xs: np.flip(xs)[0],
    lambda xs: np.expand_dims(xs, 0)[0, 0],
    lambda xs: np.squeeze([xs]) * W[0],
    lambda xs: np.transpose([xs, xs]) @ W[:2],
    lambda xs: np.swapaxes([xs], 0, 1)[0, 0],
    lambda xs: np.moveaxis([xs], 0, 1) * W,
    lambda xs: np.rot90([xs]) * W,
    lambda xs: np.hsplit(np.asarray(xs), 3)[0],
    lambda xs: np.array_split(xs, 2)[0],
    lambda xs: np.broadcast_to(xs, (3, 3)) * W,
]
BROADCAST: list[Callable[[Any], Any]] = [
    lambda x: W * (W * [x[0], x[1] ** 2, 3.0]),
    lambda x: (W + [x[0], x[1] ** 2, 3.0])[0] * x,
    lambda x: W * ([x[0], x[1], x[2]] - W[:, :1]),
    lambda x: W / [[x[0]], [x[1]], [2.0]],
    lambda x: W * np.where(W > 1, [x[0], x[1], 1.0], W),
    lambda x: W * np.broadcast_to([x[0], x[1], 1.0], (3, 3)),
    lambda x: W * np.broadcast_arrays([x[0], x[1], 1.0], W)[0],
    lambda x: np.clip([x[0], x[1], 1.0], W, 3.0),
    lambda x: np.select([W > 1, W > 0], [[x[0], x[1], 1.0], W * x[2]], x[0]),
    lambda x: np.hypot([x[0], x[1], 1.0], W[:, :1]),
    lambda x: W * np.maximum((x[0], x[1], 1.0), W),
    lambda x: np.add([x, x * 2, W[0]], [[x[0]], [x[1]], [1.0]]) * W,
]


def as_list(x, n):
    return x.tolist()


def filled(x, n):
    xs = []
    for v in x:
        xs.append(v * 2.0)
    return xs


def changed(x, n):
    xs = [0.0, 1.0, 2.0]
    for i in range(n):
        xs[i] = xs[i] + x[i] * x[0]
    return xs


def item(x, n):
    return np.stack([x, x * x]).tolist()[1]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("items", [as_list, filled, changed, item])
def test_a_list_made_an_array(items: Callable[..., Any], made: Callable[[Any], Any]) -> None:
    check(lambda x, n: np.sum(made(items(x, n))), X)


@pytest.mark.parametrize("broadcast", BROADCAST)
def test_a_list_that_is_broadcast(broadcast: Callable[[Any], Any]) -> None:
    check(lambda x, n: np.sum(broadcast(x)), X)


@pytest.mark.parametrize("length", [2, 3, 5])
def test_a_list_that_is_broadcast_to_open_dimensions(length: int) -> None:
    def f(x, rows):
        return np.sum(rows * (rows * [x[0], x[1] ** 2, x[2]]))

    gradient = ag.grad(f)
    for each in (3, length):
        rows = np.arange(3.0 * each).reshape(each, 3)
        np.testing.assert_allclose(gradient(X, rows), numeric(f, X, rows), rtol=1e-4, atol=1e-4)


def check(f: Callable[..., Any], x: Any) -> None:
    np.testing.assert_allclose(ag.grad(f)(x, 3), numeric(f, x, 3), rtol=1e-4, atol=1e-4)


def numeric(f: Callable[..., Any], x: Any, *rest: Any) -> Any:
    return [(f(x + step, *rest) - f(x - step, *rest)) / 2e-6 for step in 1e-6 * np.eye(len(x))]
