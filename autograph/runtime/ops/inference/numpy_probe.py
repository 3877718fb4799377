"""Ask NumPy for dtypes: run a function on samples of ones and look at the type of the result.

So rules only need to know about shapes, and dtypes follow the installed NumPy. A probe runs for the first arguments of
these types, and its answer is cached.
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
    """A value of this type, with axes of a fixed length."""
    if type.dtype.kind not in ELEMENTARY:
        raise Unknown
    if type.kind == "python":
        return types.PYTHON_TYPES[type.dtype](1)
    ones = np.ones((LENGTH,) * type.ndim, type.dtype)
    return ones[()] if type.kind == "scalar" else ones


def probe(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Type:
    """The type of the result of `function` for samples of the types among the arguments.

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
    """A real type in place of a complex one, for functions that warn when they cast to real numbers."""
    return replace(type, dtype=np.dtype(float)) if type.dtype.kind == "c" else type


def castable(type: TensorType, dtype: Any) -> TensorType:
    """`real`, unless `dtype=` asks for complex numbers."""
    return type if dtype is None or np.dtype(dtype).kind == "c" else real(type)


def shaped(found: Type, shape: Shape) -> TensorType:
    """The type that a probe found, with the right lengths of its axes."""
    if not isinstance(found, TensorType) or found.ndim != len(shape):
        raise Unknown
    return replace(found, shape=shape)


def dtype_of(found: Type) -> np.dtype[Any]:
    """The dtype that a probe found."""
    return tensor_arg(found).dtype


def shaped_all(found: Type, *shapes: Shape) -> ObjectType:
    """The type of a tuple that a probe found, with the right lengths of the axes of each item."""
    if not isinstance(found, ObjectType) or len(found.items) != len(shapes):
        raise Unknown
    return replace(found, items=tuple(shaped(item, shape) for item, shape in zip(found.items, shapes)))
