"""Layers that normalize features to mean 0 and variance 1, and then scale and shift them as learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.variables import Variable

__all__ = ["BatchNorm", "LayerNorm"]


class LayerNorm(Module):
    """Shifts and scales each vector of features to mean 0 and variance 1, and then as learned (Ba and others, 2016).

    Args:
        features: the length of a vector: x has shape (…, features).
        epsilon: added to the variance.
        dtype: of the variables.

    Example:
        >>> np.round(nn.LayerNorm(2)(np.array([[1.0, 3.0]])), 3)
        array([[-1.,  1.]])
    """

    def __init__(self, features: int, epsilon: float = 1e-5, dtype: Any = float) -> None:
        self.scale = Variable(np.ones(features, dtype))
        self.shift = Variable(np.zeros(features, dtype))
        self.epsilon = epsilon

    def __call__(self, x: Any) -> Any:
        centered = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centered**2, axis=-1, keepdims=True)
        return centered / np.sqrt(variance + self.epsilon) * self.scale + self.shift


class BatchNorm(Module):
    """Shifts and scales each feature to mean 0 and variance 1 over the batch (Ioffe and Szegedy, 2015).

    During training (see `Module.train`), it uses mean and variance of the batch, and updates moving averages of them;
    after `eval()`, it uses the averages.

    Args:
        features: the number of features: x has shape (batch, …, features).
        momentum: the share of the averages that remains at each call.
        epsilon: added to the variance.
        dtype: of the variables.

    Example:
        >>> np.round(nn.BatchNorm(1)(np.array([[1.0], [3.0]])), 3)
        array([[-1.],
               [ 1.]])
    """

    def __init__(self, features: int, momentum: float = 0.99, epsilon: float = 1e-5, dtype: Any = float) -> None:
        self.scale = Variable(np.ones(features, dtype))
        self.shift = Variable(np.zeros(features, dtype))
        self.mean = Variable(np.zeros(features, dtype), trainable=False)
        self.variance = Variable(np.ones(features, dtype), trainable=False)
        self.momentum = momentum
        self.epsilon = epsilon

    def __call__(self, x: Any) -> Any:
        if not self.training:
            return (x - self.mean) / np.sqrt(self.variance + self.epsilon) * self.scale + self.shift
        axes = tuple(range(np.ndim(x) - 1))
        mean = np.mean(x, axis=axes)
        variance = np.mean((x - mean) ** 2, axis=axes)
        self.mean.assign_add((1 - self.momentum) * (mean - self.mean))
        self.variance.assign_add((1 - self.momentum) * (variance - self.variance))
        return (x - mean) / np.sqrt(variance + self.epsilon) * self.scale + self.shift
