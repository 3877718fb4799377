"""Layers of `tf.keras.layers` for images and sequences: convolutions and pooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.compat.tensorflow.keras import activations
from autograph.compat.tensorflow.keras.layer import Layer
from autograph.compat.tensorflow.ops import array_ops, convolution, reduce_ops

__all__ = [
    "AveragePooling1D", "AveragePooling2D", "Conv1D", "Conv2D", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "MaxPool1D", "MaxPool2D", "MaxPooling1D", "MaxPooling2D",
    "ZeroPadding2D",
]  # fmt: skip


def _each(value: Any, dims: int) -> tuple[int, ...]:
    """Repeat a single number for each dimension."""
    return (value,) * dims if isinstance(value, int) else tuple(value)


def _sizes(input_shape: Any, window: Any, strides: Any, padding: str, dilation: Any = None) -> tuple[int | None, ...]:
    """The number of positions of a window in each spatial dimension; None if its size is unknown."""
    result = []
    for at, (size, span, step) in enumerate(zip(tuple(input_shape)[1:-1], window, strides)):
        extent = (span - 1) * (dilation[at] if dilation else 1) + 1
        room = None if size is None else size if padding.upper() == "SAME" else size - extent + 1
        result.append(None if room is None else -(-room // step))
    return tuple(result)


class _Conv(Layer):
    """activation(convolution(inputs, kernel) + bias)."""

    dims: int

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", dilation_rate: Any = 1,
        activation: Any = None, use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros", **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = _each(kernel_size, self.dims)
        self.strides = _each(strides, self.dims)
        self.padding = padding
        self.dilation_rate = _each(dilation_rate, self.dims)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        shape = (*self.kernel_size, input_shape[-1], self.filters)
        self.kernel = self.add_weight("kernel", shape, initializer=self.kernel_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", (self.filters,), initializer=self.bias_initializer)

    def call(self, inputs: Any) -> Any:
        result = convolution.convolution(
            inputs, self.kernel, self.strides, self.padding, dilations=self.dilation_rate
        )
        return self.activation(result if self.bias is None else result + self.bias)

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = _sizes(input_shape, self.kernel_size, self.strides, self.padding, self.dilation_rate)
        return (input_shape[0], *sizes, self.filters)


class Conv1D(_Conv):
    """A convolution over sequences."""

    dims = 1


class Conv2D(_Conv):
    """A convolution over images."""

    dims = 2


class _Pool(Layer):
    """Reduces the elements in a window at each of its positions."""

    dims: int
    pool: Callable[..., Any]

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pool_size = _each(pool_size, self.dims)
        self.strides = self.pool_size if strides is None else _each(strides, self.dims)
        self.padding = padding

    def call(self, inputs: Any) -> Any:
        return type(self).pool(inputs, self.pool_size, self.strides, self.padding)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (input_shape[0], *_sizes(input_shape, self.pool_size, self.strides, self.padding), input_shape[-1])


def _pooling(name: str, dims: int, pool: Callable[..., Any], what: str) -> Any:
    parts = {"__doc__": f"The {what} in a window, at each of its positions.", "__module__": __name__}
    return type(name, (_Pool,), {**parts, "dims": dims, "pool": staticmethod(pool)})


MaxPooling1D = _pooling("MaxPooling1D", 1, convolution.max_pool1d, "largest number")
MaxPooling2D = _pooling("MaxPooling2D", 2, convolution.max_pool2d, "largest number")
AveragePooling1D = _pooling("AveragePooling1D", 1, convolution.avg_pool1d, "mean")
AveragePooling2D = _pooling("AveragePooling2D", 2, convolution.avg_pool2d, "mean")
MaxPool1D, MaxPool2D = MaxPooling1D, MaxPooling2D


class _GlobalPool(Layer):
    """Reduces each channel to one number."""

    dims: int
    reduce: Callable[..., Any]

    def __init__(self, keepdims: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.keepdims = keepdims

    def call(self, inputs: Any) -> Any:
        return type(self).reduce(inputs, list(range(1, self.dims + 1)), self.keepdims)

    def compute_output_shape(self, input_shape: Any) -> Any:
        ones = (1,) * self.dims if self.keepdims else ()
        return (input_shape[0], *ones, input_shape[-1])


def _global_pooling(name: str, dims: int, reduce: Callable[..., Any], what: str) -> Any:
    parts = {"__doc__": f"The {what} of each channel.", "__module__": __name__}
    return type(name, (_GlobalPool,), {**parts, "dims": dims, "reduce": staticmethod(reduce)})


GlobalAveragePooling1D = _global_pooling("GlobalAveragePooling1D", 1, reduce_ops.reduce_mean, "mean")
GlobalAveragePooling2D = _global_pooling("GlobalAveragePooling2D", 2, reduce_ops.reduce_mean, "mean")
GlobalMaxPooling1D = _global_pooling("GlobalMaxPooling1D", 1, reduce_ops.reduce_max, "largest number")
GlobalMaxPooling2D = _global_pooling("GlobalMaxPooling2D", 2, reduce_ops.reduce_max, "largest number")


class ZeroPadding2D(Layer):
    """Pads images with zeros."""

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.padding = tuple(_each(each, 2) for each in _each(padding, 2))

    def call(self, inputs: Any) -> Any:
        return array_ops.pad(inputs, [[0, 0], *map(list, self.padding), [0, 0]])

    def compute_output_shape(self, input_shape: Any) -> Any:
        first, *sizes, last = input_shape
        return (first, *(None if size is None else size + sum(pad) for size, pad in zip(sizes, self.padding)), last)
