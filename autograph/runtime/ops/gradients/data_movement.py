"""Derivatives of functions that move, select or repeat elements: the gradient goes the same way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import Vjp
from autograph.runtime.ops.gradients import adjoint_ops
from autograph.runtime.ops.gradients.toolkit import as_array, ndim, on_proxies, shape

numbered, scatter_add = on_proxies(adjoint_ops.numbered), on_proxies(adjoint_ops.scatter_add)

MOST = 64  # the greatest number of arguments of one kind that have derivatives


def reshaped_back(g: Any, out: Any, a: Any, *_: Any, **__: Any) -> Any:
    """The derivative of a function that keeps the elements and their order."""
    return np.reshape(g, shape(a))


def moves(function: Callable[..., Any]) -> Vjp:
    """The derivative of a function whose result consists of elements of its first argument, in any number.

    It moves the numbers of the elements to find where each went, for functions without a simpler rule.
    """

    def vjp(g: Any, out: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("out", None)
        return scattered(a, function(numbered(as_array(a)), *args, **kwargs), g)

    return vjp


def scattered(a: Any, numbers: Any, g: Any) -> Any:
    """Zeros like `a`, with the gradient added to the elements of these numbers."""
    return np.reshape(scatter_add(np.ravel(as_array(a)), (numbers,), g), shape(a))


def along(axis: int, index: Any) -> tuple[Any, ...]:
    """The index that applies `index` to one axis, counted from the front, and keeps all others."""
    return (*(slice(None),) * axis, index)


def axis_of(axis: int, a: Any) -> int:
    """An axis counted from the front."""
    return int(axis % ndim(a))


def parts(arrays: Any) -> list[Any]:
    """The arrays in a list of arrays, or in an array."""
    return list(arrays) if isinstance(arrays, (list, tuple)) else [arrays[i] for i in range(shape(arrays)[0])]


def like_parts(gradients: list[Any], arrays: Any) -> Any:
    """The gradients of `parts(arrays)`, as a list or an array, like `arrays`."""
    return gradients if isinstance(arrays, (list, tuple)) else np.stack(gradients)


def unjoined(g: Any, arrays: Sequence[Any], axis: int, lengths: list[Any] | None = None) -> list[Any]:
    """The gradients of arrays that were concatenated; `lengths` along the axis, if they differ from those of the
    arrays.
    """
    found, start = [], 0
    for number, array in enumerate(arrays):
        length = shape(array)[axis] if lengths is None else lengths[number]
        found.append(np.reshape(g[along(axis, slice(start, start + length))], shape(array)))
        start = start + length
    return found
