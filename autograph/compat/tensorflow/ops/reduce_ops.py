"""Ops that reduce, accumulate or sort along dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import apply_op, convert_to_tensor, operand
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.tensor import Tensor, apply, is_proxy, name_ops
from autograph.compat.tensorflow.ops.array_ops import plain

__all__ = [  # the names of `tf` itself
    "argmax", "argmin", "argsort", "cumprod", "cumsum", "reduce_all", "reduce_any", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "sort",
    "unique",
]  # fmt: skip

Op = Callable[..., Tensor]


def _axes(axis: Any) -> Any:
    result = plain(axis)
    return tuple(result.tolist()) if isinstance(result, np.ndarray) and result.ndim else result


def _reduction(op: str, function: Callable[..., Any], kinds: str = "iufc", typed: bool = False) -> Op:
    def of(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
        x = operand(op, input_tensor, kinds)
        options = {"axis": _axes(axis), "keepdims": keepdims}
        if typed:
            options["dtype"] = numpy_dtype(x.dtype)
        return apply(op, lambda value: function(value, **options), x)

    of.__doc__ = f"The op {op} of the elements along axes."
    return of


def _extreme(function: Callable[..., Any], bound: str, infinity: float) -> Callable[..., Any]:
    """The largest or smallest element; a bound of the type if there are no elements."""

    def extreme(value: Any, **options: Any) -> Any:
        if is_proxy(value) or np.size(value):
            return function(value, **options)
        kind = np.asarray(value).dtype
        least = infinity if kind.kind == "f" else getattr(np.iinfo(kind), bound)
        return function(np.asarray(value), initial=least, **options)

    return extreme


reduce_sum = _reduction("Sum", np.sum, typed=True)
reduce_prod = _reduction("Prod", np.prod, typed=True)
_greatest = _extreme(np.max, "min", -np.inf)
reduce_max = _reduction("Max", _greatest, "iuf")
reduce_min = _reduction("Min", _extreme(np.min, "max", np.inf), "iuf")
reduce_all = _reduction("All", np.all, "b")
reduce_any = _reduction("Any", np.any, "b")
reduce_mean = _reduction("Mean", np.mean)
reduce_std = _reduction("Std", np.std)
reduce_variance = _reduction("Variance", np.var)


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    axes = _axes(axis)

    def log_sum_exp(value: Any) -> Any:
        greatest = _greatest(value, axis=axes, keepdims=True)
        result = np.log(np.sum(np.exp(value - greatest), axis=axes, keepdims=True)) + greatest
        return result if keepdims else np.squeeze(result, axis=axes)

    return apply_op("LogSumExp", log_sum_exp, input_tensor)


def _position(op: str, function: Callable[..., Any]) -> Op:
    def of(input: Any, axis: Any = 0, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
        where = 0 if axis is None else plain(axis)
        x = _with_dimensions(op, input, "biuf")
        return apply(op, lambda value: function(value, axis=where), x, dtype=as_dtype(output_type))

    of.__doc__ = f"The op {op}: the places of the first such elements along an axis."
    return of


def _with_dimensions(op: str, value: Any, kinds: str) -> Tensor:
    x = operand(op, value, kinds)
    if x.shape.rank == 0:
        raise InvalidArgumentError(f"Expected dimension in the range [0, 0), but got 0 [Op:{op}]")
    return x


argmax = _position("ArgMax", np.argmax)
argmin = _position("ArgMin", np.argmin)


def _cumulative(op: str, function: Callable[..., Any], without: Callable[..., Any]) -> Op:
    def of(
        x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
    ) -> Tensor:
        x, where = _with_dimensions(op, x, "iufc"), plain(axis)
        kind = numpy_dtype(x.dtype)

        def cumulate(value: Any) -> Any:
            ordered = np.flip(value, where) if reverse else value
            total = without(ordered, where, kind) if exclusive else function(ordered, axis=where, dtype=kind)
            return np.flip(total, where) if reverse else total

        return apply(op, cumulate, x)

    of.__doc__ = f"The op {op}: for each element, what those up to it, or before it, give along an axis."
    return of


def _products_before(value: Any, axis: int, kind: Any) -> Any:
    """The product of the elements before each element."""
    moved = np.moveaxis(value, axis, 0)
    result = np.cumprod(np.concatenate([np.ones_like(moved[:1]), moved[:-1]]), axis=0, dtype=kind)
    return np.moveaxis(result, 0, axis)


cumsum = _cumulative("Cumsum", np.cumsum, lambda x, axis, kind: np.cumsum(x, axis=axis, dtype=kind) - x)
cumprod = _cumulative("Cumprod", np.cumprod, _products_before)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    x = operand("Sort", values, "iuf")
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: {direction}")
    falls = direction == "DESCENDING"
    return apply("Sort", lambda v: np.flip(np.sort(v, axis), axis) if falls else np.sort(v, axis), x)


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    sign = -1 if direction == "DESCENDING" else 1
    return apply_op("ArgSort", lambda x: np.argsort(x * sign, axis, kind="stable"), values, dtype=dtypes.int32)


class Unique(NamedTuple):
    """The distinct elements, and for each element the index of its own."""

    y: Tensor
    idx: Tensor


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct elements in order of first occurrence, and for each element the index of its own."""
    x = convert_to_tensor(x)

    def first(value: Any) -> Any:
        _, at = np.unique(value, return_index=True)
        return value[np.sort(at)]

    result = apply("Unique", first, x)
    numbers = apply("Unique", lambda value, kinds: np.argmax(np.expand_dims(value, 1) == kinds, axis=1), x, result,
                    dtype=as_dtype(out_idx))  # fmt: skip
    return Unique(result, numbers)


name_ops(globals())
