"""Guards for the attributes that traced code may have read: Python reads them, so the trace does not notice."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from inspect import isdatadescriptor
from types import FunctionType, MemberDescriptorType, ModuleType
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
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.guards import ClassFacts, has_fixed_parts, is_alike, is_same, is_structure
from autograph.runtime.tracing.environment.object_source import (
    CONSTANTS,
    SMALL,
    Source,
    are_one,
    constant,
    fixed_parts,
    fixed_source,
    is_long,
    with_distinct_names,
)
from autograph.runtime.tracing.state.undo_log import attributes, filled_slots, slots_of

_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype, frozenset)
_IMMUTABLE = (*_PLAIN, type, FunctionType)
_MISSING: Any = object()
_CONTAINERS = (list, tuple, dict)
# Code that mentions these may read any attribute.
_BY_NAME = frozenset({"getattr", "vars", "dir", "attrgetter", "__dict__", "__getattribute__"})
# Code that mentions these may read any attribute of a class; protocols do.
_INSPECTING = _BY_NAME | {"isinstance", "issubclass"}


def attribute_guards(environment: CapturedEnvironment, names: set[str], inspected: dict[type, None]) -> list[Guard]:
    """Guards for the attributes that traced code may have read.

    Of watched objects, the attributes that were read are known. Of others, these are all whose names are in its text.

    Args:
        inspected: further classes that traced code may inspect, besides those of the objects that it can reach.
    """
    found = _Found(environment, names, inspected)
    while found.rest:
        thing, source, of_library = found.rest.popleft()
        if not of_library and not is_a(thing, type):  # classes have guards of their own
            found.reached.append((thing, source))
        if id(thing) not in found.seen:
            found.seen.add(id(thing))
            environment.sources.check_reach(source, len(found.guards))
            found.add(thing, source, of_library)
    return found.guards + _sharing_guards(found.reached) + _class_guards(environment, found.classes, names)


class _Found:
    """The objects that traced code can reach, and the guards of their attributes.

    Args:
        names: the names in the text of traced code.

    Attributes:
        rest: objects to look at, with their sources, and whether each is a module or class of a library.
        reached: all places of objects.
    """

    def __init__(self, environment: CapturedEnvironment, names: set[str], inspected: dict[type, None]) -> None:
        self.environment = environment
        self.names = names
        self.guards: list[Guard] = []
        self.classes = dict(inspected)
        self.reached: list[tuple[Any, Source]] = []
        self.seen: set[int] = set()
        sources = environment.sources
        roots = [(each, True) for each in environment.libraries]
        roots += [(each, False) for each in (*sources.objects.values(), *environment.registered_again)]
        self.rest = deque([(thing, sources.source_of(source), is_library) for (thing, source), is_library in roots])
        self._values = _ValueGuards(environment, self.guards)
        self._constants: dict[type, dict[str, tuple[type, Any]]] = {}
        self._guarded: dict[type, set[str]] = {}  # names of constants

    def add(self, thing: Any, source: Source, of_library: bool) -> None:
        """Guard one object, class or module."""
        is_class_or_module = is_a(thing, (type, ModuleType))
        own = vars(thing) if is_class_or_module else attributes(thing)
        is_seen = is_class_or_module or id(thing) in self.environment.exposed
        reads = None if is_seen else self.environment.sources.reads_of(thing)
        if not is_class_or_module and source.op != "param":
            self.guards.append(Guard(*is_alike(thing, source), f"the class of {source.text} changed"))
        kind = thing if is_a(thing, type) else type(thing)
        if not is_class_or_module and reads is None:
            self.guards.append(_names_guard(thing, own, source))
        elif reads:
            self.guards.extend(_absence_guards(thing, own, reads, source))
        if compares_itself(kind):
            return      # the function runs as plain Python
        self._add_class(kind)
        names = self.names if reads is None else reads
        if reads is not None:
            self._add_constants(kind, self.names | reads)
        of_users = partial(_readable_attributes, self.environment, self._constants[kind] if reads is None else {})
        readable = _library_attributes if of_library else of_users
        for name, value in readable(thing, own, names):
            if compares_itself(type(value)):
                continue        # here, too
            part = source.attribute(name)
            if of_library and is_a(value, (type, ModuleType)):
                self.guards.append(Guard(*is_same(value, part), f"the attribute {part.text} changed"))
                self.rest.append((value, part, True))
                continue
            late = ("attribute", source.text, name) if name in own and may_vary(value) and not of_library else None
            self.rest.extend((*each, False) for each in self._values.guard(value, part, late))

    def _add_class(self, kind: type) -> None:
        self.classes[kind] = None
        if kind not in self._constants:
            self._constants[kind] = _class_constants(kind, self.names)
            for name, each in _descriptors(kind, self.names):
                self.rest.append((each, constant(each, f"member_{id(each)}", f"{kind.__qualname__}.{name}"), False))

    def _add_constants(self, kind: type, names: set[str]) -> None:
        """Guard the constants in the class of watched objects. (Other objects each have guards of these.)"""
        source = constant(kind, f"class_{id(kind)}", kind.__qualname__)
        done = self._guarded.setdefault(kind, set())
        for name, (base, value) in _class_constants(kind, names - done).items():
            if ("attribute", id(base), name) not in self.environment.late:
                self._values.guard(value, source.attribute(name), None)
        done |= names


def _class_guards(environment: CapturedEnvironment, classes: Iterable[type], names: set[str]) -> list[Guard]:
    """Guards that classes have the same attributes."""
    mutable = dict.fromkeys(filter(_may_change, classes))
    mutable.update(dict.fromkeys(type(kind) for kind in classes if is_users(type(kind))))
    bases = {base for kind in mutable for base in kind.__mro__[1:]}
    exposed = set(map(type, environment.exposed.values()))
    written = {id(thing) for thing, _ in environment.trace.undo_log.all_changes() if is_a(thing, type)}
    guards = []
    for kind in [each for each in mutable if each not in bases]:
        has_any = not _INSPECTING.isdisjoint(names) or not exposed.isdisjoint(kind.__mro__)
        facts = ClassFacts(kind, None if has_any else frozenset(names))
        is_written = not written.isdisjoint(map(id, kind.__mro__))
        condition = facts.condition_of_written if is_written else facts.condition
        guards.append(Guard(*condition, f"the class {facts.name} changed", details=facts.details))
    return guards


def _may_change(kind: type) -> bool:
    """Whether a program may change a class: one of the user's, or one of the standard library written in Python."""
    if is_users(kind):
        return True
    return is_changeable(kind) and trace_rules.is_standard(sys.modules.get(str(module_of(kind))))


def _in_both(names: Collection[str], held: Mapping[str, Any]) -> list[str]:
    """The names that are in both, in time linear in the smaller one."""
    return [name for name in held if name in names] if len(held) < len(names) else [n for n in names if n in held]


def _descriptors(kind: type, names: set[str]) -> list[tuple[str, Any]]:
    """The descriptors of the user's classes that a class has under some names."""
    members = [(name, base.__dict__[name]) for base in kind.__mro__ for name in sorted(_in_both(names, base.__dict__))]
    return [(name, each) for name, each in members if is_users(type(each)) and is_descriptor(each)]


def _class_constants(kind: type, names: Collection[str]) -> dict[str, tuple[type, Any]]:
    """The numbers and other constants of a class under some names, each with the base class that holds it."""
    held: dict[str, tuple[type, Any]] = {}
    for base in reversed(kind.__mro__):
        held.update((name, (base, base.__dict__[name])) for name in _in_both(names, base.__dict__))
    return {name: each for name, each in held.items() if is_a(each[1], _PLAIN)}


def _readable_attributes(
    environment: CapturedEnvironment,
    constants: dict[str, tuple[type, Any]],
    thing: Any,
    own: dict[str, Any],
    names: set[str],
) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, class or module that traced code may have read, with their values.

    Args:
        constants: see `_class_constants`.
        names: the names in the text of traced code.
    """
    mentioned = dict.fromkeys(sorted({*_in_both(names, own), *constants}))
    if not is_a(thing, (type, ModuleType)):
        any_name = not _BY_NAME.isdisjoint(names) or id(thing) in environment.exposed
        is_whole = class_has(type(thing), "__dataclass_fields__") and environment.sources.reads_of(thing) is None
        if any_name or is_whole:
            inherited = (name for base in type(thing).__mro__ for name in base.__dict__ if not name.startswith("__"))
            mentioned = dict.fromkeys([*mentioned, *own, *inherited])
            constants = _class_constants(type(thing), mentioned)
    elif is_a(thing, type):
        yield from ((name, getattr(thing, name)) for name in ("__name__", "__qualname__") if name in names)
    for name in mentioned:
        value = own.get(name, _MISSING)
        if is_a(thing, type) and is_descriptor(value):
            continue  # the guard of the class covers it
        holder = thing
        if value is _MISSING:
            holder, value = constants.get(name, (thing, _MISSING))
        is_late = ("attribute", id(holder), name) in environment.late
        is_late |= (id(holder), name) in environment.late_attributes.proxies
        if value is not _MISSING and not is_late:
            yield name, value


def _library_attributes(thing: Any, own: Any, names: set[str]) -> Iterator[tuple[str, Any]]:
    """The same for modules and classes of the standard library in Python: numbers, texts, modules and classes.

    For classes of installed packages, also inherited attributes and small containers.
    """
    if is_a(thing, type) and is_opaque_class(thing):
        found = {name: class_attribute(thing, name) for name in sorted(names) if class_has(thing, name)}
        yield from ((name, value) for name, value in found.items() if is_a(value, (type, *_CONTAINERS, *CONSTANTS)))
        return
    module = thing if is_a(thing, ModuleType) else sys.modules.get(str(thing.__module__))
    for name in sorted(_in_both(names, own)) if trace_rules.is_standard(module) else ():
        if isinstance(own[name], (type, ModuleType, *CONSTANTS)):
            yield name, own[name]


def _sharing_guards(reached: list[tuple[Any, Source]]) -> list[Guard]:
    """Guards that the same places, and no others, have the same object."""
    firsts: dict[int, tuple[Any, Source]] = {}
    guards: list[Guard] = []
    for thing, source in reached:
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
    """A guard that the same object is in two places; none if they are the same place."""
    if first.expression != source.expression or first.names != source.names:
        yield Guard(*are_one(source, first), f"{source.text} is another object than {first.text}")


class _ValueGuards:
    """Guards the values of attributes, and the values in their lists, dicts and the like."""

    def __init__(self, environment: CapturedEnvironment, guards: list[Guard]) -> None:
        self.environment = environment
        self.guards = guards
        self._first: dict[int, tuple[Any, Source]] = {}  # structures that are guarded already

    def guard(self, value: Any, source: Source, late: Any) -> list[tuple[Any, Source]]:
        """Guard one value; returns the objects in it whose attributes need guards."""
        found: list[tuple[Any, Source]] = []
        rest = [(value, source)]
        while rest:
            part, at = rest.pop()
            rest.extend(reversed(self._guard(part, at, late, found)))
        return found

    def _guard(self, value: Any, source: Source, late: Any, found: list[Any]) -> list[tuple[Any, Source]]:
        """Guard a value without its parts, which are returned."""
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
        is_watched = self.environment.trace.context.is_watched(type(value))
        kind = pytree.kind_of(value) if not (is_watched or is_a(value, _IMMUTABLE)) else None
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
        if is_long(value) or (len(children) > SMALL and not is_taken_apart(children.values())):
            return []
        self.guards.append(Guard(*is_structure(value, source), f"the attribute {source.text} changed", late))
        if any(pytree.is_nested(part) for part in children.values()):
            _, first = self._first.setdefault(id(value), (value, source))
            if first is not source:
                self.guards.extend(is_one(source, first))
                return []
            self.environment.sources.check_reach(source, len(self.guards))
        return [(part, source.part(kind, key)) for key, part in children.items()]


def _absence_guards(thing: Any, own: dict[str, Any], names: set[str], source: Source) -> Iterator[Guard]:
    """A guard that an object still has no attributes of its own under names for which its class has some."""
    kind = type(thing)
    absent = frozenset(name for name in names if name not in own and not _comes_first(class_attribute(kind, name)))
    empty = absent & {name for name, _ in slots_of(kind)}
    if own_dict(thing) is None:
        absent = empty      # the object can have no others
    if absent:
        own_names = f"attributes({source.expression})" if empty else f"{source.expression}.__dict__"
        known = {**dict(source.names), "attributes": attributes, "absent": absent}
        yield Guard(f"{own_names}.keys().isdisjoint(absent)", known, f"{source.text} has other attributes")


def _comes_first(member: Any) -> bool:
    """Whether Python asks a class attribute before the attributes of the object; an empty slot is no attribute."""
    return isdatadescriptor(member) and type(member) is not MemberDescriptorType


def _names_guard(thing: Any, own: dict[str, Any], source: Source) -> Guard:
    """A guard that an object has attributes of the same names."""
    of_dict, of_slots = own_dict(thing), filled_slots(thing)
    if of_slots is None:
        tests = [f"attributes({source.expression}).keys() == names"]
    else:       # reading a slot that is empty raises
        tests = [f"({''.join(f'{source.expression}.{name}, ' for name in of_slots)})"] if of_slots else []
        tests += [f"{source.expression}.__dict__.keys() == names"] if of_dict is not None else []
    names = own if of_slots is None or of_dict is None else of_dict
    values = {**dict(source.names), "attributes": attributes, "names": frozenset(names)}
    return Guard(" and ".join(tests) or "True", values, f"{source.text} has other attributes")
