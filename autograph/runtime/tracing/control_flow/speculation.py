"""Loops that begin as plain Python, and what `while_loop.py` and `for_loop.py` share to trace them.

The iterations of a loop over plain values are run as they are as long as they record nothing. Once they do, and there
are more than a few, or once it depends on a staged value whether there is another iteration, all is undone, and the
loop is staged from its beginning. If that cannot be done, because its body needs the index itself, it is unrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograph.runtime.tracing.control_flow.body import Slots, State, known_before
from autograph.runtime.tracing.control_flow.cond import stage_if
from autograph.runtime.tracing.control_flow.unroll_policy import Unrolling
from autograph.runtime.tracing.proxies.graph_break import NeedsConcrete, NeedsStaging, Unjoinable
from autograph.runtime.tracing.state.staged_containers import as_tensor
from autograph.runtime.tracing.state.trace import Trace

PEEL = 3  # iterations that are run before a loop, so that what it carries has settled

Options = Mapping[str, Any] | None


@dataclass
class Checkpoint:
    """Where a trace was, to go back to; as a context manager, it keeps what was traced unless that is undone."""

    trace: Trace
    state: State
    before: Slots = field(init=False)
    nodes: int = field(init=False)
    recorded: int = field(init=False)
    undone: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.before = self.state.snapshot()
        self.nodes = len(self.trace.block.nodes)
        self.recorded = self.trace.recorded
        self.trace.undo_log.begin()

    @property
    def grown(self) -> int:
        """How many nodes were recorded since."""
        return self.trace.recorded - self.recorded

    def undo(self) -> None:
        """Make all as it was."""
        self.undone = True
        self.state.restore(self.before)
        self.trace.undo_log.undo(known_before(self.trace, self.before, self.trace.undo_log.stack[-1]))
        self.trace.drop(self.nodes, self.recorded)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *exception: object) -> None:
        if not self.undone:
            self.trace.undo_log.keep()


class Restage(Exception):
    """The loop that runs as plain Python is to be staged; `forced` if it cannot go on otherwise."""

    def __init__(self, forced: bool) -> None:
        super().__init__(forced)
        self.forced = forced


def attempt(trace: Trace, state: State, run: Callable[[Checkpoint], None]) -> None:
    """Run something that is undone if it does not come to its end."""
    with Checkpoint(trace, state) as checkpoint:
        try:
            run(checkpoint)
        except (Restage, NeedsConcrete, Unjoinable, NeedsStaging):
            checkpoint.undo()
            raise


def report_iterations(checkpoint: Checkpoint, iterations: int, rule: Unrolling) -> None:
    """Tell of the iterations of a loop over plain values that are written out in the graph."""
    if iterations > 1 and checkpoint.grown:
        kind = "iterations" if rule.asked else "unroll"
        checkpoint.trace.report(kind, f"{iterations} iterations of this loop take {checkpoint.grown} operations")


def unless(trace: Trace, stop: Any, rest: Callable[[], Any], state: State) -> None:
    """Run the rest of a loop unless it ends here, which only the graph knows."""
    stage_if(trace, trace.record("not", (as_tensor(stop),)), rest, None, state)
