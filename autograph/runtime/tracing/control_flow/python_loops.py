"""`for` loops met while tracing: as plain Python, as loops of the graph, or unrolled; see `speculation.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, repeat
from operator import length_hint
from typing import Any

from autograph.common.code_marks import is_body
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.object_model import is_users_object
from autograph.runtime.graph.types import length_of
from autograph.runtime.tracing.control_flow.cond import Thunk
from autograph.runtime.tracing.control_flow.loop import stage_for, stage_while
from autograph.runtime.tracing.control_flow.speculation import (
    PEEL,
    SHORT,
    UNROLL,
    Checkpoint,
    Restage,
    SpeculativeLoop,
    TooLong,
    report_iterations,
)
from autograph.runtime.tracing.proxies.graph_break import (
    Materialize,
    NeedsConcrete,
    NeedsStaging,
    Plain,
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
    view_of_graph,
    watched,
)
from autograph.runtime.tracing.state.trace import Trace

MOST = 64  # iterations that are traced one by one, each in a branch, if only the graph knows which is the last


@dataclass
class WhileLoop(SpeculativeLoop):
    test: Thunk

    @interrupting
    def run(self, now: Any, peeled: int = 0) -> None:
        """Run as plain Python while the test is plain, then as a loop of the graph; `now` is the result of the test."""
        limit = self.rule.limit
        while True:
            forced = True
            if not is_staged(now):
                try:
                    return self.attempt(partial(self._plain, now, limit))
                except Restage as signal:
                    forced = signal.forced
            elif self.rule.wanted:
                self.trace.needs(as_tensor(now), "to unroll this loop", asked=True)
            try:
                return self.attempt(partial(self._stage, now))
            except (NeedsConcrete, Unjoinable) as signal:
                if forced and (is_staged(now) or not now or peeled >= PEEL):
                    raise
                handled(signal)
                if not forced:
                    limit = None
                    continue
            # Peel one iteration: the carried values may have settled after it.
            peeled += 1
            stop = self.iteration()
            if is_staged(stop):
                return self.unless(stop, lambda done=peeled: self.run(self.test(), done))  # type: ignore[misc]
            if stop:
                return None
            now = self.test()

    @on_behalf
    def _plain(self, now: Any, limit: int | None, checkpoint: Checkpoint) -> None:
        iterations = 0
        while not is_staged(now):
            if not now:
                break
            iterations += 1
            stop = self.iteration()
            if is_staged(stop):
                raise Restage(forced=True)
            if stop:
                break
            now = self.test()
            if limit is not None and ((checkpoint.grown and iterations > limit) or checkpoint.grown > SHORT):
                raise Restage(forced=False)
            self.rule.spend(checkpoint.grown, self.trace.place)
        else:
            raise Restage(forced=True)
        report_iterations(checkpoint, iterations, self.rule)

    def _stage(self, now: Any, _: Checkpoint) -> None:
        first = as_tensor(now) if is_staged(now) else now
        self.stage(lambda: stage_while(self, self.test, first))


@dataclass
class ForLoop(SpeculativeLoop):
    """
    Attributes:
        exclusive: whether no other code takes items from the iterable, if it is an iterator.
        copied: whether iterations were traced for copies of the items.
    """

    exclusive: bool = True
    copied: bool = False

    @interrupting
    def run(self, iterable: Any) -> None:
        """Loop over anything but a generator expression."""
        if is_staged(iterable):
            proxy = as_tensor(iterable)
            if not self.rule.wanted:
                self.staged(proxy)
                return
            iterable = _items(self.trace, proxy)
        container = iterable if type(iterable) is tuple else iterated_container(iterable)
        if container is None:
            self.plain(iterable)
        else:
            self.over(iterable, container)

    @on_behalf
    def plain(self, iterable: Any) -> None:
        """Loop over plain values."""
        if type(iterable) is TracedIterator and type(iterable.__wrapped__) is repeat and self.exclusive:
            if count := length_hint(iterable):
                value = next(iterable)
                replace(self, body=lambda _: self.body(value)).plain(range(count))
                return
        source = _restartable(iterable)
        if source is None or self.rule.limit is None:
            self.unrolled(iter(watched(iterable)))
        elif _length(source) > self.rule.limit or not self._is_short(iterable):
            self.speculate(source, iterable)

    def _is_short(self, iterable: Any) -> bool:
        """Unroll a loop of few iterations; returns whether these take few operations, else undoes them."""
        if self._is_long:
            return False
        try:
            self.attempt(lambda checkpoint: self._iterations(iter(watched(iterable)), checkpoint, most=SHORT))
        except Restage:
            self.trace.long_loops.add(getattr(self.body, "__code__", None))
            return False
        return True

    @property
    def _is_long(self) -> bool:
        """Whether the loop has recorded more than may be unrolled before, although it has few iterations."""
        code = getattr(self.body, "__code__", None)
        return code is not None and is_body(code) and code in self.trace.long_loops

    @on_behalf
    def over(self, iterable: Any, container: Any) -> None:
        """Loop over a list, tuple or the like.

        One that the body changes may have to be an object of the graph before it, or one with too many items to unroll.
        """
        before, too_long = list(iterable), None
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
            except TooLong as signal:
                if signal.asked or self.rule.asked:
                    raise
                handled(signal)
                checkpoint.undo()
                too_long = signal
            else:
                return
        try:
            self._over_object(iterable, container)
        except (NeedsConcrete, Plain, Unjoinable, Unstageable) as signal:
            if too_long is None:
                raise
            handled(signal)
            raise too_long from None

    def _over_object(self, iterable: Any, container: Any) -> None:
        """Loop over a container that becomes an object of the graph."""
        proxy = self.trace.materialize(container, named=True)
        if type(container) is not tuple:
            rebind(self.state, container, proxy)
        self.staged(view_of_graph(self.trace, iterable, container, proxy))

    def staged(self, iterable: Tensor) -> None:
        """Loop over a value of the graph."""
        failure = self._stage_peeled(iterable, Unjoinable)
        if failure is not None:
            raise failure[0]

    def speculate(self, source: Any, original: Any = None) -> None:
        """Loop over a range or numbers: as plain Python while nothing is recorded, then as a loop of the graph."""
        first = source if original is None else watched(original)
        try:
            if not self._is_long:
                self.attempt(lambda checkpoint: self._until_recorded(iter(first), checkpoint))
                return
        except Restage:
            pass
        self.copied = True
        failure = self._stage_peeled(source, (NeedsConcrete, Unjoinable))
        if failure is None:
            return
        signal, rest = failure
        handled(signal)
        self.trace.report("unroll", f"a loop of {_length(rest)} iterations is unrolled: {_why(signal)}")
        self.unrolled(iter(rest))

    def _stage_peeled(self, source: Any, expected: Any) -> tuple[Any, Any] | None:
        """Stage the loop over `source`; its first iterations by themselves, if the carried values settle after them.

        Args:
            expected: the signals to catch.

        Returns:
            None if that succeeds, else the signal that prevents it, and the items of the remaining iterations.
        """
        last = min(PEEL, _length(source))
        loop_over = self.staged if is_tensor(source) else self.speculate
        failed = None   # the variable that did not settle, and its values
        for peeled in range(last + 1):
            rest = source[peeled:] if peeled else source
            try:
                self.attempt(lambda _, rest=rest: self._stage(_as_iterable(self.trace, rest)))  # type: ignore[misc]
                return None
            except expected as signal:
                before, failed = failed, _unsettled(signal)
                if failed is None or failed == before or peeled == last:
                    return signal, rest
                handled(signal)
            stop = self.iteration(source[peeled])
            if is_staged(stop):
                self.unless(stop, lambda done=peeled + 1: loop_over(source[done:]))  # type: ignore[misc]
                return None
            if stop:
                return None
        raise AssertionError("the last attempt succeeds or fails")

    def _stage(self, iterable: Any) -> None:
        self.stage(lambda: stage_for(self, iterable))

    def _until_recorded(self, items: Iterator[Any], checkpoint: Checkpoint) -> None:
        """Run iterations until one records an operation; if that must be staged, the iteration is not finished."""
        if self.until is not None:
            self._iterations(items, checkpoint, eager=True)
            return
        speculations = self.trace.speculations
        speculations.append(checkpoint)
        try:
            self._iterations(items, checkpoint, eager=True)
        except NeedsStaging as signal:
            if signal.iteration is not checkpoint:
                raise
            handled(signal)
            raise Restage(forced=False) from None
        finally:
            speculations.pop()

    def unrolled(self, items: Iterator[Any]) -> None:
        """Loop over items one by one."""
        with Checkpoint(self.trace, self.state) as checkpoint:
            self._iterations(items, checkpoint)

    @on_behalf
    def _iterations(self, items: Iterator[Any], checkpoint: Checkpoint, eager: bool = False, most: int = 0) -> None:
        """Run the iterations one by one.

        Args:
            eager: restage the loop as soon as an iteration records an operation.
            most: restage it if the iterations record more operations; 0 for any number.
        """
        iterations, count = 0, _count(items) if self.until is None else 0
        for item in _Resumed(items):
            iterations += 1
            stop = self.iteration(item)
            is_open = is_staged(stop)
            if is_open and eager:
                raise Restage(forced=True)
            if not is_open and stop:
                break
            if (eager and checkpoint.grown) or 0 < most < checkpoint.grown:
                raise Restage(forced=False)
            if is_open:
                self.rule.spend(checkpoint.grown, self.trace.place)
                self._unless_stopped(stop, self._rest(items), checkpoint, most)
                return
            operations = max(checkpoint.grown, checkpoint.grown * count // iterations if iterations > UNROLL else 0)
            if operations > self.rule.budget and type(items) is TracedIterator and not self.rule.asked:
                raise items.staged("an iterator{} has more items than can be unrolled")
            self.rule.spend(operations, self.trace.place)
        report_iterations(checkpoint, iterations, self.rule)

    def _unless_stopped(self, stop: Any, rest: list[Any], checkpoint: Checkpoint, most: int) -> None:
        """Run the remaining iterations under the condition that the loop does not stop here."""
        self.copied = True
        if rest:
            self.unless(stop, lambda: self._iterations(iter(rest), checkpoint, most=most))

    @on_behalf
    def _rest(self, items: Iterator[Any]) -> list[Any]:
        """The items of the remaining iterations, if only the graph knows which is the last."""
        reason = "only the graph knows how many items are taken from an iterator{}"
        passive = items.is_passive if type(items) is TracedIterator else type(items) in PASSIVE or is_watched(items)
        rest = list(islice(items, MOST + 1)) if passive and self.exclusive else None
        if rest is not None and len(rest) <= MOST:
            return rest
        if type(items) is TracedIterator:
            raise items.staged(reason)
        self.trace.unstageable(reason.format(f" (of class {type(items).__name__})"))


class _Resumed:
    """An iterator to loop over that may have no `__iter__`; if it has one, it is not called twice."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return self._items


def _items(trace: Trace, iterable: Tensor) -> Iterator[Any]:
    """The items of a staged value, one by one, for a loop that the user asked to unroll."""
    length = length_of(iterable._ag_value.type)
    if length is None:
        trace.needs(iterable, "to unroll this loop", asked=True)
    return (iterable[i] for i in range(length))


def _unsettled(signal: NeedsConcrete | Unjoinable) -> tuple[str, str, str] | None:
    """The variable that cannot be carried, and its values; None if another iteration does not change that."""
    return None if isinstance(signal, NeedsConcrete) else (signal.name, signal.first, signal.second)


def _why(reason: NeedsConcrete | Unjoinable) -> str:
    if isinstance(reason, NeedsConcrete):
        return f"its body needs a value {reason.use}"
    return f"`{reason.name}` is {reason.first} at first and {reason.second} later"


def _restartable(iterable: Any) -> Any:
    """`iterable` in a form that can be iterated over again, if a loop of the graph can have its items; else None."""
    if type(iterable) is range:
        return iterable
    if type(iterable) in (list, tuple):
        items = list(iterable)
        return items if items and all(type(i) in (int, float, complex) or is_tensor(i) for i in items) else None
    return None


def _length(source: Any) -> int:
    """The number of items, 0 if it is unknown; also of a range that is too long for `len`."""
    if is_tensor(source):
        return length_of(source._ag_value.type) or 0
    return (source[-1] - source[0]) // source.step + 1 if type(source) is range and source else len(source)


_SEQUENCE_ITERATOR: type = type(iter(type("", (), {"__getitem__": None})()))     # over objects with `__getitem__`


def _count(items: Iterator[Any]) -> int:
    """The number of items to come; 0 if it is unknown, or a method of the user's would have to tell it."""
    if type(items) is _SEQUENCE_ITERATOR or is_users_object(items):
        return 0
    try:
        return length_hint(items)
    except OverflowError:
        return sys.maxsize


def _as_iterable(trace: Trace, source: Any) -> Any:
    if is_tensor(source):
        return source
    if type(source) is range:
        return trace.record("range", (source.start, source.stop, source.step))
    return trace.record("build", (tuple(source),))
