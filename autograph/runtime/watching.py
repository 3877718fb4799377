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
    """Guards for all attributes, of objects that traced code can reach, that it mentions the name of."""
    guards: list[Guard] = []
    rest = [(thing, outside.source_of(known)) for thing, known in (*outside.met_again, *outside.objects.values())]
    met: list[tuple[Any, Source]] = []
    seen: set[int] = set()
    mentioned = sorted(names)
    any_name = not names.isdisjoint(_BY_NAME)
    while rest:
        thing, source = rest.pop()
        met.append((thing, source))
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        is_instance = not isinstance(thing, (type, ModuleType))
        own = attributes(thing) if is_instance else vars(thing)
        looked_at = mentioned
        if is_instance:
            guards.append(_names_guard(thing, own, source))
            if any_name or id(thing) in outside.exposed or hasattr(type(thing), "__dataclass_fields__"):
                looked_at = list(dict.fromkeys([*mentioned, *own]))
        for name in looked_at:
            value = own.get(name, _MISSING)
            if value is not _MISSING and isinstance(thing, type) and getattr(thing, name, _MISSING) is not value:
                continue  # a property, a static method and so on: not what one gets from the class
            if value is _MISSING:
                value = _of_class(type(thing), name)
                if value is _MISSING:
                    continue
            if ("attribute", id(thing), name) in outside.late or (id(thing), name) in outside.read_late:
                continue
            late = ("attribute", source.text, name) if name in own and may_vary(value) else None
            rest.extend(_guard(outside, guards, value, source.attribute(name), late))
    return guards + _library_guards(outside, mentioned) + _sharing_guards(met)


def _library_guards(outside: Outside, mentioned: list[str]) -> list[Guard]:
    """Guards for numbers and texts of the standard library: those of its modules and classes that are in Python."""
    guards: list[Guard] = []
    rest = [(thing, outside.source_of(known)) for thing, known in outside.libraries]
    seen: set[int] = set()
    while rest:
        thing, source = rest.pop()
        module = thing if isinstance(thing, ModuleType) else sys.modules.get(str(thing.__module__))
        if id(thing) in seen or not libraries.is_standard(module):
            continue
        seen.add(id(thing))
        for name in mentioned:
            value = vars(thing).get(name, _MISSING)
            if isinstance(value, CONSTANTS):
                _guard(outside, guards, value, source.attribute(name), None)
            elif isinstance(value, (type, ModuleType)):
                rest.append((value, source.attribute(name)))
    return guards


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
