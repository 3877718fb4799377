"""Guards for attributes that traced code may have read: it reads them as Python does, without a word to the trace."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from autograph.common import pytree, trace_rules
from autograph.common.packages import is_opaque_class
from autograph.common.statics import class_attribute, class_has, compares_itself, is_a, is_descriptor, module_of
from autograph.runtime.graph.object_model import (
    is_changeable,
    is_opaque,
    is_open,
    is_taken_apart,
    is_users,
    may_vary,
    own_dict,
)
from autograph.runtime.graph.signature import Guard
from autograph.runtime.tracing.environment.class_guards import ClassFacts
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.guards import has_fixed_parts, is_alike, is_same, is_structure
from autograph.runtime.tracing.environment.object_parts import CONSTANTS, fixed_parts
from autograph.runtime.tracing.environment.object_source import fixed_source
from autograph.runtime.tracing.environment.source import Source, constant, with_distinct_names
from autograph.runtime.tracing.state.undo_log import attributes

_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype, frozenset)
_IMMUTABLE = (*_PLAIN, type, FunctionType)
_MISSING: Any = object()
_CONTAINERS = (list, tuple, dict)
# Code that mentions these may read any attribute.
_BY_NAME = frozenset({"getattr", "vars", "dir", "attrgetter", "__dict__", "__getattribute__"})
# Code that mentions these may ask a class for anything; protocols do.
_ASKING = _BY_NAME | {"isinstance", "issubclass"}


def attribute_guards(environment: CapturedEnvironment, names: set[str], relied: dict[type, None]) -> list[Guard]:
    """Guards for all attributes, of what traced code can reach, that it mentions the name of.

    Args:
        relied: further classes that traced code may ask for anything, besides those of the objects that are reached.
    """
    guards: list[Guard] = []
    classes = dict(relied)
    known = [(each, True) for each in environment.libraries]
    known += [(each, False) for each in (*environment.sources.objects.values(), *environment.met_again)]
    rest = deque([(thing, environment.sources.source_of(source), of_library) for (thing, source), of_library in known])
    met: list[tuple[Any, Source]] = []
    seen: set[int] = set()
    within = _Within(environment, guards)
    given: dict[type, dict[str, tuple[type, Any]]] = {}
    while rest:
        thing, source, of_library = rest.popleft()
        if not of_library and not is_a(thing, type):  # of classes, each is known to be the same
            met.append((thing, source))
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        environment.sources.check_reach(source, len(guards))
        own = vars(thing) if is_a(thing, (type, ModuleType)) else attributes(thing)
        if not is_a(thing, (type, ModuleType)):
            if source.op != "param":
                guards.append(Guard(*is_alike(thing, source), f"the class of {source.text} changed"))
            guards.append(_names_guard(thing, own, source))
        kind = thing if is_a(thing, type) else type(thing)
        if compares_itself(kind):
            continue        # which lets the function run as plain Python
        classes[kind] = None
        if kind not in given:
            given[kind] = _given_by(kind, names)
            for name, each in _descriptors(kind, names):
                rest.append((each, constant(each, f"member_{id(each)}", f"{kind.__qualname__}.{name}"), False))
        read = _in_library(thing, own, names) if of_library else _looked_at(environment, thing, own, names, given[kind])
        for name, value in read:
            if compares_itself(type(value)):
                continue        # likewise
            part = source.attribute(name)
            if of_library and is_a(value, (type, ModuleType)):
                guards.append(Guard(*is_same(value, part), f"the attribute {part.text} changed"))
                rest.append((value, part, True))
                continue
            late = ("attribute", source.text, name) if name in own and may_vary(value) and not of_library else None
            rest.extend((*each, False) for each in within.guard(value, part, late))
    return guards + _sharing_guards(met) + _class_guards(environment, classes, names)


def _class_guards(environment: CapturedEnvironment, classes: Iterable[type], names: set[str]) -> list[Guard]:
    """That classes have what they had."""
    asked = dict.fromkeys(filter(_may_change, classes))
    asked.update(dict.fromkeys(type(kind) for kind in classes if is_users(type(kind))))
    bases = {base for kind in asked for base in kind.__mro__[1:]}
    exposed = set(map(type, environment.exposed.values()))
    written = {id(thing) for thing, _ in environment.trace.undo_log.outermost() if is_a(thing, type)}
    guards = []
    for kind in [each for each in asked if each not in bases]:
        has_any = not _ASKING.isdisjoint(names) or not exposed.isdisjoint(kind.__mro__)
        facts = ClassFacts(kind, None if has_any else frozenset(names))
        is_written = not written.isdisjoint(map(id, kind.__mro__))
        condition = facts.condition_of_written if is_written else facts.condition
        guards.append(Guard(*condition, f"the class {facts.name} changed", details=facts.details))
    return guards


def _may_change(kind: type) -> bool:
    """Whether a program may change what a class gives: one of the user's, or of the standard library in Python."""
    if is_users(kind):
        return True
    return is_changeable(kind) and trace_rules.is_standard(sys.modules.get(str(module_of(kind))))


def _among(names: Collection[str], held: Mapping[str, Any]) -> list[str]:
    """Those names that something holds, in a time that goes by the shorter of both."""
    return [name for name in held if name in names] if len(held) < len(names) else [n for n in names if n in held]


def _descriptors(kind: type, names: set[str]) -> list[tuple[str, Any]]:
    """The descriptors of the user's that a class has under some names."""
    members = [(name, base.__dict__[name]) for base in kind.__mro__ for name in sorted(_among(names, base.__dict__))]
    return [(name, each) for name, each in members if is_users(type(each)) and is_descriptor(each)]


def _given_by(kind: type, names: Collection[str]) -> dict[str, tuple[type, Any]]:
    """The numbers and the like that are attributes of a class under some names, each with the class that holds it."""
    held: dict[str, tuple[type, Any]] = {}
    for base in reversed(kind.__mro__):
        held.update((name, (base, base.__dict__[name])) for name in _among(names, base.__dict__))
    return {name: each for name, each in held.items() if is_a(each[1], _PLAIN)}


def _looked_at(
    environment: CapturedEnvironment,
    thing: Any,
    own: dict[str, Any],
    names: set[str],
    given: dict[str, tuple[type, Any]],
) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, class or module that traced code may have read, with their values.

    Args:
        names: what traced code mentions.
        given: what its class gives under these names; see `_given_by`.
    """
    mentioned = dict.fromkeys(sorted({*_among(names, own), *given}))
    if not is_a(thing, (type, ModuleType)):
        any_name = not _BY_NAME.isdisjoint(names) or id(thing) in environment.exposed
        if any_name or class_has(type(thing), "__dataclass_fields__"):
            inherited = (name for base in type(thing).__mro__ for name in base.__dict__ if not name.startswith("__"))
            mentioned = dict.fromkeys([*mentioned, *own, *inherited])
            given = _given_by(type(thing), mentioned)
    elif is_a(thing, type):
        yield from ((name, getattr(thing, name)) for name in ("__name__", "__qualname__") if name in names)
    for name in mentioned:
        value = own.get(name, _MISSING)
        if is_a(thing, type) and is_descriptor(value):
            continue  # of which the guard of the class tells
        holder = thing
        if value is _MISSING:
            holder, value = given.get(name, (thing, _MISSING))
        is_late = ("attribute", id(holder), name) in environment.late or (id(holder), name) in environment.read_late
        if value is not _MISSING and not is_late:
            yield name, value


def _in_library(thing: Any, own: Any, names: set[str]) -> Iterator[tuple[str, Any]]:
    """The same for modules and classes of the standard library in Python: numbers, texts, modules and classes.

    For classes of installed packages it is what they have of their bases, too, and small containers.
    """
    if is_a(thing, type) and is_opaque_class(thing):
        found = {name: class_attribute(thing, name) for name in sorted(names) if class_has(thing, name)}
        yield from ((name, value) for name, value in found.items() if is_a(value, (type, *_CONTAINERS, *CONSTANTS)))
        return
    module = thing if is_a(thing, ModuleType) else sys.modules.get(str(thing.__module__))
    for name in sorted(_among(names, own)) if trace_rules.is_standard(module) else ():
        if isinstance(own[name], (type, ModuleType, *CONSTANTS)):
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
            expressions, names = with_distinct_names(group)
            identities = ", ".join(f"id({expression})" for expression in expressions)
            reason = f"{' and '.join(source.text for source in group)} are no longer different objects"
            guards.append(Guard(f"len({{{identities}}}) == {len(group)}", names, reason))
    return guards


def is_one(source: Source, first: Source) -> Iterator[Guard]:
    """That the same object is in two places."""
    if first.expression != source.expression or first.names != source.names:
        expressions, names = with_distinct_names([source, first])
        yield Guard(" is ".join(expressions), names, f"{source.text} is another object than {first.text}")


class _Within:
    """Guards the values of attributes, and what is within them as far as it is made of lists, dicts and the like."""

    def __init__(self, environment: CapturedEnvironment, guards: list[Guard]) -> None:
        self.environment = environment
        self.guards = guards
        self._first: dict[int, tuple[Any, Source]] = {}  # structures that have been looked into

    def guard(self, value: Any, source: Source, late: Any) -> list[tuple[Any, Source]]:
        """Guard one value; gives the objects that are to be looked into next."""
        found: list[tuple[Any, Source]] = []
        rest = [(value, source)]
        while rest:
            part, at = rest.pop()
            rest.extend(reversed(self._guard(part, at, late, found)))
        return found

    def _guard(self, value: Any, source: Source, late: Any, found: list[Any]) -> list[tuple[Any, Source]]:
        """The same without what is within it, which it gives."""
        reason = f"the attribute {source.text} changed"
        self.environment.sources.note_place(value, source)
        _, elsewhere = self.environment.sources.read_at.get(id(value), (value, source))
        self.guards.extend(is_one(source, elsewhere))
        if type(value) is np.ndarray:
            self.guards.append(Guard(*is_alike(value, source), reason))
            return []
        fixed = fixed_parts(value)
        if fixed:
            self.guards.append(Guard(*has_fixed_parts(value, fixed, source), reason))
        found.extend((part, fixed_source(part, value, source.text)) for part in fixed)
        kind = pytree.kind_of(value) if not is_a(value, _IMMUTABLE) else None
        if kind is not None:
            return self._guard_structure(value, kind, source, late)
        if is_a(value, type) and is_users(value):
            found.append((value, constant(value, f"class_{id(value)}", value.__qualname__)))
        if is_a(value, _IMMUTABLE) or not (is_open(type(value)) or is_opaque(value)):
            self.guards.append(Guard(*is_same(value, source), reason, late))
            return []
        self.guards.append(Guard(*is_alike(value, source), reason))
        if is_open(type(value)):
            found.append((value, source))
        return []

    def _guard_structure(self, value: Any, kind: pytree.Kind, source: Source, late: Any) -> list[tuple[Any, Source]]:
        children = kind.children(value)
        if len(children) > 64 and not is_taken_apart(children.values()):
            return []
        self.guards.append(Guard(*is_structure(value, source), f"the attribute {source.text} changed", late))
        if any(pytree.is_nested(part) for part in children.values()):
            _, first = self._first.setdefault(id(value), (value, source))
            if first is not source:
                self.guards.extend(is_one(source, first))
                return []
            self.environment.sources.check_reach(source, len(self.guards))
        return [(part, source.part(kind, key)) for key, part in children.items()]


def _names_guard(thing: Any, own: dict[str, Any], source: Source) -> Guard:
    """That an object has the same attributes, whatever they are."""
    in_dict = own_dict(thing)
    in_slots = in_dict is None or own.keys() != in_dict.keys()
    names = f"attributes({source.expression}).keys()" if in_slots else f"{source.expression}.__dict__.keys()"
    given = {**dict(source.names), "attributes": attributes, "names": frozenset(own)}
    return Guard(f"{names} == names", given, f"{source.text} has other attributes")
