"""What AutoGraph offers for lists: `stack`, and the type of their elements."""

from __future__ import annotations

from typing import Any

from autograph.compat.tensorflow import array_ops
from autograph.compat.tensorflow.autograph_ import to_code, to_graph

__all__ = ["set_element_type", "stack", "to_code", "to_graph"]


def set_element_type(entity: Any, dtype: Any, shape: Any = None) -> None:
    """Say of which type the elements of a list are."""


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """A list of tensors as one tensor; what is one already, or cannot be one, as it is, unless `strict`."""
    if not isinstance(list_or_tensor, list):
        if strict:
            raise ValueError(f"expected a list of tensors, got {list_or_tensor!r}")
        return list_or_tensor
    return array_ops.stack(list_or_tensor)
