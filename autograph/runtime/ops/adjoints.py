"""Ops that only gradients are made of: they put a gradient into the shape and dtype of what it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.opdef import declare, derive
from autograph.runtime.ops.rules import Unknown, is_type, operand, rule, type_of_arg
from autograph.runtime.types import TensorType, Type


def fit(gradient: Any, like: Any) -> Any:
    """A gradient, summed over the dimensions in which `like` was broadcast, as an array or scalar of its dtype.

    Args:
        gradient: an array or number, of a shape that `like` can be broadcast to, or that can be broadcast to `like`'s.
        like: an array or number of floats or complex numbers.
    """
    shape = np.shape(like)
    found = np.asarray(gradient)
    if found.shape != shape:
        if found.ndim > len(shape):
            found = found.sum(tuple(range(found.ndim - len(shape))))
        axes = tuple(axis for axis, size in enumerate(found.shape) if size != 1 and shape[axis - found.ndim] == 1)
        if axes:
            found = found.sum(axes, keepdims=True)
        if found.shape != shape:
            found = np.broadcast_to(found, shape)
    dtype = np.asarray(like).dtype
    if found.dtype != dtype and dtype.kind in "fc":
        found = (found.real if dtype.kind == "f" and found.dtype.kind == "c" else found).astype(dtype)
    return found if isinstance(like, np.ndarray) else found[()]


def scatter_add(like: Any, index: Any, gradient: Any) -> Any:
    """Zeros in the form of `like`, to whose items at `index` the gradient is added: what `like[index]` passes back."""
    found = np.zeros_like(like)
    if _is_basic(index):
        found[index] += gradient
    else:
        np.add.at(found, index, gradient)
    return found


def _is_basic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or isinstance(part, (int, np.integer, slice)) for part in parts)


@rule
def fitted(gradient: Any, like: Any) -> Type:
    found, target = operand(gradient), type_of_arg(like)
    if not isinstance(target, TensorType) or found.dtype.kind not in "fc":
        raise Unknown
    return target if target.kind != "python" else TensorType(target.dtype, (), "scalar", target.exact)


@rule
def scattered(like: Any, index: Any, gradient: Any) -> Type:
    found = type_of_arg(like)
    if not isinstance(found, TensorType) or not is_type(like):
        raise Unknown
    return TensorType(found.dtype, found.shape, "array", found.exact)


declare("fit", fitted, target=fit)
declare("scatter_add", scattered, target=scatter_add, raises=True)
derive("fit", lambda g, out, gradient, like: g, None)
derive("scatter_add", None, None, lambda g, out, like, index, gradient: g[index])
