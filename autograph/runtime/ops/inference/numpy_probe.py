"""Asking NumPy: what it makes of ones of some types says which dtype and kind it makes of all values of these types.

So rules need to know about shapes only, and the rest is as the NumPy at hand has it. A probe is run for the first of
its arguments' types, and remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from autograph.runtime.graph import types
from autograph.runtime.graph.types import ObjectType, Shape, TensorType, Type
from autograph.runtime.ops.inference.shape_rules import ELEMENTARY, Unknown, Wrong, tensor_arg

LENGTH = 2              # of each axis of a sample; of several elements there are deviations and differences


@cache
def sample(type: TensorType) -> Any:
    """A value of this type, with other lengths of its axes."""
    if type.dtype.kind not in ELEMENTARY:
        raise Unknown
    if type.kind == "python":
        return types.PYTHON_TYPES[type.dtype](1)
    ones = np.ones((LENGTH,) * type.ndim, type.dtype)
    return ones[()] if type.kind == "scalar" else ones


def probe(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Type:
    """The type of what `function` gives for arguments of which the types among `args` and `kwargs` are samples.

    Lengths of axes say nothing: see `shaped`.
    """
    values = [sample(arg) if isinstance(arg, TensorType) else arg for arg in args]
    named = {key: sample(arg) if isinstance(arg, TensorType) else arg for key, arg in kwargs.items()}
    try:
        with np.errstate(all="ignore"):
            return types.type_of(function(*values, **named))
    except (TypeError, ValueError, AttributeError) as error:
        raise Wrong from error


def real(type: TensorType) -> TensorType:
    """The type to ask about in the place of one that may be complex, where NumPy casts to real numbers and warns."""
    return replace(type, dtype=np.dtype(float)) if type.dtype.kind == "c" else type


def castable(type: TensorType, dtype: Any) -> TensorType:
    """The same, where an argument `dtype=` decides whether it does."""
    return type if dtype is None or np.dtype(dtype).kind == "c" else real(type)


def shaped(found: Type, shape: Shape) -> TensorType:
    """The type that was found, with the lengths of its axes."""
    if not isinstance(found, TensorType) or found.ndim != len(shape):
        raise Unknown
    return replace(found, shape=shape)


def dtype_of(found: Type) -> np.dtype[Any]:
    """The dtype of what was found."""
    return tensor_arg(found).dtype


def shaped_all(found: Type, *shapes: Shape) -> ObjectType:
    """The type of the tuple that was found, with the lengths of the axes of each item."""
    if not isinstance(found, ObjectType) or len(found.items) != len(shapes):
        raise Unknown
    return replace(found, items=tuple(shaped(item, shape) for item, shape in zip(found.items, shapes)))
