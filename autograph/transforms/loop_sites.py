"""Loops that are staged on their own: when, and how they run then; see `loop_runner.py`.

A staged loop computes new values of its variables, and then sets them. So if it raises, they are as before. Where that
matters, it has changed nothing else, or that is put back (`loop_contents.py`); then the loop is run again as plain
Python, which raises in the same iteration.
"""

from __future__ import annotations

import math
import sys
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any

from autograph import operators
from autograph.backends.graph import GRAPH
from autograph.common import budget
from autograph.common.code_marks import Shelter
from autograph.common.printing.locations import duration
from autograph.conversion.loop_functions import Loop, NoFunction
from autograph.errors import AutographError, InternalError, StrictError
from autograph.operators.backend import tracing
from autograph.operators.state import UNBOUND, CellVariable, State
from autograph.runtime.dispatch.advice import Advice, merged
from autograph.runtime.dispatch.explain import LoopSummary
from autograph.runtime.dispatch.function import Function
from autograph.runtime.dispatch.tiers import ALLOWED
from autograph.runtime.dispatch.trace_report import advice_on
from autograph.runtime.graph.aliasing import aliasing_of
from autograph.runtime.graph.signature import Traced
from autograph.transforms.loop_contents import Unnoted, is_noting, putting_back
from autograph.transforms.loop_items import SIZED, Items, length_of

COST = 7            # times the threshold: so long plain iterations must take before they are worth staging
USUAL = 0.1         # seconds in which most loops are staged
TRACES = 8          # of one loop: more do not pay
RUNS = 3            # staged runs, after which they are compared with plain ones
TIMED = 32          # staged runs, after which only one of so many is timed
GROWN = 8           # times as many items as when a loop was measured: it is tried again
CHECKS = 16         # how often, at least, the clock is read while a loop becomes hot in one run
SHORT = 1e-5        # seconds of a run that calling a staged loop may take
FAILURES = 8        # staged runs that raise, after which a loop that mostly raises is not staged
MAY_BE_READ = "it changes objects, and if it raises, code around it may read its variables"


def _is_idle() -> bool:
    return tracing() is not GRAPH


def _results(names: Sequence[str], *bodies: FunctionType) -> tuple[Any, ...]:
    """The values of a loop's variables after it, while it is traced; UNBOUND for unbound ones."""
    carried = State(names, *bodies).carried
    return tuple(GRAPH.maybe_unbound(each.get()) for each in carried if isinstance(each, CellVariable))


# `ag__` of loops on their own.
STAGING = types.ModuleType(operators.__name__)
vars(STAGING).update(vars(operators), is_idle=_is_idle, results=_results)


class Outcome(Enum):
    """The result of an attempt to run a loop staged."""

    STAGED = "it has run"
    PLAIN = "nothing; it runs as plain Python"
    REPEATED = "it raised, without having changed anything, and is repeated as plain Python"
    REPEATED_QUIETLY = "the same, without the warnings that it has given already"


@dataclass
class Owner:
    """Facts and settings that the loops of one function have in common.

    Attributes:
        options: those of `ag.function` for engine and tracing.
        threshold: the seconds in a loop after which it may be staged; it is, if it would take `cost` more.
        first: the iterations after which the clock is read; 0 stages loops before they run.
        captured: the cells of functions around the function.
        read_by_others: the variables that inner functions have in common with it.
        set_by_others: those of them that these set.
        shelters: its `try` and `with` statements.
        whole_of: as for `Loop`.
        spent: seconds that went into staging the function, and loops of it, so far.
    """

    options: dict[str, Any]
    threshold: float
    first: int
    captured: tuple[CellType, ...]
    read_by_others: frozenset[str]
    set_by_others: frozenset[str]
    shelters: list[Shelter]
    whole_of: Callable[[CodeType], CodeType | None]
    spent: float = 0.0

    @property
    def cost(self) -> float:
        """About what staging a loop takes, in seconds."""
        return COST * self.threshold


class Site:
    """One loop of a function.

    Attributes:
        is_plain: whether it runs as plain Python from now on.
        is_hot: whether it is staged when it runs.
        wanted: whether an inner loop waits for it to be staged.
        check: the iterations of a run after which the clock is read; then twice as many.
    """

    def __init__(self, owner: Owner, code: CodeType, line: int, parent: Site | None) -> None:
        self.owner = owner
        self.code = code    # which keeps its identity
        self.place = code.co_filename, line
        self.parent = parent
        self.loop: Loop | None = None
        self.is_plain = self.wanted = False
        self.is_hot = not owner.first
        self.check = owner.first
        self.reason = ""
        self.plain, self.staged = Figures(), Figures()
        self.failures = 0
        self.retry_at = 0       # the number of items with which a loop that was not faster is tried again; 0 for none
        self._variants: dict[Any, Variant] = {}
        self.is_sheltered = any(shelter.first <= line <= shelter.last for shelter in owner.shelters)

    def summary(self) -> LoopSummary:
        if self.is_plain or not self.staged.runs:
            return LoopSummary(self.place, 0, self.reason, self.plain.runs, self.plain.seconds)
        traces = [trace for variant in self._variants.values() for trace in variant.function.traces if trace.graph]
        tier = 2 if any(trace.engine == "native" for trace in traces) else 1
        return LoopSummary(self.place, tier, self.reason, self.staged.runs, self.staged.seconds, self.advice)

    def advice(self) -> list[Advice]:
        """The advice on its traces, for reports."""
        return merged(each for variant in self._variants.values() for each in advice_on(variant.function))

    def is_tried_again(self, iterable: Any) -> bool:
        """Whether a loop that was not faster staged is staged again, as it has many more items."""
        if not self.retry_at or type(iterable) not in SIZED or length_of(iterable) < self.retry_at:
            return False
        self.is_plain, self.reason, self.retry_at, self.staged = False, "", 0, Figures()
        return True

    def leave_plain(self, reason: str) -> None:
        self.is_plain, self.is_hot, self.wanted, self.reason = True, False, False, reason

    # Plain iterations -------------------------------------------------------------------------------------------------

    def begin(self, bodies: Sequence[FunctionType], names: Sequence[str]) -> None:
        """Look at the loop in its first run."""
        try:
            loop = Loop(bodies, names, self.owner.captured, self.owner.whole_of)
        except NoFunction as error:
            self.leave_plain(str(error))
            return
        shared = (loop.stored & self.owner.read_by_others) | (self.owner.set_by_others & loop.paths.keys())
        for found, what in (shared, "is shared with an inner function"), (loop.deleted, "is deleted in it"):
            if found:
                self.leave_plain(f"its variable `{min(found)}` {what}")
        self.loop = loop

    def passed(self, count: int, seconds: float, alone: float) -> bool:
        """Add plain iterations; returns whether to stage the rest, if that pays.

        Args:
            alone: the time that this run has taken by now.
        """
        self.plain.count += count
        self.plain.seconds += seconds
        threshold = self.owner.threshold
        if self.is_plain or (self.plain.seconds < threshold and not self.wanted):
            return False
        outer = self._outer()
        if outer is not None:
            outer.wanted = True
        return outer is None or alone >= threshold or self.plain.seconds >= self.owner.cost

    def pays(self, items: Items | None, share: float) -> bool:
        """Whether the rest of a run takes longer than to stage it; if its length is unknown, as long as by now.

        Args:
            share: the part of that time which is that of this thread.
        """
        length = items.length if items is not None else None
        rest = self.plain.seconds if length is None else length * self.plain.each
        self.is_hot, self.wanted = share * rest >= self.owner.cost, False
        return self.is_hot

    def ended(self, count: int, begin: float, whole: bool) -> None:
        """Add the last plain iterations of a run, from a time on; `whole`: they ended the loop."""
        plain, threshold = self.plain, self.owner.threshold
        plain.seconds += budget.wall_time() - begin
        plain.runs += whole
        plain.timed += whole
        plain.count += count
        if threshold and whole and count:
            self.check = max(1, int(threshold / CHECKS / plain.each))
            is_long = plain.seconds > SHORT * plain.runs
            self.is_hot |= is_long and plain.seconds >= self.owner.cost and self._outer() is None

    def _outer(self) -> Site | None:
        """The outermost loop around this one that may be staged yet."""
        found, site = None, self.parent
        while site is not None:
            if not (site.is_plain or site.staged.runs):
                found = site
            site = site.parent
        return found

    def seconds_allowed(self, values: Sequence[Any]) -> float | None:
        """The processor time that staging the loop may take; any if it need not be hot.

        Loops of a function share what its tiers allow; if that is spent, each may take as long as most loops need.
        """
        return max(ALLOWED - self.owner.spent, USUAL, self.plain.seconds) if self.owner.threshold else None

    # Staged runs ------------------------------------------------------------------------------------------------------

    def run(self, call: str, items: Items | None, bodies: Sequence[FunctionType], options: Any) -> Outcome:
        """Run the loop, or the rest of it, staged.

        Args:
            call: of the operator, with `{items}` for the iterable.

        Returns:
            whether it has run; if not, the same variables are as before.
        """
        loop = self.loop
        if loop is None or sys.gettrace() is not None:
            return Outcome.PLAIN
        self.wanted = False
        cells = loop.cells(bodies)
        variant, values = self._variant(loop, cells, call, items, options)
        function, made, own, begin = variant.function, variant.made, time.thread_time(), budget.wall_time()
        dispatcher = function.__call__
        try:
            results = variant.run(*(items.parts if items else ()), *values)
        except (StrictError, InternalError):
            raise
        except Unnoted:
            self._failed(MAY_BE_READ)
            return Outcome.PLAIN
        except BaseException as error:
            if not variant.made and isinstance(error, AutographError):
                self.leave_plain(str(error))
                return Outcome.PLAIN
            if variant.changes or isinstance(error, KeyboardInterrupt):
                self.staged.runs += 1
                leave_out(error, dispatcher)
                raise
            self._failed(f"it mostly raises {type(error).__name__}")
            return Outcome.REPEATED if isinstance(error, Warning) else Outcome.REPEATED_QUIETLY
        finally:
            self.owner.spent += time.thread_time() - own if variant.made != made else 0.0
        if results is None:
            self._not_staged(variant)
            return Outcome.PLAIN
        for at, value in zip(loop.outputs_at, results):
            if value is UNBOUND:
                CellVariable("", cells[at]).set(value)
            else:
                cells[at].cell_contents = value
        self.staged.runs += 1
        if variant.made != made:
            self._traced()
        elif self.staged.timed < TIMED or not self.staged.runs % TIMED:
            self._measured(budget.wall_time() - begin, items.length if items and len(bodies) == 1 else None)
        return Outcome.STAGED

    def _variant(
        self, loop: Loop, cells: Sequence[CellType], call: str, items: Items | None, options: Any
    ) -> tuple[Variant, list[Any]]:
        """The variant for the form of the iterable and the variables that are bound; and the values of these."""
        bound = None
        try:
            values = [cell.cell_contents for cell in cells]
        except ValueError:
            bound = tuple([name for name, cell in zip(loop.inputs, cells) if _is_bound(cell)])
            values = [cell.cell_contents for cell in cells if _is_bound(cell)]
        form = (items.text, items.begun) if items else None
        found = self._variants.get((form, bound))
        if found is None:
            found = Variant(self, loop, call, items, loop.inputs if bound is None else bound, options)
            self._variants[form, bound] = found
        return found, values

    def _traced(self) -> None:
        if sum(variant.made for variant in self._variants.values()) >= TRACES:
            self.leave_plain("it would be traced again and again")

    def _failed(self, reason: str) -> None:
        self.staged.runs += 1
        self.failures += 1
        if self.failures > FAILURES and 2 * self.failures > self.staged.runs:
            self.leave_plain(reason)

    def _not_staged(self, variant: Variant) -> None:
        reason = next((trace.plain for trace in reversed(variant.function.traces) if trace.plain), "")
        if reason and not variant.is_rest:
            self.leave_plain(reason)

    def _measured(self, seconds: float, count: int | None) -> None:
        """Add a staged run; if several were not faster than plain ones, the loop runs as plain Python."""
        staged, plain = self.staged, self.plain
        staged.add(seconds, count or 0)
        if staged.timed < RUNS or staged.seconds < self.owner.threshold or not self.owner.threshold:
            return
        before, now = (plain.each, staged.best) if count else (plain.mean, staged.mean)
        if before and now > before:
            what = "iteration" if count else "run"
            figures = f"{duration(now)} for each {what}, and {duration(before)} as plain Python"
            self.leave_plain(f"it is not faster: {figures}")
            self.retry_at = GROWN * (count or 0)


@dataclass
class Figures:
    """The runs of a loop in a tier; of those that were timed, the iterations and seconds.

    Attributes:
        best: the fewest seconds of an iteration: compiling is part of some runs.
        worst: the seconds of the run that took longest.
    """

    runs: int = 0
    timed: int = 0
    count: int = 0
    seconds: float = 0.0
    best: float = math.inf
    worst: float = 0.0

    def add(self, seconds: float, count: int) -> None:
        """Add a run that was timed."""
        self.timed += 1
        self.count += count
        self.seconds += seconds
        self.best = min(self.best, seconds / count) if count else self.best
        self.worst = max(self.worst, seconds)

    @property
    def each(self) -> float:
        """The seconds of an iteration."""
        return self.seconds / self.count if self.count else 0.0

    @property
    def mean(self) -> float:
        """The seconds of a run, without the longest of several."""
        if self.timed < 2:
            return self.seconds
        return (self.seconds - self.worst) / (self.timed - 1)


class Variant:
    """A loop as a staged function, for one form of the iterable, and those of its variables that are bound.

    Attributes:
        is_rest: whether it has a copy of the rest of a list, which does not see what happens to the list.
        changes: whether it changes anything but the variables of the loop, and this is not put back if it raises.
        run: calls it.
    """

    def __init__(
        self, site: Site, loop: Loop, call: str, items: Items | None, bound: Sequence[str], options: Any
    ) -> None:
        self.is_rest = items is not None and items.begun
        self.changes = False
        self._must_repeat = site.is_sheltered and bool(loop.outputs)
        names = [f"ag__item_{number}" for number in range(len(items.parts) if items else 0)]
        call = call.format(items=items.text.format(*names) if items else "")
        function = loop.function(call, names, bound, options, STAGING)
        function.__ag_check__ = self.check
        self.function: Function[..., Any] = Function(function, **site.owner.options)
        self.run = partial(putting_back, self.function) if self._must_repeat else self.function
        self._specializer = self.function._specializer
        self._specializer.seconds_allowed = site.seconds_allowed

    @property
    def made(self) -> int:
        """The number of traces that were made."""
        return self._specializer.made

    def check(self, traced: Traced) -> Traced:
        """A trace, unless it does something that must not happen in it."""
        if traced.graph is None or not aliasing_of(traced.graph).changes_outside():
            return traced
        if self.is_rest:
            return Traced(None, plain="it may change the list that it iterates over", events=traced.events)
        if self._must_repeat and not is_noting(traced.graph):
            return Traced(None, plain=MAY_BE_READ, events=traced.events)
        self.changes = not self._must_repeat
        return traced


def _is_bound(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def leave_out(error: BaseException, dispatcher: Any) -> None:
    """Take the dispatcher of a loop, which has the name of the user's function, out of the traceback of `error`."""
    own = error.__traceback__
    code = getattr(dispatcher, "__code__", None)
    if own is not None and own.tb_next is not None and own.tb_next.tb_frame.f_code is code:
        own.tb_next = own.tb_next.tb_next
