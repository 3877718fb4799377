"""Activations: functions of arrays of any shape, which keep the dtype of floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["gelu", "log_softmax", "one_hot", "relu", "sigmoid", "silu", "softmax", "softplus", "tanh"]


def relu(x: Any) -> Any:
    """The rectifier: max(x, 0) (Nair and Hinton, 2010).

    Args:
        x: an array of floats, of any shape.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.relu(np.array([-1.0, 2.0]))
        array([0., 2.])
    """
    return np.maximum(x, 0)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent.

    Args:
        x: an array of floats, of any shape.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.tanh(np.array([0.0, np.inf]))
        array([0., 1.])
    """
    return np.tanh(x)


def sigmoid(x: Any) -> Any:
    """The logistic function, 1 / (1 + exp(-x)).

    It never overflows: for all x below -88, the result is that for -88, 6e-39.

    Args:
        x: an array of floats, of any shape.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.sigmoid(np.array([0.0, 100.0]))
        array([0.5, 1. ])
    """
    return 1 / (1 + np.exp(-np.maximum(x, -88)))


def silu(x: Any) -> Any:
    """x · sigmoid(x), also called swish (Elfwing and others, 2017).

    Args:
        x: an array of floats, of any shape.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.silu(np.array([0.0, 100.0]))
        array([  0., 100.])
    """
    return x * sigmoid(x)


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), a smooth rectifier that never overflows (Dugas and others, 2000).

    Args:
        x: an array of floats, of any shape.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.softplus(np.array([-1000.0, 1000.0]))
        array([   0., 1000.])
    """
    return np.logaddexp(x, 0)


def gelu(x: Any) -> Any:
    """x · P(X ≤ x) for a standard normal X, approximated by tanh (Hendrycks and Gimpel, 2016).

    Args:
        x: an array of floats, of any shape.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.gelu(np.array([0.0, 10.0]))
        array([ 0., 10.])
    """
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis: positive numbers whose sum is 1.

    Args:
        x: an array of floats, of any shape.
        axis: the axis to sum over; by default the last.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.softmax(np.array([1.0, 1.0]))
        array([0.5, 0.5])
    """
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of `softmax(x)`; it is finite also where that rounds to zero.

    Args:
        x: an array of floats, of any shape.
        axis: the axis to sum over; by default the last.

    Returns:
        an array of the same shape and dtype.

    Example:
        >>> nn.log_softmax(np.array([0.0, 1000.0]))
        array([-1000.,     0.])
    """
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def one_hot(labels: Any, classes: int, dtype: Any = float) -> Any:
    """Encode class numbers as rows that are 1 at the class and 0 elsewhere.

    Args:
        labels: integers of shape (…); a label outside of `range(classes)` gives a row of zeros.
        classes: the number of classes.
        dtype: the dtype of the result.

    Returns:
        an array of shape (…, classes).

    Example:
        >>> nn.one_hot([0, 2], 3)
        array([[1., 0., 0.],
               [0., 0., 1.]])
    """
    return (np.asarray(labels)[..., None] == np.arange(classes)).astype(dtype)
