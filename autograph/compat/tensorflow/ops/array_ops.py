"""Ops that make, shape, join, split and index tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import (
    apply_op,
    constant,
    convert_to_tensor,
    is_tensor,
    matched,
    operand,
    with_dtype,
)
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import (
    Tensor,
    apply,
    compute,
    is_proxy,
    name_ops,
    shape_error,
    without_gradient,
    wrap,
)

__all__ = [  # the names of `tf` itself
    "broadcast_to", "concat", "expand_dims", "eye", "fill", "identity", "identity_n", "linspace", "one_hot", "ones",
    "ones_like", "pad", "range", "rank", "repeat", "reshape", "reverse", "roll", "shape", "size", "split",
    "squeeze", "stack", "stop_gradient", "tile", "transpose", "unstack", "zeros", "zeros_like",
]  # fmt: skip

# Shapes as arguments --------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Replace the tensors in an argument, such as a shape or an axis, by their values."""
    if is_tensor(value):
        return convert_to_tensor(value)._value
    if isinstance(value, TensorShape):
        return tuple(value)
    return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value


def static_shape(shape: Any) -> TensorShape:
    """The static shape for a shape of numbers and tensors, or for one tensor; -1 counts as unknown."""
    if isinstance(shape, TensorShape):
        return shape
    if is_tensor(shape):
        tensor = convert_to_tensor(shape)
        if is_proxy(tensor._value):
            length = 1 if tensor.shape.rank == 0 else tensor.shape[0] if tensor.shape.rank == 1 else None
            return TensorShape(None if length is None else [None] * length)
        shape = tensor._value
    parts = plain(np.atleast_1d(shape).tolist() if isinstance(shape, (np.ndarray, np.generic, int)) else shape)
    return TensorShape([None if is_proxy(part) or part == -1 else part for part in parts])


def _made(op: str, function: Callable[..., Any], shape: Any, *args: Any, dtype: Any) -> Tensor:
    wanted = as_dtype(dtype)
    dims = plain(shape)
    if op == "zeros" and wanted is dtypes.string:
        return fill(shape, b"")
    if op == "ones" and wanted is dtypes.string:
        raise TypeError("there is no text that is one: Cannot convert 1 to EagerTensor of dtype string")
    value = compute(function, dims, *map(plain, args), dtype=numpy_dtype(wanted))
    return wrap(value, wanted, name=op)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    return _made("zeros", np.zeros, shape, dtype=dtype)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    return _made("ones", np.ones, shape, dtype=dtype)


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    value, sizes = convert_to_tensor(value), convert_to_tensor(dims) if not is_tensor(dims) and dims else dims
    if isinstance(sizes, Tensor) and not sizes.dtype.is_integer:
        raise InvalidArgumentError(f"Value for attr 'index_type' of {sizes.dtype.kernel_name} is no integer [Op:Fill]")
    lengths = plain(dims)
    parts = () if is_proxy(lengths) else lengths if isinstance(lengths, tuple) else np.ravel(lengths)
    if any(not is_proxy(each) and each < 0 for each in parts):
        raise InvalidArgumentError(f"Dimension {static_shape(dims)} must be >= 0 [Op:Fill]")
    return _made("Fill", np.full, dims, value, dtype=value.dtype)


def _filled_like(op: str, function: Callable[..., Any]) -> Callable[..., Tensor]:
    def of(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
        input = convert_to_tensor(input)
        wanted = input.dtype if dtype is None else as_dtype(dtype)
        return apply(op, lambda x: function(x, dtype=numpy_dtype(wanted)), input, dtype=wanted)

    of.__doc__ = f"The op {op}: a tensor of the same shape."
    return of


zeros_like = _filled_like("zeros_like", np.zeros_like)
ones_like = _filled_like("ones_like", np.ones_like)


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    if batch_shape is not None:
        one = eye(num_rows, num_columns, dtype=dtype)
        return broadcast_to(one, [*plain(batch_shape), *one.shape])
    columns = num_rows if num_columns is None else num_columns
    wanted = as_dtype(dtype)
    value = compute(np.eye, plain(num_rows), plain(columns), dtype=numpy_dtype(wanted))
    return wrap(value, wanted, static_shape([num_rows, columns]) if is_proxy(value) else None, "eye")


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None) -> Tensor:
    """Numbers from `start` up to `limit`; `range(limit)` begins with 0."""
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        start, limit, delta = (cast_number(each, as_dtype(dtype)) for each in (start, limit, delta))
    tensors = [convert_to_tensor(each) for each in (start, limit, delta) if is_tensor(each)]
    if tensors:
        widest = max((each.dtype for each in tensors), key=lambda dtype: (dtype.is_floating, dtype.size))
        if widest.is_integer and any(isinstance(each, float) for each in (start, limit, delta)):
            widest = dtypes.float32
        start, limit, delta = (cast_number(each, widest) for each in (start, limit, delta))
    start, limit, delta = matched("Range", start, limit, delta)
    kind = start.dtype
    if not any(is_proxy(each._value) for each in (start, limit, delta)):
        _check_range(start._value, limit._value, delta._value)
    value = compute(np.arange, start._value, limit._value, delta._value, dtype=numpy_dtype(kind))
    result = wrap(value, kind, TensorShape([None]) if is_proxy(value) else None, "range")
    result.is_range = result._graph is not None
    return result


def _check_range(start: Any, limit: Any, delta: Any) -> None:
    if np.ndim(start) or np.ndim(limit) or np.ndim(delta) or delta == 0:
        raise InvalidArgumentError(f"start, limit and a delta other than 0 must be scalars, got {delta} [Op:Range]")
    if (limit - start) * np.sign(delta) < 0:
        sign, word = (">", "<=") if delta > 0 else ("<", ">=")
        raise InvalidArgumentError(
            f"Requires start {word} limit when delta {sign} 0: {start}/{limit} [Op:Range]"
        )


def cast_number(value: Any, dtype: DType) -> Tensor:
    """Convert a number, or a tensor without dimensions, to a tensor of a type."""
    return with_dtype(convert_to_tensor(value, dtype_hint=dtype), dtype)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    start, stop = matched("LinSpace", start, stop)
    dtype = start.dtype if start.dtype.is_floating else dtypes.float64
    return apply("LinSpace", lambda a, b: compute(np.linspace, a, b, plain(num), axis=axis), start, stop, dtype=dtype)


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int = -1, dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    indices = operand("OneHot", indices, "iu")
    if isinstance(depth, (int, np.integer)) and depth < 0:
        raise shape_error("OneHot", f"depth must be non-negative, got: {depth}")
    values = [each for each in (on_value, off_value) if each is not None]
    implied = convert_to_tensor(values[0]).dtype if values else dtypes.float32
    wanted = implied if dtype is None else as_dtype(dtype)
    on, off = (1 if on_value is None else on_value), (0 if off_value is None else off_value)

    def choose(value: Any, depth: Any) -> Any:
        hot = np.expand_dims(value, -1) == compute(np.arange, depth)
        return np.moveaxis(np.where(hot, on, off), -1, axis) if axis != -1 else np.where(hot, on, off)

    return apply("OneHot", choose, indices, convert_to_tensor(depth), dtype=wanted)


# Shapes ---------------------------------------------------------------------------------------------------------------


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    return [convert_to_tensor(each) for each in input]


def identity(input: Any, name: str | None = None) -> Tensor:
    return convert_to_tensor(input)


def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    input = convert_to_tensor(input)
    if input.shape.is_fully_defined():
        return constant(input.shape.as_list(), out_type)
    kind = numpy_dtype(as_dtype(out_type))
    rank = TensorShape([input.shape.rank])
    return apply("Shape", lambda x: compute(np.asarray, compute(np.shape, x), dtype=kind), input,
                 dtype=as_dtype(out_type), shape=rank)  # fmt: skip


def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    input = convert_to_tensor(input)
    if input.shape.is_fully_defined():
        return constant(input.shape.num_elements(), out_type)
    return apply("Size", lambda x: compute(np.int32, compute(np.size, x)), input, dtype=as_dtype(out_type))


def rank(input: Any, name: str | None = None) -> Tensor:
    return constant(convert_to_tensor(input).shape.rank)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    tensor = convert_to_tensor(tensor)
    dims = plain(shape)
    if not is_proxy(dims) and tensor.shape.is_fully_defined():
        _check_reshape(tensor.shape, dims)
    staged = is_proxy(dims) or (isinstance(dims, tuple) and any(map(is_proxy, dims)))
    static = static_shape(shape) if staged else None
    return apply("Reshape", lambda x: compute(np.reshape, x, dims), tensor, shape=static)


def _check_reshape(shape: TensorShape, dims: Any) -> None:
    """Check that a tensor of one shape can take on another.

    Raises:
        InvalidArgumentError: it cannot; a ValueError in a graph.
    """
    wanted = np.asarray(dims).reshape(-1).tolist() if not isinstance(dims, tuple) else list(dims)
    if any(map(is_proxy, wanted)):
        return
    count, known = shape.num_elements() or 0, math.prod(size for size in wanted if size != -1)
    if count != known if -1 not in wanted else known and count % known:
        raise shape_error("Reshape", f"Cannot reshape a tensor with {count} elements to shape {wanted}")


def _shaping(op: str, function: Callable[..., Any]) -> Callable[..., Tensor]:
    def of(tensor: Any, *args: Any, name: str | None = None, **kwargs: Any) -> Tensor:
        tensor = kwargs.pop("input", None) if tensor is None else tensor
        more = [plain(each) for each in args]
        named = {key: plain(each) for key, each in kwargs.items()}
        return apply_op(op, lambda x: compute(function, x, *more, **named), tensor)

    of.__doc__ = f"The op {op}."
    return of


_squeeze = _shaping("Squeeze", np.squeeze)
_transpose = _shaping("Transpose", np.transpose)
expand_dims = _shaping("ExpandDims", np.expand_dims)
_tile = _shaping("Tile", np.tile)
_reverse = _shaping("ReverseV2", np.flip)
broadcast_to = _shaping("BroadcastTo", np.broadcast_to)
repeat = _shaping("Repeat", np.repeat)
roll = _shaping("Roll", np.roll)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    tensor, times = convert_to_tensor(input), plain(multiples)
    count = len(times) if isinstance(times, tuple) else None if is_proxy(times) else np.size(times)
    if count is not None and tensor.shape.rank not in (None, count):
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {tensor.shape.rank} but got {times} [Op:Tile]"
        )
    return _tile(tensor, times)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    axes = plain(axis)
    if not is_proxy(axes) and np.ndim(axes) != 1:
        raise InvalidArgumentError("'dims' must be 1-dimension [Op:ReverseV2]")
    return _reverse(tensor, axes if is_proxy(axes) else tuple(int(each) for each in axes))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    input = convert_to_tensor(input)
    dims = input.shape.dims or []
    for each in () if axis is None else np.atleast_1d(axis).tolist():
        if -len(dims) <= each < len(dims) and dims[each] not in (None, 1):
            text = f"Can not squeeze dim[{each}], expected a dimension of 1, got {dims[each]}"
            raise shape_error("Squeeze", text)
    return _squeeze(input, axis if axis is None or isinstance(axis, int) else tuple(axis) or None)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Tensor:
    found = _transpose(a, perm)
    return apply("Conj", np.conj, found) if conjugate and found.dtype.is_complex else found


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Tensor:
    tensor = convert_to_tensor(tensor)
    widths, options = plain(paddings), {}
    if mode.upper() not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', got {mode}")
    if not is_proxy(widths) and tensor.shape.rank not in (None, len(widths)):
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs {tensor.shape}, got {len(widths)} [Op:Pad]"
        )
    if mode.upper() == "CONSTANT":
        options["constant_values"] = convert_to_tensor(constant_values, dtype_hint=tensor.dtype)._value
    return apply("Pad", lambda x: compute(np.pad, x, widths, mode.lower(), **options), tensor)


# Joining and splitting ------------------------------------------------------------------------------------------------


def concat(values: Any, axis: Any, name: str | None = None) -> Tensor:
    if not isinstance(values, (list, tuple)):
        return identity(values)
    tensors = _alike("ConcatV2", values)
    where = plain(axis)
    return apply("ConcatV2", lambda *parts: np.concatenate(parts, axis=where), *tensors)


def _alike(op: str, values: Any) -> list[Tensor]:
    """Convert values to tensors of one type, to join them: lists adopt the type of the first tensor."""
    if is_tensor(values):
        return list(convert_to_tensor(values))
    hint = next((each.dtype for each in values if is_tensor(each)), None)
    result = []
    for each in values:
        wanted = hint if isinstance(each, (list, tuple)) and hint is not None else None
        result.append(convert_to_tensor(each, wanted, hint))
    return matched(op, *result)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Tensor:
    if isinstance(values, (list, tuple)) and not any(map(is_tensor, values)):
        whole = convert_to_tensor(list(values))
        if not axis:
            return whole
        values = whole
    tensors = _alike("Pack", values)
    rank = tensors[0].shape.rank
    if rank is not None and not -rank - 1 <= axis <= rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank - 1}, {rank + 1})")
    return apply("Pack", lambda *parts: np.stack(parts, axis=axis), *tensors)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str | None = None) -> list[Tensor]:
    value = convert_to_tensor(value)
    if value.shape.rank is not None and not -value.shape.rank <= axis < value.shape.rank:
        raise ValueError(f"axis = {axis} not in [-{value.shape.rank}, {value.shape.rank})")
    count = num if num is not None else value.shape[axis]
    if value.shape.rank is not None and value.shape[axis] not in (None, count):
        raise shape_error("Unpack", f"Dimension must be {count} but is {value.shape[axis]}")
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    return [
        apply("Unpack", lambda x, i=i: compute(np.take, x, i, axis=axis), value)
        for i in np.arange(count)
    ]


def split(value: Any, num_or_size_splits: Any, axis: int = 0, num: Any = None, name: str | None = None) -> list[Tensor]:
    value = convert_to_tensor(value)
    sizes, total = plain(num_or_size_splits), value.shape[axis]
    if isinstance(sizes, (int, np.integer)):
        if total is None:
            raise ValueError(f"tf.split needs the size of dimension {axis}, or the sizes of the parts, while tracing")
        if total % sizes:
            raise shape_error("Split", f"Number of ways to split should evenly divide the split dimension, {total}")
        sizes = (total // sizes,) * sizes
    lengths = np.asarray(sizes).tolist()
    if total is not None:
        rest = total - sum(length for length in lengths if length != -1)
        lengths = [rest if length == -1 else length for length in lengths]
        if sum(lengths) != total:
            raise shape_error("SplitV", f"Determined shape must match {total}, but the sizes are {lengths}")
    parts, begin = [], 0
    for length in lengths:
        where = (slice(None),) * (axis % len(value.shape)) + (slice(begin, begin + length),)
        parts.append(value[where])
        begin += length
    return parts


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """Make a tensor a constant for gradients."""
    return apply_op("StopGradient", without_gradient, input)


name_ops(globals())
