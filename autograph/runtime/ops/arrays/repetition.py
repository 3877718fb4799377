"""Ops that repeat the elements of arrays, and pad arrays."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from autograph.runtime.graph.traits import MOVES
from autograph.runtime.graph.types import ObjectType, TensorType, Type
from autograph.runtime.ops.gradients.data_movement import along, axis_of, moves
from autograph.runtime.ops.gradients.toolkit import ndim
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference.containers import tuple_items
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    add_dims,
    array_like,
    axis_or_flat,
    int_arg,
    is_constant,
    size,
)


def tile(A: Any, reps: Any) -> Type:
    array = array_like(A)
    if isinstance(reps, TensorType) and reps.shape:
        raise Unknown
    if isinstance(reps, ObjectType):
        reps = tuple_items(reps)
    counts: list[int | None] = [int_arg(each) for each in (reps if isinstance(reps, (tuple, list)) else [reps])]
    ndim = max(len(counts), array.ndim)
    counts[:0] = [1] * (ndim - len(counts))
    dims = (1,) * (ndim - array.ndim) + array.shape
    return TensorType(array.dtype, tuple(size((dim, number)) for dim, number in zip(dims, counts)))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Type:
    array = array_like(a)
    shape, at = axis_or_flat(array, axis)
    number = None
    if is_constant(repeats) and not isinstance(repeats, (list, tuple, np.ndarray)):
        number = operator.index(repeats)
    return TensorType(array.dtype, (*shape[:at], size((shape[at], number)), *shape[at + 1 :]))


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Type:
    array = array_like(array)
    if is_constant(pad_width) and not isinstance(pad_width, dict):
        widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).sum(axis=1).tolist()
    else:
        widths = [None] * array.ndim
    return TensorType(array.dtype, tuple(map(add_dims, array.shape, widths)))


# --------------------------------------------------------------------------------------------------- derivatives


def of_tile(g: Any, out: Any, A: Any, reps: Any) -> Any:
    counts = tuple(reps) if isinstance(reps, (tuple, list, np.ndarray)) else (reps,)
    dims = sizes(A)
    dims, counts = (1,) * (len(counts) - len(dims)) + dims, (1,) * (len(dims) - len(counts)) + counts
    apart = [each for pair in zip(counts, dims) for each in pair]
    return np.reshape(np.sum(np.reshape(g, apart), tuple(range(0, len(apart), 2))), sizes(A))


def of_repeat(g: Any, out: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    if isinstance(repeats, (list, tuple)) or ndim(repeats):
        return moves(np.repeat)(g, out, a, repeats, axis)
    at = 0 if axis is None else axis_of(axis, a)
    dims = (math.prod(sizes(a)),) if axis is None else sizes(a)
    apart = (*dims[: at + 1], repeats, *dims[at + 1 :])
    return np.reshape(np.sum(np.reshape(g, apart), at + 1), sizes(a))


_MOVING = ("edge", "reflect", "symmetric", "wrap")


def of_pad(g: Any, out: Any, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    if mode == "empty" or mode == "constant":
        for axis, (width, length) in enumerate(zip(_widths(pad_width, ndim(array)), sizes(array))):
            g = g[along(axis, slice(width, width + length))]
        return g
    if mode not in _MOVING or kwargs.get("reflect_type") == "odd":
        raise NotImplementedError(f"the derivative of np.pad of mode {mode!r} {kwargs or ''}")
    return moves(np.pad)(g, out, array, pad_width, mode, **kwargs)


def _widths(pad_width: Any, ndim: int) -> list[Any]:
    """The padding before each axis."""
    if isinstance(pad_width, dict):
        by_axis = {axis % ndim: width for axis, width in pad_width.items()}
        return [_first(by_axis.get(axis, 0)) for axis in range(ndim)]
    each = pad_width.tolist() if isinstance(pad_width, np.ndarray) else pad_width
    if not isinstance(each, (list, tuple)):
        return [each] * ndim
    if len(each) == 1 or not isinstance(each[0], (list, tuple)):
        return [_first(each)] * ndim
    return [_first(width) for width in each]


def _first(width: Any) -> Any:
    return _first(width[0]) if isinstance(width, (list, tuple)) else width


functions("np.tile", tile, vjp=of_tile, traits=[MOVES])
functions("np.repeat .repeat", repeat, vjp=of_repeat, traits=[MOVES])
functions("np.pad", pad, vjp=of_pad)
