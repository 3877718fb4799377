"""Guards for attributes that traced code may have read: it reads them as Python does, without a word to the trace."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from autograph import nest
from autograph.runtime.classes import is_opaque, is_open, is_taken_apart, may_vary
from autograph.runtime.graph import Value
from autograph.runtime.journal import attributes
from autograph.runtime.outside import Outside
from autograph.runtime.signature import Guard
from autograph.runtime.sources import Source, key_code

_IMMUTABLE = (int, float, complex, bool, str, bytes, type(None), type, FunctionType, np.generic, np.dtype, frozenset)
_MISSING: Any = object()
# Code that mentions these may read any attribute.
_BY_NAME = frozenset({"getattr", "vars", "dir", "attrgetter", "__dict__", "__getattribute__"})


def attribute_guards(outside: Outside, names: set[str], leaf_names: dict[Value, str]) -> list[Guard]:
    """Guards for all attributes, of objects that traced code can reach, that it mentions the name of."""
    guards: list[Guard] = []
    rest: list[tuple[Any, str, dict[str, Any], str]] = []
    for thing, source in (*outside.objects.values(), *outside.met_again):
        if isinstance(source, Value):
            rest.append((thing, leaf_names[source], {}, source.name or leaf_names[source]))
        elif isinstance(source, Source):
            rest.append((thing, source.expression, dict(source.names), source.text))
    met: list[tuple[Any, str, dict[str, Any], str]] = []
    seen: set[int] = set()
    mentioned = sorted(names)
    any_name = not names.isdisjoint(_BY_NAME)
    while rest:
        thing, expression, bound, text = rest.pop()
        met.append((thing, expression, bound, text))
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        own = vars(thing) if isinstance(thing, (type, ModuleType)) else attributes(thing)
        if not isinstance(thing, (type, ModuleType)):
            guards.append(_names_guard(thing, own, expression, bound, text))
        looked_into = any_name or id(thing) in outside.exposed or hasattr(type(thing), "__dataclass_fields__")
        for name in {*mentioned, *own} if looked_into and not isinstance(thing, (type, ModuleType)) else mentioned:
            value = own.get(name, _MISSING)
            if value is not _MISSING and isinstance(thing, type) and getattr(thing, name, _MISSING) is not value:
                continue  # a property, a static method and so on: not what one gets from the class
            if value is _MISSING:
                value = _of_class(type(thing), name)
                if value is _MISSING:
                    continue
            if ("attribute", id(thing), name) in outside.late or (id(thing), name) in outside.read_late:
                continue
            path, called = f"{expression}.{name}", f"{text}.{name}"
            late = ("attribute", text, name) if name in own and may_vary(value) else None
            rest.extend(_guard(guards, value, path, bound, called, late))
    return guards + _sharing_guards(met)


def _sharing_guards(met: list[tuple[Any, str, dict[str, Any], str]]) -> list[Guard]:
    """That the same objects, and no others, are met at several places."""
    firsts: dict[int, tuple[Any, str, dict[str, Any], str]] = {}
    guards = []
    for thing, path, bound, text in met:
        first = firsts.setdefault(id(thing), (thing, path, bound, text))
        if first[1] != path:
            both = _both(first[2], bound)
            if both is not None:
                guards.append(Guard(f"{path} is {first[1]}", both, f"{text} is another object than {first[3]}"))
    kinds: dict[type, list[tuple[Any, str, dict[str, Any], str]]] = {}
    for each in firsts.values():
        kinds.setdefault(type(each[0]), []).append(each)
    for group in kinds.values():
        names: dict[str, Any] | None = {}
        for _, _, bound, _ in group:
            names = None if names is None else _both(names, bound)
        if len(group) > 1 and names is not None:
            paths = ", ".join(f"id({path})" for _, path, _, _ in group)
            texts = " and ".join(text for _, _, _, text in group)
            guards.append(Guard(f"len({{{paths}}}) == {len(group)}", names, f"{texts} are no longer different objects"))
    return guards


def _both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any] | None:
    """The names of both, if none has two meanings."""
    same = all(first[name] is second[name] for name in first.keys() & second.keys())
    return {**first, **second} if same else None


def _of_class(kind: type, name: str) -> Any:
    """A number or the like that is an attribute of a class."""
    for base in kind.__mro__:
        if name in base.__dict__:
            value = base.__dict__[name]
            return value if isinstance(value, _IMMUTABLE) and not isinstance(value, (FunctionType, type)) else _MISSING
    return _MISSING


def _guard(
    guards: list[Guard], value: Any, path: str, bound: dict[str, Any], text: str, late: Any = None
) -> list[Any]:
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
        bound = {**bound, "value": value, "kind": type(value), "text": repr(value)}
        guards.append(Guard(condition, bound, reason, late))
        return []
    kind = nest.kind_of(value)
    if kind is not None:
        children = kind.children(value)
        if len(children) > 64 and not is_taken_apart(children.values()):
            return []
        keys = list(children)
        condition = f"type({path}) is kind and keys({path}) == known"
        guards.append(Guard(condition, {**bound, "kind": type(value), "keys": _keys, "known": keys}, reason, late))
        found = []
        for key, part in children.items():
            step = kind.step(key)
            names: tuple[tuple[str, Any], ...] = ()
            if step.startswith("["):
                step, names = key_code(key)
                step = f"[{step}]"
            found.extend(_guard(guards, part, path + step, {**bound, **dict(names)}, text + kind.step(key), late))
        return found
    if not is_open(type(value)) and not is_opaque(value):
        guards.append(Guard(f"{path} is value", {**bound, "value": value}, reason, late))
        return []
    guards.append(Guard(f"type({path}) is kind", {**bound, "kind": type(value)}, reason))
    return [(value, path, bound, text)] if is_open(type(value)) else []


def _names_guard(thing: Any, own: dict[str, Any], path: str, bound: dict[str, Any], text: str) -> Guard:
    """That an object has the same attributes, whatever they are."""
    in_slots = not hasattr(thing, "__dict__") or own.keys() != thing.__dict__.keys()
    names = f"attributes({path}).keys()" if in_slots else f"{path}.__dict__.keys()"
    given = {**bound, "attributes": attributes, "names": frozenset(own)}
    return Guard(f"{names} == names", given, f"{text} has other attributes")


def _keys(value: Any) -> list[Any]:
    kind = nest.kind_of(value)
    return list(kind.children(value)) if kind is not None else []
