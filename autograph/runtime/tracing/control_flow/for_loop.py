"""`for` loops met while tracing: as plain Python, as loops of the graph, or unrolled; see `speculation.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, repeat
from operator import length_hint
from typing import Any

from autograph.common.code_marks import is_body
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.types import length_of
from autograph.runtime.tracing.control_flow.body import State
from autograph.runtime.tracing.control_flow.cond import repeated
from autograph.runtime.tracing.control_flow.loop import Loop, stage_for
from autograph.runtime.tracing.control_flow.speculation import (
    PEEL,
    Checkpoint,
    Options,
    Restage,
    attempt,
    report_iterations,
    unless,
)
from autograph.runtime.tracing.control_flow.unroll_policy import SHORT, UNROLL, Unrolling, unrolling
from autograph.runtime.tracing.proxies.graph_break import (
    Materialize,
    NeedsConcrete,
    NeedsStaging,
    Unjoinable,
    Unstageable,
    handled,
)
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.state.blame import interrupting
from autograph.runtime.tracing.state.iterators import PASSIVE, TracedIterator
from autograph.runtime.tracing.state.staged_containers import (
    as_tensor,
    is_staged,
    is_watched,
    iterated_container,
    rebind,
    watched,
)
from autograph.runtime.tracing.state.trace import Trace

MOST = 64  # iterations that are traced, each within a branch, if it depends on what is staged which is the last


@interrupting
def run_for(
    trace: Trace,
    iterable: Any,
    body: Callable[[Any], Any],
    state: State,
    until: Callable[[], Any] | None,
    options: Options,
    alone: bool = True,
) -> None:
    """A `for` loop met while tracing.

    Args:
        alone: whether nobody else takes items from `iterable`, if it is an iterator.
    """
    rule = unrolling(options, trace.place)
    loop = _For(trace, body, state, until, rule, alone)
    if is_staged(iterable):
        proxy = as_tensor(iterable)
        if not rule.wanted:
            loop.staged(proxy)
            return
        iterable = _items(trace, proxy)
    container = iterated_container(iterable)
    if container is None:
        loop.plain(iterable)
    else:
        loop.over(iterable, container)


@dataclass
class _For(Loop):
    """A `for` loop, and how to trace it."""

    rule: Unrolling
    alone: bool
    copied: bool = False  # whether iterations were traced for copies of the items

    @on_behalf
    def plain(self, iterable: Any) -> None:
        """Over plain values."""
        if type(iterable) is TracedIterator and type(iterable.__wrapped__) is repeat and self.alone:
            if count := length_hint(iterable):
                value = next(iterable)
                replace(self, body=lambda _: self.body(value)).plain(range(count))
                return
        source = _restartable(iterable)
        if source is None or self.rule.limit is None:
            self.unrolled(iter(watched(iterable)))
        elif _length(source) > self.rule.limit or not self._is_short(iterable):
            self.restartable(source, iterable)

    def _is_short(self, iterable: Any) -> bool:
        """Unroll a loop of few iterations; whether these take few operations, or else all is undone."""
        if self._is_long:
            return False
        try:
            attempt(self.trace, self.state, lambda c: self._iterations(iter(watched(iterable)), c, False, SHORT))
        except Restage:
            self.trace.long_loops.add(getattr(self.body, "__code__", None))
            return False
        return True

    @property
    def _is_long(self) -> bool:
        """Whether the loop is known to record more than may be unrolled, however few iterations it has."""
        code = getattr(self.body, "__code__", None)
        return code is not None and is_body(code) and code in self.trace.long_loops

    @on_behalf
    def over(self, iterable: Any, container: Any) -> None:
        """Over a list or the like; one that changes meanwhile may have to be an object of the graph before that."""
        before = list(iterable)
        with Checkpoint(self.trace, self.state) as checkpoint:
            try:
                self.plain(iterable)
                if self.copied and list(map(id, iterable)) != list(map(id, before)):
                    raise Materialize(container)
            except Materialize as signal:
                if signal.container is not container:
                    raise
                handled(signal)
                checkpoint.undo()
            else:
                return
        proxy = self.trace.materialize(container, named=True)
        rebind(self.state, container, proxy)
        if iterable is not container:
            proxy = self.trace.record(f".{type(iterable).__name__.rpartition('_')[2]}", (proxy,))
        self.staged(proxy)

    def staged(self, iterable: Tensor) -> None:
        """Over a value of the graph; its first iterations by themselves, if that helps and there are that many."""
        for peeled in range(PEEL + 1):
            rest = iterable if not peeled else iterable[peeled:]
            try:
                attempt(self.trace, self.state, lambda _, rest=rest: self._stage(rest))  # type: ignore[misc]
                return
            except Unjoinable as signal:
                if peeled == PEEL or peeled >= (length_of(iterable._ag_value.type) or 0):
                    raise
                handled(signal)
            if self._peel(iterable[peeled], lambda peeled=peeled: self.staged(iterable[peeled + 1 :])):  # type: ignore[misc]
                return

    def _stage(self, iterable: Any) -> None:
        repeated(self.trace, lambda: stage_for(self, iterable), self.state)

    def _peel(self, item: Any, rest: Callable[[], None]) -> bool:
        """Run one iteration by itself; whether that was the last, be it that `rest` is done in a branch."""
        stop = self.iteration(item)
        if not is_staged(stop):
            return bool(stop)
        unless(self.trace, stop, rest, self.state)
        return True

    def restartable(self, source: Any, original: Any = None) -> None:
        """Over a range, or numbers: as plain Python while nothing is recorded, then as a loop of the graph."""
        first = source if original is None else watched(original)
        try:
            if not self._is_long:
                attempt(self.trace, self.state, lambda c: self._eagerly(iter(first), c))
                return
        except Restage:
            pass
        self.copied = True
        reason: NeedsConcrete | Unjoinable
        for peeled in range(PEEL + 1):
            rest = source[peeled:]
            try:
                attempt(self.trace, self.state, lambda _, rest=rest: self._stage(_as_iterable(self.trace, rest)))  # type: ignore[misc]
                return
            except (NeedsConcrete, Unjoinable) as signal:
                handled(signal)
                reason = signal
            if isinstance(reason, NeedsConcrete) or peeled == PEEL or not rest:
                break
            if self._peel(rest[0], lambda rest=rest: self.restartable(rest[1:])):  # type: ignore[misc]
                return
        self.trace.report("unroll", f"a loop of {_length(rest)} iterations is unrolled: {_why(reason)}")
        self.unrolled(iter(rest))

    def _eagerly(self, items: Iterator[Any], checkpoint: Checkpoint) -> None:
        """The same, but no iteration is run on from where anything is staged; unless it may be the last."""
        if self.until is not None:
            self._iterations(items, checkpoint, eager=True)
            return
        trying = self.trace.trying
        trying.append(checkpoint)
        try:
            self._iterations(items, checkpoint, eager=True)
        except NeedsStaging as signal:
            if signal.iteration is not checkpoint:
                raise
            handled(signal)
            raise Restage(forced=False) from None
        finally:
            trying.pop()

    def unrolled(self, items: Iterator[Any]) -> None:
        """Iteration by iteration."""
        with Checkpoint(self.trace, self.state) as checkpoint:
            self._iterations(items, checkpoint, eager=False)

    @on_behalf
    def _iterations(self, items: Iterator[Any], checkpoint: Checkpoint, eager: bool, most: int = 0) -> None:
        """Run the iterations as they are.

        Args:
            eager: give up for the sake of staging as soon as an iteration records anything.
            most: give up for its sake if they record more, unless it is 0.
        """
        iterations, count = 0, _count(items) if self.until is None else 0
        for item in _Resumed(items):
            iterations += 1
            stop = self.iteration(item)
            if is_staged(stop):
                if eager:
                    raise Restage(forced=True)
                self._until_staged(stop, self._rest(items), checkpoint)
                return
            if stop:
                break
            if (eager and checkpoint.grown) or 0 < most < checkpoint.grown:
                raise Restage(forced=False)
            operations = max(checkpoint.grown, checkpoint.grown * count // iterations if iterations > UNROLL else 0)
            if operations > self.rule.budget and type(items) is TracedIterator and not self.rule.asked:
                raise items.staged("an iterator{} has more items than can be unrolled")
            self.rule.spend(operations, self.trace.place)
        report_iterations(checkpoint, iterations, self.rule)

    @on_behalf
    def _rest(self, items: Iterator[Any]) -> list[Any]:
        """The items of the iterations to come, of which only the graph knows which is the last."""
        reason = "only the graph knows how many items are taken from an iterator{}"
        passive = items.is_passive if type(items) is TracedIterator else _is_passive(items)
        rest = list(islice(items, MOST + 1)) if passive and self.alone else None
        if rest is not None and len(rest) <= MOST:
            return rest
        if type(items) is TracedIterator:
            raise items.staged(reason)
        raise Unstageable(reason.format(f" (of class {type(items).__name__})"), self.trace.place())

    def _until_staged(self, stop: Any, rest: list[Any], checkpoint: Checkpoint) -> None:
        """Run the rest of the iterations unless the loop ends, which only the graph knows."""
        self.copied = True
        if rest:
            unless(self.trace, stop, lambda: self._iterations(iter(rest), checkpoint, False), self.state)


class _Resumed:
    """An iterator as something to iterate over: it need not have an `__iter__`, nor is it asked for one twice."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return self._items


def _is_passive(items: Iterator[Any]) -> bool:
    """Whether nobody can tell if items are taken from an iterator before they are used."""
    return type(items) in PASSIVE or is_watched(items)


def _items(trace: Trace, iterable: Tensor) -> Iterator[Any]:
    """The items of a staged value, one by one, for a loop that the user wants unrolled."""
    length = length_of(iterable._ag_value.type)
    if length is None:
        trace.needs(iterable, "to unroll this loop", asked=True)
    return (iterable[i] for i in range(length))


def _why(reason: NeedsConcrete | Unjoinable) -> str:
    if isinstance(reason, NeedsConcrete):
        return f"its body needs a value {reason.use}"
    return f"`{reason.name}` is {reason.first} at first and {reason.second} later"


def _restartable(iterable: Any) -> Any:
    """`iterable` as something that can be iterated over again, if its items can be those of a loop of the graph."""
    if type(iterable) is range:
        return iterable
    if type(iterable) in (list, tuple):
        items = list(iterable)
        return items if items and all(type(i) in (int, float, complex) or is_tensor(i) for i in items) else None
    return None


def _length(source: Any) -> int:
    """How many items there are, also in a range for which `len` is at a loss."""
    return (source[-1] - source[0]) // source.step + 1 if type(source) is range and source else len(source)


def _count(items: Iterator[Any]) -> int:
    """How many items there are to come; 0 if nobody knows."""
    try:
        return length_hint(items)
    except OverflowError:
        return sys.maxsize


def _as_iterable(trace: Trace, source: Any) -> Any:
    if type(source) is range:
        return trace.record("range", (source.start, source.stop, source.step))
    return trace.record("build", (tuple(source),))
