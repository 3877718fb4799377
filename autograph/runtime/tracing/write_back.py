"""Write-back: the graph repeats the changes of a traced function to objects outside.

The undo log has the changes: of modules and closure cells, of which traced code has its own, and of arguments and
captured objects. The graph makes them before any operation that may raise, and at the end. If the function has written
a value that it had read before as a constant, it is traced again, and the graph reads that value.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from itertools import chain
from typing import Any

from autograph.runtime.graph.graph import Constant, Graph, Value, walk
from autograph.runtime.graph.object_model import delete_attribute, own_dict, set_attribute, sets_plainly
from autograph.runtime.tracing.environment.container_aliases import ContainerAliases
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.globals import OWN_NAMES
from autograph.runtime.tracing.materialize import Materializer
from autograph.runtime.tracing.proxies.graph_break import Restart, SourceKey
from autograph.runtime.tracing.proxies.proxy import Tensor
from autograph.runtime.tracing.state.staged_containers import StagedItems, has_staged_items, staged_as
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Changes, Fallback, contents, entries, reached, same


class Writer:
    """See the module's documentation."""

    def __init__(
        self, trace: Trace, environment: CapturedEnvironment, values: Materializer, aliases: ContainerAliases
    ) -> None:
        self.trace = trace
        self.environment = environment
        self.values = values
        self.aliases = aliases
        self.lower = values.lower
        self._writes: set[int] = set()  # the nodes that were recorded here
        self.own: dict[int, Any] = {}  # containers and objects that traced code made

    def write_back(self) -> None:
        """Record the writes to all objects outside, as they are now."""
        undo_log, late = self.trace.undo_log, set[SourceKey]()
        changed = []
        for thing, first in undo_log.all_changes():
            if id(thing) in self.own:
                continue
            after = thing if has_staged_items(thing) else contents(thing)  # staged items must have no copies
            changed.append((thing, first, after, undo_log.base(thing)))
            if after is not thing:
                undo_log.written[id(thing)] = thing, after
        contents_of = {id(thing): (after, base) for thing, _, after, base in changed}
        for names in self.environment.globals.values():
            after, base = contents_of.get(id(names), ({}, {}))
            for name, value in after.items():
                if name in OWN_NAMES or value is base.get(name, self):
                    continue
                is_as_seen = name not in base and value is names.captured.get(name, self)
                if is_as_seen and self.trace.context.aliases.is_one(value, value):  # guard where it comes from
                    continue
                if name in names.captured and not isinstance(names.captured[name], Tensor):
                    late.add(("getitem", id(names.real), name))
                self._write("setitem", Constant(names.real), name, value)
        for real, mine, seen in self.environment.cells.values():
            after, base = contents_of.get(id(mine), ({}, {}))
            value = after.get("cell_contents", seen)
            if value is not base.get("cell_contents", seen):
                if not isinstance(seen, Tensor):
                    late.add(("getattr", id(real), "cell_contents"))
                self._write("setattr", Constant(real), "cell_contents", value)
        for thing, first, after, base in changed:
            late |= self._write_thing(thing, after, base, first)
        if late - self.environment.late:
            raise Restart(late)

    def check_entered(self, graph: Graph) -> None:
        """Check that no object is changed on which both traced code and the graph work."""
        if not self.values.entered:
            return
        inside = reached(self.values.entered.values(), Changes())
        changed = [
            thing
            for thing, before in self.trace.undo_log.all_changes()
            if inside is None or id(thing) in inside
            if id(thing) not in self.values.made and not same(contents(thing), before)
        ]
        is_set = any(node.op in ("setattr", "delattr") and id(node) not in self._writes for node in walk(graph.block))
        if changed or is_set:
            thing = changed[0] if changed else next(iter(self.values.entered.values()))
            self.trace.unstageable(
                f"an object of class {type(thing).__qualname__} is changed, and is also in a list of the graph, "
                "or known to code that is not staged",
                changed or [*self.values.entered.values()],
            )

    def _write(self, op: str, place: Any, key: Any, value: Any) -> None:
        """Record a write of the graph to an object outside."""
        if type(value) in (list, dict, set) and id(value) not in self.values.paths and staged_as(value) is None:
            found = self.environment.find(value)
            if found is not None:
                value = self.trace.proxy(self.environment.reader(found[1], value))
        self.trace.record_lowered(op, (place, self.trace.lower(key), self.lower(value)))
        self._writes.add(id(self.trace.block.nodes[-1]))

    def _write_thing(self, thing: Any, after: Any, before: Any, first: Any) -> set[SourceKey]:
        """Record the changes of a container or object since the last write-back; returns the sources to read late.

        Args:
            after, before, first: its contents now, at the last write-back, and at the beginning of the function.
        """
        if isinstance(thing, (Fallback, types.CellType)):
            return set()
        argument = self.values.paths.get(id(thing))
        outer = self.environment.sources.objects.get(id(thing))
        source = self.environment.sources.others.get(id(thing))
        if not same(after, before):
            self._check_aliases(thing)
        if source is not None:
            return {source[1].key} if not same(after, before) else set()
        if argument is None and outer is None and not isinstance(thing, type):
            is_same = same(after, before) or self._has_only_proxies(thing, after, before, first)
            return set() if is_same else self._write_found(thing, after, before, first)
        if argument is not None and isinstance(thing, (list, dict)):
            if any(type(part) is StagedItems for part in (after.values() if isinstance(after, dict) else after)):
                raise self.values.pass_whole(thing, argument[1])
            self._write_container(self.values.by_reference(argument[1], thing), after, before)
            return set()
        place: Callable[[], Any] = functools.partial(Constant, thing)
        if argument is not None:
            place = functools.partial(self.values.by_reference, argument[1], thing)
        elif outer is not None and isinstance(outer[1], Value):
            place = functools.partial(self.environment.reader, self.environment.sources.source_of(outer[1]))
        return self._write_object(thing, after, before, first, place)

    def _has_only_proxies(self, thing: Any, after: Any, before: Any, first: Any) -> bool:
        """Whether all changes of a container or object only replace its initial parts by their proxies."""
        old, new, initial_contents = entries(before), entries(after), entries(first)
        if old is None or new is None or initial_contents is None or list(old) != list(new):
            return False
        changed = [key for key, value in new.items() if value is not old[key]]
        return all(
            old[key] is initial_contents.get(key) and self.environment.is_proxy_of(new[key], thing, key, old[key])
            for key in changed
        )

    def _check_aliases(self, thing: Any) -> None:
        """Check that a changed container has no other name."""
        argument = self.values.paths.get(id(thing))
        if argument is not None:
            self.aliases.check_argument(argument[1])
        elif id(thing) in self.environment.sources.others or isinstance(thing, (list, dict, set)):
            self.aliases.check(self.environment.original(thing))

    def _write_found(self, thing: Any, after: Any, before: Any, first: Any) -> set[SourceKey]:
        """The same for an attribute of a registered object; if it is none, traced code has made it."""
        found = self.environment.find(thing)
        if found is None:
            arguments = (each for each, _ in self.values.paths.values())
            owners = chain(self.environment.sources.reachable(), arguments)
            owner = next((each for each in owners if own_dict(each) is thing), None)
            if owner is not None:
                return self._write_thing(owner, after, before, first)
            name = thing.get("__name__") if type(thing) is dict else None
            module = sys.modules.get(name) if type(name) is str else None
            if module is not None and own_dict(module) is thing:        # as that of the builtins
                return self._write_object(module, after, before, first, lambda: Constant(module))
            self.own[id(thing)] = thing
            return set()
        holder, source = found
        if own_dict(thing) is not None and not isinstance(thing, (list, dict, set)):
            place = functools.partial(self.environment.reader, source, thing)
            return self._write_object(thing, after, before, first, place)
        while source.op == "getitem" and (around := self.environment.find(holder)) is not None:
            holder, source = around  # the graph reads the outermost container
        if source.op != "getattr":
            self.trace.unstageable(
                f"{source.text}, which is part of another container, is changed in a staged function: make it an "
                "attribute of an object, or an argument"
            )
        attribute = ("attribute", id(holder), source.args[1])
        if attribute in self.environment.late and not same(after, before):
            self.trace.unstageable(f"{source.text} is changed, and not where the graph reads it")
        return {attribute}

    def _write_container(self, place: Value, after: Any, before: Any) -> None:
        """The same for a list or dict."""
        old, new = entries(before), entries(after)
        if old is None or new is None:
            return
        if isinstance(after, list) and len(old) != len(new):
            start = next((key for key in new if key not in old or new[key] is not old[key]), len(after))
            self.trace.record_lowered("setitem", (place, slice(start, None), list(map(self.lower, after[start:]))))
        elif list(old) == list(new)[: len(old)]:
            for key, value in new.items():
                if key not in old or value is not old[key]:
                    self._write("setitem", place, key, value)
        else:
            self.trace.record_lowered(".clear", (place,))
            self.trace.record_lowered(".update", (place, self.lower(dict(after))))

    def _write_object(self, thing: Any, after: Any, before: Any, first: Any, place: Callable[[], Any]) -> set[Any]:
        """The same for attributes of an object; `place` reads the object, if there is a change to write."""
        late: set[SourceKey] = set()
        if not isinstance(after, dict) or not isinstance(before, dict):
            return late
        for name, value in after.items():
            old = before.get(name, self)
            unchanged = old is first.get(name, self) and self.environment.is_proxy_of(value, thing, name, old)
            if old is not value and not unchanged:
                if type(old) in (int, float, complex):
                    late.add(("attribute", id(thing), name))
                if isinstance(thing, type) or sets_plainly(type(thing), name):
                    self._write("setattr", place(), name, value)
                else:
                    self.trace.record_lowered("call", (set_attribute, place(), name, self.lower(value)))
        for name in [name for name in before if name not in after]:
            is_plain = isinstance(thing, type) or sets_plainly(type(thing), name, "__delattr__")
            delete = delattr if is_plain else delete_attribute
            self.trace.record_lowered("call", (delete, place(), name))
        return late

