"""Layers of `tf.keras.layers` that normalize."""

from __future__ import annotations

from typing import Any

from autograph.compat.tensorflow import nn
from autograph.compat.tensorflow.keras.layer import Layer

__all__ = ["BatchNormalization", "LayerNormalization"]


class BatchNormalization(Layer):
    """Normalizes each channel over the batch, or, if not training, by moving averages (Ioffe and Szegedy, 2015)."""

    def __init__(
        self, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if axis != -1:
            raise ValueError(f"the channels must be the last axis, -1, not {axis}")
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.gamma: Any = None
        self.beta: Any = None

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[-1],)
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, initializer="ones")
        if self.center:
            self.beta = self.add_weight("beta", shape, initializer="zeros")
        self.moving_mean = self.add_weight("moving_mean", shape, initializer="zeros", trainable=False)
        self.moving_variance = self.add_weight("moving_variance", shape, initializer="ones", trainable=False)

    def call(self, inputs: Any, training: bool = False) -> Any:
        mean, variance = self.moving_mean, self.moving_variance
        if training and self.trainable:
            mean, variance = nn.moments(inputs, list(range(len(inputs.shape) - 1)))
            for average, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
                average.assign_add((now - average) * (1 - self.momentum))
        return nn.batch_normalization(inputs, mean, variance, self.beta, self.gamma, self.epsilon)


class LayerNormalization(Layer):
    """Normalizes each example to mean 0 and variance 1 (Ba and others, 2016)."""

    def __init__(
        self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.axis = [axis] if isinstance(axis, int) else list(axis)
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.gamma: Any = None
        self.beta: Any = None

    def build(self, input_shape: Any) -> None:
        shape = tuple(input_shape[axis] for axis in self.axis)
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, initializer="ones")
        if self.center:
            self.beta = self.add_weight("beta", shape, initializer="zeros")

    def call(self, inputs: Any) -> Any:
        mean, variance = nn.moments(inputs, self.axis, keepdims=True)
        return nn.batch_normalization(inputs, mean, variance, self.beta, self.gamma, self.epsilon)
