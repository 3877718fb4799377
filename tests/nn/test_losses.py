"""Losses: against their formulas, where these overflow, plain and staged."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph import nn
from tests.comparing import compare, of_expression

NAMES = {"np": np, "nn": nn}
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 3, 4))
P = nn.softmax(X)
LABELS = np.array([1, 3, 0])


@pytest.mark.parametrize(
    "loss, wanted",
    [
        ("nn.mse(X, Y, 'none')", (X - Y) ** 2),
        ("nn.mae(X, Y, 'none')", abs(X - Y)),
        ("nn.huber(X, Y, 0.5, 'none')", np.where(abs(X - Y) < 0.5, (X - Y) ** 2 / 2, 0.5 * abs(X - Y) - 0.125)),
        ("nn.softmax_cross_entropy(X, LABELS, 'none')", -np.log(P[range(3), LABELS])),
        ("nn.softmax_cross_entropy(X, nn.one_hot(LABELS, 4), 'none')", -np.log(P[range(3), LABELS])),
        ("nn.softmax_cross_entropy(X, P, 'none')", -(P * np.log(P)).sum(axis=1)),
        ("nn.binary_cross_entropy(P, Y > 0, 'none')", -np.log(np.where(Y > 0, P, 1 - P))),
        ("nn.binary_cross_entropy_with_logits(X, Y > 0, 'none')", np.log1p(np.exp(np.where(Y > 0, -X, X)))),
    ],
)
def test_formulas(loss, wanted):
    names = {**NAMES, "X": X, "Y": Y, "P": P, "LABELS": LABELS}
    assert np.allclose(eval(loss, dict(names)), wanted)
    for reduction, reduced in (("mean", np.mean(wanted)), ("sum", np.sum(wanted))):
        function = of_expression("X, Y, P, LABELS", loss.replace("none", reduction), NAMES)
        assert np.allclose(function(X, Y, P, LABELS), reduced)
        compare(function, "X, Y, P, LABELS", "X[:2], Y[:2], P[:2], LABELS[:2]", names=names)


def test_large_logits():
    x, right, wrong = np.array([[1000.0, -1000.0]]), [0], [1]
    with np.errstate(all="raise", under="ignore"):
        assert nn.softmax_cross_entropy(x, right) == 0 and nn.softmax_cross_entropy(x, wrong) == 2000
        logits = nn.binary_cross_entropy_with_logits(np.array([1000.0, -1000.0]), np.array([0, 0]), "none")
        assert logits.tolist() == [1000, 0]
        assert np.isfinite(nn.binary_cross_entropy(np.array([0.0, 1.0]), np.array([1, 0])))


def test_dtypes_stay():
    x = X.astype("f4")
    for loss in (nn.mse(x, x), nn.huber(x, x + 1), nn.softmax_cross_entropy(x, LABELS)):
        assert loss.dtype == np.float32


def test_another_reduction_is_refused():
    with pytest.raises(ValueError, match="not 'average'"):
        nn.mse(X, Y, "average")


@pytest.mark.parametrize(
    "loss", [nn.mse, nn.mae, nn.huber, nn.binary_cross_entropy, nn.binary_cross_entropy_with_logits]
)
def test_shapes_that_differ_are_refused(loss):
    x = np.full((3, 1), 0.5)
    told = r"predictions of shape \(3, 1\) are compared with targets of shape \(3,\)"
    for function in (loss, ag.function(loss)):
        with pytest.raises(ValueError, match=told):
            function(x, np.ones(3))
    assert loss(x, 0.0) == pytest.approx(loss(x, np.zeros((3, 1))))
