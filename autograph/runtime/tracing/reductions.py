"""Builtins that take the elements of a comprehension one by one, as a loop of the graph: `any`, `sum`, `min`, `max`.

    nearest = min(left, key=lambda k: math.dist(here, points[k]))

Without this, they would get a list of all elements.
"""

from __future__ import annotations

import builtins
import copy
import sys
from collections.abc import Callable
from typing import Any

from autograph.common.trace_rules import on_behalf
from autograph.runtime.tracing.calls.user_operators import truth
from autograph.runtime.tracing.comprehensions import Generated, Slot, consume
from autograph.runtime.tracing.control_flow.cond import branch, stage_if
from autograph.runtime.tracing.control_flow.speculation import Checkpoint
from autograph.runtime.tracing.proxies.graph_break import NeedsConcrete, Unjoinable, handled
from autograph.runtime.tracing.state.exceptions import raise_in_graph
from autograph.runtime.tracing.state.staged_containers import as_tensor, is_staged
from autograph.runtime.tracing.state.trace import Trace

ADDS = sys.version_info < (3, 12)   # later versions' `sum` compensates for the rounding of floats


def decide(trace: Trace, generated: Generated, consumer: str) -> Any:
    """`any` or `all` of the elements, which are computed until one decides."""
    found = Slot(consumer, consumer == "all")

    @on_behalf
    def use(element: Any) -> None:
        element = truth(trace, element)
        found.set(trace.record("bool", (as_tensor(element),)) if is_staged(element) else bool(element))

    def until() -> Any:
        decided = found.get()
        if consumer == "any":
            return decided
        return trace.record("not", (decided,)) if is_staged(decided) else not decided

    consume(generated, (found,), use, until)
    return found.get()


def total(trace: Trace, generated: Generated) -> Any:
    """`sum` of the elements, which are added as they are computed; NotImplemented if the types do not allow this."""
    found = Slot("total", 0)

    @on_behalf
    def use(element: Any) -> None:
        found.set(found.get() + element)

    def sum_up() -> Any:
        consume(generated, (found,), use, None)
        return found.get()

    return _if_types_allow(generated, sum_up)


def _if_types_allow(generated: Generated, compute: Callable[[], Any]) -> Any:
    """The result of `compute`; NotImplemented if the values of a variable of its loop have no common type."""
    with Checkpoint(generated.trace, generated.state) as checkpoint:
        try:
            found = compute()
        except (NeedsConcrete, Unjoinable) as signal:
            handled(signal)
            found = NotImplemented
        if found is NotImplemented:
            checkpoint.undo()
        return found


def extreme(trace: Trace, generated: Generated, name: str, key: Callable[[Any], Any] | None = None) -> Any:
    """`min` or `max` of the elements, compared as they are computed; NotImplemented if the types do not allow this."""
    found, best = Slot("found", False), Slot("best", None)
    least = Slot("key", None) if key is not None else best
    state, slots = copy.copy(generated.state), (found, best) if key is None else (found, best, least)
    state.carried = slots

    @on_behalf
    def use(element: Any) -> None:
        rank = element if key is None else key(element)

        def take() -> None:
            found.set(True)
            best.set(element)
            least.set(rank)

        def compare() -> None:
            is_better = rank < least.get() if name == "min" else rank > least.get()
            branch(trace, truth(trace, is_better), take, None, state)

        branch(trace, found.get(), compare, take, state)

    def choose() -> Any:
        consume(generated, slots, use, None)
        if is_staged(found.get()):
            stage_if(trace, found.get(), lambda: None, lambda: raise_in_graph(trace, _of_none(name)), state)
        return best.get() if is_staged(found.get()) or found.get() else NotImplemented

    return _if_types_allow(generated, choose)


def _of_none(name: str) -> ValueError:
    """The error of `min` or `max` of nothing."""
    try:
        getattr(builtins, name)(())
    except ValueError as error:
        return ValueError(*error.args)
    raise AssertionError("there is an error")
