"""Layers that shift and scale features to mean 0 and variance 1, and then as training says."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.variables import Variable


class LayerNorm(Module):
    """Normalizes each vector of features by itself (Ba and others, 2016).

        nn.LayerNorm(4)(np.array([[1.0, 2.0, 3.0, 4.0]])).mean()       # 0.0

    Args:
        features: how many there are; x and the result have shape (…, features).
        epsilon: added to the variance.
        dtype: of the variables `scale` and `shift`, which begin with ones and zeros.
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
    """Normalizes each feature over the batch (Ioffe and Szegedy, 2015).

    While it is trained (see `Module.train`), it takes mean and variance of the batch, and keeps moving averages of
    them; after `eval()`, it takes these.

        layer = nn.BatchNorm(3)
        layer(np.arange(6.0).reshape(2, 3))         # [[-1, -1, -1], [1, 1, 1]]; nearly

    Args:
        features: how many there are; x and the result have shape (batch, …, features).
        momentum: how much of the averages is kept at each call.
        epsilon: added to the variance.
        dtype: of the variables: `scale` and `shift`, and the averages `mean` and `variance`, which are not trained.
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
