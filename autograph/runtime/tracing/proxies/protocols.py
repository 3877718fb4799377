"""NumPy's protocols, among handles: objects that act for arrays, and functions that ask for no more than types.

An object whose class has `__array_ufunc__` or `__array_function__` decides itself what NumPy does with it; one that has
`__array__` only is made an array of. So it is while tracing, and these methods are traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from autograph.common.statics import class_attribute, class_has, module_of
from autograph.runtime.graph.object_model import is_users
from autograph.runtime.graph.types import MaybeUnbound, ObjectType, TensorType
from autograph.runtime.tracing.proxies.recorder import Recorder

# Functions that ask for no more than types: what they give decides on what is traced, so they are not recorded.
ABOUT_TYPES = (np.shape, np.ndim, np.size, np.result_type, np.can_cast)


def overrides(value: Any) -> bool:
    """Whether NumPy leaves operations to the class of an object."""
    kind = type(value)
    return module_of(kind) not in ("builtins", "numpy") and class_has(kind, "__array_ufunc__") and is_users(kind)


def as_arrays(trace: Recorder, value: Any) -> Any:
    """A value of which NumPy makes an array, with what `__array__` gives in the place of objects that have it."""
    if type(value) in (list, tuple):
        parts = [as_arrays(trace, part) for part in value]
        return value if all(a is b for a, b in zip(parts, value)) else type(value)(parts)
    convert = class_attribute(type(value), "__array__")
    return trace.call(convert)(value) if type(convert) is FunctionType and is_users(type(value)) else value


def of_types(function: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """What such a function gives, where types stand for values; NotImplemented if not all of it is known."""
    if kwargs or any(isinstance(arg, (ObjectType, MaybeUnbound, list, tuple)) for arg in args):
        return NotImplemented
    types = [arg for arg in args if isinstance(arg, TensorType)]
    asks_for_sizes = function in (np.shape, np.size)
    if not all(type.exact and not (asks_for_sizes and None in type.shape) for type in types):
        return NotImplemented
    return function(*[_like(arg) if isinstance(arg, TensorType) else arg for arg in args])


def _like(type: TensorType) -> Any:
    """Something of a type, that takes no memory."""
    one = np.zeros((), type.dtype)
    if type.kind == "array":
        return np.broadcast_to(one, [1 if size is None else size for size in type.shape])
    return one.item() if type.kind == "python" else one[()]
