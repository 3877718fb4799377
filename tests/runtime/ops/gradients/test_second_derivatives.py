"""First and second derivatives of functions of many ops, as gradients of graphs, against finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError

pytestmark = pytest.mark.once

A = np.array([[0.3, -1.2, 0.8], [1.5, 0.1, -0.4]])
B = np.array([0.7, 1.1, -0.6])
W = np.array([[0.1, -0.1, 0.6], [0.1, -0.5, 0.4]])

FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.sum(np.sin(x) * x),
    lambda x: np.prod(x),
    lambda x: np.sum(np.cumprod(x, 1) * W),
    lambda x: np.var(x),
    lambda x: np.sum(np.std(x, axis=0) * B),
    lambda x: np.max(x) ** 2,
    lambda x: np.sum(x.max(axis=1) ** 2),
    lambda x: np.sum(np.median(x, axis=1) ** 2),
    lambda x: np.sum(np.quantile(x, [0.2, 0.7], axis=1) ** 2),
    lambda x: np.sum(np.logaddexp(x, B) ** 2),
    lambda x: np.logaddexp.reduce(x, None) ** 2,
    lambda x: np.sum(np.logaddexp.accumulate(x, 1) * x),
    lambda x: np.sum(np.arctan2(x, B) ** 2),
    lambda x: np.sum(np.hypot(x, B) * x),
    lambda x: np.sum(x**3),
    lambda x: np.sum(np.abs(x) ** 2.5),
    lambda x: np.sum(2**x),
    lambda x: np.sum(np.abs(x) ** x),
    lambda x: np.sum(np.tanh(x @ B) ** 2),
    lambda x: np.sum((x @ x.T) ** 2),
    lambda x: np.sum(np.matmul(x.T, x) ** 2),
    lambda x: np.sum(np.clip(x, -0.35, 0.5) ** 3),
    lambda x: np.sum(np.where(x > 0, x**2, np.exp(x))),
    lambda x: np.sum(np.sinc(x) * x),
    lambda x: np.sum(np.i0(x) * x),
    lambda x: np.average(x, weights=W**2) ** 2,
    lambda x: np.sum(np.average(x, 1, x**2) * x[:, 0]),
    lambda x: np.sum(np.diff(x, axis=1) ** 3),
    lambda x: np.trapezoid(x**2, axis=0).sum() ** 2,
    lambda x: np.sum(np.gradient(x**2, axis=1) * x),
    lambda x: np.sum(np.gradient(x**2, 0.5, axis=1, edge_order=2) * x),
    lambda x: np.sum(np.interp(x, np.array([-2.0, 0, 2]), np.array([1.0, 3, 5]) ** 2) ** 2),
    lambda x: float(x[0, 0]) * math.exp(x[0, 1]) + math.sin(x[1, 1]) ** 2,
    lambda x: math.hypot(x[0, 0], x[0, 1], x[1, 0]) ** 3,
    lambda x: math.lgamma(x[1, 0]) * math.gamma(x[0, 0]),
    lambda x: math.atan2(x[0, 0], x[0, 1]) * math.sqrt(x[1, 0]) * math.log(x[1, 0], 3),
    lambda x: math.erf(x[0, 0]) * math.erfc(x[0, 1]),
    lambda x: max(x[0, 0], x[0, 1]) ** 2 + min(x[0, 0], x[1, 1]),
    lambda x: sum([x[0, 0], x[1, 1] ** 2]),
    lambda x: abs(x[0, 1]) ** 3,
    lambda x: x.item(2) ** 3,
    lambda x: np.sum(np.multiply.outer(x, B) ** 2),
    lambda x: np.sum(np.add.reduce(x, 1) ** 2),
    lambda x: np.sum(np.maximum.accumulate(x, 1) ** 2),
    lambda x: np.sum(np.ptp(x, 0) ** 2),
    lambda x: np.sum(np.nanmean(x, 0) ** 2),
    lambda x: np.sum(np.nan_to_num(x) ** 2),
    lambda x: np.sum(np.select([x > 0, x > -0.5], [x**2, x**3], 1.5)),
    lambda x: np.sum(np.divmod(x, B)[1] ** 2),
    lambda x: np.sum(x % B) ** 2,
    lambda x: np.sum(np.modf(x)[0] ** 2),
    lambda x: np.trace(x @ x.T) ** 2,
    lambda x: np.sum(np.cumsum(x, 1) ** 2),
    lambda x: np.sum(np.arctan(x) ** 2 + np.arcsinh(x) * x),
    lambda x: np.sum(np.expm1(x) * np.log1p(x**2)),
    lambda x: np.sum(np.sqrt(x**2 + 1)),
    lambda x: np.sum(np.mean(x, axis=1, keepdims=True) * x**2),
    lambda x: np.sum(np.mean(x, where=x > 0) * x**2),
]
# Floats that are named have derivatives as those in their places.
NAMED: list[Callable[[Any], Any]] = [
    lambda x: np.sum(np.clip(x, min=B, max=x**2 + 1) ** 2),
    lambda x: np.sum(np.clip(x, None, a_max=x[0]) ** 2),
    lambda x: np.sum(x.clip(max=B * x[0]) ** 2),
    lambda x: np.sum(x.clip(min=B * x[0]) ** 2),
    lambda x: np.average(A, weights=x**2) ** 2,
    lambda x: np.sum(x, initial=x[0, 0] ** 2) ** 2,
    lambda x: np.prod(x, axis=0, initial=x[0, 0]).sum(),
    lambda x: np.max(A, initial=x[1, 0] * 3) ** 2,
    lambda x: np.sum(np.trapezoid(x, x=x[0] ** 2) ** 2),
    lambda x: np.sum(np.trapezoid(x, dx=x[0, 0] ** 2) ** 2),
    lambda x: np.sum(np.interp(A, np.array([-0.5, 0, 0.5]), B, left=x[0, 0], right=x[0, 1]) ** 2),
    lambda x: np.sum(np.full((3,), fill_value=x[0, 0]) ** 2),
    lambda x: np.sum(np.nan_to_num(A, nan=x[0, 0]) ** 2) + np.sum(x),
    lambda x: np.sum(np.diff(A, prepend=x[:, :1]) ** 2),
    lambda x: sum([x[0, 0]], start=x[0, 1]) ** 2,
    lambda x: math.prod([2.0, 3.0], start=float(x[0, 0])) ** 2,
    lambda x: np.sum(np.linspace(0.0, stop=x[0, 0], num=4) ** 2),
    lambda x: np.sum(np.select([A > 0], [x], default=x[0, 0]) ** 2),
    lambda x: np.quantile(A, q=x[0, 0] ** 2) ** 2,
]


def numeric(function: Callable[[Any], Any], x: Any) -> Any:
    steps = np.eye(x.size).reshape(-1, *x.shape) * 1e-5
    slopes = [(function(x + step) - function(x - step)) / 2e-5 for step in steps]
    return np.reshape(slopes, x.shape)


@pytest.mark.parametrize("number", range(len(FUNCTIONS + NAMED)))
def test_derivatives_of_graphs(number: int) -> None:
    function = [*FUNCTIONS, *NAMED][number]
    gradient = ag.function(ag.grad(function))
    second = ag.function(ag.grad(lambda x: np.sum(ag.grad(function)(x) * W)))
    assert np.allclose(gradient(A), numeric(function, A), rtol=1e-4, atol=1e-5)
    assert np.allclose(second(A), numeric(lambda x: np.sum(gradient(x) * W), A), rtol=1e-3, atol=1e-4)


def test_what_is_not_known_is_told_with_its_place() -> None:
    def jump(x):
        return np.quantile(x, 0.5, method="inverted_cdf")

    with pytest.raises(DerivativeError, match=r"test_second_derivatives.py:\d+: `np.quantile` .*method='inverted_cdf'"):
        ag.function(ag.grad(jump))(B)
