"""The class and attributes of a staged value, as far as its type determines them."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.common.statics import class_attribute
from autograph.runtime.graph.graph import Value
from autograph.runtime.graph.object_model import GENERATORS
from autograph.runtime.graph.types import PYTHON_TYPES, MaybeUnbound, ObjectType, TensorType, Type

_DICTS = (OrderedDict, defaultdict, Counter)
_KINDS = (str, list, dict, set, tuple, range, enumerate, zip, bytes, type(None), frozenset, deque, *_DICTS)
_NUMBERS = (bool, int, float, complex, np.ndarray)
_CLASSES: dict[str, type] = {kind.__name__: kind for kind in _KINDS}
# Generators of random numbers that the graph makes. (Classes of the user may have the same names.)
_MADE: dict[str, type] = {kind.__name__: kind for kind in GENERATORS}

# Attributes of numbers and arrays that an exact type determines.
KNOWN_ATTRIBUTES: dict[str, Callable[[TensorType], Any]] = {
    "ndim": lambda type: type.ndim,
    "dtype": lambda type: type.dtype,
    "itemsize": lambda type: type.dtype.itemsize,
}
_DATA = frozenset("T real imag flat shape strides size nbytes ndim dtype itemsize base".split())

NAMES = frozenset({"__name__", "__qualname__", "__module__"})  # of a class
# Attributes of functions, classes and exceptions that are not parts of a protocol of Python's or NumPy's.
ANSWERED = frozenset(
    "__defaults__ __kwdefaults__ __name__ __qualname__ __doc__ __annotations__ __code__ __closure__ __wrapped__ "
    "__self__ __func__ __cause__ __context__ __suppress_context__ __traceback__ __notes__ __mro__ __bases__".split()
)


def class_of(value: Value) -> type | None:
    """The class of the object that a value represents, if it is known."""
    type = value.type
    if isinstance(type, TensorType):
        if not type.exact:
            return None
        if type.kind == "python":
            return PYTHON_TYPES[type.dtype]
        return np.ndarray if type.kind == "array" else np.dtype(type.dtype.str).type  # not np.longlong for np.int64
    return _CLASSES.get(type.name) if isinstance(type, ObjectType) else None


def sample_of(type: TensorType) -> Any:
    """An object of an exact type, to look up its attributes."""
    if type.kind == "array":
        return np.empty((0,) * max(type.ndim, 1), type.dtype) if type.ndim else np.empty((), type.dtype)
    number = type.dtype.type()
    return number.item() if type.kind == "python" else number


def has_attribute(kind: type | None, name: str) -> bool | None:
    """Whether objects of a class have an attribute; None if it depends on the object."""
    if kind is None or not (kind in _KINDS or kind in _NUMBERS or issubclass(kind, np.generic)):
        return None
    return any(name in vars(base) for base in kind.__mro__)


def is_method(kind: type | None, type: Type, name: str) -> bool | None:
    """Whether an attribute is a method; None if that is unknown, but some known classes have such a method.

    Args:
        kind: the object's class, if known.
    """
    if isinstance(type, TensorType):
        return name not in _DATA
    kind = kind or (_CLASSES.get(type.name) or _MADE.get(type.name) if isinstance(type, ObjectType) else None)
    if kind is not None:
        member = class_attribute(kind, name)
        return callable(member) or isinstance(member, (classmethod, staticmethod))
    return None if name not in _DATA and name in _METHODS else False


_METHODS = frozenset().union(*map(dir, (*_CLASSES.values(), np.ndarray)))


# Functions that depend on types only: they are computed while tracing, as programs branch on their results.
ABOUT_TYPES = (np.shape, np.ndim, np.size, np.result_type, np.can_cast)


def of_types(function: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """The result of such a function, for types instead of values; NotImplemented if it is not known."""
    if kwargs or any(isinstance(arg, (ObjectType, MaybeUnbound, list, tuple)) for arg in args):
        return NotImplemented
    types = [arg for arg in args if isinstance(arg, TensorType)]
    asks_for_sizes = function in (np.shape, np.size)
    if not all(type.exact and not (asks_for_sizes and None in type.shape) for type in types):
        return NotImplemented
    return function(*[_like(arg) if isinstance(arg, TensorType) else arg for arg in args])


def _like(type: TensorType) -> Any:
    """An object of a type that takes no memory."""
    one = np.zeros((), type.dtype)
    if type.kind == "array":
        return np.broadcast_to(one, [1 if size is None else size for size in type.shape])
    return one.item() if type.kind == "python" else one[()]
