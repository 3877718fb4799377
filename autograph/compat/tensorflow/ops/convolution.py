"""Convolutions and pooling: of each place of a window, the part of the input that it comes to lie on.

So a convolution is a product of matrices, and its gradients are those of slices and products.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.convert import convert_to_tensor, matched
from autograph.compat.tensorflow.core.dtypes import numpy_dtype
from autograph.compat.tensorflow.core.tensor import Tensor, apply

Pairs = list[tuple[int, int]]


class _Window:
    """A window that goes over the spatial dimensions of an input, which stand between those of examples and channels.

    Args:
        sizes, strides, dilations, padding: as TensorFlow takes them.
    """

    def __init__(
        self, tensor: Tensor, sizes: Sequence[int], strides: Any, dilations: Any, padding: Any, data_format: Any
    ) -> None:
        self.first = data_format is not None and data_format.startswith("NC")  # whether channels come first
        count = len(sizes)
        dims = tensor.shape.as_list()
        if len(dims) != count + 2:
            raise ValueError(f"an input of {count + 2} dimensions is expected, not one of shape {tensor.shape}")
        self.sizes = [int(size) for size in sizes]
        self.strides, self.dilations = (_numbers(each, count, self.first) for each in (strides, dilations))
        spatial = dims[2:] if self.first else dims[1:-1]
        if None in spatial:
            raise ValueError(f"the sizes of images must be known while tracing, but the shape is {tensor.shape}")
        inside = [size or 0 for size in spatial]
        spans = [(size - 1) * dilation + 1 for size, dilation in zip(self.sizes, self.dilations)]
        self.pads = self._pads(padding, inside, spans)
        self.counts = [
            (size + sum(pad) - span) // stride + 1
            for size, pad, span, stride in zip(inside, self.pads, spans, self.strides)
        ]
        if min(self.counts) < 1:
            raise ValueError(f"a window of {self.sizes} is larger than the input, which is of shape {tensor.shape}")

    def _pads(self, padding: Any, sizes: list[int], spans: list[int]) -> Pairs:
        if not isinstance(padding, str):
            return [(int(before), int(after)) for before, after in (padding[2:] if self.first else padding[1:-1])]
        if padding.upper() == "VALID":
            return [(0, 0)] * len(sizes)
        if padding.upper() != "SAME":
            raise ValueError(f"padding must be 'SAME', 'VALID' or a list of pairs, not {padding!r}")
        total = [
            max((-(-size // stride) - 1) * stride + span - size, 0)
            for size, stride, span in zip(sizes, self.strides, spans)
        ]
        return [(each // 2, each - each // 2) for each in total]

    def parts(self, value: Any, fill: Any = 0) -> list[Any]:
        """For each place in the window, the parts of an array, with channels last, that it comes to lie on."""
        if any(map(any, self.pads)):
            value = np.pad(value, [(0, 0), *self.pads, (0, 0)], "constant", constant_values=fill)
        found = []
        for place in itertools.product(*map(range, self.sizes)):
            starts = [at * dilation for at, dilation in zip(place, self.dilations)]
            steps = zip(starts, self.strides, self.counts)
            where = [slice(start, start + (count - 1) * stride + 1, stride) for start, stride, count in steps]
            index = (slice(None), *where, slice(None))
            found.append(value[index])
        return found

    def over(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of an input whose channels come last, as one of an input as it is."""
        if not self.first:
            return function
        return lambda value, *rest: np.moveaxis(function(np.moveaxis(value, 1, -1), *rest), -1, 1)


def _numbers(given: Any, count: int, first: bool) -> list[int]:
    """One number for each spatial dimension, of one for all, of these, or of those for all dimensions."""
    numbers = [1] if given is None else [given] if isinstance(given, (int, np.integer)) else list(given)
    if len(numbers) == 1:
        return [int(numbers[0])] * count
    if len(numbers) == count + 2:
        numbers = numbers[2:] if first else numbers[1:-1]
    return [int(each) for each in numbers]


def convolution(
    input: Any, filters: Any, strides: Any = None, padding: Any = "VALID", data_format: Any = None,
    dilations: Any = None, name: str | None = None,
) -> Tensor:
    """What filters, of shape (*window, channels, filters), give at each place of the input."""
    x, kernel = matched("Conv", input, filters)
    *sizes, channels, count = [size or 0 for size in kernel.shape]
    window = _Window(x, sizes, strides, dilations, padding, data_format)
    given = x.shape[1 if window.first else -1]
    if given != channels:
        raise ValueError(f"the filters are for {channels} channels, but the input has {given}: {x.shape}")

    def convolve(value: Any, weights: Any) -> Any:
        return np.concatenate(window.parts(value), axis=-1) @ np.reshape(weights, (-1, count))

    return apply(f"Conv{len(sizes)}D", window.over(convolve), x, kernel, dtype=x.dtype)


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
    """Each channel by filters of its own."""
    x, kernel = matched("DepthwiseConv2dNative", input, filter)
    *sizes, channels, count = [size or 0 for size in kernel.shape]
    window = _Window(x, sizes, strides, dilations, padding, data_format)

    def convolve(value: Any, weights: Any) -> Any:
        parts = np.stack(window.parts(value), axis=-2)
        found = np.einsum("...kc,kcm->...cm", parts, np.reshape(weights, (-1, channels, count)))
        return np.reshape(found, (-1, *window.counts, channels * count))

    return apply("DepthwiseConv2dNative", window.over(convolve), x, kernel, dtype=x.dtype)


def _pool(op: str, dims: int, input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any) -> Tensor:
    x = convert_to_tensor(input)
    first = data_format is not None and data_format.startswith("NC")
    window = _Window(x, _numbers(ksize, dims, first), strides, None, padding, data_format)
    lowest = -np.inf if x.dtype.is_floating else np.iinfo(numpy_dtype(x.dtype)).min

    def largest(value: Any) -> Any:
        return functools.reduce(np.maximum, window.parts(value, lowest))

    def mean(value: Any) -> Any:
        inside = np.ones((1, *(each or 0 for each in x.shape.as_list()[2 if first else 1 : None if first else -1]), 1))
        counts = sum(window.parts(inside)).astype(numpy_dtype(x.dtype))
        return sum(window.parts(value)) / counts

    return apply(op, window.over(largest if op.startswith("Max") else mean), x, dtype=x.dtype)


def _pooling(op: str, dims: int) -> Callable[..., Tensor]:
    default = "NWC" if dims == 1 else "NHWC"

    def pool(
        input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = default, name: str | None = None
    ) -> Tensor:
        return _pool(op, dims, input, ksize, strides, padding, data_format)

    return pool


max_pool = max_pool2d = _pooling("MaxPool", 2)
avg_pool = avg_pool2d = _pooling("AvgPool", 2)
max_pool1d = _pooling("MaxPool1D", 1)
avg_pool1d = _pooling("AvgPool1D", 1)
