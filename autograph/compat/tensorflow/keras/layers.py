"""`tf.keras.layers`."""

# ruff: noqa: F403  (names of TensorFlow's)

from __future__ import annotations

import math
from typing import Any

from autograph.compat.tensorflow import nn
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.keras import activations
from autograph.compat.tensorflow.keras.functional import Input as Input
from autograph.compat.tensorflow.keras.layer import InputLayer as InputLayer
from autograph.compat.tensorflow.keras.layer import Layer as Layer
from autograph.compat.tensorflow.keras.merging import *
from autograph.compat.tensorflow.keras.recurrent import *
from autograph.compat.tensorflow.keras.spatial import *
from autograph.compat.tensorflow.ops import array_ops, indexing, math_ops


class Dense(Layer):
    """activation(inputs @ kernel + bias)."""

    def __init__(
        self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros", **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units), initializer=self.kernel_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", (self.units,), initializer=self.bias_initializer)

    def call(self, inputs: Any) -> Any:
        result = math_ops.matmul(inputs, self.kernel)
        return self.activation(result if self.bias is None else result + self.bias)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (*input_shape[:-1], self.units)


class Activation(Layer):
    """Applies an activation."""

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class ReLU(Layer):
    """max(inputs, 0)."""

    def call(self, inputs: Any) -> Any:
        return nn.relu(inputs)


class Softmax(Layer):
    """exp(inputs) / sum(exp(inputs)) along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        return nn.softmax(inputs, self.axis)


class Reshape(Layer):
    """Reshapes each example."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        return array_ops.reshape(inputs, (_batch(inputs), *self.target_shape))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (input_shape[0], *self.target_shape)


class Flatten(Layer):
    """Reshapes each example to one dimension."""

    def call(self, inputs: Any) -> Any:
        return array_ops.reshape(inputs, (_batch(inputs), math.prod(inputs.shape[1:])))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (input_shape[0], math.prod(input_shape[1:]))


class Dropout(Layer):
    """While training, sets a share `rate` of the elements to zero, and scales the others by 1 / (1 - rate)."""

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = rate
        self.seed = seed

    def call(self, inputs: Any, training: bool = False) -> Any:
        return nn.dropout(inputs, self.rate, seed=self.seed) if training and self.rate else inputs


class _Normalization(Layer):
    """Shifts and scales numbers to mean 0 and variance 1, and then by `gamma` and `beta`, which are learned."""

    def __init__(self, epsilon: float, center: bool, scale: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.gamma: Any = None
        self.beta: Any = None

    def add_scale_and_shift(self, shape: tuple[int, ...]) -> None:
        """Make gamma, if `scale` is set, and beta, if `center` is."""
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, initializer="ones")
        if self.center:
            self.beta = self.add_weight("beta", shape, initializer="zeros")

    def normalize(self, inputs: Any, mean: Any, variance: Any) -> Any:
        return nn.batch_normalization(inputs, mean, variance, self.beta, self.gamma, self.epsilon)


class BatchNormalization(_Normalization):
    """Normalizes each channel over the batch, or, if not training, by moving averages (Ioffe and Szegedy, 2015)."""

    def __init__(
        self, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(epsilon, center, scale, **kwargs)
        if axis != -1:
            raise ValueError(f"the channels must be the last axis, -1, not {axis}")
        self.momentum = momentum

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[-1],)
        self.add_scale_and_shift(shape)
        self.moving_mean = self.add_weight("moving_mean", shape, initializer="zeros", trainable=False)
        self.moving_variance = self.add_weight("moving_variance", shape, initializer="ones", trainable=False)

    def call(self, inputs: Any, training: bool = False) -> Any:
        mean, variance = self.moving_mean, self.moving_variance
        if training and self.trainable:
            mean, variance = nn.moments(inputs, list(range(len(inputs.shape) - 1)))
            for average, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
                average.assign_add((now - average) * (1 - self.momentum))
        return self.normalize(inputs, mean, variance)


class LayerNormalization(_Normalization):
    """Normalizes each example to mean 0 and variance 1 (Ba and others, 2016)."""

    def __init__(
        self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(epsilon, center, scale, **kwargs)
        self.axis = [axis] if isinstance(axis, int) else list(axis)

    def build(self, input_shape: Any) -> None:
        self.add_scale_and_shift(tuple(input_shape[axis] for axis in self.axis))

    def call(self, inputs: Any) -> Any:
        return self.normalize(inputs, *nn.moments(inputs, self.axis, keepdims=True))


class Embedding(Layer):
    """Looks up a row of a table for each number."""

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: Any = "uniform", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.embeddings_initializer = embeddings_initializer

    def build(self, input_shape: Any) -> None:
        shape = self.input_dim, self.output_dim
        self.embeddings = self.add_weight("embeddings", shape, initializer=self.embeddings_initializer)

    def call(self, inputs: Any) -> Any:
        return indexing.gather(self.embeddings, inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (*input_shape, self.output_dim)


class Lambda(Layer):
    """Applies a function of the user."""

    def __init__(self, function: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function = function

    infers_shapes = False

    def call(self, inputs: Any) -> Any:
        return self.function(inputs)


def _batch(inputs: Any) -> Any:
    """The number of examples; -1 if it is unknown."""
    shape: TensorShape = inputs.shape
    return -1 if shape[0] is None else shape[0]
