"""Gradients through views and copies of arrays that are changed in place, against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError

pytestmark = pytest.mark.once

X = np.array([[1.3, -0.2, 0.4], [0.5, 0.9, -1.1], [0.2, -0.7, 1.6]])
W = np.array([[0.1, -0.4, 0.6], [0.8, -0.5, 0.3], [0.2, 0.9, -0.7]])

VIEWS: list[Callable[[Any], Any]] = [
    lambda y: y.T,
    lambda y: y.T.reshape(-1),
    lambda y: np.ravel(y.T),
    lambda y: y.reshape(9),
    lambda y: y.real,
    lambda y: np.real(y),
    lambda y: np.moveaxis(y, 0, 1)[0],
    lambda y: np.expand_dims(y, 0),
    lambda y: np.flip(y)[1:],
    lambda y: np.rot90(y),
    lambda y: y[::-1, 0],
    lambda y: np.diag(y),
    lambda y: np.diagonal(y, 1),
    lambda y: np.linalg.diagonal(y),
    lambda y: np.einsum("ij->ji", y),
    lambda y: np.einsum("ii->i", y),
    lambda y: np.broadcast_to(y[0], (3, 3)),
    lambda y: np.broadcast_arrays(y[0], y)[0],
    lambda y: np.atleast_3d(y),
    lambda y: np.asarray(y),
]

COPIES: list[Callable[[Any], Any]] = [
    lambda y: np.array(y),
    lambda y: np.asarray(y, np.complex128),
    lambda y: np.ascontiguousarray(y.T),
    lambda y: y.astype(float),
    lambda y: y[[0, 0, 1]],
    lambda y: np.linalg.matrix_power(y, 2),
    lambda y: np.fft.fftn(y),
    lambda y: np.fft.rfft2(y),
    lambda y: np.einsum("ij,jk->ik", y, W),
    lambda y: np.polyder(y[0]),
    lambda y: np.meshgrid(y[0], y[1])[0],
]


def weighed(z: Any) -> Any:
    return np.sum(np.real(z) * np.cos(np.arange(np.size(z))).reshape(np.shape(z)))


def compare(function: Callable[[Any], Any]) -> None:
    found = ag.grad(function)(X)
    for at in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[at] = 1e-6
        assert found[at] == pytest.approx((function(X + step) - function(X - step)) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("part", VIEWS + COPIES, ids=range(len(VIEWS) + len(COPIES)))
def test_of_an_array_that_was_changed(part):
    def function(x):
        y = x.copy()
        y[0] = 2 * x[1]
        return weighed(part(y))

    compare(function)


@pytest.mark.parametrize("part", VIEWS[:5] + VIEWS[6:11] + COPIES[:2] + COPIES[3:9])
def test_of_an_array_that_is_changed_afterwards(part):
    def function(x):
        y = x.copy()
        z = part(y)
        y[0] = 2 * x[1]
        return weighed(z) + weighed(y * y)

    compare(function)


@pytest.mark.parametrize("part", [lambda y: np.diag(y), lambda y: np.broadcast_to(y[0], (3, 3))])
def test_what_may_be_a_copy_is_refused(part):
    def function(x):
        y = x.copy()
        z = part(y)
        y[0] = 2 * x[1]
        return weighed(z)

    with pytest.raises(DerivativeError, match="may give a view or a copy of an array"):
        ag.grad(function)(X)


WRITES: list[Callable[[Any, Any], Any]] = [
    lambda y, x: np.fill_diagonal(y, x[0, 1]),
    lambda y, x: np.fill_diagonal(y, x[0]),
    lambda y, x: np.put_along_axis(y, np.array([[0], [1], [0]]), x[:, :1] * 2, 1),
    lambda y, x: np.place(y, y > 0, x[0]),
    lambda y, x: np.putmask(y, y > 0, x * 2),
    lambda y, x: np.put(y, [0, 4], x[1, :2]),
    lambda y, x: y.put([0, 4], 0.5),
    lambda y, x: y.sort(),
    lambda y, x: y.sort(axis=0),
    lambda y, x: y.partition(1),
    lambda y, x: np.copyto(y, 2 * x),
    lambda y, x: y.fill(x[0, 0]),
    lambda y, x: np.add.at(y, [0, 0], x[1]),
    lambda y, x: np.subtract.at(y, [0, 0], x[1]),
    lambda y, x: np.multiply(y, x, out=y),
    lambda y, x: np.negative(x, out=y, where=x > 0),
    lambda y, x: np.cos(W, out=y),
    lambda y, x: np.matmul(x, y, out=y[:]),
    lambda y, x: np.square(x, out=y[::-1]),
    lambda y, x: np.einsum("ij,jk->ik", x, x, out=y),
    lambda y, x: np.add.reduce(np.stack([x, y]), 0, out=y),
    lambda y, x: np.clip(y, -0.3, 0.3, out=y),
    lambda y, x: np.choose([[0, 1, 0]] * 3, [x, y * 2], out=y),
    lambda y, x: x.cumsum(0, out=y),
]


@pytest.mark.parametrize("write", WRITES, ids=range(len(WRITES)))
def test_of_what_writes_to_an_array(write):
    def function(x):
        y = np.sin(x) + x
        before = weighed(y * x)
        write(y, x)
        return before + weighed(y * y)

    compare(function)


@pytest.mark.parametrize("write", [lambda y: np.random.shuffle(y), lambda y: y.byteswap(True)])
def test_what_writes_without_a_derivative_is_refused(write):
    def function(x):
        y = x * x
        write(y)
        return weighed(y)

    with pytest.raises(DerivativeError, match="derivative"):
        ag.grad(function)(X)
