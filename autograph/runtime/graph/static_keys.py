"""Keys of static values in signatures.

For Python, `True`, `1` and `1.0` are equal, and `0.0` and `-0.0`; a program may distinguish them. So a key contains the
types of all parts, and objects without a value have their identity as key.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from autograph.common import disk_cache


class Same:
    """A key that only the same object has."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@disk_cache.storable
def static_key(value: Any) -> Hashable:
    """A key that is equal for two values only if no program can tell them apart."""
    kind = type(value)
    if kind in _BY_VALUE or kind is types.FunctionType:     # functions are equal only to themselves
        return kind, value
    part = _PARTS.get(kind)
    if part is not None:
        return kind, part(value)
    if issubclass(kind, np.generic):
        return kind, value.dtype.str, value.tobytes()
    if issubclass(kind, (np.dtype, types.GenericAlias)):
        return kind, value
    if type(value) is types.MethodType:
        return kind, Same(value.__self__), value.__func__
    return kind, Same(value)


def _keys(values: Any) -> Hashable:
    return tuple(map(static_key, values))


def _part_key(value: Any) -> Hashable:
    """The key of a part of a partial, by identity unless it is a number or text."""
    return static_key(value) if type(value) in (*_BY_VALUE, float, complex) else Same(value)


def _float(value: float) -> Hashable:
    """A key that differs for -0.0 and 0.0; a NaN is equal only to itself."""
    return value.hex() if value == value else Same(value)


def _complex(value: complex) -> Hashable:
    return (value.real.hex(), value.imag.hex()) if value == value else Same(value)


_BY_VALUE: frozenset[type] = frozenset({bool, int, str, bytes, type(None), type(...), type(NotImplemented)})
_PARTS: dict[type, Callable[[Any], Hashable]] = {
    float: _float,
    complex: _complex,
    tuple: _keys,
    list: _keys,
    dict: lambda value: (_keys(value), _keys(value.values())),
    frozenset: lambda value: frozenset(map(static_key, value)),
    set: lambda value: frozenset(map(static_key, value)),
    range: lambda value: (value.start, value.stop, value.step),
    slice: lambda value: _keys((value.start, value.stop, value.step)),
    functools.partial: lambda value: tuple(map(_part_key, (value.func, *value.args, *sum(value.keywords.items(), ())))),
}

# Objects of these types, exactly, never change in a way that a program can see: a trace may be made for one of them.
CONSTANT: set[type] = {
    bool,
    str,
    bytes,
    object,
    type(None),
    type(...),
    type(NotImplemented),
    type(np._NoValue),
    frozenset,
    slice,
    types.GenericAlias,
    types.FunctionType,
    types.MethodType,
    functools.partial,
    type(functools.cache(len)),
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    type(np.sum),  # the class of NumPy's functions with __array_function__
}
# Objects of these types and of those derived from them.
CONSTANT_BASES: tuple[type, ...] = (type, enum.Enum, types.ModuleType, np.dtype, np.ufunc)
