"""The sources of captured objects: which attribute or item, of what, each of them is."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from autograph.common import pytree
from autograph.common.statics import is_a
from autograph.runtime.graph.graph import Constant, Value
from autograph.runtime.graph.object_model import own_dict
from autograph.runtime.tracing.environment.object_parts import fixed_parts, has_parts, items_of, own_parts, parts_of
from autograph.runtime.tracing.environment.source import Source, constant
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Changes, entries, reached

REACH = 10_000  # objects, and guards
DEEPEST = 300  # attributes and items in a path
_SHOWN = 60  # characters of a path


class ObjectSources:
    """The objects that a function knows.

    Attributes:
        objects: those whose attributes traced code may read and set, by identity, with their sources.
        others: what else is captured.
        read_at: where the graph reads what the program may have from another place, too.
        param_names: what the graph's params are called in guards, and by the user.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.objects: dict[int, tuple[Any, Source | Value]] = {}
        self.others: dict[int, tuple[Any, Source]] = {}
        self.read_at: dict[int, tuple[Any, Source]] = {}
        self.places: list[tuple[Any, Source]] = []  # of what traced code may get at and `has_identity`
        self.param_names: dict[Value, tuple[str, str]] = {}
        self.too_far = ""  # where there are more objects than are looked through
        self._searched = 0  # how many objects have been searched for tuples

    def find_tuples(self) -> None:
        """Know the sources of all tuples that objects have which the function knows."""
        for thing, base, key, part in self.known_parts(self._searched):
            if type(part) is tuple:
                self.others.setdefault(id(part), (part, _place(thing, base, key, part)))
        self._searched = len(self.objects)

    def find(self, value: Any) -> tuple[Any, Source] | None:
        """The attribute, of an object that the function knows, that something is: what has it, and its source.

        Raises:
            Plain: it may be there, too far away to be found.
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
        """Note where a value is found that guards of values do not tell from an equal one."""
        if has_identity(value):
            self.places.append((value, source))

    def known_parts(self, since: int = 0) -> Iterator[tuple[Any, Source, Any, Any]]:
        """What has parts, in the objects that the function knows (the latest, from a number on), and what they are."""
        for known in list(self.objects.values())[since:]:
            for thing, base in self.within(*known):
                yield thing, base, None, thing
                for key, part in self._parts_at_first(thing):
                    yield thing, base, key, part

    def _parts_at_first(self, thing: Any) -> list[tuple[Any, Any]]:
        """The parts that a container or object had before traced code changed it."""
        noted = self.trace.undo_log.at_first(thing)
        if noted is None:
            return parts_of(thing)
        if is_a(thing, (type, ModuleType)):
            return own_parts(noted)
        return items_of(entries(noted) or {})

    def owner_of(self, names: Any) -> Any:
        """The object, of those that the function knows, whose `__dict__` something is."""
        return next((thing for thing in self.known() if own_dict(thing) is names), None)

    def known(self) -> Iterator[Any]:
        """All objects that the function knows, and what can be reached from them."""
        return (thing for known in list(self.objects.values()) for thing, _ in self.within(*known))

    def within(self, root: Any, source: Source | Value) -> Iterator[tuple[Any, Source]]:
        """An object and all that can be reached from it, with their sources, of which none could be shorter."""
        rest = deque([(root, self.source_of(source))])
        seen: set[int] = set()
        while rest:
            thing, base = rest.popleft()
            if id(thing) in seen:
                continue
            if len(seen) == REACH or base.depth > DEEPEST:
                self.too_far = base.text
                continue
            seen.add(id(thing))
            yield thing, base
            rest.extend(_fixed_within(thing, base))
            for key, part in self._parts_at_first(thing):
                if has_parts(part):
                    rest.append((part, inner_source(thing, base, key)))
                else:
                    rest.extend(_fixed_within(part, base))

    def check_reach(self, source: Source, count: int = 0) -> None:
        """See to it that guards need not look at too many objects, or too far.

        Raises:
            Plain: they would have to.
        """
        if source.depth > DEEPEST or count > REACH:
            self.refuse(source.text)

    def refuse(self, text: str) -> NoReturn:
        """Have the function run as plain Python, since there are too many objects around the path `text`."""
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        reason = f"the objects around {shown} are more than guards can look at, or too deep in others"
        raise Plain(reason, self.trace.place())

    def _is_beyond(self, value: Any) -> bool:
        """Whether a value may be in the objects that the function knows, but is too far away to be found."""
        if not self.too_far:
            return False
        changes = Changes()
        changes.before = {id(thing): (thing, content) for thing, content in self.trace.undo_log.outermost()}
        found = reached([thing for thing, _ in self.objects.values()], changes)
        return found is None or id(value) in found

    def source_of(self, known: Source | Value) -> Source:
        """Where an object comes from that is known by its source, or by the param that stands for it."""
        if isinstance(known, Source):
            return known
        name, path = self.param_names[known]
        return Source("param", (known,), name, (), path)


def has_places(value: Any) -> bool:
    """Whether it matters to know all places of a value, since it can change and guards watch only its parts."""
    return type(value) is set or (pytree.kind_of(value) is not None and not is_a(value, tuple))


def has_identity(value: Any) -> bool:
    """Whether there may be several equal values of this kind, which only `is` tells apart.

    Of integers, `True`, `None` and the like a program has one of each value, as far as it can rely on that.
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
    """The source of one of the `fixed_parts` of a holder, which is called `text`: that very object.

    What a weak reference refers to is asked of it, lest it live as long as the trace.
    """
    if type(holder) is weakref.ref:
        name = f"reference_{id(holder)}"
        return Source("call", (Constant(holder),), f"{name}()", ((name, holder),), f"{text}()")
    return constant(part, f"part_{id(part)}", f"an object in {text}")
