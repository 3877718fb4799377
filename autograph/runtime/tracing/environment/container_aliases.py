"""Container aliasing: lists, dicts and the like that a function reaches under two names, a global and an argument, say.

Traced code has a copy for each name, so what it changes in one of them would not show in the others. A function that
changes such a container runs as plain Python. Where the program asks whether two of them are one object, the
originals answer, not the copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from types import ModuleType
from typing import Any

from autograph.common import disk_cache
from autograph.common.statics import is_a
from autograph.runtime.graph.signature import Guard, Signature
from autograph.runtime.tracing.environment.attribute_guards import is_one
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.object_source import has_identity, has_places
from autograph.runtime.tracing.environment.source import Source, constant, with_distinct_names
from autograph.runtime.tracing.proxies.context import Aliases
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.proxies.stand_in import original_of


class ContainerAliases(Aliases):
    """The names of containers.

    Args:
        arguments: those among the arguments of the call that is traced, by their paths.
        paths: what traced code has of these, with their paths, by identity.
        signature: what guards call these.

    Attributes:
        whole: those of the arguments that the graph gets as they are.
    """

    def __init__(
        self,
        environment: CapturedEnvironment,
        arguments: Mapping[str, Any],
        paths: Mapping[int, tuple[Any, str]],
        signature: Signature,
    ) -> None:
        self.whole: list[Any] = []
        self._checked: dict[int, tuple[Any, int]] = {}  # with how much was known then
        self._compared: dict[int, Any] = {}  # of which the program has asked whether they are one
        self._pinned: dict[int, Any] = {}
        self._environment = environment
        self._arguments = arguments
        self._paths = paths
        self._names = signature.containers

    def is_one(self, first: Any, second: Any) -> bool:
        """Whether two things are one, of which traced code may have copies; guards see to it that it stays so."""
        one, other = self._original(first), self._original(second)
        if type(one) is type(other) and has_identity(one):
            self._compared |= {id(one): one, id(other): other}
        return one is other

    def watched(self, thing: Any) -> Any:
        """The object whose identity a program asks for, of which traced code may have a copy; guards watch it."""
        one = self._original(thing)
        if has_identity(one):
            self._compared[id(one)] = one
        return one

    def pin(self, value: Any) -> None:
        """See to it that a constant which the graph compares by `is` is that very object in the calls to come, too."""
        if has_identity(value):
            self._pinned[id(value)] = value

    def _original(self, thing: Any) -> Any:
        known = self._paths.get(id(thing))
        return self._environment.original(original_of(thing) if known is None else self._arguments.get(known[1], thing))

    def check_argument(self, path: str) -> None:
        """The same for a container among the arguments."""
        if path in self._arguments:
            self.check(self._arguments[path])

    def check_reread(self) -> None:
        """The same for those that the graph itself reads, which it may change, too."""
        written = [value for value, _ in self._checked.values()]  # some before another name of them was known
        environment = self._environment
        for value in [*environment.reread.values(), *environment.reread_parts.values(), *self.whole, *written]:
            self.check(value)

    def check(self, value: Any) -> None:
        """See to it that a container that is changed has one name only.

        Raises:
            Plain: there are several.
        """
        known = self._environment.known_in_all
        if self._checked.get(id(value), (value, -1))[1] == known:
            return
        self._checked[id(value)] = value, known
        found = list(self._to(value))
        if len(found) > 1:
            reason = f"a {type(value).__name__} is changed that is {' and '.join(found)}"
            raise Plain(reason, self._environment.trace.place())

    def guards(self) -> list[Guard]:
        """That what is changed still has one name only, in the calls to come."""
        watched = self._compared | {number: value for number, (value, _) in self._checked.items()}
        kinds = set(map(type, watched.values()))
        places = [place for place in (*self._environment.sources.places, *self._places()) if type(place[0]) in kinds]
        places += self._without_place({id(value) for value, _ in places})
        changed: dict[int, Source] = {}
        others: list[Source] = []
        guards = list(self._pins())
        for value, source in places:
            if id(value) not in watched and has_places(value):
                others.append(source)
            elif id(value) in watched:
                guards.extend(is_one(source, changed.setdefault(id(value), source)))
        if changed and len(changed) + len(others) > 1:
            sources, count = [*changed.values(), *others], len(changed)
            expressions, names = with_distinct_names(sources)
            first, second = (", ".join([*part, ""]) for part in (expressions[:count], expressions[count:]))
            reason = f"{' and '.join(source.text for source in sources)} are no longer different objects"
            guards.append(Guard(f"are_apart(({first}), ({second}))", names | {"are_apart": _are_apart}, reason))
        return guards

    def _without_place(self, found: Set[int]) -> Iterator[tuple[Any, Source]]:
        """What was compared and is no global, argument or the like: other guards see to it that it stays the same."""
        for value in self._compared.values():
            if id(value) not in found and not has_places(value):
                yield value, constant(value, f"compared_{id(value)}", f"a {type(value).__name__} that was compared")

    def _pins(self) -> Iterator[Guard]:
        for value, source in (*self._environment.sources.places, *self._places()) if self._pinned else ():
            if id(value) in self._pinned:
                yield from is_one(source, constant(value, f"pinned_{id(value)}", "the object that was compared"))

    def _places(self) -> Iterator[tuple[Any, Source]]:
        for path, value in self._arguments.items():
            if path in self._names:
                yield value, Source("param", (), self._names[path], (), path)

    def _to(self, value: Any) -> Iterator[str]:
        environment = self._environment
        if id(value) in environment.reread:
            yield "a global"
        if environment.is_taken_apart(value):
            yield "a global by another name" if id(value) in environment.reread else "a global"
        yield from [f"the argument {path}" for path, each in self._arguments.items() if each is value][:1]
        for thing, base, key, part in environment.sources.known_parts():
            if part is value and key is not None and not is_a(thing, ModuleType):
                yield f"in {base.text}"
                return


@disk_cache.storable
def _are_apart(changed: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether containers that are changed are different ones, and none of them is among the others."""
    found = set(map(id, changed))
    return len(found) == len(changed) and found.isdisjoint(map(id, others))
