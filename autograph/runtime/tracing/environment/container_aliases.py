"""Alias analysis of containers: lists, dicts and the like that a function reaches under two names, say a global and an
argument.

Traced code has a copy for each name, so a change of one would not show in the others. A function that changes such a
container runs as plain Python. Where the program compares two containers by identity, the originals are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from types import ModuleType
from typing import Any

from autograph.common.statics import is_a
from autograph.runtime.graph.graph import Graph, Value
from autograph.runtime.graph.signature import Guard, Signature
from autograph.runtime.tracing.environment.attribute_guards import is_one
from autograph.runtime.tracing.environment.environment import CapturedEnvironment, read_by_graph
from autograph.runtime.tracing.environment.nested_containers import ANY, are_outside, written_levels
from autograph.runtime.tracing.environment.object_source import (
    Source,
    constant,
    has_identity,
    has_places,
    with_distinct_names,
)
from autograph.runtime.tracing.proxies.context import Aliases
from autograph.runtime.tracing.proxies.stand_in import original_of

_LEAVES = r"(id\(a\d+\)(, )?)+"
_DIFFERENT = re.compile(rf"len\(\{{{_LEAVES}\}}\) == \d+( and \{{{_LEAVES}\}}\.isdisjoint\(\[{_LEAVES}\]\))?")


def are_different(guard: Guard) -> bool:
    """Whether a guard checks only that arguments are different objects."""
    return bool(_DIFFERENT.fullmatch(guard.expression))


class ContainerAliases(Aliases):
    """The names of containers.

    Args:
        arguments: the containers among the arguments of the traced call, by their paths.
        paths: the containers of traced code for these, with their paths, by identity.
        signature: has the names of these in guards.

    Attributes:
        whole: the arguments that the graph gets as they are.
    """

    def __init__(
        self,
        environment: CapturedEnvironment,
        arguments: Mapping[str, Any],
        paths: Mapping[int, tuple[Any, str]],
        signature: Signature,
    ) -> None:
        self.whole: list[Any] = []
        self._checked: dict[int, tuple[Any, int]] = {}  # with `environment.size` at that time
        self._compared: dict[int, Any] = {}  # that the program has compared by identity
        self._pinned: dict[int, Any] = {}
        self._environment = environment
        self._arguments = arguments
        self._paths = paths
        self._names = signature.containers

    def is_one(self, first: Any, second: Any) -> bool:
        """Whether two things, of which traced code may have copies, are one object; guards check that it stays so."""
        one, other = self._original(first), self._original(second)
        if type(one) is type(other) and has_identity(one):
            self._compared |= {id(one): one, id(other): other}
        return one is other

    def watched(self, thing: Any) -> Any:
        """The original of a thing whose identity the program uses; guards check that it stays the same."""
        one = self._original(thing)
        if has_identity(one):
            self._compared[id(one)] = one
        return one

    def pin(self, value: Any) -> None:
        """Guard that a constant which the graph compares by `is` stays the same object."""
        if has_identity(value):
            self._pinned[id(value)] = value

    def _original(self, thing: Any) -> Any:
        argument = self._paths.get(id(thing))
        original = original_of(thing) if argument is None else self._arguments.get(argument[1], thing)
        return self._environment.original(original)

    def check_argument(self, path: str) -> None:
        """Check that a changed argument has one name only."""
        if path in self._arguments:
            self.check(self._arguments[path])

    def check_reread(self) -> None:
        """Check that containers which the graph reads, and so may change, have one name only."""
        written = [value for value, _ in self._checked.values()]  # further names may have been found since
        environment = self._environment
        loaded = *environment.loaded_containers.values(), *environment.late_attributes.containers.values()
        for value in (*loaded, *self.whole, *written):
            self.check(value)

    def check(self, value: Any) -> None:
        """Check that a changed container has one name only.

        Raises:
            Plain: it has several.
        """
        size = self._environment.size
        if self._checked.get(id(value), (value, -1))[1] == size:
            return
        self._checked[id(value)] = value, size
        found = list(self._names_of(value))
        if len(found) > 1:
            self._environment.trace.graph_break(f"a {type(value).__name__} is changed that is {' and '.join(found)}")

    def guards(self, graph: Graph, loaded: Set[Value]) -> list[Guard]:
        """Guards that changed containers have one name only, in later calls, too.

        Args:
            loaded: containers of the caller's in the graph.

        Raises:
            Plain: one of them has another name, inside a container.
        """
        watched = self._compared | {number: value for number, (value, _) in self._checked.items()}
        kinds = set(map(type, watched.values()))
        all_places = [*self._environment.sources.places, *self._places()]
        places = [place for place in all_places if type(place[0]) in kinds]
        places += self._without_place({id(value) for value, _ in places})
        changed: dict[int, Source] = {}
        others: list[Source] = []
        guards: list[Guard] = []
        for value, source in all_places:
            if id(value) in self._pinned:
                pinned = constant(value, f"pinned_{id(value)}", "the object that was compared")
                guards.extend(is_one(source, pinned))
        for value, source in places:
            if id(value) not in watched and has_places(value):
                others.append(source)
            elif id(value) in watched:
                guards.extend(is_one(source, changed.setdefault(id(value), source)))
        if changed and len(changed) + len(others) > 1:
            sources, count = [*changed.values(), *others], len(changed)
            expressions, names = with_distinct_names(sources)
            identities = [f"id({each})" for each in expressions]
            first, second = ", ".join(identities[:count]), ", ".join(identities[count:])
            tests = [f"len({{{first}}}) == {count}"] + ([f"{{{first}}}.isdisjoint([{second}])"] if others else [])
            reason = f"{' and '.join(source.text for source in sources)} are no longer different objects"
            guards.append(Guard(" and ".join(tests), names, reason))
        return guards + self._nested_guards(all_places, graph, loaded)

    def copies(self) -> list[tuple[Any, Source]]:
        """The containers of which traced code has copies."""
        places = [*self._environment.sources.places, *self._places()]
        read = set(map(id, [*read_by_graph(self._environment), *self.whole]))
        return [place for place in places if has_places(place[0]) and id(place[0]) not in read]

    def _is_read(self, value: Any, source: Source) -> bool:
        """Whether the graph reads a container itself."""
        return source.key in self._environment.loads or any(value is each for each in self.whole)

    def _nested_guards(self, places: list[tuple[Any, Source]], graph: Graph, loaded: Set[Value]) -> list[Guard]:
        """A guard that no container of traced code is inside one of the graph's, if either changes there."""
        loads, around, copies = self._environment.loads, dict[int, Source](), dict[int, Source]()
        for value, source in places:
            if has_places(value):
                (around if self._is_read(value, source) else copies)[id(value)] = source
        if not around or not copies:
            return []
        is_changed = not self._checked.keys().isdisjoint(copies)
        levels = ANY if is_changed else written_levels(graph.block, {*graph.params, *loaded, *loads.values()})
        if not levels:
            return []
        values = {id(value): value for value, _ in places}
        if not are_outside([values[each] for each in copies], [values[each] for each in around], levels):
            what = f"what is in {' or '.join(source.text for source in around.values())} has other names, too"
            self._environment.trace.graph_break(what)
        expressions, names = with_distinct_names([*copies.values(), *around.values()])
        first, second = (", ".join([*part, ""]) for part in (expressions[: len(copies)], expressions[len(copies) :]))
        reason = f"{', '.join(source.text for source in copies.values())} is now in another container"
        return [Guard(f"are_outside(({first}), ({second}), {levels})", names | {"are_outside": are_outside}, reason)]

    def _without_place(self, found: Set[int]) -> Iterator[tuple[Any, Source]]:
        """Compared objects without a place, such as constants: other guards check that they stay the same."""
        for value in self._compared.values():
            if id(value) not in found and not has_places(value):
                yield value, constant(value, f"compared_{id(value)}", f"a {type(value).__name__} that was compared")

    def _places(self) -> Iterator[tuple[Any, Source]]:
        for path, value in self._arguments.items():
            if path in self._names:
                yield value, Source("param", (), self._names[path], (), path)

    def _names_of(self, value: Any) -> Iterator[str]:
        environment = self._environment
        if id(value) in environment.loaded_containers:
            yield "a global"
        if environment.is_copied(value):
            yield "a global by another name" if id(value) in environment.loaded_containers else "a global"
        yield from [f"the argument {path}" for path, each in self._arguments.items() if each is value][:1]
        for thing, base, key, part in environment.sources.known_parts():
            if part is value and key is not None and not is_a(thing, ModuleType):
                yield f"in {base.text}"
                return
