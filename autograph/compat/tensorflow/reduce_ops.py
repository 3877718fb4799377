"""Ops that reduce dimensions, count along them, or sort."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow import dtypes
from autograph.compat.tensorflow.array_ops import plain
from autograph.compat.tensorflow.convert import convert_to_tensor
from autograph.compat.tensorflow.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.tensor import Tensor, apply


def _axes(axis: Any) -> Any:
    found = plain(axis)
    return tuple(found.tolist()) if isinstance(found, np.ndarray) and found.ndim else found


def _reduction(op: str, function: Callable[..., Any], typed: bool = False, boolean: bool = False) -> Any:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
        x = convert_to_tensor(input_tensor, dtypes.bool if boolean else None)
        options = {"axis": _axes(axis), "keepdims": keepdims}
        if typed:
            options["dtype"] = numpy_dtype(x.dtype)
        return apply(op, lambda value: function(value, **options), x, dtype=x.dtype)

    reduce.__name__ = reduce.__qualname__ = f"reduce_{op.lower()}"
    return reduce


reduce_sum = _reduction("Sum", np.sum, typed=True)
reduce_prod = _reduction("Prod", np.prod, typed=True)
reduce_max = _reduction("Max", np.max)
reduce_min = _reduction("Min", np.min)
reduce_all = _reduction("All", np.all, boolean=True)
reduce_any = _reduction("Any", np.any, boolean=True)
reduce_mean = _reduction("Mean", np.mean)
reduce_std = _reduction("Std", np.std)
reduce_variance = _reduction("Variance", np.var)


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    x, axes = convert_to_tensor(input_tensor), _axes(axis)

    def of(value: Any) -> Any:
        top = np.max(value, axis=axes, keepdims=True)
        found = np.log(np.sum(np.exp(value - top), axis=axes, keepdims=True)) + top
        return found if keepdims else np.squeeze(found, axis=axes)

    return apply("LogSumExp", of, x, dtype=x.dtype)


def _position(op: str, function: Callable[..., Any]) -> Any:
    def of(input: Any, axis: Any = 0, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
        where = 0 if axis is None else plain(axis)
        x = convert_to_tensor(input)
        return apply(op, lambda value: function(value, axis=where), x, dtype=as_dtype(output_type))

    of.__name__ = of.__qualname__ = op.lower()
    return of


argmax = _position("ArgMax", np.argmax)
argmin = _position("ArgMin", np.argmin)


def cumsum(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    x = convert_to_tensor(x)
    kind = numpy_dtype(x.dtype)

    def of(value: Any) -> Any:
        turned = np.flip(value, axis) if reverse else value
        total = np.cumsum(turned, axis=axis, dtype=kind)
        total = total - turned if exclusive else total
        return np.flip(total, axis) if reverse else total

    return apply("Cumsum", of, x, dtype=x.dtype)


def cumprod(x: Any, axis: int = 0, name: str | None = None) -> Tensor:
    x = convert_to_tensor(x)
    kind = numpy_dtype(x.dtype)
    return apply("Cumprod", lambda value: np.cumprod(value, axis=axis, dtype=kind), x, dtype=x.dtype)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    x = convert_to_tensor(values)
    turn = direction == "DESCENDING"
    return apply("Sort", lambda v: np.flip(np.sort(v, axis), axis) if turn else np.sort(v, axis), x, dtype=x.dtype)


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    x = convert_to_tensor(values)
    back = -1 if direction == "DESCENDING" else 1
    return apply("ArgSort", lambda v: np.argsort(v * back, axis, kind="stable"), x, dtype=dtypes.int32)


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The elements in the order in which they first come, and for each the number of its own."""
    x = convert_to_tensor(x)

    def first(value: Any) -> Any:
        _, at = np.unique(value, return_index=True)
        return value[np.sort(at)]

    found = apply("Unique", first, x, dtype=x.dtype)
    numbers = apply("Unique", lambda value, kinds: np.argmax(np.expand_dims(value, 1) == kinds, axis=1), x, found,
                    dtype=as_dtype(out_idx))  # fmt: skip
    return found, numbers
