"""Late attributes: those that the graph reads when it runs, since they change from call to call.

Traced code gets a proxy, wherever objects that it can reach hold the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autograph.common.statics import is_a
from autograph.runtime.graph.graph import Value
from autograph.runtime.graph.object_model import is_quantity, may_vary
from autograph.runtime.tracing.environment.object_source import ObjectSources, Source
from autograph.runtime.tracing.proxies.graph_break import UNWATCHED, Restart, SourceKey
from autograph.runtime.tracing.proxies.proxy import Tensor
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import attributes


class LateAttributes:
    """The late attributes of one trace.

    Args:
        staged: by identity, objects and containers whose parts have been replaced by proxies.
        load: returns a proxy for a value that the graph loads from a source.
        guard_one: adds a guard that the same object is in two places.

    Attributes:
        proxies: of attributes, by the identity of the object and the name.
        containers: those that the graph reads from objects, by identity.
    """

    def __init__(
        self,
        trace: Trace,
        sources: ObjectSources,
        staged: Mapping[int, Any],
        load: Callable[[Any, Source], Tensor],
        guard_one: Callable[[Source, Source], None],
    ) -> None:
        self.trace = trace
        self.sources = sources
        self.proxies: dict[tuple[int, str], Tensor] = {}
        self.containers: dict[int, Any] = {}
        self._staged = staged
        self._load = load
        self._guard_one = guard_one
        self._values: dict[int, tuple[Any, Source, Tensor]] = {}
        self._late = trace.context.late

    def stage(self, root: Any, source: Source | Value) -> None:
        """Replace the late attributes of objects within `root`, and their values elsewhere in it."""
        wanted = {key[1:] for key in self._late if key[0] == "attribute"}
        for thing, base in list(self.sources.within(root, source)) if wanted else ():
            for name, value in list(attributes(thing).items()):
                if (id(thing), name) in self.proxies:
                    continue
                if (id(thing), name) in wanted or ((base.text, name) in wanted and may_vary(value)):
                    self._read_everywhere(value, thing, base.attribute(name))
        for value, at, proxy in list(self._values.values()):
            self._put_everywhere(value, at, proxy, root, source)

    def _read_everywhere(self, value: Any, thing: Any, at: Source) -> None:
        """Replace an attribute of `thing` by a proxy, wherever registered objects hold the same value."""
        if not is_quantity(value):
            self._check_unread(value)
        proxy, name = self._load(value, at), at.args[1]
        self.proxies[id(thing), name] = proxy
        self.trace.undo_log.replace(thing, name, proxy)
        if is_quantity(value):  # equal numbers may be one object by chance
            return
        if type(value) in (list, dict, set):
            self.containers[id(value)] = value
            self.sources.note_place(value, at)
        self._values[id(value)] = value, at, proxy
        for root, source in list(self.sources.objects.values()):
            self._put_everywhere(value, at, proxy, root, source)

    def _check_unread(self, value: Any) -> None:
        """Check that traced code does not have a value, which becomes a proxy, from one of the places that it has read.

        Raises:
            Restart: it may have it, so the graph must read it there, too.
        """
        known: set[SourceKey] = set()
        for root, source in list(self.sources.objects.values()):
            for thing, _ in self.sources.within(root, source):
                read = self.sources.reads.get(id(thing), set())
                own = attributes(thing)
                known |= {("attribute", id(thing), name) for name in read.intersection(own) if own[name] is value}
                if id(thing) in self._staged and self.sources.reads and UNWATCHED not in self._late:
                    known |= {UNWATCHED for _, part in _items(thing) if part is value}
        if known:
            raise Restart(known)

    def _put_everywhere(self, value: Any, at: Source, proxy: Tensor, root: Any, source: Source | Value) -> None:
        """The same within `root`."""
        for thing, base in list(self.sources.within(root, source)):
            for name in [name for name, part in attributes(thing).items() if part is value or part is proxy]:
                self._guard_one(base.attribute(name), at)
                self.proxies[id(thing), name] = proxy
                self.trace.undo_log.replace(thing, name, proxy)
            for key in [key for key, part in _items(thing) if part is value or part is proxy]:
                self._guard_one(base.item(key), at)
                self.trace.undo_log.replace(thing, key, proxy)
        if self.sources.too_far:
            self.sources.refuse(self.sources.too_far)


def _items(thing: Any) -> Iterable[tuple[Any, Any]]:
    return thing.items() if is_a(thing, dict) else enumerate(thing) if is_a(thing, list) else ()
