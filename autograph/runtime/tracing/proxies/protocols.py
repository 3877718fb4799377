"""The interface of proxies to their trace, and NumPy's protocols for proxies.

`Recorder` is said apart from `Trace`, because that makes proxies, and so has to import them.

An object whose class has `__array_ufunc__` or `__array_function__` decides itself what NumPy does with it; one that has
`__array__` only is made an array of. So it is while tracing, and these methods are traced. Functions that ask for no
more than types are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any, NoReturn, Protocol

import numpy as np

from autograph.common.statics import class_attribute, class_has, module_of
from autograph.errors import StagingError
from autograph.runtime.graph.graph import Node, Place, Value
from autograph.runtime.graph.object_model import is_users
from autograph.runtime.graph.types import MaybeUnbound, ObjectType, TensorType, Type
from autograph.runtime.tracing.proxies.context import TraceContext

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
    if type(convert) is FunctionType and is_users(type(value)):
        return trace.context.calls.replacement(convert)(value)
    return value


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


class Recorder(Protocol):
    """What records what is done with proxies."""

    closed: bool
    staged_items: list[Any]
    classes: dict[Value, type]
    maybe_methods: dict[Value, tuple[Any, str]]
    called_methods: dict[Node, None]
    context: TraceContext

    def place(self) -> Place: ...

    def record(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any: ...

    def record_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def report(self, kind: str, message: str) -> None: ...

    def strayed(self, tensor: Any, place: Place) -> StagingError: ...

    def unpack_starred(self, tensor: Any, before: int, after: int) -> Iterator[Any]: ...

    def spread_items(self, tensor: Any) -> Iterator[Any]: ...

    def is_all(self, key: Any) -> bool: ...

    def type_of(self, tensor: Any) -> Type: ...

    def class_of(self, tensor: Any) -> type: ...

    def constant(self, value: Any) -> Any: ...

    def materialize(self, container: Any) -> Any: ...

    def needs(self, tensor: Any, use: str, asked: bool = False) -> NoReturn: ...

    def formatted(self, tensor: Any, conversion: str, spec: str) -> str: ...

    def retyped(self, tensor: Any) -> None: ...
