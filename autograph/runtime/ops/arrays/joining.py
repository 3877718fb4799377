"""Ops that join arrays, and split them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW, Infer, Vjp
from autograph.runtime.graph.traits import ITEMS, MOVES, NEEDS_ITEMS, VIEWS_OF_FIRST
from autograph.runtime.graph.types import ANY, ObjectType, Shape, TensorType, Type
from autograph.runtime.ops.arrays.index import slice_length
from autograph.runtime.ops.arrays.shape import at_least_1d, at_least_2d, at_least_3d
from autograph.runtime.ops.gradients.data_movement import (
    along,
    axis_of,
    like_parts,
    moves,
    numbered,
    parts,
    scatter_add,
    unjoined,
)
from autograph.runtime.ops.gradients.toolkit import ndim
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference.containers import list_of, tuple_items, tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    add_dims,
    array_like,
    axis_arg,
    axis_or_flat,
    dtype_arg,
    is_constant,
    merge_dims,
    operand,
    promote,
    size,
    type_of_arg,
)

_MOST = 64      # the greatest number of parts of one argument that are looked at


def arrays_of(arg: Any) -> list[TensorType]:
    """The arrays in a sequence."""
    return list(map(array_like, parts_of(arg)))


def parts_of(arg: Any) -> Sequence[Any]:
    """The items of an argument whose number of items is known."""
    if isinstance(arg, ObjectType):
        arg = tuple_items(arg)
    if isinstance(arg, TensorType) and arg.shape:
        count = arg.shape[0]
        if count is None or count > _MOST:
            raise Unknown
        return [TensorType(arg.dtype, arg.shape[1:])] * count
    if not isinstance(arg, (tuple, list)) or not arg:
        raise Unknown
    return arg


def joined(arrays: Sequence[TensorType], axis: int, dtype: Any = None) -> TensorType:
    """The type of arrays that are concatenated along an axis."""
    first, *rest = (array.shape for array in arrays)
    dims = list(first)
    for shape in rest:
        if len(shape) != len(dims):
            raise Unknown
        for i, dim in enumerate(shape):
            dims[i] = add_dims(dims[i], dim) if i == axis else merge_dims(dims[i], dim)
    return TensorType(_dtype_of(arrays, dtype), tuple(dims))


def _dtype_of(arrays: Sequence[TensorType], dtype: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = np.result_type(*(array.dtype for array in arrays)) if dtype is None else dtype_arg(dtype)
    return found


def _with_shape(array: TensorType, shape: Shape) -> TensorType:
    return TensorType(array.dtype, shape)


def concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> Type:
    parts = arrays_of(arrays)
    if axis is None:        # only here may there be numbers, which adopt the dtype of the others
        found = promote(*map(operand, parts_of(arrays))) if dtype is None else dtype
        return joined([_with_shape(part, (size(part.shape),)) for part in parts], 0, found)
    if not parts[0].shape:
        raise Unknown
    if not is_constant(axis):
        return TensorType(_dtype_of(parts, dtype), (None,) * parts[0].ndim)
    return joined(parts, axis_arg(axis, parts[0].ndim), dtype)


def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> Type:
    parts = arrays_of(arrays)
    ndim = parts[0].ndim + 1
    if not is_constant(axis):
        return TensorType(_dtype_of(parts, dtype), (None,) * ndim)
    at = axis_arg(axis, ndim)
    return joined([_with_shape(part, (*part.shape[:at], 1, *part.shape[at:])) for part in parts], at, dtype)


def stacked(axis: int, pad: Callable[[Shape], Shape]) -> Infer:
    """The rule of `np.vstack` and so on, which give each array dimensions before they join them along one."""

    def infer(tup: Any, *, dtype: Any = None, casting: Any = None) -> Type:
        arrays = [_with_shape(array, pad(array.shape)) for array in arrays_of(tup)]
        return joined(arrays, min(axis, arrays[0].ndim - 1), dtype)

    return infer


def as_column(shape: Shape) -> Shape:
    return shape if len(shape) > 1 else (*at_least_1d(shape), 1)


def block(arrays: Any) -> Type:
    """The rule of `np.block`, which joins nested lists along the last axes."""
    depth = _depth(arrays)
    ndim = max(depth, *(part.ndim for part in _leaves(arrays)))
    return _block(arrays, depth, ndim)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _leaves(arrays: Any) -> list[TensorType]:
    if isinstance(arrays, list):
        return [leaf for part in arrays for leaf in _leaves(part)]
    return [array_like(arrays)]


def _block(arrays: Any, depth: int, ndim: int) -> TensorType:
    if not depth:
        array = array_like(arrays)
        return _with_shape(array, (1,) * (ndim - array.ndim) + array.shape)
    return joined([_block(part, depth - 1, ndim) for part in arrays], ndim - depth)


def append(arr: Any, values: Any, axis: Any = None) -> Type:
    first, second = array_like(arr), array_like(values)
    shape, at = axis_or_flat(first, axis)
    other = second.shape if axis is not None else (size(second.shape),)
    return joined([_with_shape(first, shape), _with_shape(second, other)], at)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Type:
    array, value = array_like(arr), array_like(values)
    shape, at = axis_or_flat(array, axis)
    is_known = _is_one(obj) and (len(shape) == 1 or not value.shape)
    length = add_dims(shape[at], size(value.shape)) if is_known else None
    return TensorType(array.dtype, (*shape[:at], length, *shape[at + 1 :]))


def delete(arr: Any, obj: Any, axis: Any = None) -> Type:
    array = array_like(arr)
    shape, at = axis_or_flat(array, axis)
    dim = shape[at]
    return TensorType(array.dtype, (*shape[:at], None if dim is None else _rest_of(dim, obj), *shape[at + 1 :]))


def _rest_of(dim: int, obj: Any) -> int | None:
    """The length of a dimension after deleting `obj`."""
    if isinstance(obj, slice):
        taken = slice_length(dim, obj)
        return None if taken is None else dim - taken
    return dim - 1 if _is_one(obj) else None


def _is_one(index: Any) -> bool:
    """Whether an index is a number."""
    found = type_of_arg(index)
    return isinstance(found, TensorType) and not found.shape and found.dtype.kind in "iu"


# ----------------------------------------------------------------------------------------------------- splitting


def _part(array: TensorType, sections: Any, axis: int) -> TensorType:
    """The type of each part of an array that is split."""
    dims = list(array.shape)
    dim, dims[axis] = dims[axis], None
    if isinstance(sections, int) and sections > 0 and dim is not None and not dim % sections:
        dims[axis] = dim // sections
    return TensorType(array.dtype, tuple(dims))


def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Type:
    array = array_like(ary)
    return _part(array, indices_or_sections, axis_arg(axis, array.ndim))


def split_along(axis: int) -> Infer:
    """The rule of the parts that `np.vsplit` and so on give."""
    return lambda ary, indices_or_sections: split(ary, indices_or_sections, min(axis, array_like(ary).ndim - 1))


def listed(item: Infer) -> Infer:
    """The rule of a function that returns a list, from the rule of its items."""

    def infer(*args: Any, **kwargs: Any) -> Any:
        found = item(*args, **kwargs)
        return ANY if found == ANY else list_of(ANY)

    return infer


def unstack(x: Any, /, *, axis: Any = 0) -> Type:
    array = array_like(x)
    at = axis_arg(axis, array.ndim)
    count = array.shape[at]
    if count is None or count > _MOST:
        return ObjectType("tuple")
    return tuple_of(*[_with_shape(array, (*array.shape[:at], *array.shape[at + 1 :]))] * count)


# --------------------------------------------------------------------------------------------------- derivatives


def of_concatenate(g: Any, out: Any, arrays: Any, axis: Any = 0, *_: Any, **__: Any) -> Any:
    if not isinstance(arrays, (list, tuple)):
        count, *rest = sizes(arrays)
        at = 0 if axis is None else axis % len(rest)
        return np.moveaxis(np.reshape(g, (*rest[:at], count, *rest[at:])), at, 0)
    if axis is None:
        return unjoined(g, arrays, 0, [math.prod(sizes(part)) for part in arrays])
    return unjoined(g, arrays, axis_of(axis, arrays[0]))


def of_stack(g: Any, out: Any, arrays: Any, axis: Any = 0, *_: Any, **__: Any) -> Any:
    of_parts = np.moveaxis(g, axis, 0)
    return [of_parts[i] for i, _ in enumerate(arrays)] if isinstance(arrays, (list, tuple)) else of_parts


def joined_along(axis: int, pad: Callable[[Shape], Shape]) -> Vjp:
    """The derivative of `vstack` and so on, which pad the shapes of all parts and join them along an axis."""

    def vjp(g: Any, out: Any, tup: Any, *_: Any, **__: Any) -> Any:
        each = parts(tup)
        at = min(axis, ndim(g) - 1)
        return like_parts(unjoined(g, each, at, [pad(sizes(part))[at] for part in each]), tup)

    return vjp


def _block_gradients(g: Any, arrays: Any, axis: int) -> Any:
    if not isinstance(arrays, list):
        return np.reshape(g, sizes(arrays))
    found, start = [], 0
    for part in arrays:
        length = _extent(part, axis, ndim(g))
        found.append(_block_gradients(g[along(axis, slice(start, start + length))], part, axis + 1))
        start = start + length
    return found


def _extent(arrays: Any, axis: int, ndim: int) -> Any:
    """The length of a block along an axis."""
    if isinstance(arrays, list):
        return _extent(arrays[0], axis, ndim)
    return ((1,) * (ndim - len(sizes(arrays))) + sizes(arrays))[axis]


def of_append(which: int) -> Vjp:
    def vjp(g: Any, out: Any, arr: Any, values: Any, axis: Any = None) -> Any:
        return of_concatenate(g, out, [arr, values], axis)[which]

    return vjp


def of_insert(which: int) -> Vjp:
    """The derivative of `np.insert`: inserted elements are numbered after the existing ones."""

    def vjp(g: Any, out: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
        start = math.prod(sizes(arr))
        places = np.insert(numbered(arr), obj, numbered(values) + start, axis)
        found = scatter_add(np.concatenate([np.ravel(arr), np.ravel(values)]), (places,), g)
        return np.reshape(found[start:] if which else found[:start], sizes(values if which else arr))

    return vjp


def of_split(g: Any, out: Any, ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    return np.concatenate(g, axis)


def of_split_along(axis: int) -> Vjp:
    return lambda g, out, ary, *_: np.concatenate(g, min(axis, ndim(ary) - 1))


# ------------------------------------------------------------------------------------------------ declarations

_JOINED = [NEEDS_ITEMS, MOVES]
functions("np.concatenate", concatenate, vjp=of_concatenate, traits=_JOINED)
functions("np.concat", concatenate, vjp=of_concatenate)
functions("np.stack", stack, vjp=of_stack, traits=_JOINED)
for _name, _axis, _pad in (
    ("vstack", 0, at_least_2d), ("hstack", 1, at_least_1d), ("dstack", 2, at_least_3d), ("column_stack", 1, as_column)
):  # fmt: skip
    functions(f"np.{_name}", stacked(_axis, _pad), vjp=joined_along(_axis, _pad), traits=_JOINED)
functions(
    "np.block", block, vjp=lambda g, out, arrays: _block_gradients(g, arrays, ndim(g) - _depth(arrays)), traits=[MOVES]
)
functions("np.append", append, vjp=(of_append(0), of_append(1)))
functions("np.insert", insert, vjp=(of_insert(0), None, of_insert(1)))
functions("np.delete", delete, vjp=moves(np.delete))
for _names, _rule, _vjp in (
    ("np.split np.array_split", split, of_split),
    ("np.vsplit", split_along(0), of_split_along(0)),
    ("np.hsplit", split_along(1), of_split_along(1)),
    ("np.dsplit", split_along(2), of_split_along(2)),
):
    _traits = [VIEWS_OF_FIRST, MOVES, (ITEMS, rule(_rule))]
    functions(_names, listed(_rule), effect=VIEW, vjp=_vjp, traits=_traits)
functions(
    "np.unstack", unstack, effect=VIEW, vjp=lambda g, out, x, axis=0: np.stack(g, axis),
    traits=[VIEWS_OF_FIRST, MOVES],
)  # fmt: skip
