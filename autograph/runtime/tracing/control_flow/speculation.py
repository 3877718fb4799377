"""Speculation: loops that begin as plain Python, and the policy of unrolling; for `python_loops.py`.

The iterations of a loop over plain values run as Python while they record nothing. If they record more than a few
operations, or if only the graph knows whether there is another iteration, everything is undone, and the loop is staged
from its beginning. If its body needs the index itself, so that it cannot be staged, it is unrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograph.runtime.graph.graph import Place
from autograph.runtime.tracing.control_flow.cond import State, existed_before, stage_if, staged_with_containers
from autograph.runtime.tracing.control_flow.loop import Loop
from autograph.runtime.tracing.proxies.graph_break import NeedsConcrete, NeedsStaging, Unjoinable, Unstageable
from autograph.runtime.tracing.state.staged_containers import as_tensor
from autograph.runtime.tracing.state.trace import Trace

UNROLL = 8  # iterations that are always unrolled
SHORT = 128  # operations that these may record; nested loops quickly record more
FREE = 5_000  # operations that unrolling may record if the user has not asked for it
BUDGET = 20_000  # the same if the user has
PEEL = 3  # iterations that may run before a staged loop, until its carried values have settled


class TooLong(Unstageable):
    """Unrolling a loop records too many operations."""


@dataclass(frozen=True)
class Unrolling:
    """The extent to which a loop is unrolled.

    Attributes:
        limit: the number of iterations; None for all.
        wanted: whether the user asked for all iterations.
        asked: whether the user set the number.
        budget: the number of operations that unrolling may record.
        is_strict: whether more operations are an error; otherwise the function runs as plain Python.
    """

    limit: int | None = UNROLL
    wanted: bool = False
    asked: bool = False
    budget: int = FREE
    is_strict: bool = False

    def spend(self, operations: int, place: Callable[[], Place]) -> None:
        """Interrupt tracing if unrolling records too many operations."""
        if operations > self.budget:
            raise TooLong(
                f"unrolling this loop takes more than {self.budget} operations, and it cannot be staged as a loop of "
                "the graph, because its body needs the value of what it iterates over, or carries what cannot be "
                "carried. Iterate over an array or a range, and index arrays rather than lists with the loop's "
                "variable, or allow more with ag.set_loop_options(budget=…) in the body",
                place(),
                asked=self.is_strict,
            )


def unrolling(options: Mapping[str, Any] | None, trace: Trace) -> Unrolling:
    """The extent of unrolling by the options of `ag.set_loop_options`."""
    if not options:
        return _DEFAULT
    unknown = [name for name in options if name not in ("unroll", "budget")]
    unroll = options.get("unroll")
    is_strict = bool(unroll) or "budget" in options
    budget = options.get("budget", BUDGET if is_strict else FREE)
    if unknown:
        problem = f"there is no option {unknown[0]!r}; there are unroll= and budget="
    elif not (unroll is None or isinstance(unroll, int)) or (unroll is not None and unroll < 0):
        problem = f"unroll= is True, False or how many iterations are unrolled at most, not {unroll!r}"
    elif not isinstance(budget, int) or budget < 1:
        problem = f"budget= is how many operations unrolling may take, not {budget!r}"
    else:
        limit = UNROLL if unroll is None else None if unroll is True else int(unroll)
        trace.budget.allow(budget if is_strict else 0)
        return Unrolling(limit, unroll is True, unroll is not None, budget, is_strict)
    raise Unstageable(f"set_loop_options: {problem}", trace.place(), asked=True)


_DEFAULT = Unrolling()
STAGED = Unrolling(limit=0, asked=True)  # as for `unroll=False`


class Checkpoint:
    """A state of a trace to return to. As a context manager, it keeps what was traced since, unless that is undone."""

    def __init__(self, trace: Trace, state: State) -> None:
        self.trace = trace
        self.state = state
        self.before = state.snapshot()
        self.nodes = len(trace.block.nodes)
        self.recorded = trace.recorded
        self.undone = False
        trace.undo_log.begin()

    @property
    def grown(self) -> int:
        """The number of nodes recorded since."""
        return self.trace.recorded - self.recorded

    def undo(self) -> None:
        """Undo everything since."""
        self.undone = True
        self.state.restore(self.before)
        self.trace.undo_log.undo(existed_before(self.trace, self.before, self.trace.undo_log.stack[-1]))
        self.trace.drop(self.nodes, self.recorded)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *exception: object) -> None:
        if not self.undone:
            self.trace.undo_log.keep()


@dataclass(eq=False)
class Restage(BaseException):
    """The loop that runs as plain Python has to be staged; `forced`: it cannot continue otherwise.

    It is no `Exception`: an iteration under a condition would take that for one of the program's.
    """

    forced: bool


@dataclass
class SpeculativeLoop(Loop):
    """A loop that may run as plain Python, be staged, or be unrolled."""

    rule: Unrolling

    def attempt(self, run: Callable[[Checkpoint], None]) -> None:
        """Call `run`; if a signal interrupts it, undo what it did."""
        with Checkpoint(self.trace, self.state) as checkpoint:
            try:
                run(checkpoint)
            except (Restage, NeedsConcrete, Unjoinable, NeedsStaging):
                checkpoint.undo()
                raise

    def stage(self, stage: Callable[[], None]) -> None:
        """Stage the loop by `stage`."""
        staged_with_containers(self.trace, stage, self.state)

    def unless(self, stop: Any, rest: Callable[[], Any]) -> None:
        """Stage the rest of the loop under the condition that it does not stop here."""
        stage_if(self.trace, self.trace.record("not", (as_tensor(stop),)), rest, None, self.state)


def report_iterations(checkpoint: Checkpoint, iterations: int, rule: Unrolling) -> None:
    """Report the iterations of a loop over plain values that the graph has one by one."""
    if iterations > 1 and checkpoint.grown:
        kind = "iterations" if rule.asked else "unroll"
        checkpoint.trace.report(kind, f"{iterations} iterations of this loop take {checkpoint.grown} operations")
