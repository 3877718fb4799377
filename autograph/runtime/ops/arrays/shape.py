"""Ops that change the shape of an array or the order of its axes, most of them by a view."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT, VIEW, WRITE, Infer, Vjp
from autograph.runtime.graph.traits import (
    ADDS_AXES,
    BROADCASTS,
    GIVES_SHAPE,
    MAKES_VIEWS,
    MOVES,
    OWN_VIEW,
    READS_VIEWS,
    RESHAPES,
    TOTAL,
    TRANSPOSES,
    VIEW_OF_FIRST,
    VIEW_OR_COPY,
)
from autograph.runtime.graph.types import INT, NONE, ObjectType, Shape, TensorType, Type
from autograph.runtime.ops.gradients.data_movement import MOST, moves, reshaped_back
from autograph.runtime.ops.gradients.toolkit import ndim
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference.containers import tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    array_like,
    axes_arg,
    axis_arg,
    broadcast,
    int_arg,
    is_constant,
    like_first,
    operand,
    result,
    shape_arg,
    size,
)
from autograph.runtime.ops.native.views import flipped


def reshaped(a: TensorType, shape: Shape) -> TensorType:
    """The type of a result that stays a scalar for a scalar, and a 0-d array for a 0-d array."""
    return TensorType(a.dtype, shape, "scalar" if a.kind == "scalar" and not shape else "array")


# ---------------------------------------------------------------------------------------------------- reshaping


def new_shape(old: Shape, shape: Any) -> Shape:
    """The shape that `reshape(shape)` gives; one dimension that is -1 or unknown follows from the others."""
    if isinstance(shape, ObjectType) and shape.name == "tuple" and shape.items:
        shape = shape.items
    if isinstance(shape, (tuple, list)):
        dims = [int_arg(dim) for dim in shape]
    elif isinstance(shape, TensorType) and shape.shape:
        return shape_arg(shape)
    else:
        dims = [int_arg(shape)]
    open_dims = [i for i, dim in enumerate(dims) if dim is None or dim < 0]
    if len(open_dims) == 1:
        (at,) = open_dims
        rest = size(tuple(dims[:at] + dims[at + 1 :]))
        total = size(old)
        if total is not None and rest:
            dims[at] = total // rest
            return tuple(dims)
    return tuple(None if dim is None or dim < 0 else dim for dim in dims)


def reshape(a: Any, shape: Any = None, order: Any = "C", *, newshape: Any = None, copy: Any = None) -> Type:
    a = operand(a)
    return reshaped(a, new_shape(a.shape, newshape if shape is None else shape))


def reshape_method(a: TensorType, *shape: Any, order: Any = "C", copy: Any = None) -> Type:
    return reshaped(operand(a), new_shape(a.shape, shape[0] if len(shape) == 1 else shape))


def ravel(a: Any, order: Any = "C") -> Type:
    a = operand(a)
    return TensorType(a.dtype, (size(a.shape),))


def resize(a: Any, new_shape: Any) -> Type:
    return TensorType(operand(a).dtype, shape_arg(new_shape))


def expand_dims(a: Any, axis: Any) -> Type:
    a = operand(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    if not is_constant(axis):
        return TensorType(a.dtype, (None,) * (a.ndim + count))
    axes = axes_arg(tuple(axis) if isinstance(axis, list) else axis, a.ndim + count)
    dims = iter(a.shape)
    return TensorType(a.dtype, tuple(1 if i in axes else next(dims) for i in range(a.ndim + count)))


def squeeze(a: Any, axis: Any = None) -> Type:
    a = operand(a)
    if axis is None:
        if None in a.shape:
            raise Unknown
        return reshaped(a, tuple(dim for dim in a.shape if dim != 1))
    axes = axes_arg(axis, a.ndim) if a.shape else ()
    return reshaped(a, tuple(dim for i, dim in enumerate(a.shape) if i not in axes))


# --------------------------------------------------------------------------------------------- the order of axes


def permuted(a: TensorType, axes: Any) -> TensorType:
    if axes is None:
        return reshaped(a, a.shape[::-1])
    if not is_constant(axes):
        return reshaped(a, (None,) * a.ndim)
    order = [axis_arg(axis, a.ndim) for axis in axes]
    if len(order) != a.ndim:
        raise Unknown
    return reshaped(a, tuple(a.shape[axis] for axis in order))


def transpose(a: Any, axes: Any = None) -> Type:
    return permuted(operand(a), axes)


def transpose_method(a: Any, *axes: Any) -> Type:
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list, ObjectType))):
        return permuted(operand(a), axes[0])
    return permuted(operand(a), axes or None)


def matrix_transpose(a: Any) -> Type:
    a = array_like(a)
    return TensorType(a.dtype, (*a.shape[:-2], a.shape[-1], a.shape[-2]))


def swapaxes(a: Any, axis1: Any, axis2: Any) -> Type:
    a = operand(a)
    if not is_constant((axis1, axis2)):
        return reshaped(a, (None,) * a.ndim)
    dims = list(a.shape)
    first, second = axis_arg(axis1, a.ndim), axis_arg(axis2, a.ndim)
    dims[first], dims[second] = dims[second], dims[first]
    return reshaped(a, tuple(dims))


def moveaxis(a: Any, source: Any, destination: Any) -> Type:
    a = operand(a)
    if not is_constant((source, destination)):
        return reshaped(a, (None,) * a.ndim)
    here, there = axes_arg(source, a.ndim), axes_arg(destination, a.ndim)
    order = [axis for axis in range(a.ndim) if axis not in here]
    for target, axis in sorted(zip(there, here)):
        order.insert(target, axis)
    return permuted(a, order)


def rollaxis(a: Any, axis: Any, start: Any = 0) -> Type:
    a = operand(a)
    if not is_constant((axis, start)):
        return TensorType(a.dtype, (None,) * a.ndim)
    moved, to = axis_arg(axis, a.ndim), operator.index(start)
    to = to + a.ndim if to < 0 else to
    order = list(range(a.ndim))
    order.remove(moved)
    order.insert(to - 1 if moved < to else to, moved)
    return permuted(a, order)


def flip(m: Any, axis: Any = None) -> Type:
    m = array_like(m)
    return result(m.dtype, m.shape)


def flip_rows(m: Any) -> Type:
    found = array_like(m)
    if not found.shape:
        raise Unknown
    return found


def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Type:
    m = array_like(m)
    dims = list(m.shape)
    first, second = axes_arg(axes, m.ndim)
    if not is_constant(k) and dims[first] != dims[second]:
        dims[first] = dims[second] = None
    elif is_constant(k) and operator.index(k) % 2:
        dims[first], dims[second] = dims[second], dims[first]
    return TensorType(m.dtype, tuple(dims))


# ------------------------------------------------------------------------------------------------- broadcasting


def broadcast_to(array: Any, shape: Any, subok: Any = False) -> Type:
    array = array_like(array)
    wanted = shape_arg(shape)
    if array.ndim > len(wanted):
        raise Unknown
    return TensorType(array.dtype, wanted)


def broadcast_arrays(*args: Any, subok: Any = False) -> Type:
    arrays = list(map(array_like, args))
    shape = broadcast(*(a.shape for a in arrays))
    return tuple_of(*(TensorType(a.dtype, shape) for a in arrays))


def broadcast_shapes(*args: Any) -> Type:
    return tuple_of(*[INT] * max((len(shape_arg(arg)) for arg in args), default=0))


def _at_least(pad: Callable[[Shape], Shape]) -> Infer:
    def infer(*arys: Any) -> Type:
        arrays = [TensorType(a.dtype, pad(a.shape)) for a in map(array_like, arys)]
        return arrays[0] if len(arrays) == 1 else tuple_of(*arrays)

    return infer


def at_least_1d(shape: Shape) -> Shape:
    return shape or (1,)


def at_least_2d(shape: Shape) -> Shape:
    return (1,) * (2 - len(shape)) + shape


def at_least_3d(shape: Shape) -> Shape:
    if len(shape) >= 3:
        return shape
    return (*shape, 1) if len(shape) == 2 else (1, *(shape or (1,)), 1)


# ---------------------------------------------------------------------------------------------- facts of a shape


def shape_of(a: Any) -> Type:
    return tuple_of(*[INT] * operand(a).ndim)


# --------------------------------------------------------------------------------------------------- derivatives

def of_reshape(g: Any, out: Any, a: Any, *to: Any, order: Any = "C", **_: Any) -> Any:
    if order in ("C", "F"):
        return np.reshape(g, sizes(a), order)
    return moves(np.reshape)(g, out, a, sizes(out), order)


def of_ravel(g: Any, out: Any, a: Any, order: Any = "C") -> Any:
    return (of_reshape if order in ("C", "F") else moves(np.ravel))(g, out, a, order=order)


def of_transpose(g: Any, out: Any, a: Any, axes: Any = None) -> Any:
    if axes is None:
        return np.transpose(g)
    order = [axis % len(axes) for axis in axes]
    return np.transpose(g, tuple(sorted(range(len(order)), key=order.__getitem__)))


def of_transpose_method(g: Any, out: Any, a: Any, *axes: Any) -> Any:
    return of_transpose(g, out, a, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


def of_rollaxis(g: Any, out: Any, a: Any, axis: Any, start: Any = 0) -> Any:
    axis, start = axis % ndim(a), start + ndim(a) if start < 0 else start
    return np.moveaxis(g, start - 1 if axis < start else start, axis)


def of_roll(g: Any, out: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    return np.roll(g, tuple(-each for each in shift) if isinstance(shift, (tuple, list)) else -shift, axis)


def one_of_several(number: int) -> Vjp:
    """The derivative in an argument of a function that returns a tuple for several arguments."""

    def vjp(g: Any, out: Any, *args: Any, **_: Any) -> Any:
        return np.reshape(g if len(args) == 1 else g[number], sizes(args[number]))

    return vjp


# ------------------------------------------------------------------------------------------------ declarations

_VIEW = [VIEW_OF_FIRST, MOVES]
_VIEW_OR_COPY = [VIEW_OR_COPY, MOVES]
functions(
    "np.reshape", reshape, effect=VIEW, traits=_VIEW_OR_COPY,
    vjp=lambda g, out, a, shape=None, order="C", **_: of_reshape(g, out, a, order=order),
)  # fmt: skip
functions(".reshape", reshape_method, effect=VIEW, vjp=of_reshape, traits=_VIEW_OR_COPY)
functions("np.ravel .ravel", ravel, effect=VIEW, raises=False, vjp=of_ravel, traits=_VIEW_OR_COPY)
functions(".flatten", ravel, raises=False, vjp=of_ravel, traits=[MOVES])
functions("np.resize", resize, vjp=moves(np.resize))
functions(".resize", NONE, effect=WRITE, traits=[RESHAPES])
functions("np.expand_dims", expand_dims, effect=VIEW, vjp=reshaped_back, traits=[*_VIEW, OWN_VIEW, ADDS_AXES])
functions("np.squeeze .squeeze", squeeze, effect=VIEW, vjp=reshaped_back, traits=_VIEW)
_transposing: dict[str, Any] = {"effect": VIEW, "raises": False, "traits": [*_VIEW, TRANSPOSES, TOTAL]}
functions("np.transpose", transpose, vjp=of_transpose, **_transposing)
functions(".transpose", transpose_method, vjp=of_transpose_method, **_transposing)
functions("np.permute_dims", transpose, effect=VIEW, raises=False, vjp=of_transpose)
functions(
    "np.matrix_transpose np.linalg.matrix_transpose", matrix_transpose, effect=VIEW, traits=_VIEW,
    vjp=lambda g, out, a: np.swapaxes(g, -1, -2),
)  # fmt: skip
functions(
    "np.swapaxes .swapaxes", swapaxes, effect=VIEW, traits=_VIEW,
    vjp=lambda g, out, a, axis1, axis2: np.swapaxes(g, axis1, axis2),
)  # fmt: skip
functions(
    "np.moveaxis", moveaxis, effect=VIEW, traits=_VIEW,
    vjp=lambda g, out, a, source, destination: np.moveaxis(g, destination, source),
)  # fmt: skip
functions("np.rollaxis", rollaxis, effect=VIEW, vjp=of_rollaxis, traits=_VIEW)
functions(
    "np.flip", flip, effect=VIEW, lower=flipped, vjp=lambda g, out, m, axis=None: np.flip(g, axis),
    traits=[*_VIEW, MAKES_VIEWS, READS_VIEWS],
)  # fmt: skip
functions("np.flipud", flip_rows, effect=VIEW, vjp=lambda g, out, m: np.flipud(g), traits=_VIEW)
functions("np.fliplr", flip_rows, effect=VIEW, vjp=lambda g, out, m: np.fliplr(g), traits=_VIEW)
functions("np.roll", like_first, vjp=of_roll, traits=[MOVES])
functions("np.rot90", rot90, effect=VIEW, vjp=lambda g, out, m, k=1, axes=(0, 1): np.rot90(g, -k, axes), traits=_VIEW)
functions(
    "np.broadcast_to", broadcast_to, effect=VIEW, vjp=lambda g, out, array, *_, **__: g,
    traits=[OWN_VIEW, BROADCASTS, MOVES],
)  # fmt: skip
functions(
    "np.broadcast_arrays", broadcast_arrays, effect=VIEW,
    vjp=tuple(lambda g, out, *_, i=i, **__: g[i] for i in range(MOST)),
)  # fmt: skip
functions("np.broadcast_shapes", broadcast_shapes, vjp=NO_GRADIENT)
for _name, _pad in (("atleast_1d", at_least_1d), ("atleast_2d", at_least_2d), ("atleast_3d", at_least_3d)):
    functions(
        f"np.{_name}", _at_least(_pad), effect=VIEW, raises=False, vjp=tuple(map(one_of_several, range(MOST))),
        traits=_VIEW_OR_COPY,
    )  # fmt: skip
functions("np.shape", shape_of, raises=False, vjp=NO_GRADIENT, traits=[GIVES_SHAPE])
functions("np.ndim", INT, raises=False, vjp=NO_GRADIENT, traits=[GIVES_SHAPE])
functions("np.size", INT, vjp=NO_GRADIENT, traits=[GIVES_SHAPE])
