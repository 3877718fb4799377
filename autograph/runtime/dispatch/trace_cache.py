"""The traces of a function: the record of each, and the bounded cache in which calls find them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from autograph.common import forking
from autograph.runtime.dispatch.trace_entry import Entry, first_of, never
from autograph.runtime.graph.graph import Graph
from autograph.runtime.graph.signature import Checks, Event, Guard, Lengths, Signature

ALIASES = 64  # how many other keys may lead to one trace
UNTRACED = 256  # keys that may lead to an entry without a trace
FEW = 10  # calls: a trace that is dropped after fewer was of no use


@dataclass(eq=False, repr=False)
class Trace:
    """A function staged for one signature.

    Attributes:
        number: counted from 1, in the order in which the function's traces were made.
        signature: the arguments that it is for.
        reason: why it was made.
        graph: optimized; None if the signature runs as plain Python.
        guards: further conditions.
        events: of tracing and compiling.
        containers: paths of the containers that the graph is given, see `Traced`.
        engine: the name of the engine.
        stopped: whether it runs as plain Python because the budget was spent.
        sourceless: whether it runs as plain Python because the function has no source.
        executable: the graph, compiled by the engine.
        seconds: how long tracing, optimizing and compiling took.
        entered: how often it ran, unless machine code has entered it.
        counters: count the others.
        checks: what its entry checks; None if it runs the plain function.
        checked: the entry that is machine code, by the tests of the dispatcher; None if there is none.
        is_bare: whether its entry only calls the executable with its own arguments.
        pays: whether its first call took so long that tracing took next to no time.
        staged_entry: the entry that runs the graph, also where calls run as plain Python because that is faster.
        own_entry: that which was written for it, without others in front.
        disk: the `TraceFile` to save it to when it has run once; or an `Unsaved`, why it is not on disk.
    """

    number: int
    key: Any
    signature: Signature
    lengths: Lengths
    sharing: Any
    reason: str
    entry: Entry = never
    graph: Graph | None = None
    guards: list[Guard] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    engine: str = ""
    containers: tuple[str, ...] = ()
    plain: str = ""
    stopped: bool = False
    sourceless: bool = False
    executable: Any = None
    entry_source: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    entered: int = 0
    counters: list[Any] = field(default_factory=list)
    checks: Checks | None = None
    checked: dict[Any, Any] = field(default_factory=dict)
    is_bare: bool = False
    pays: bool = False
    staged_entry: Entry = never
    own_entry: Entry = never
    disk: Any = None
    calls_before: int = 0  # its calls when a trace was last dropped

    @property
    def calls(self) -> int:
        """How often it ran."""
        return self.entered + sum(int(counter.value) for counter in self.counters)

    def __repr__(self) -> str:
        return f"<trace {self.number}: ({self.signature}), {self.calls} calls; {self.reason}>"

    @property
    def source(self) -> str:
        """The code that runs; "" if that is the plain function."""
        return str(self.executable.source) if self.executable is not None else ""


class Traces:
    """At most `limit` traces, by key. The least used makes room for a new one.

    Attributes:
        find: the dictionary of dispatchers: the entry for each key.
        wasted: the number of traces that were dropped after so few calls that tracing did not pay.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.find: dict[Any, Entry] = {}
        self.wasted = 0
        self._order: list[Trace] = []
        self._aliases: dict[Any, Any] = {}
        self._untraced: dict[Any, None] = {}    # keys that lead to an entry without a trace
        self._lock = forking.lock()

    def __iter__(self) -> Iterator[Trace]:
        return iter(list(self._order))

    def __len__(self) -> int:
        return len(self._order)

    def at(self, key: Any) -> list[Trace]:
        """The traces for a key, in the order in which they are tried."""
        return [trace for trace in self._order if trace.key == key]

    def add(self, trace: Trace) -> list[Trace]:
        """Add a trace; gives those that were dropped for it."""
        with self._lock:
            self._order.append(trace)
            self._link(trace.key)
            dropped = []
            while len(self._order) > self.limit:
                least = self._least_used()
                self.drop(least)
                self.wasted += least.calls < FEW and not least.pays
                dropped.append(least)
            return dropped

    def alias(self, key: Any, trace: Trace) -> None:
        """Let another key lead to the traces for that of `trace`."""
        with self._lock:
            self._aliases.pop(key, None)
            self._aliases[key] = trace.key
            for each in [each for each, target in self._aliases.items() if target == trace.key][:-ALIASES]:
                del self._aliases[each]
                del self.find[each]
            self._link(trace.key)

    def lead(self, key: Any, entry: Entry) -> None:
        """Let a key without traces lead to an entry, until there is one."""
        with self._lock:
            if key not in self.find:
                self.find[key], self._untraced[key] = entry, None
                for oldest in [*self._untraced][:-UNTRACED]:
                    self._forget(oldest)

    def unlead(self, key: Any) -> None:
        """Undo `lead`."""
        with self._lock:
            self._forget(key)

    def _forget(self, key: Any) -> None:
        if key in self._untraced:
            del self._untraced[key]
            self.find.pop(key, None)

    def replace(self, trace: Trace, entry: Entry) -> None:
        """Let calls enter a trace by `entry` from now on."""
        with self._lock:
            trace.entry = entry
            if trace in self._order:
                self._link(trace.key)

    def drop(self, trace: Trace) -> None:
        """Forget a trace."""
        with self._lock:
            if trace in self._order:
                self._order.remove(trace)
                self._link(trace.key)

    def drop_if(self, condition: Callable[[Trace], bool]) -> None:
        """Forget all traces of which `condition` holds."""
        for trace in list(self._order):
            if condition(trace):
                self.drop(trace)

    def clear(self) -> None:
        """Forget all."""
        self.drop_if(lambda trace: True)
        for key in [*self._untraced]:
            self.unlead(key)
        self.wasted = 0

    def _link(self, key: Any) -> None:
        entries = [trace.entry for trace in self.at(key)]
        others = [each for each, target in self._aliases.items() if target == key]
        for each in [key, *others]:
            self._untraced.pop(each, None)
            if entries:
                self.find[each] = first_of(entries)
            else:
                self.find.pop(each, None)
                self._aliases.pop(each, None)

    def _least_used(self) -> Trace:
        """The trace with the fewest calls since one was last dropped; never the newest."""
        least = min(self._order[:-1], key=lambda trace: trace.calls - trace.calls_before)
        for trace in self._order:
            trace.calls_before = trace.calls
        return least
