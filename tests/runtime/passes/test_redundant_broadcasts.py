"""Broadcasting that is left to arithmetic."""

import numpy as np
import pytest

import autograph as ag
from tests.runtime.passes.texts import stays

X, B = np.arange(6.0).reshape(2, 3), np.array([0.5, -1.0, 2.0])


def gradient(function, x):
    """What the gradient of a function computes, as text; it gives what it gives without the pass."""
    found = ag.function(ag.grad(function))
    wanted = found.with_options(passes={"redundant_broadcasts": False})
    assert np.array_equal(found(x), wanted(x)) and found(x).dtype == wanted(x).dtype
    return str(found.lower(x))


def test_arithmetic_broadcasts_of_itself():
    assert "broadcast_to" not in gradient(lambda x: np.sum(np.sin(np.sum(x, axis=0)) * np.sum(x * x, axis=0)), X)
    text = gradient(lambda x: np.sum(np.log(np.sum(np.exp(x), axis=1))), X)
    assert "[:, None] * " in text and "broadcast_to" not in text and "expand_dims" not in text


def test_single_precision_stays():
    assert gradient(lambda x: np.mean(x * x) * np.float32(2), X.astype(np.float32))


def test_what_is_not_arithmetic_gets_the_shape():
    text = gradient(lambda x: np.sum(np.matmul(x, x.T)), X)
    assert "broadcast_to" in text


@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 1)])
def test_both_operands_broadcast(shape):
    def function(b):
        return np.sum((b + np.zeros((2, 3))) ** 2) * np.mean(b) + np.sum(np.sum(b, axis=0))

    assert gradient(function, np.ones(shape))


def test_the_users_own_stay():
    stays(
        "redundant_broadcasts",
        "graph f(x: f64[2,3], b: f64[3]):\n  a: f64[2,3] = np.broadcast_to(b, (2, 3))\n"
        "  c: f64[3,1] = np.expand_dims(b, 1)\n  y: f64[2,3] = a * x\n  -> (y, c)\n",
    )
