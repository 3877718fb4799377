"""Activations: functions of arrays of any shape, which keep the dtype of floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def relu(x: Any) -> Any:
    """max(x, 0)."""
    return np.maximum(x, 0)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), which overflows for no x: below -88, it is as small as float32 has numbers."""
    return 1 / (1 + np.exp(-np.maximum(x, -88)))


def silu(x: Any) -> Any:
    """x · sigmoid(x), also called swish (Elfwing and others, 2017)."""
    return x * sigmoid(x)


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), which overflows for no x."""
    return np.logaddexp(x, 0)


def gelu(x: Any) -> Any:
    """x · P(X ≤ x) for a standard normal X (Hendrycks and Gimpel, 2016), in their approximation by tanh."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis."""
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of `softmax(x)`, which is finite where that is zero."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def one_hot(labels: Any, classes: int, dtype: Any = float) -> Any:
    """Class numbers as rows that are 1 at that number and 0 elsewhere.

    Args:
        labels: integers of shape (…); those outside of `range(classes)` give rows of zeros.

    Returns:
        an array of shape (…, classes).
    """
    return (np.asarray(labels)[..., None] == np.arange(classes)).astype(dtype)
