"""The derivatives of functions that only move elements, share them out or repeat them: the gradient goes back along."""

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
    """Of what has the same elements in the same order."""
    return np.reshape(g, shape(a))


def moves(function: Callable[..., Any]) -> Vjp:
    """The rule of a function whose result has elements of its first argument, each any number of times.

    It is found out by moving the numbers of the elements, so this is for what has no simpler rule.
    """

    def vjp(g: Any, out: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("out", None)
        return scattered(a, function(numbered(as_array(a)), *args, **kwargs), g)

    return vjp


def scattered(a: Any, numbers: Any, g: Any) -> Any:
    """Zeros like `a`, to whose elements of these numbers the gradient is added."""
    return np.reshape(scatter_add(np.ravel(as_array(a)), (numbers,), g), shape(a))


def along(axis: int, index: Any) -> tuple[Any, ...]:
    """The index that takes something of one axis, which is not negative, and all of the others."""
    return (*(slice(None),) * axis, index)


def axis_of(axis: int, a: Any) -> int:
    """An axis, counted from the first."""
    return int(axis % ndim(a))


def parts(arrays: Any) -> list[Any]:
    """The arrays in an argument that is a list of them, or an array."""
    return list(arrays) if isinstance(arrays, (list, tuple)) else [arrays[i] for i in range(shape(arrays)[0])]


def like_parts(gradients: list[Any], arrays: Any) -> Any:
    """The gradients of parts, in the form of what they are parts of."""
    return gradients if isinstance(arrays, (list, tuple)) else np.stack(gradients)


def unjoined(g: Any, arrays: Sequence[Any], axis: int, lengths: list[Any] | None = None) -> list[Any]:
    """The gradients of arrays that have been put one after the other; `lengths` along the axis, if not their own."""
    found, start = [], 0
    for number, array in enumerate(arrays):
        length = shape(array)[axis] if lengths is None else lengths[number]
        found.append(np.reshape(g[along(axis, slice(start, start + length))], shape(array)))
        start = start + length
    return found
