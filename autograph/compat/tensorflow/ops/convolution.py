"""Convolutions and pooling of `tf.nn`: those of `autograph.nn`, with TensorFlow's arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.convert import convert_to_tensor, matched
from autograph.compat.tensorflow.core.dtypes import numpy_dtype
from autograph.compat.tensorflow.core.tensor import Tensor, apply
from autograph.nn.convolution import Window, window_over

__all__ = [  # the names of `tf.nn`
    "avg_pool", "avg_pool1d", "avg_pool2d", "conv1d", "conv2d", "convolution", "depthwise_conv2d", "max_pool",
    "max_pool1d", "max_pool2d",
]  # fmt: skip


def _window(
    tensor: Tensor, sizes: Sequence[int], strides: Any, dilations: Any, padding: Any, first: bool
) -> Window:
    """A window over the spatial dimensions of a tensor; `first` says whether channels come before them."""
    count, dims = len(sizes), tensor.shape.as_list()
    if len(dims) != count + 2:
        raise ValueError(f"an input of {count + 2} dimensions is expected, not one of shape {tensor.shape}")
    lengths = dims[2:] if first else dims[1:-1]
    if None in lengths:
        raise ValueError(f"the sizes of images must be known while tracing, but the shape is {tensor.shape}")
    if not isinstance(padding, str):
        padding = [(int(before), int(after)) for before, after in (padding[2:] if first else padding[1:-1])]
    elif padding.upper() not in ("VALID", "SAME"):
        raise ValueError(f"padding must be 'SAME', 'VALID' or a list of pairs, not {padding!r}")
    else:
        padding = padding.lower()
    try:
        return window_over(
            [length or 0 for length in lengths], [int(size) for size in sizes], _numbers(strides, count, first),
            padding, _numbers(dilations, count, first),
        )  # fmt: skip
    except ValueError as error:
        if "is larger" not in str(error):
            raise
        text = f"a window of {[int(size) for size in sizes]} is larger than the input, which is of shape {tensor.shape}"
        raise ValueError(text) from None


def _numbers(value: Any, count: int, first: bool) -> list[int]:
    """One number for each spatial dimension; `value` has one in all, one for each, or one for each dimension at all."""
    numbers = [1] if value is None else [value] if isinstance(value, (int, np.integer)) else list(value)
    if len(numbers) == 1:
        return [int(numbers[0])] * count
    if len(numbers) == count + 2:
        numbers = numbers[2:] if first else numbers[1:-1]
    return [int(each) for each in numbers]


def _is_first(data_format: Any) -> bool:
    """Whether channels come before the spatial dimensions."""
    return data_format is not None and data_format.startswith("NC")


def _apply(op: str, function: Callable[..., Any], first: bool, *tensors: Tensor) -> Tensor:
    """Apply a function that takes channels last; `first` says that the channels of the input come first."""

    def channels_last(value: Any, *rest: Any) -> Any:
        return np.moveaxis(function(np.moveaxis(value, 1, -1), *rest), -1, 1)

    return apply(op, channels_last if first else function, *tensors)


def convolution(
    input: Any, filters: Any, strides: Any = None, padding: Any = "VALID", data_format: Any = None,
    dilations: Any = None, name: str | None = None,
) -> Tensor:
    """Convolve the input with filters of shape (*window, channels, filters)."""
    x, kernel = matched("Conv", input, filters)
    *sizes, channels, _ = [size or 0 for size in kernel.shape]
    first = _is_first(data_format)
    window = _window(x, sizes, strides, dilations, padding, first)
    input_channels = x.shape[1 if first else -1]
    if input_channels != channels:
        raise ValueError(f"the filters are for {channels} channels, but the input has {input_channels}: {x.shape}")
    return _apply(f"Conv{len(sizes)}D", window.convolve, first, x, kernel)


def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str = "NHWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    return convolution(input, filters, strides, padding, data_format, dilations)


def conv1d(
    input: Any, filters: Any, stride: Any, padding: Any, data_format: str = "NWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    return convolution(input, filters, stride, padding, data_format, dilations)


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: Any = None, dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolve each channel with its own filters."""
    x, kernel = matched("DepthwiseConv2dNative", input, filter)
    first = _is_first(data_format)
    window = _window(x, [size or 0 for size in kernel.shape[:-2]], strides, dilations, padding, first)
    return _apply("DepthwiseConv2dNative", window.convolve_each, first, x, kernel)


def _pooling(op: str, dims: int, default: str) -> Callable[..., Tensor]:
    def pool(
        input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = default, name: str | None = None
    ) -> Tensor:
        x, first = convert_to_tensor(input), _is_first(data_format)
        window = _window(x, _numbers(ksize, dims, first), strides, None, padding, first)
        if op.startswith("Avg"):
            return _apply(op, window.mean, first, x)
        lowest = -np.inf if x.dtype.is_floating else np.iinfo(numpy_dtype(x.dtype)).min
        return _apply(op, lambda value: window.maximum(value, lowest), first, x)

    return pool


max_pool = max_pool2d = _pooling("MaxPool", 2, "NHWC")
avg_pool = avg_pool2d = _pooling("AvgPool", 2, "NHWC")
max_pool1d = _pooling("MaxPool1D", 1, "NWC")
avg_pool1d = _pooling("AvgPool1D", 1, "NWC")
