"""Activations: against their formulas, where these overflow, in both precisions, plain and staged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autograph import nn
from tests.comparing import compare, of_expression

NAMES = {"np": np, "nn": nn}
FORMULAS = {
    "relu": lambda x: max(x, 0.0),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
    "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name):
    xs = np.linspace(-6, 6, 49)
    tolerance = 1e-3 if name == "gelu" else 1e-12
    assert np.allclose(getattr(nn, name)(xs), [FORMULAS[name](x) for x in xs], rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", [*FORMULAS, "softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_far_out_nothing_overflows_and_dtypes_stay(name, dtype):
    function = of_expression("x", f"nn.{name}(x)", NAMES)
    with np.errstate(all="raise", under="ignore"):
        y = function(np.array([-500.0, -1.0, 0.0, 1.0, 500.0], dtype))
    assert y.dtype == dtype and np.isfinite(y).all()
    compare(function, f"np.array([-500.0, -1.0, 0.0, 1.0, 500.0], '{dtype}')", "np.ones((2, 3))", names=NAMES)


@pytest.mark.parametrize("name", ["sigmoid", "silu", "softplus"])
def test_small_results_are_exact(name):
    xs = np.linspace(-80, 20, 101)
    for dtype, tolerance in (("f4", 1e-6), ("f8", 1e-13)):
        assert np.allclose(getattr(nn, name)(xs.astype(dtype)), [FORMULAS[name](x) for x in xs], rtol=tolerance, atol=0)


def test_softmax_sums_to_one():
    x = np.random.default_rng(0).normal(size=(4, 5)) * 10
    assert np.allclose(nn.softmax(x).sum(axis=-1), 1)
    assert np.allclose(nn.softmax(x, axis=0).sum(axis=0), 1)
    assert np.allclose(np.exp(nn.log_softmax(x)), nn.softmax(x))
    assert np.allclose(nn.softmax(np.array([0.0, math.log(3)])), [0.25, 0.75])


def test_one_hot():
    assert nn.one_hot([1, 0, 3], 3).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    compare(of_expression("n", "nn.one_hot(n, 3, 'f4'), nn.one_hot([n, n], 4)", NAMES), "2", "np.int64(1)", names=NAMES)
    compare(of_expression("n", "nn.one_hot(n, 3)", NAMES), "np.array([[1, 2], [0, 0]])", names=NAMES)
