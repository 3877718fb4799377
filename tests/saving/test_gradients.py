"""Gradients of loaded functions are those of the functions that were saved, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag

X = np.array([0.5, -1.5, 2.0, 3.0])
WEIGHTS = np.linspace(-1.0, 1.0, 16).reshape(4, 4)
TABLE = {"bias": np.array([0.1, 0.2, 0.3, 0.4]), "rate": 0.25}


def polynomial(x: Any) -> Any:
    return (3 * x**3 - 2 * x + 1).sum()


def branches(x: Any) -> Any:
    total = 0.0
    for each in x:
        if each > 1:
            total += each**2
        elif each < 0:
            total -= math.sin(each)
        else:
            continue
    return total


def breaks(x: Any) -> Any:
    total = x[0] * 0
    for i in range(len(x)):
        total = total + x[i] ** 2
        if total > 5:
            break
    return total


def newton(x: Any) -> Any:
    root, n = x.sum(), 0
    while abs(root * root - 2) > 1e-3 and n < 20:
        root, n = 0.5 * (root + 2 / root), n + 1
    return root * x[0]


def network(x: Any) -> Any:
    hidden = np.tanh(WEIGHTS @ x + TABLE["bias"])
    return (hidden * hidden).mean() * TABLE["rate"]


def in_place(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + x[i] * x[i - 1]
    y[1:] *= x[:-1]
    return y.sum()


def lists(x: Any) -> Any:
    parts = []
    for each in x:
        parts.append(each * len(parts))
    return sum(parts) + max(parts)


def recurrent(x: Any) -> Any:
    state = np.zeros(4)
    for _ in range(6):
        state = np.tanh(WEIGHTS @ state + x)
    return np.linalg.norm(state)


def products(x: Any) -> Any:
    matrix = np.outer(x, x) + np.eye(4)
    return np.einsum("ij,jk->ik", matrix, WEIGHTS).trace() + np.dot(x, x[::-1])


def early(x: Any) -> Any:
    if x.sum() < 0:
        return x.sum()
    y = np.where(x > 0, np.sqrt(np.abs(x)), x)
    return np.cumsum(y)[-1] * np.max(y)


@pytest.mark.parametrize(
    "function",
    [polynomial, branches, breaks, newton, network, in_place, lists, recurrent, products, early],
    ids=lambda function: function.__name__,
)
def test_gradients_are_equal(function: Callable[[Any], Any], tmp_path: Path) -> None:
    ag.save(ag.function(function), tmp_path / "saved", signatures=[(X,)])
    loaded = ag.load(tmp_path / "saved")
    for x in (X, X[::-1].copy(), -X):
        assert loaded(x) == function(x)
        value, gradient = ag.value_and_grad(loaded)(x)
        wanted_value, wanted = ag.value_and_grad(function)(x)
        assert value == wanted_value
        np.testing.assert_array_equal(gradient, wanted)


def test_second_derivatives(tmp_path: Path) -> None:
    ag.save(ag.function(network), tmp_path / "saved", signatures=[(X,)])
    loaded = ag.load(tmp_path / "saved")
    np.testing.assert_array_equal(ag.hessian(loaded)(X), ag.hessian(network)(X))
