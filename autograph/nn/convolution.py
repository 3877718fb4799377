"""Convolutions and pooling, over sequences `(batch, time, channels)` and images `(batch, height, width, channels)`.

    features = nn.Conv2D(3, 16, 3, padding="same", activation=nn.relu, rng=0)(images)    # (batch, h, w, 16)
    smaller = nn.max_pool(features, (2, 2))                                                # (batch, h // 2, w // 2, 16)

A convolution collects, for each element of its window, the part of the input under that element, and multiplies these
parts by the filters in one product of matrices ("im2col": Chellapilla and others, 2006). So its gradients are those of
slices and of a product. The size of a window may be one number for all spatial dimensions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograph.modules import Module
from autograph.nn.initializers import Rng, glorot_uniform
from autograph.variables import Variable

__all__ = [
    "AveragePool", "Conv1D", "Conv2D", "MaxPool", "average_pool", "convolve", "global_average_pool",
    "global_max_pool", "max_pool",
]  # fmt: skip

Sizes = int | Sequence[int]
Padding = str | Sequence[tuple[int, int]]


class Window(NamedTuple):
    """A window that moves over the spatial dimensions of an array.

    Attributes:
        lengths: the lengths of these dimensions.
        sizes: the length of the window in each.
        strides: how far it moves from one position to the next.
        dilations: the distances of the elements that it takes.
        pads: the numbers of elements to add before and behind the array.
        counts: the number of positions.
    """

    lengths: Sequence[int]
    sizes: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Sequence[tuple[int, int]]
    counts: Sequence[int]

    def parts(self, x: Any, fill: Any = 0) -> list[Any]:
        """For each element of the window, the items under it at all positions, of shape (batch, *counts, channels).

        Args:
            fill: the value of the elements that padding adds.
        """
        if any(before or behind for before, behind in self.pads):
            x = np.pad(x, [(0, 0), *self.pads, (0, 0)], "constant", constant_values=fill)
        result = []
        for place in itertools.product(*map(range, self.sizes)):
            starts = [at * dilation for at, dilation in zip(place, self.dilations)]
            steps = zip(starts, self.strides, self.counts)
            where = [slice(start, start + (count - 1) * stride + 1, stride) for start, stride, count in steps]
            index = (slice(None), *where, slice(None))
            result.append(x[index])
        return result

    def convolve(self, x: Any, filters: Any) -> Any:
        """Apply filters of shape (*sizes, channels, outputs) at each position."""
        return np.concatenate(self.parts(x), axis=-1) @ np.reshape(filters, (-1, filters.shape[-1]))

    def convolve_each(self, x: Any, filters: Any) -> Any:
        """Apply filters of shape (*sizes, channels, multiples), one set for each channel, at each position."""
        *_, channels, multiples = filters.shape
        parts = np.stack(self.parts(x), axis=-2)
        result = np.einsum("...kc,kcm->...cm", parts, np.reshape(filters, (-1, channels, multiples)))
        return np.reshape(result, (-1, *self.counts, channels * multiples))

    def maximum(self, x: Any, lowest: Any) -> Any:
        """The largest element in the window; `lowest` is at most as large as any."""
        first, *others = self.parts(x, lowest)
        for each in others:
            first = np.maximum(first, each)
        return first

    def mean(self, x: Any) -> Any:
        """The mean of the elements in the window, without those that padding adds."""
        inside = np.ones((1, *self.lengths, 1))
        return sum(self.parts(x)) / sum(self.parts(inside)).astype(x.dtype)


def window_over(
    lengths: Sequence[int], sizes: Sizes, strides: Sizes = 1, padding: Padding = "valid", dilation: Sizes = 1
) -> Window:
    """Make a window over spatial dimensions of these lengths.

    Args:
        padding: "valid" keeps the window inside the array; "same" extends the array to ⌈length / stride⌉ positions; a
            pair for each dimension gives the numbers of elements to add before and behind.

    Raises:
        ValueError: the window is larger than the array, the numbers are not one for each dimension, or the padding is
            invalid.
    """
    dims = len(lengths)
    if not dims:
        raise ValueError("an array of shape (batch, *lengths, channels) is needed, but it has at most two dimensions")
    sizes, strides, dilations = _for_each(sizes, dims), _for_each(strides, dims), _for_each(dilation, dims)
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, dilations)]
    if padding == "valid":
        pads: Sequence[tuple[int, int]] = ((0, 0),) * dims
    elif padding == "same":
        total = [
            max((-(-length // stride) - 1) * stride + span - length, 0)
            for length, stride, span in zip(lengths, strides, spans)
        ]
        pads = tuple([(each // 2, each - each // 2) for each in total])
    elif isinstance(padding, str):
        raise ValueError(f'padding is "valid", "same" or a pair for each dimension, not {padding!r}')
    else:
        pads = _for_each([(before, behind) for before, behind in padding], dims)
    counts = tuple([
        (length + sum(pad) - span) // stride + 1 for length, pad, span, stride in zip(lengths, pads, spans, strides)
    ])
    if min(counts) < 1:
        raise ValueError(f"a window of {tuple(sizes)} is larger than the array of {tuple(lengths)} elements")
    return Window(tuple(lengths), sizes, strides, dilations, pads, counts)


def _for_each(value: Any, dims: int) -> tuple[Any, ...]:
    """Repeat one number for each dimension, or check that there is one number, or pair, for each."""
    numbers = (value,) * dims if isinstance(value, (int, np.integer)) else tuple(value)
    if len(numbers) != dims:
        raise ValueError(f"{numbers} is for {len(numbers)} spatial dimensions, but there are {dims}")
    return numbers


# Functions ------------------------------------------------------------------------------------------------------------


def convolve(x: Any, filters: Any, strides: Sizes = 1, padding: Padding = "valid", dilation: Sizes = 1) -> Any:
    """The sums of products of filters and the elements under a window, at each of its positions.

    As in other libraries for neural networks, the filters are not flipped: in mathematics, this is a correlation.

    Args:
        x: of shape (batch, *lengths, channels).
        filters: of shape (*sizes, channels, outputs).
        strides: how far the window moves, in elements.
        padding: "valid" keeps the window inside the array; "same" extends the array to ⌈length / stride⌉ positions; a
            pair for each dimension gives the numbers of elements to add before and behind.
        dilation: the distance of the elements that the window takes.

    Returns:
        an array of shape (batch, *counts, outputs).

    Raises:
        ValueError: the filters are for another number of channels, or are larger than the array.

    Example:
        >>> nn.convolve(np.array([[[1.0], [2.0], [4.0]]]), np.array([[[1.0]], [[-1.0]]])).ravel()
        array([-1., -2.])
    """
    if x.shape[-1] != filters.shape[-2]:
        raise ValueError(f"the filters are for {filters.shape[-2]} channels, but the array has {x.shape[-1]}")
    return window_over(x.shape[1:-1], filters.shape[:-2], strides, padding, dilation).convolve(x, filters)


def max_pool(x: Any, size: Sizes = 2, strides: Sizes | None = None, padding: Padding = "valid") -> Any:
    """The largest element of each channel, at each position of a window.

    Args:
        x: of shape (batch, *lengths, channels).
        size: of the window: a number, or one for each dimension.
        strides: how far the window moves, in elements; by default its size.
        padding: "valid" keeps the window inside the array; "same" extends the array to ⌈length / stride⌉ positions; a
            pair for each dimension gives the numbers of elements to add before and behind.

    Returns:
        an array of shape (batch, *counts, channels).

    Example:
        >>> nn.max_pool(np.array([[[1.0], [3.0], [2.0], [0.0]]]), 2).ravel()
        array([3., 2.])
    """
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return window_over(x.shape[1:-1], size, size if strides is None else strides, padding).maximum(x, lowest)


def average_pool(x: Any, size: Sizes = 2, strides: Sizes | None = None, padding: Padding = "valid") -> Any:
    """The mean of the elements of each channel, at each position of a window; without those that padding adds.

    Args:
        x: of shape (batch, *lengths, channels).
        size: of the window: a number, or one for each dimension.
        strides: how far the window moves, in elements; by default its size.
        padding: "valid" keeps the window inside the array; "same" extends the array to ⌈length / stride⌉ positions; a
            pair for each dimension gives the numbers of elements to add before and behind.

    Returns:
        an array of shape (batch, *counts, channels).

    Example:
        >>> nn.average_pool(np.array([[[1.0], [3.0], [2.0], [0.0]]]), 2).ravel()
        array([2., 1.])
    """
    return window_over(x.shape[1:-1], size, size if strides is None else strides, padding).mean(x)


# Layers ---------------------------------------------------------------------------------------------------------------


class _Conv(Module):
    """activation(convolve(x, w) + b); see `convolve`.

    Args:
        inputs, outputs: the numbers of channels: x has shape (batch, *lengths, inputs).
        size: of the filters: a number, or one for each dimension.
        strides: how far the window moves, in elements.
        padding: "valid" keeps the window inside the array; "same" extends the array to ⌈length / stride⌉ positions; a
            pair for each dimension gives the numbers of elements to add before and behind.
        dilation: the distance of the elements that the window takes.
        activation: a function, if any.
        bias: whether there is a `b`, which begins with zeros.
        init: makes `w`, of shape (*size, inputs, outputs); see `initializers`.
        rng: a `np.random.Generator` or a seed; without one, each layer begins with other numbers.
        dtype: of the variables.

    Example:
        >>> nn.Conv2D(3, 16, size=5, padding="same", rng=0)(np.ones((1, 28, 28, 3))).shape
        (1, 28, 28, 16)
    """

    dims: int

    def __init__(
        self,
        inputs: int,
        outputs: int,
        size: Sizes,
        strides: Sizes = 1,
        padding: Padding = "valid",
        dilation: Sizes = 1,
        activation: Callable[[Any], Any] | None = None,
        bias: bool = True,
        init: Callable[..., Any] = glorot_uniform,
        rng: Rng = None,
        dtype: Any = float,
    ) -> None:
        self.w = Variable(init((*_for_each(size, self.dims), inputs, outputs), rng, dtype))
        self.b = Variable([0] * outputs, dtype=dtype) if bias else None
        self.strides = strides
        self.padding = padding
        self.dilation = dilation
        self.activation = activation

    def __call__(self, x: Any) -> Any:
        y = convolve(x, self.w.value, self.strides, self.padding, self.dilation)
        if self.b is not None:
            y = y + self.b
        return y if self.activation is None else self.activation(y)


class Conv1D(_Conv):
    __doc__ = _Conv.__doc__
    dims = 1


class Conv2D(_Conv):
    __doc__ = _Conv.__doc__
    dims = 2


class _Pool(Module):
    pool: Callable[..., Any]

    def __init__(self, size: Sizes = 2, strides: Sizes | None = None, padding: Padding = "valid") -> None:
        self.size = size
        self.strides = strides
        self.padding = padding

    def __call__(self, x: Any) -> Any:
        return type(self).pool(x, self.size, self.strides, self.padding)


class MaxPool(_Pool):
    """`max_pool`, as a layer.

    Args:
        size: of the window: a number, or one for each dimension.
        strides: how far the window moves, in elements; by default its size.
        padding: as for `max_pool`.

    Example:
        >>> nn.MaxPool(2)(np.array([[[1.0], [3.0], [2.0], [0.0]]])).ravel()
        array([3., 2.])
    """

    pool = staticmethod(max_pool)


class AveragePool(_Pool):
    """`average_pool`, as a layer.

    Args:
        size: of the window: a number, or one for each dimension.
        strides: how far the window moves, in elements; by default its size.
        padding: as for `average_pool`.

    Example:
        >>> nn.AveragePool(2)(np.array([[[1.0], [3.0], [2.0], [0.0]]])).ravel()
        array([2., 1.])
    """

    pool = staticmethod(average_pool)


def global_max_pool(x: Any) -> Any:
    """The largest element of each channel.

    Args:
        x: of shape (batch, *lengths, channels).

    Returns:
        an array of shape (batch, channels).

    Example:
        >>> nn.global_max_pool(np.array([[[1.0], [3.0]]]))
        array([[3.]])
    """
    return np.max(x, axis=tuple(range(1, x.ndim - 1)))


def global_average_pool(x: Any) -> Any:
    """The mean of each channel (Lin and others, 2014).

    Args:
        x: of shape (batch, *lengths, channels).

    Returns:
        an array of shape (batch, channels).

    Example:
        >>> nn.global_average_pool(np.array([[[1.0], [3.0]]]))
        array([[2.]])
    """
    return np.mean(x, axis=tuple(range(1, x.ndim - 1)))
