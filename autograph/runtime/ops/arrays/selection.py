"""Ops that select elements by position or condition, or write to selected places."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT, VIEW, WRITE, Vjp, declare
from autograph.runtime.graph.traits import MAKES_ARRAYS, OUT_BY_NAME, READS_VIEWS, RELEASES_LOCK, WRITTEN_ARGUMENT
from autograph.runtime.graph.types import NONE, ObjectType, TensorType, Type, array
from autograph.runtime.ops.arrays.joining import arrays_of
from autograph.runtime.ops.gradients.data_movement import MOST, along, axis_of, like_parts, moves, parts, scatter_add
from autograph.runtime.ops.gradients.toolkit import as_array, on_proxies
from autograph.runtime.ops.inference.containers import tuple_items, tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    array_like,
    axes_arg,
    axis_or_flat,
    broadcast,
    is_constant,
    operand,
    result,
    shape_arg,
)
from autograph.runtime.ops.native import vectors

INTP = np.dtype(np.intp)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Type:
    a, picked = array_like(a), array_like(indices).shape
    if axis is not None and not is_constant(axis):
        return result(a.dtype, (None,) * (a.ndim - 1 + len(picked)))
    shape, at = axis_or_flat(a, axis)
    return result(a.dtype, (*shape[:at], *picked, *shape[at + 1 :]))


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Type:
    a, index = array_like(arr), array_like(indices)
    shape, at = axis_or_flat(a, axis)
    if index.ndim != len(shape):
        raise Unknown
    dims = list(broadcast((*shape[:at], 1, *shape[at + 1 :]), (*index.shape[:at], 1, *index.shape[at + 1 :])))
    dims[at] = index.shape[at]
    return TensorType(a.dtype, tuple(dims))


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Type:
    a = array_like(a)
    shape, at = axis_or_flat(a, axis)
    return TensorType(a.dtype, (*shape[:at], None, *shape[at + 1 :]))


def extract(condition: Any, arr: Any) -> Type:
    return TensorType(array_like(arr).dtype, (None,))


def trim_zeros(filt: Any, trim: Any = "fb", *axis: Any, **kwargs: Any) -> Type:
    if not isinstance(filt, TensorType) or filt.kind != "array":
        raise Unknown               # a list stays one
    return TensorType(filt.dtype, (None,) * filt.ndim)


def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Type:
    options = arrays_of(choices)
    shape = broadcast(array_like(a).shape, *(option.shape for option in options))
    return result(np.result_type(*(option.dtype for option in options)), shape)


def choose_method(a: Any, *choices: Any, out: Any = None, mode: Any = "raise") -> Type:
    """The rule of `.choose`, which takes the choices in one argument or several."""
    return choose(a, choices[0] if len(choices) == 1 else choices, out, mode)


def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Type:
    a = array_like(a)
    if not is_constant((axis1, axis2)):
        return TensorType(a.dtype, (None,) * (a.ndim - 1))
    first, second = axes_arg((axis1, axis2), a.ndim)
    rest = tuple(dim for i, dim in enumerate(a.shape) if i not in (first, second))
    return TensorType(a.dtype, (*rest, diagonal_length(a.shape[first], a.shape[second], offset)))


def diagonal_of_last(x: Any, /, *, offset: Any = 0) -> Type:
    """`np.linalg.diagonal`, which goes along the last two axes."""
    return diagonal(x, offset, -2, -1)


def diagonal_length(rows: int | None, columns: int | None, offset: Any) -> int | None:
    if rows is None or columns is None or not is_constant(offset):
        return None
    k = operator.index(offset)
    return max(0, min(rows + min(k, 0), columns - max(k, 0)))


# ----------------------------------------------------------------------------------------------------- positions


def nonzero(a: Any) -> Type:
    a = array_like(a)
    if not a.shape:
        raise Unknown
    return tuple_of(*[array(INTP, None)] * a.ndim)


def argwhere(a: Any) -> Type:
    return array(INTP, None, array_like(a).ndim)


def ix_(*args: Any) -> Type:
    arrays = list(map(array_like, args))
    if any(a.ndim != 1 for a in arrays):
        raise Unknown
    return tuple_of(*(_open(a, i, len(arrays)) for i, a in enumerate(arrays)))


def _open(a: TensorType, at: int, ndim: int) -> TensorType:
    """The type of one array of an open mesh."""
    dim, dtype = a.shape[0], a.dtype
    if dtype.kind == "b":
        dim, dtype = None, INTP
    elif dim == 0 or (dim is None and dtype != INTP):       # an empty array is taken for one of intp
        dtype = INTP
        if dim is None:
            raise Unknown
    return TensorType(dtype, (1,) * at + (dim,) + (1,) * (ndim - at - 1))


def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Type:
    return tuple_of(*[result(INTP, array_like(indices).shape)] * len(shape_arg(shape)))


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Type:
    return result(INTP, broadcast(*(part.shape for part in arrays_of(multi_index))))


def diag_indices(n: Any, ndim: Any = 2) -> Type:
    dim = n if isinstance(n, int) else None
    return tuple_of(*[array(INTP, dim)] * ndim)


def diag_indices_from(arr: Any) -> Type:
    a = array_like(arr)
    return tuple_of(*[array(INTP, a.shape[0])] * a.ndim)


# ------------------------------------------------------------------------------------------------- with conditions


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Type:
    conditions, choices = arrays_of(condlist), [*_items(choicelist), default]
    shape = broadcast(*(part.shape for part in conditions), *(operand(choice).shape for choice in choices))
    return TensorType(np.result_type(*map(_sample, choices)), shape)


def _items(arg: Any) -> Sequence[Any]:
    items = tuple_items(arg) if isinstance(arg, ObjectType) else arg
    if not isinstance(items, (tuple, list)):
        raise Unknown
    return items


def _sample(arg: Any) -> Any:
    """A value for an argument of `np.result_type`, where Python numbers are weak."""
    found = operand(arg)
    return {"i": 1, "f": 1.0, "c": 1j}.get(found.dtype.kind, found.dtype) if found.weak else found.dtype


# --------------------------------------------------------------------------------------------------- derivatives


def of_take(g: Any, out: Any, a: Any, indices: Any, axis: Any = None, _: Any = None, mode: Any = "raise") -> Any:
    if axis is None or mode != "raise":
        return moves(np.take)(g, out, a, indices, axis, mode=mode)
    return scatter_add(as_array(a), along(axis_of(axis, a), indices), g)


def of_compress_method(g: Any, out: Any, a: Any, condition: Any, axis: Any = None, _: Any = None) -> Any:
    return moves(lambda numbers: np.compress(condition, numbers, axis))(g, out, a)


def of_choose(g: Any, out: Any, a: Any, choices: Any, _: Any = None, mode: Any = "raise") -> Any:
    a, each = as_array(a), parts(choices)
    index = {"wrap": lambda: a % len(each), "clip": lambda: np.clip(a, 0, len(each) - 1)}.get(mode, lambda: a)()
    return like_parts([np.where(index == number, g, 0) for number, _ in enumerate(each)], choices)


def of_choose_method(number: int) -> Vjp:
    """The derivative in an argument with choices; a single argument has all of them."""

    def vjp(g: Any, out: Any, a: Any, *choices: Any, mode: Any = "raise", **_: Any) -> Any:
        if len(choices) == 1:
            return of_choose(g, out, a, choices[0], mode=mode)
        return of_choose(g, out, a, list(choices), mode=mode)[number]

    return vjp


def of_choices(g: Any, out: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    *taken, _ = _taken(parts(condlist))
    return like_parts([np.where(mask, g, 0) for mask in taken], choicelist)


def of_default(g: Any, out: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    return np.where(_taken(parts(condlist))[-1], g, 0)


def _taken(conditions: list[Any]) -> list[Any]:
    """The masks where each condition is the first that holds, and the mask where none holds."""
    found, left = [], np.logical_not(np.zeros_like(conditions[0]))
    for condition in conditions:
        found.append(np.logical_and(left, condition))
        left = np.logical_and(left, np.logical_not(condition))
    return [*found, left]


def _of_second(function: Any) -> Vjp:
    """The derivative in an array that is the second argument."""
    return lambda g, out, which, a, *args, **kwargs: moves(lambda a: function(which, a, *args, **kwargs))(g, out, a)


def checked_take(a: Any, indices: Any, axis: Any = 0) -> Any:
    """`np.take` for indices that must not be negative."""
    size = a.shape[axis]
    wrong = np.argwhere((indices < 0) | (indices >= size)) if np.ndim(indices) else ()
    if np.ndim(indices) == 0 and not 0 <= indices < size:
        raise IndexError(f"indices = {indices} is not in [0, {size})")
    for place in wrong[:1]:
        where = ",".join(map(str, place))
        raise IndexError(f"indices[{where}] = {indices[tuple(place)]} is not in [0, {size})")
    return np.take(a, indices, axis)


declare("checked_take", rule(take), target=checked_take, raises=True, vjp=of_take)
take_at = on_proxies(checked_take)

# ------------------------------------------------------------------------------------------------ declarations

functions("np.take .take", take, vjp=of_take)
functions("np.take_along_axis", take_along_axis, vjp=moves(np.take_along_axis))
functions("np.compress", compress, vjp=(None, _of_second(np.compress)))
functions(".compress", lambda a, condition, axis=None, out=None: compress(condition, a, axis), vjp=of_compress_method)
functions("np.extract", extract, vjp=(None, _of_second(np.extract)))
functions("np.trim_zeros", trim_zeros, effect=VIEW)
functions("np.choose", choose, vjp=(None, of_choose))
functions(      # all arguments without a name are choices
    ".choose", choose_method, vjp=(None, *map(of_choose_method, range(MOST))), traits=[OUT_BY_NAME]
)
functions("np.diagonal .diagonal", diagonal, effect=VIEW, vjp=moves(np.diagonal))
functions("np.linalg.diagonal", diagonal_of_last, effect=VIEW, vjp=moves(np.linalg.diagonal))
_PLACES = [READS_VIEWS, MAKES_ARRAYS, RELEASES_LOCK]
functions("np.nonzero .nonzero", nonzero, vjp=NO_GRADIENT, lower=vectors.nonzero, traits=_PLACES)
functions("np.flatnonzero", array(INTP, None), vjp=NO_GRADIENT, lower=vectors.flat_nonzero, traits=_PLACES)
functions("np.argwhere", argwhere, vjp=NO_GRADIENT)
functions("np.ix_", ix_, effect=VIEW)
functions("np.unravel_index", unravel_index)
functions("np.ravel_multi_index", ravel_multi_index)
functions(
    "np.tril_indices np.triu_indices np.tril_indices_from np.triu_indices_from", tuple_of(*[array(INTP, None)] * 2)
)
functions("np.diag_indices", diag_indices)
functions("np.diag_indices_from", diag_indices_from)
functions("np.select", select, vjp=(None, of_choices, of_default))
functions("np.put .put np.place np.putmask np.put_along_axis", NONE, effect=WRITE, traits=[(WRITTEN_ARGUMENT, 2)])
functions("np.fill_diagonal", NONE, effect=WRITE, traits=[(WRITTEN_ARGUMENT, 1)])
functions("np.copyto", NONE, effect=WRITE)
