"""The provenance of captured objects: their parts, and the attribute or item by which each is found."""

from __future__ import annotations

import functools
import re
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from keyword import iskeyword
from types import CellType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from autograph.common import pytree, trace_rules
from autograph.common.packages import is_opaque_class
from autograph.common.pytree import Kind
from autograph.common.statics import ATOMS, cell_content, class_has, compares_itself, is_a, module_name, module_of
from autograph.runtime.graph.graph import Constant, Value
from autograph.runtime.graph.object_model import is_opaque, is_open, is_taken_apart, parts_inside
from autograph.runtime.graph.types import TensorType, object_type, type_of
from autograph.runtime.tracing.proxies.graph_break import SourceKey
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.staged_containers import DICTS, StagedItems
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Changes, attributes, entries, reached

REACH = 10_000  # objects, or guards
DEEPEST = 300  # attributes and items in a path
_SHOWN = 60  # characters of a path


@dataclass(frozen=True)
class Source:
    """The provenance of a captured object.

    Attributes:
        op, args: the node that reads it.
        expression, names: the expression for guards, with the values of its names.
        text: the user's name for it.
    """

    op: str
    args: tuple[Any, ...]
    expression: str
    names: tuple[tuple[str, Any], ...]
    text: str

    @property
    def key(self) -> SourceKey:
        return (self.op, *map(_key_of, self.args))

    @property
    def depth(self) -> int:
        """The number of attributes and items on the path."""
        count, source = 0, self
        while source.args and isinstance(source.args[0], Source):
            count, source = count + 1, source.args[0]
        return count

    def item(self, key: Any) -> Source:
        is_plain = type(key) in (int, str, bool, bytes, type(None))
        written, names = (repr(key), ()) if is_plain else (f"key_{id(key)}", ((f"key_{id(key)}", key),))
        args = self, key if is_plain else Constant(key)
        names = (*self.names, *names)
        return Source("getitem", args, f"{self.expression}[{written}]", names, f"{self.text}[{pytree.written(key)}]")

    def attribute(self, name: str) -> Source:
        if not name.isidentifier() or iskeyword(name):
            expression, text = (f"getattr({owner}, {name!r})" for owner in (self.expression, self.text))
            return Source("getattr", (self, name), expression, self.names, text)
        return Source("getattr", (self, name), f"{self.expression}.{name}", self.names, f"{self.text}.{name}")

    def part(self, kind: Kind, key: Any) -> Source:
        """The source of a part of the structure here: an item, or an attribute."""
        return self.item(key) if kind.step(key).startswith("[") else self.attribute(key)


def constant(thing: Any, name: str, text: str) -> Source:
    """The source of an object that is always the same; `name`: its name in guards."""
    return Source("constant", (Constant(thing),), name, ((name, thing),), text)


def are_one(source: Source, other: Source) -> tuple[str, dict[str, Any]]:
    """The condition that the same object is in two places."""
    expressions, names = with_distinct_names([source, other])
    return " is ".join(expressions), names


def with_distinct_names(sources: Iterable[Source]) -> tuple[list[str], dict[str, Any]]:
    """The expressions of sources, and the values of their names; a name with two values is renamed."""
    expressions: list[str] = []
    names: dict[str, Any] = {}
    for number, source in enumerate(sources):
        (root, rest), own = re.match(r"(\w+)(.*)", source.expression, re.DOTALL).groups(), dict(source.names)  # type: ignore[union-attr]
        if root in own:
            own[f"{root}_{number}"] = own.pop(root)
            root = f"{root}_{number}"
        expressions.append(root + rest)
        names |= own
    return expressions, names


def _key_of(arg: Any) -> Any:
    if isinstance(arg, Constant):
        return id(arg.value)
    return arg.key if isinstance(arg, Source) else arg


SMALL = 64
_DEEP = 16
_LEVELS = 3   # of containers in others, of which the parts are counted
_MISSING: Any = object()


def parts_of(thing: Any) -> list[tuple[Any, Any]]:
    """The parts of a thing, by name or key; none if they are all numbers and texts."""
    if is_a(thing, (dict, list, tuple)) and are_leaves(parts_inside(thing)):
        return []
    if is_a(thing, dict):
        return items_of(thing)
    if is_a(thing, (list, tuple)):
        return list(enumerate(parts_inside(thing)))
    if is_a(thing, (type, ModuleType)):
        return own_parts(vars(thing))
    return list(attributes(thing).items()) if is_open(type(thing)) or type(thing) is FunctionType else []


def are_leaves(parts: Iterable[Any]) -> bool:
    """Whether all parts are numbers and texts."""
    return ATOMS.issuperset(map(type, parts))


def items_of(items: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """The items of a dict, without those that only the graph knows."""
    return [(key, part) for key, part in dict.items(items) if type(key) is not StagedItems]


def fixed_parts(value: Any) -> list[Any]:
    """The objects in a value's places without a name, which never change: its keys, the owner of a method, …"""
    inside = None if compares_itself(type(value)) else _FIXED.get(type(value))
    return [] if inside is None else [each for part in inside(value) for each in _objects_in(part)]


def _objects_in(part: Any) -> list[Any]:
    if is_a(part, tuple):
        return [each for inner in part for each in _objects_in(inner)]
    is_object = is_open(type(part)) and not is_a(part, Enum)
    return [part] if is_object else fixed_parts(part)


def own_parts(names: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """The parts of a class or module, without functions and the attributes that Python sets."""
    own = [(name, part) for name, part in names.items() if not name.startswith(("__", "_abc_"))]
    return [(name, part) for name, part in own if not class_has(type(part), "__get__")]


def type_outside(value: Any) -> Any:
    found = type_of(value)
    return found if isinstance(found, TensorType) else object_type(type(value))


def is_long(value: Any) -> bool:
    """Whether a list or dict has many parts, or many lists or dicts of the same length have many in all."""
    if type(value) not in (list, dict) or not value:
        return False
    count, part = 1, value
    for _ in range(_LEVELS):
        if type(part) not in (list, dict) or not part:
            break
        count *= len(part)
        part = next(iter(part.values() if type(part) is dict else part))
    return count > SMALL and not is_taken_apart(value.values() if is_a(value, dict) else value)


def has_parts(value: Any) -> bool:
    if is_a(value, (type, ModuleType)) or is_tensor(value):
        return False
    return is_a(value, (np.ndarray, list, dict, tuple)) or is_open(type(value)) or is_opaque(value)


def is_of_library(thing: Any) -> bool:
    """Whether a thing is a module or class that takes no part in staging."""
    if is_a(thing, ModuleType):
        return trace_rules.is_plain(module_name(thing))
    return is_a(thing, type) and (trace_rules.is_plain(str(module_of(thing))) or bool(is_opaque_class(thing)))


def is_small(value: Any) -> bool:
    """Whether a structure has few parts, and is not deep, so that traced code can have a copy of it."""
    leaves: list[Any] = []
    rest = [(value, 0)]
    while rest:
        part, depth = rest.pop()
        kind = pytree.kind_of(part)
        if kind is None:
            leaves.append(part)
        elif depth == _DEEP:
            return False
        else:
            rest.extend([(inner, depth + 1) for inner in kind.children(part).values()][::-1])
        if len(leaves) > SMALL and not is_taken_apart(leaves):
            return False
    return True


def is_empty(cell: CellType) -> bool:
    return cell_content(cell, _MISSING) is _MISSING
_FIXED: dict[type, Callable[[Any], Iterable[Any]]] = {
    **dict.fromkeys((*DICTS, frozenset), lambda parts: () if are_leaves(parts) else parts),
    MethodType: lambda method: (method.__self__,),
    functools.partial: lambda partial: (partial.func, *partial.args, *partial.keywords.values()),
    weakref.ref: lambda reference: (reference(),),
}
CONSTANTS = (int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype, frozenset, range, slice)


class ObjectSources:
    """The sources of the objects that a function can reach.

    Attributes:
        objects: the objects whose attributes traced code may read and set, by identity, with their sources.
        roots: these, and the objects in them whose attributes traced code has read or set, in that order.
        unread: objects of watched classes whose attributes traced code has neither read nor set, with their sources.
        reads: the names of attributes that traced code has read, by the identity of the object.
        written: objects of watched classes that traced code has changed. A write of the old value changes nothing, so
            that it matters which values they had.
        others: copies and other captured values.
        read_at: the sources from which the graph reads objects that the program may have from other places, too.
        places: the places of values of which there may be several equal ones, see `has_identity`.
        param_names: the names of the graph's params in guards, and the user's names of them.
        too_far: the path at which the search for objects has ended, if there are too many.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.objects: dict[int, tuple[Any, Source | Value]] = {}
        self.roots: list[tuple[Any, Source | Value]] = []
        self.unread: dict[int, tuple[Any, Source | Value]] = {}
        self.reads: dict[int, set[str]] = {}
        self.written: dict[int, Any] = {}
        self.read: dict[int, Any] = {}
        self.others: dict[int, tuple[Any, Source]] = {}
        self.read_at: dict[int, tuple[Any, Source]] = {}
        self.places: list[tuple[Any, Source]] = []
        self.param_names: dict[Value, tuple[str, str]] = {}
        self.too_far = ""
        self._searched = 0  # the number of objects that were searched for tuples

    def find_tuples(self) -> None:
        """Note the sources of all tuples in registered objects."""
        for thing, base, key, part in self.known_parts(self._searched):
            if type(part) is tuple:
                self.others.setdefault(id(part), (part, _place(thing, base, key, part)))
        self._searched = len(self.roots)

    def find(self, value: Any) -> tuple[Any, Source] | None:
        """The object that holds a value as an attribute or item, and the value's source; None if there is none.

        Raises:
            Plain: there may be one, too far away to be found.
        """
        for thing, base, key, part in self.known_parts():
            if part is value:
                source = _place(thing, base, key, value)
                self.read_at.setdefault(id(value), (value, source))
                return thing, source
        if self._is_beyond(value):
            self.refuse(self.too_far)
        return None

    def note_place(self, value: Any, source: Source) -> None:
        """Note the place of a value that guards could confuse with an equal one."""
        if has_identity(value):
            self.places.append((value, source))

    def is_unread(self, thing: Any) -> bool:
        """Whether traced code has neither read nor set attributes of an object, as far as that is noted."""
        return id(thing) not in self.read and self.trace.context.is_watched(type(thing))

    def reads_of(self, thing: Any) -> set[str] | None:
        """The names of the attributes of an object that traced code has read; None if these are not all that matter."""
        if id(thing) in self.written or not self.trace.context.is_watched(type(thing)):
            return None
        return self.reads.get(id(thing), set())

    def found(self, thing: Any, source: Source | Value) -> bool:
        """Note the source of an object that is unread; whether it was read before, when its source was unknown."""
        self.unread.setdefault(id(thing), (thing, source))
        return id(thing) in self.reads

    def begin_reading(self, thing: Any) -> tuple[Any, Source | Value] | None:
        """Note that traced code reads attributes of an object from now on; it and its source if it was unread."""
        found = self.unread.pop(id(thing), None)
        if found is not None:
            self.read[id(thing)] = thing
            self.roots.append(found)
        return found

    def known_parts(
        self, since: int = 0, without: Mapping[int, Any] = MappingProxyType({})
    ) -> Iterator[tuple[Any, Source, Any, Any]]:
        """All holders in registered objects, with their sources, and the keys and parts.

        Args:
            since: the number of the first registered object.
            without: holders to leave out, by identity, with those that can be reached only through them.
        """
        for thing, base in self._holders(since, without):
            yield thing, base, None, thing
            for key, part in self._initial_parts(thing):
                yield thing, base, key, part

    def _holders(
        self, since: int = 0, without: Mapping[int, Any] = MappingProxyType({})
    ) -> Iterator[tuple[Any, Source]]:
        """Registered objects, and those that traced code can reach from them: each once, with its first source."""
        seen = dict(without)
        for registered in self.roots[since:]:
            yield from self.within(*registered, seen)

    def _initial_parts(self, thing: Any) -> list[tuple[Any, Any]]:
        """The parts of a container or object before traced code changed it; none of an object that is unread."""
        if self.is_unread(thing):
            return []
        noted = self.trace.undo_log.initial_contents(thing)
        if noted is None:
            return parts_of(thing)
        if is_a(thing, (type, ModuleType)):
            return own_parts(noted)
        return items_of(entries(noted) or {})

    def reachable(self) -> Iterator[Any]:
        """All registered objects, and those that can be reached from them."""
        return (thing for thing, _ in self._holders())

    def within(
        self, root: Any, source: Source | Value, seen: dict[int, Any] | None = None
    ) -> Iterator[tuple[Any, Source]]:
        """An object and all that traced code can reach from it so far, with their shortest sources.

        Args:
            seen: objects to leave out, with those reached only through them; the others are added.
        """
        rest = deque([(root, self.source_of(source))])
        seen = {} if seen is None else seen
        room = REACH
        while rest:
            thing, base = rest.popleft()
            if id(thing) in seen:
                continue
            if not room or base.depth > DEEPEST:
                self.too_far = base.text
                continue
            room -= 1
            seen[id(thing)] = thing
            yield thing, base
            rest.extend(_fixed_within(thing, base))
            for key, part in self._initial_parts(thing):
                if has_parts(part):
                    rest.append((part, inner_source(thing, base, key)))
                else:
                    rest.extend(_fixed_within(part, base))

    def check_reach(self, source: Source, count: int = 0) -> None:
        """Check that guards do not have to look at too many objects, or too far.

        Raises:
            Plain: they would have to.
        """
        if source.depth > DEEPEST or count > REACH:
            self.refuse(source.text)

    def refuse(self, text: str) -> NoReturn:
        """Interrupt tracing, since there are too many objects around the path `text`."""
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        self.trace.graph_break(f"the objects around {shown} are more than guards can look at, or too deep in others")

    def _is_beyond(self, value: Any) -> bool:
        """Whether a value may be reachable, but too far away to be found."""
        if not self.too_far:
            return False
        changes = Changes()
        changes.before = {id(thing): (thing, content) for thing, content in self.trace.undo_log.all_changes()}
        found = reached([thing for thing, _ in self.objects.values()], changes)
        return found is None or id(value) in found

    def source_of(self, source: Source | Value) -> Source:
        """The source of an object, given that or its param."""
        if isinstance(source, Source):
            return source
        name, path = self.param_names[source]
        return Source("param", (source,), name, (), path)


def has_places(value: Any) -> bool:
    """Whether all places of a value matter, since it is mutable and guards check only its parts."""
    return type(value) is set or (pytree.kind_of(value) is not None and not is_a(value, tuple))


def has_identity(value: Any) -> bool:
    """Whether there may be several equal values of this kind, which only `is` distinguishes.

    No program can rely on there being several equal integers, or `True`, `None` and the like.
    """
    return has_places(value) or is_a(value, _SEVERAL)


_SEVERAL = (tuple, frozenset, slice, range, str, bytes, float, complex, partial, np.generic, np.dtype, np.ndarray)


def _fixed_within(thing: Any, base: Source) -> list[tuple[Any, Source]]:
    return [(part, fixed_source(part, thing, base.text)) for part in fixed_parts(thing)]


def _place(thing: Any, base: Source, key: Any, part: Any) -> Source:
    return base if part is thing else inner_source(thing, base, key)


def inner_source(thing: Any, base: Source, key: Any) -> Source:
    """The source of a part of a thing."""
    return base.item(key) if is_a(thing, (list, tuple, dict)) else base.attribute(key)


def fixed_source(part: Any, holder: Any, text: str) -> Source:
    """The source of one of the `fixed_parts` of a holder with the name `text`: the object itself.

    The source of a weak reference's object calls the reference: otherwise the trace would keep the object alive.
    """
    if type(holder) is weakref.ref:
        name = f"reference_{id(holder)}"
        return Source("call", (Constant(holder),), f"{name}()", ((name, holder),), f"{text}()")
    return constant(part, f"part_{id(part)}", f"an object in {text}")
