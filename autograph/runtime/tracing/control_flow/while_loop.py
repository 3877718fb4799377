"""`while` loops met while tracing: as plain Python, as loops of the graph, or unrolled; see `speculation.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from autograph.common.trace_rules import on_behalf
from autograph.runtime.tracing.control_flow.body import State
from autograph.runtime.tracing.control_flow.cond import repeated
from autograph.runtime.tracing.control_flow.loop import Loop, stage_while
from autograph.runtime.tracing.control_flow.speculation import (
    PEEL,
    Checkpoint,
    Options,
    Restage,
    attempt,
    report_iterations,
    unless,
)
from autograph.runtime.tracing.control_flow.unroll_policy import SHORT, Unrolling, unrolling
from autograph.runtime.tracing.proxies.graph_break import NeedsConcrete, Unjoinable, handled
from autograph.runtime.tracing.state.blame import interrupting
from autograph.runtime.tracing.state.staged_containers import as_tensor, is_staged
from autograph.runtime.tracing.state.trace import Trace


@interrupting
def run_while(
    trace: Trace,
    first: Any,
    test: Callable[[], Any],
    body: Callable[[], Any],
    state: State,
    until: Callable[[], Any] | None,
    options: Options,
) -> None:
    """A `while` loop met while tracing, of which `first` is what the first test gave."""
    _While(trace, body, state, until, test, unrolling(options, trace.place)).run(first)


@dataclass
class _While(Loop):
    """A `while` loop, and how to trace it."""

    test: Callable[[], Any]
    rule: Unrolling

    def run(self, now: Any, peeled: int = 0) -> None:
        """As plain Python while that can be known, then as a loop of the graph; `now` is what the test gave."""
        trace, limit = self.trace, self.rule.limit
        while True:
            if not is_staged(now):
                try:
                    return attempt(trace, self.state, partial(self._plain, now, limit))
                except Restage as signal:
                    forced = signal.forced
            else:
                forced = True
                if self.rule.wanted:
                    trace.needs(as_tensor(now), "to unroll this loop", asked=True)
            try:
                return attempt(trace, self.state, partial(self._stage, now))
            except (NeedsConcrete, Unjoinable) as signal:
                if forced and (is_staged(now) or not now or peeled >= PEEL):
                    raise
                handled(signal)
                if not forced:
                    limit = None
                    continue
            # One iteration by itself: what the loop carries may have settled after it.
            peeled += 1
            stop = self.iteration()
            if is_staged(stop):
                return unless(trace, stop, lambda done=peeled: self.run(self.test(), done), self.state)  # type: ignore[misc]
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
        repeated(self.trace, lambda: stage_while(self, self.test, first), self.state)
