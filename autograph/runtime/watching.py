"""Guards for attributes that traced code may have read: it reads them as Python does, without a word to the trace."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from autograph import libraries, nest
from autograph.runtime.classes import is_opaque, is_open, is_taken_apart, may_vary, own_dict
from autograph.runtime.finding import fixed_source
from autograph.runtime.guards import has_fixed_parts, is_alike, is_same, is_structure
from autograph.runtime.journal import attributes
from autograph.runtime.outside import Outside
from autograph.runtime.parts import CONSTANTS, fixed_parts
from autograph.runtime.signature import Guard
from autograph.runtime.sources import Source, told_apart

_IMMUTABLE = (int, float, complex, bool, str, bytes, type(None), type, FunctionType, np.generic, np.dtype, frozenset)
_MISSING: Any = object()
# Code that mentions these may read any attribute.
_BY_NAME = frozenset({"getattr", "vars", "dir", "attrgetter", "__dict__", "__getattribute__"})


def attribute_guards(outside: Outside, names: set[str]) -> list[Guard]:
    """Guards for all attributes, of what traced code can reach, that it mentions the name of."""
    guards: list[Guard] = []
    known = [(each, True) for each in outside.libraries]
    known += [(each, False) for each in (*outside.met_again, *outside.objects.values())]
    rest = [(thing, outside.source_of(source), of_library) for (thing, source), of_library in known]
    met: list[tuple[Any, Source]] = []
    seen: set[int] = set()
    mentioned = sorted(names)
    while rest:
        thing, source, of_library = rest.pop()
        if not of_library:
            met.append((thing, source))
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        own = vars(thing) if isinstance(thing, (type, ModuleType)) else attributes(thing)
        if not isinstance(thing, (type, ModuleType)):
            guards.append(_names_guard(thing, own, source))
        found = _in_library(thing, own, mentioned) if of_library else _looked_at(outside, thing, own, mentioned)
        for name, value in found:
            part = source.attribute(name)
            if of_library and isinstance(value, (type, ModuleType)):
                rest.append((value, part, True))
                continue
            late = ("attribute", source.text, name) if name in own and may_vary(value) and not of_library else None
            rest.extend((*each, False) for each in _guard(outside, guards, value, part, late))
    return guards + _sharing_guards(met)


def _looked_at(outside: Outside, thing: Any, own: dict[str, Any], mentioned: list[str]) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, class or module that traced code may have read, with their values."""
    if not isinstance(thing, (type, ModuleType)):
        any_name = not _BY_NAME.isdisjoint(mentioned) or id(thing) in outside.exposed
        if any_name or hasattr(type(thing), "__dataclass_fields__"):
            mentioned = list(dict.fromkeys([*mentioned, *own]))
    for name in mentioned:
        value = own.get(name, _MISSING)
        if isinstance(thing, type) and hasattr(type(value), "__get__") and type(value) is not FunctionType:
            continue  # a property, a static method and so on: not what one gets from the class
        if value is _MISSING:
            value = _of_class(thing if isinstance(thing, type) else type(thing), name)
        is_late = ("attribute", id(thing), name) in outside.late or (id(thing), name) in outside.read_late
        if value is not _MISSING and not is_late:
            yield name, value


def _in_library(thing: Any, own: Any, mentioned: list[str]) -> Iterator[tuple[str, Any]]:
    """The same for modules and classes of the standard library in Python: numbers, texts, modules and classes."""
    module = thing if isinstance(thing, ModuleType) else sys.modules.get(str(thing.__module__))
    for name in mentioned if libraries.is_standard(module) else ():
        if isinstance(own.get(name, _MISSING), (type, ModuleType, *CONSTANTS)):
            yield name, own[name]


def _sharing_guards(met: list[tuple[Any, Source]]) -> list[Guard]:
    """That the same objects, and no others, are met at several places."""
    firsts: dict[int, tuple[Any, Source]] = {}
    guards: list[Guard] = []
    for thing, source in met:
        guards.extend(is_one(source, firsts.setdefault(id(thing), (thing, source))[1]))
    kinds: dict[type, list[Source]] = {}
    for thing, source in firsts.values():
        kinds.setdefault(type(thing), []).append(source)
    for group in kinds.values():
        if len(group) > 1:
            expressions, names = told_apart(group)
            identities = ", ".join(f"id({expression})" for expression in expressions)
            reason = f"{' and '.join(source.text for source in group)} are no longer different objects"
            guards.append(Guard(f"len({{{identities}}}) == {len(group)}", names, reason))
    return guards


def is_one(source: Source, first: Source) -> Iterator[Guard]:
    """That the same object is in two places."""
    if first.expression != source.expression or first.names != source.names:
        expressions, names = told_apart([source, first])
        yield Guard(" is ".join(expressions), names, f"{source.text} is another object than {first.text}")


def _of_class(kind: type, name: str) -> Any:
    """A number or the like that is an attribute of a class."""
    for base in kind.__mro__:
        if name in base.__dict__:
            value = base.__dict__[name]
            return value if isinstance(value, _IMMUTABLE) and not isinstance(value, (FunctionType, type)) else _MISSING
    return _MISSING


def _guard(outside: Outside, guards: list[Guard], value: Any, source: Source, late: Any) -> list[tuple[Any, Source]]:
    """Guard one value; gives the objects that are to be looked into in turn."""
    reason = f"the attribute {source.text} changed"
    _, elsewhere = outside.read_at.get(id(value), (value, source))
    guards.extend(is_one(source, elsewhere))
    if type(value) is np.ndarray:
        guards.append(Guard(*is_alike(value, source), reason))
        return []
    fixed = fixed_parts(value)
    if fixed:
        guards.append(Guard(*has_fixed_parts(fixed, source), reason))
    found = [(part, fixed_source(part, source.text)) for part in fixed]
    kind = nest.kind_of(value) if not isinstance(value, _IMMUTABLE) else None
    if kind is not None:
        outside.note_place(value, source)
        children = kind.children(value)
        if len(children) > 64 and not is_taken_apart(children.values()):
            return []
        guards.append(Guard(*is_structure(value, source), reason, late))
        parts = [_guard(outside, guards, part, source.part(kind, key), late) for key, part in children.items()]
        return found + [each for part in parts for each in part]
    if isinstance(value, _IMMUTABLE) or not (is_open(type(value)) or is_opaque(value)):
        guards.append(Guard(*is_same(value, source), reason, late))
        return found
    guards.append(Guard(*is_alike(value, source), reason))
    return found + ([(value, source)] if is_open(type(value)) else [])


def _names_guard(thing: Any, own: dict[str, Any], source: Source) -> Guard:
    """That an object has the same attributes, whatever they are."""
    in_dict = own_dict(thing)
    in_slots = in_dict is None or own.keys() != in_dict.keys()
    names = f"attributes({source.expression}).keys()" if in_slots else f"{source.expression}.__dict__.keys()"
    given = {**dict(source.names), "attributes": attributes, "names": frozenset(own)}
    return Guard(f"{names} == names", given, f"{source.text} has other attributes")
