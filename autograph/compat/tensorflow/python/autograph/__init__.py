"""Functions of AutoGraph for lists, `Feature.LISTS`: `stack`, and the type of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compat.tensorflow.autograph_ import to_code, to_graph
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.ops import array_ops

__all__ = ["set_element_type", "stack", "to_code", "to_graph"]


def set_element_type(entity: Any, dtype: Any, shape: Any = None) -> None:
    """Set the type of the elements of a list, so that an empty one can be stacked."""
    graph = graphs.current()
    if graph is not None:
        graph.lists[id(entity)] = entity, as_dtype(dtype), TensorShape(shape)


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """Stack a list of tensors; unless `strict`, other objects are returned as they are."""
    graph = graphs.current()
    if not isinstance(list_or_tensor, list):
        if strict:
            raise ValueError(f"expected a list of tensors, got {list_or_tensor!r}")
        return list_or_tensor
    if graph is None or "LISTS" not in map(str, graph.features):
        return array_ops.stack(list_or_tensor) if strict else list_or_tensor
    _, dtype, shape = graph.lists.get(id(list_or_tensor), (None, element_dtype and as_dtype(element_dtype), None))
    if dtype is None:
        raise ValueError("cannot stack a list without knowing its element type; use set_element_type to annotate it")
    if list_or_tensor:
        return array_ops.stack([convert_to_tensor(each, dtype_hint=dtype) for each in list_or_tensor])
    if shape is None or not shape.is_fully_defined():
        raise InvalidArgumentError("Tried to stack elements of an empty list with non-fully-defined element_shape")
    return convert_to_tensor(np.zeros((0, *shape), numpy_dtype(dtype)))
