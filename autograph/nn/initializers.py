"""Initializers: functions of a shape, a generator or seed, and a dtype, which make initial values of variables.

    glorot_uniform((64, 128), rng=0)
    functools.partial(normal, stddev=0.02)          # is also an initializer

A shape is (…, inputs, outputs); for convolutions, the size of the window is in front.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = [
    "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "normal", "ones", "orthogonal", "standard_normal",
    "uniform", "xavier_normal", "xavier_uniform", "zeros",
]  # fmt: skip

Rng = np.random.Generator | int | None


def zeros(shape: Sequence[int], rng: Rng = None, dtype: Any = float) -> Any:
    """All zeros.

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: not used.
        dtype: of the array.

    Returns:
        an array.

    Example:
        >>> nn.zeros((1, 2))
        array([[0., 0.]])
    """
    return np.zeros(shape, dtype)


def ones(shape: Sequence[int], rng: Rng = None, dtype: Any = float) -> Any:
    """All ones.

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: not used.
        dtype: of the array.

    Returns:
        an array.

    Example:
        >>> nn.ones((1, 2))
        array([[1., 1.]])
    """
    return np.ones(shape, dtype)


def uniform(shape: Sequence[int], rng: Rng = None, dtype: Any = float, low: float = -0.05, high: float = 0.05) -> Any:
    """Uniform random numbers in [low, high).

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.
        low, high: the bounds.

    Returns:
        an array.

    Example:
        >>> bool(np.max(np.abs(nn.uniform((300, 500), rng=0))) <= 0.05)
        True
    """
    return np.random.default_rng(rng).uniform(low, high, shape).astype(dtype)


def normal(shape: Sequence[int], rng: Rng = None, dtype: Any = float, mean: float = 0.0, stddev: float = 0.05) -> Any:
    """Normal random numbers.

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.
        mean, stddev: mean and standard deviation.

    Returns:
        an array.

    Example:
        >>> round(float(np.std(nn.normal((300, 500), rng=0))), 3)
        0.05
    """
    return np.random.default_rng(rng).normal(mean, stddev, shape).astype(dtype)


def standard_normal(shape: Sequence[int], rng: Rng = None, dtype: Any = float) -> Any:
    """Normal random numbers with mean 0 and variance 1.

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.

    Returns:
        an array.

    Example:
        >>> round(float(np.std(nn.standard_normal((300, 500), rng=0))), 3)
        1.001
    """
    return normal(shape, rng, dtype, 0.0, 1.0)


def glorot_uniform(shape: Sequence[int], rng: Rng = None, dtype: Any = float) -> Any:
    """Uniform random numbers with variance 2 / (inputs + outputs) (Glorot and Bengio, 2010).

    This suits tanh and sigmoid. Also called `xavier_uniform`.

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.

    Returns:
        an array.

    Example:
        >>> round(float(np.std(nn.glorot_uniform((300, 500), rng=0))), 3)
        0.05
    """
    limit = math.sqrt(6 / sum(_fans(shape)))
    return uniform(shape, rng, dtype, -limit, limit)


def glorot_normal(shape: Sequence[int], rng: Rng = None, dtype: Any = float) -> Any:
    """Normal random numbers with variance 2 / (inputs + outputs) (Glorot and Bengio, 2010).

    This suits tanh and sigmoid. Also called `xavier_normal`.

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.

    Returns:
        an array.

    Example:
        >>> round(float(np.std(nn.glorot_normal((300, 500), rng=0))), 3)
        0.05
    """
    return normal(shape, rng, dtype, 0.0, math.sqrt(2 / sum(_fans(shape))))


def he_uniform(shape: Sequence[int], rng: Rng = None, dtype: Any = float) -> Any:
    """Uniform random numbers with variance 2 / inputs, which suits relu (He and others, 2015).

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.

    Returns:
        an array.

    Example:
        >>> round(float(np.std(nn.he_uniform((300, 500), rng=0))), 3)
        0.082
    """
    limit = math.sqrt(6 / _fans(shape)[0])
    return uniform(shape, rng, dtype, -limit, limit)


def he_normal(shape: Sequence[int], rng: Rng = None, dtype: Any = float) -> Any:
    """Normal random numbers with variance 2 / inputs, which suits relu (He and others, 2015).

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.

    Returns:
        an array.

    Example:
        >>> round(float(np.std(nn.he_normal((300, 500), rng=0))), 3)
        0.082
    """
    return normal(shape, rng, dtype, 0.0, math.sqrt(2 / _fans(shape)[0]))


def orthogonal(shape: Sequence[int], rng: Rng = None, dtype: Any = float, scale: float = 1.0) -> Any:
    """A random matrix with orthonormal rows or columns (Saxe and others, 2014).

    Args:
        shape: of the array: (…, inputs, outputs).
        rng: a `np.random.Generator` or a seed; without one, each call gives other numbers.
        dtype: of the array.
        scale: a factor.

    Returns:
        an array.

    Example:
        >>> w = nn.orthogonal((2, 3), rng=0)
        >>> np.round(np.abs(w @ w.T), 3)
        array([[1., 0.],
               [0., 1.]])
    """
    rows, columns = math.prod(shape[:-1]), shape[-1]
    drawn = np.random.default_rng(rng).normal(size=(max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q = q * np.sign(np.diagonal(r))
    return (scale * (q if rows >= columns else q.T)).reshape(shape).astype(dtype)


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal


def _fans(shape: Sequence[int]) -> tuple[int, int]:
    """The numbers of inputs that affect an output, and of outputs that an input affects."""
    field = math.prod(shape[:-2])
    inputs, outputs = (shape[-2], shape[-1]) if len(shape) > 1 else (shape[0], shape[0])
    return inputs * field, outputs * field
