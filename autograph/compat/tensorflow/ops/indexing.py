"""Ops that read and write items of tensors."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import convert, dtypes
from autograph.compat.tensorflow.core.convert import apply_op, convert_to_tensor, is_tensor, matched, operand, strictly
from autograph.compat.tensorflow.core.dtypes import numpy_dtype
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, apply, compute, is_proxy, name_ops, shape_error
from autograph.compat.tensorflow.ops import array_ops, math_ops, reduce_ops
from autograph.compat.tensorflow.ops.array_ops import cast_number, expand_dims, plain, range, zeros
from autograph.runtime.ops.arrays import selection

__all__ = [  # the names of `tf` itself
    "boolean_mask", "gather", "gather_nd", "scatter_nd", "searchsorted", "sequence_mask", "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "where",
]  # fmt: skip


class _Here:
    """A placeholder for a tensor in an index."""


def _in_index(part: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to each part of an index."""
    if isinstance(part, tuple):
        return tuple([_in_index(each, function) for each in part])
    if isinstance(part, slice):
        return slice(*(_in_index(each, function) for each in (part.start, part.stop, part.step)))
    return function(part)


def _check_index(tensor: Tensor, index: Any) -> None:
    """Check the types of an index, and its numbers where the shape is known.

    Raises:
        TypeError: a part is no index.
        InvalidArgumentError: a number is out of bounds; a ValueError in a graph.
    """
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        real = is_tensor(part) and part.dtype.is_floating
        if real or isinstance(part, (str, bytes, float, np.floating, dict, set)):
            raise TypeError(
                "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                f"tensors are valid indices, got {part!r}"
            )
    rank = tensor.shape.rank
    taken = [part for part in parts if part is not None]
    at = next((number for number, part in enumerate(taken) if part is Ellipsis), None)
    if rank is None or any(isinstance(part, (list, np.ndarray)) for part in taken):
        return
    if at is not None:
        taken[at : at + 1] = [slice(None)] * (rank - len(taken) + 1)
    if len(taken) > rank:
        raise shape_error("StridedSlice", f"Index out of range using input dim {rank}; input has only {rank} dims")
    for dimension, part in enumerate(taken):
        size = tensor.shape[dimension]
        if isinstance(part, (int, np.integer)) and not isinstance(part, (bool, np.bool_)) and size is not None:
            if not -size <= part < size:
                raise shape_error("StridedSlice", f"slice index {part} of dimension {dimension} out of bounds.")


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """`tensor[index]`."""
    if index.__class__ is not int or tensor._graph is not None:
        _check_index(tensor, index)
    tensors: list[Tensor] = []

    def leave_out(part: Any) -> Any:
        if is_tensor(part):
            tensors.append(convert_to_tensor(part))
        return _Here if is_tensor(part) else part

    form = _in_index(index, leave_out)

    def get(x: Any, *values: Any) -> Any:
        rest = iter(values)
        where = _in_index(form, lambda part: next(rest) if part is _Here else part)
        return x[where] if is_proxy(x) else compute(_getitem, x, where)

    return apply("StridedSlice", get, tensor, *tensors)


@kernel
def _getitem(value: Any, index: Any) -> Any:
    return value[index]


setattr(Tensor, "__getitem__", getitem)  # noqa: B010  (mypy knows of an attribute)


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """A slice of a tensor that starts at `begin`; a size of -1 means the rest."""
    input_ = convert_to_tensor(input_)
    bounds = plain(begin), plain(size)
    first, count = [parts if isinstance(parts, tuple) else np.asarray(parts).tolist() for parts in bounds]
    ends = [None if not is_proxy(n) and n == -1 else at + n for at, n in zip(first, count)]
    return getitem(input_, tuple(map(slice, first, ends)))


def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """The slices of `params` at indices along an axis; the first `batch_dims` dimensions of both are batches."""
    params, indices = convert_to_tensor(params), operand("GatherV2", indices, "iu")
    where, batches = batch_dims if axis is None else plain(axis), batch_dims
    if batch_dims < 0:
        batches += indices.shape.rank or 0
    if where < 0:
        where += params.shape.rank or 0
    if not batches:
        return apply("GatherV2", lambda x, at: selection.take_at(x, at, where), params, indices)
    rank = indices.shape.rank or 0
    before = list(builtins.range(batches, where))

    def take(x: Any, at: Any) -> Any:
        result = np.moveaxis(x, where, batches)
        places = [np.reshape(np.arange(size), (-1, *(1,) * (rank - 1 - number)))
                  for number, size in enumerate(indices.shape[:batches])]  # fmt: skip
        index = (*places, at)
        result = result[index]
        return np.moveaxis(result, [rank + at for at, _ in enumerate(before)], before)

    return apply("GatherV2", take, params, indices)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Tensor:
    params, indices = convert_to_tensor(params), operand("GatherNd", indices, "iu")
    if batch_dims:
        rows = zip(array_ops.unstack(params), array_ops.unstack(indices))
        return array_ops.stack([gather_nd(*row, batch_dims - 1) for row in rows])
    depth = _depth(indices)
    shape = indices.shape[:-1] + params.shape[depth:] if params.shape.rank is not None else TensorShape(None)
    beyond = np.iinfo(numpy_dtype(indices.dtype)).max  # so negative indices are errors, not counted from the end

    def take(x: Any, at: Any) -> Any:
        at = np.where(at < 0, beyond, at)
        return x[tuple(at[..., i] for i in np.arange(depth))]

    return apply("GatherNd", take, params, indices, shape=shape)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str | None = None) -> Tensor:
    tensor, mask, first_axis = convert_to_tensor(tensor), convert_to_tensor(mask), int(plain(axis) or 0)
    if mask.shape.rank == 0:
        raise ValueError("mask cannot be scalar.")
    if mask.shape.rank is not None and tensor.shape.rank is not None:
        tensor.shape[first_axis : first_axis + mask.shape.rank].assert_is_compatible_with(mask.shape)
    leading = (slice(None),) * first_axis
    return apply("BooleanMask", lambda x, chosen: x[leading + (chosen,)] if first_axis else x[chosen], tensor, mask)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    condition = convert_to_tensor(condition)
    if x is None and y is None:
        return apply("Where", np.argwhere, condition, dtype=dtypes.int64)
    x, y = matched("SelectV2", x, y)
    return apply("SelectV2", np.where, condition, x, y, dtype=x.dtype)


def _scattering(op: str, change: Callable[..., None]) -> Callable[..., Tensor]:
    def of(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        tensor = convert_to_tensor(tensor)
        indices, updates = convert_to_tensor(indices), strictly(updates, tensor.dtype)
        convert.check_same_dtype(op, [tensor, updates])
        depth = _depth(indices)

        def changed(value: Any, at: Any, new: Any) -> Any:
            result = np.copy(value)
            change(result, tuple(at[..., i] for i in np.arange(depth)), new)
            return result

        return apply(op, changed, tensor, indices, updates)

    of.__doc__ = f"The op {op}: a copy of a tensor, changed at the indices."
    return of


def _depth(indices: Tensor) -> int:
    """The number of dimensions that each row of indices addresses."""
    depth = indices.shape[-1]
    if depth is None:
        raise ValueError(f"the last dimension of indices must be known while tracing; their shape is {indices.shape}")
    return int(depth)


def _put(array: Any, index: Any, new: Any) -> None:
    array[index] = new


tensor_scatter_nd_update = _scattering("TensorScatterUpdate", _put)
tensor_scatter_nd_add = _scattering("TensorScatterAdd", np.add.at)
tensor_scatter_nd_sub = _scattering("TensorScatterSub", np.subtract.at)


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros, with the updates added at the indices."""
    updates = convert_to_tensor(updates)
    return tensor_scatter_nd_add(zeros(shape, updates.dtype), indices, updates)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """For each length, a row whose first `length` items are true."""
    lengths = convert_to_tensor(lengths)
    longest = reduce_ops.reduce_max(lengths) if maxlen is None else maxlen
    places = range(cast_number(longest, lengths.dtype))
    return math_ops.cast(math_ops.less(places, expand_dims(lengths, -1)), dtype)


def searchsorted(sorted_sequence: Any, values: Any, side: Any = "left", name: str | None = None) -> Tensor:
    operands = sorted_sequence, values
    return apply_op("SearchSorted", lambda x, v: np.searchsorted(x, v, side=side), *operands, dtype=dtypes.int32)


name_ops(globals())
