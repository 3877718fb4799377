"""Guards of captured values: expressions over their sources, with the names in them."""

from __future__ import annotations

import weakref
from typing import Any, TypeAlias

import numpy as np

from autograph.common import disk_cache, pytree
from autograph.common.statics import is_a
from autograph.runtime.graph.static_keys import Same, static_key
from autograph.runtime.tracing.environment.object_parts import fixed_parts
from autograph.runtime.tracing.environment.source import Source

Condition: TypeAlias = "tuple[str, dict[str, Any]]"  # the arguments with which a `Guard` begins

_BY_VALUE = frozenset({int, float, complex, str, bytes, tuple, frozenset})
_COMPARED_BY_EQUALITY = frozenset({int, str, bytes})


def is_same(value: Any, source: Source) -> Condition:
    """It is this very object, or the same constant."""
    if type(value) not in _BY_VALUE and not is_a(value, (np.generic, np.dtype)):
        return _condition("{0} is value", source, value=value)
    if type(value) in (tuple, frozenset):
        names = {"value": value, "key": static_key, "known": static_key(value)}
        return _condition("{0} is value or key({0}) == known", source, **names)
    if type(value) in _COMPARED_BY_EQUALITY:  # and Python may refuse to write an integer
        return _condition("{0} is value or (type({0}) is kind and {0} == value)", source, value=value, kind=type(value))
    expression = "{0} is value or (type({0}) is kind and {0} == value and repr({0}) == text)"
    return _condition(expression, source, value=value, kind=type(value), text=repr(value))


def is_alike(value: Any, source: Source) -> Condition:
    """It is of the same class, and an array of the same dtype and shape."""
    if type(value) is not np.ndarray:
        name = f"kind_{id(type(value))}"
        return _condition(f"type({{0}}) is {name}", source, **{name: type(value)})
    expression = "type({0}) is ndarray and {0}.dtype == dtype and {0}.shape == " + repr(value.shape)
    return _condition(expression, source, ndarray=np.ndarray, dtype=value.dtype)


def is_structure(value: Any, source: Source) -> Condition:
    """It is a container or the like of the same class, with the same keys."""
    expression = "type({0}) is kind and keys({0}) == known"
    return _condition(expression, source, kind=type(value), keys=_keys_of, known=_keys_of(value))


def has_fixed_parts(value: Any, parts: list[Any], source: Source) -> Condition:
    """It has these very objects in its keys, as the owner of a method, or in another place without a name.

    A weak reference is that very one, and what it refers to is there: the guard must not keep that alive.
    """
    if type(value) is weakref.ref:
        return _condition("{0} is reference and reference() is not None", source, reference=value)
    return _condition("identities({0}) == known", source, identities=_identities, known=list(map(Same, parts)))


def is_alive(source: Source) -> Condition:
    """What a weak reference refers to is still there."""
    return _condition("{0} is not None", source)


@disk_cache.storable
def _identities(value: Any) -> list[Same]:
    return list(map(Same, fixed_parts(value)))


@disk_cache.storable
def _keys_of(value: Any) -> list[Any]:
    kind = pytree.kind_of(value)
    return list(kind.children(value)) if kind is not None else []


def _condition(expression: str, source: Source, **names: Any) -> Condition:
    return expression.format(source.expression), {**dict(source.names), **names}
