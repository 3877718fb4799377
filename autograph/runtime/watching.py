"""Guards for attributes that traced code may have read: it reads them as Python does, without a word to the trace."""

from __future__ import annotations

from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autograph import nest
from autograph.runtime.graph import Value
from autograph.runtime.outside import Outside, Source
from autograph.runtime.signature import Guard

_IMMUTABLE = (int, float, complex, bool, str, bytes, type(None), type, FunctionType, np.generic, np.dtype, frozenset)
_MISSING: Any = object()


def attribute_guards(outside: Outside, names: set[str], leaf_names: dict[Value, str]) -> list[Guard]:
    """Guards for all attributes, of objects that traced code can reach, that it mentions the name of."""
    guards: list[Guard] = []
    rest: list[tuple[Any, str, dict[str, Any], str]] = []
    for thing, source in outside.objects.values():
        if isinstance(source, Value):
            rest.append((thing, leaf_names[source], {}, source.name or leaf_names[source]))
        elif isinstance(source, Source):
            rest.append((thing, source.expression, dict(source.names), source.text))
    seen: set[int] = set()
    mentioned = sorted(names)
    while rest:
        thing, expression, bound, text = rest.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        own = getattr(thing, "__dict__", {})
        for name in mentioned:
            value = own.get(name, _MISSING)
            if value is not _MISSING and isinstance(thing, type) and getattr(thing, name, _MISSING) is not value:
                continue  # a property, a static method and so on: not what one gets from the class
            if value is _MISSING:
                value = _of_class(type(thing), name)
                if value is _MISSING:
                    continue
            if ("attribute", id(thing), name) in outside.late:
                continue
            path, called = f"{expression}.{name}", f"{text}.{name}"
            rest.extend(_guard(guards, value, path, bound, called))
    return guards


def _of_class(kind: type, name: str) -> Any:
    """A number or the like that is an attribute of a class."""
    for base in kind.__mro__:
        if name in base.__dict__:
            value = base.__dict__[name]
            return value if isinstance(value, _IMMUTABLE) and not isinstance(value, (FunctionType, type)) else _MISSING
    return _MISSING


def _guard(guards: list[Guard], value: Any, path: str, bound: dict[str, Any], text: str) -> list[Any]:
    """Guard one value; gives the objects that are to be looked into in turn."""
    reason = f"the attribute {text} changed"
    if type(value) is np.ndarray:
        condition = f"type({path}) is ndarray and {path}.dtype == dtype and {path}.shape == {value.shape!r}"
        guards.append(Guard(condition, {**bound, "ndarray": np.ndarray, "dtype": value.dtype}, reason))
        return []
    if isinstance(value, _IMMUTABLE):
        condition = f"{path} is value or (type({path}) is kind and {path} == value and repr({path}) == text)"
        if isinstance(value, (FunctionType, type)):
            condition = f"{path} is value"
        guards.append(Guard(condition, {**bound, "value": value, "kind": type(value), "text": repr(value)}, reason))
        return []
    kind = nest.kind_of(value)
    if kind is not None:
        children = kind.children(value)
        if len(children) > 64:
            return []
        keys = list(children)
        condition = f"type({path}) is kind and keys({path}) == known"
        guards.append(Guard(condition, {**bound, "kind": type(value), "keys": _keys, "known": keys}, reason))
        found = []
        for key, part in children.items():
            found.extend(_guard(guards, part, path + kind.step(key), bound, text + kind.step(key)))
        return found
    if isinstance(value, (ModuleType, MethodType)) or callable(value) or not hasattr(value, "__dict__"):
        guards.append(Guard(f"{path} is value", {**bound, "value": value}, reason))
        return []
    guards.append(Guard(f"type({path}) is kind", {**bound, "kind": type(value)}, reason))
    return [(value, path, bound, text)]


def _keys(value: Any) -> list[Any]:
    kind = nest.kind_of(value)
    return list(kind.children(value)) if kind is not None else []
