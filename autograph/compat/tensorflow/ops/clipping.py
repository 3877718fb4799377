"""Norms, and tensors that are scaled down to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.ops import math_ops, reduce_ops


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The norm of vectors: `euclidean`, 1, 2, or infinity."""
    x = convert_to_tensor(tensor)
    if ord == 1:
        return reduce_ops.reduce_sum(math_ops.abs(x), axis, keepdims)
    if ord == float("inf"):
        return reduce_ops.reduce_max(math_ops.abs(x), axis, keepdims)
    if ord not in ("euclidean", 2) or (ord == 2 and isinstance(axis, (tuple, list))):
        raise ValueError(f"'ord' must be 'euclidean', 1, 2 or inf for vectors, got {ord!r}")
    return math_ops.sqrt(reduce_ops.reduce_sum(x * x, axis, keepdims))


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """A tensor, scaled down if need be, so that its norm is at most `clip_norm`."""
    x = convert_to_tensor(t)
    return x * clip_norm / math_ops.maximum(norm(x, axis=axes, keepdims=axes is not None), clip_norm)


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Any:
    """The norm of all elements of all tensors."""
    return math_ops.sqrt(math_ops.add_n([reduce_ops.reduce_sum(math_ops.square(t)) for t in t_list if t is not None]))


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """Tensors, scaled down by one factor if need be, so that their common norm is at most `clip_norm`; and the norm."""
    found = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    scale = math_ops.divide(clip_norm, math_ops.maximum(found, clip_norm))
    return [None if t is None else convert_to_tensor(t) * scale for t in t_list], found
