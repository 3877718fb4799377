"""Builtins that take the elements of a comprehension one by one, as a loop of the graph: `any`, `sum`, `min`, `max`.

    nearest = min(left, key=lambda k: math.dist(here, points[k]))

Without this, they would get a list of all elements.
"""

from __future__ import annotations

import builtins
import copy
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from autograph.common.cpython_internals import COMPENSATES
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.types import BOOL, COMPLEX, FLOAT, INT, TensorType, Type, type_of
from autograph.runtime.tracing.calls.user_operators import truth
from autograph.runtime.tracing.comprehensions import Generated, Slot, consume
from autograph.runtime.tracing.control_flow.cond import branch, stage_if
from autograph.runtime.tracing.control_flow.speculation import Checkpoint
from autograph.runtime.tracing.proxies.graph_break import NeedsConcrete, Unjoinable, handled
from autograph.runtime.tracing.state.exceptions import raise_in_graph
from autograph.runtime.tracing.state.staged_containers import as_tensor, is_staged
from autograph.runtime.tracing.state.trace import Trace


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
    found, lost = Slot("total", 0), Slot("what rounding loses", 0.0)
    state, slots = copy.copy(generated.state), (found, lost) if COMPENSATES else (found,)
    state.carried, elements = slots, set[Type]()

    @on_behalf
    def use(element: Any) -> None:
        before = found.get()
        found.set(before + element)
        elements.add(_type(element))
        if COMPENSATES and _is_of_floats(trace, _type(before), elements):
            add_loss(before, element, found.get())

    def add_loss(before: Any, element: Any, after: Any) -> None:
        """Add what rounding loses: Neumaier's algorithm, as CPython's."""
        of_element = lambda: lost.set(lost.get() + ((before - after) + element))  # noqa: E731
        of_total = lambda: lost.set(lost.get() + ((element - after) + before))  # noqa: E731
        branch(trace, abs(before) >= abs(element), of_element, of_total, state)

    def add_lost() -> None:
        found.set(found.get() + lost.get())

    @on_behalf
    def sum_up() -> Any:
        consume(generated, slots, use, None)
        is_finite = lambda: branch(trace, abs(lost.get()) < math.inf, add_lost, None, state)  # noqa: E731
        branch(trace, lost.get() != 0.0, is_finite, None, state)
        return found.get()

    return _if_types_allow(generated, sum_up)


def _is_of_floats(trace: Trace, total: Type, elements: set[Type]) -> bool:
    """Whether Python adds up what rounding loses when it adds to a sum.

    Args:
        total: the type of the sum, which began as an integer.
        elements: the types of the elements so far, with that of the one to add.

    Raises:
        Unjoinable: it depends on values.
    """
    if FLOAT in elements and (total == FLOAT or len(elements) == 1) and total != INT:
        return True
    is_exact = isinstance(total, TensorType) and total.exact and total not in (FLOAT, COMPLEX)
    if is_exact or all(isinstance(each, TensorType) and each.exact and not each.weak for each in elements):
        return False
    if elements <= {INT, BOOL}:
        return False
    raise Unjoinable("the sum", "a float", "another number", None, trace.place())


def to_sum(items: Any) -> Any:
    """A list of the items of an iterator, if they are numbers or proxies; others as they are.

    Python's own `sum` would add proxies one by one, without what rounding loses.
    """
    if not COMPENSATES or not issubclass(type(items), Iterator):
        return items
    found: list[Any] = []
    for item in items:
        found.append(item)
        if not is_staged(item) and type(item) not in (bool, int, float, complex):
            return itertools.chain(found, items)
    return found


def _type(value: Any) -> Type:
    return as_tensor(value)._ag_value.type if is_staged(value) else type_of(value)


def _if_types_allow(generated: Generated, compute: Callable[[], Any]) -> Any:
    """The result of `compute`; NotImplemented if the values of a variable of its loop have no common type."""
    trace = generated.trace
    with Checkpoint(trace, generated.state) as checkpoint:
        try:
            found = compute()
        except (NeedsConcrete, Unjoinable) as signal:
            handled(signal)
            found = NotImplemented
        if found is NotImplemented:
            changed = [container for container, _ in trace.undo_log.stack[-1].before.values()]
            checkpoint.before |= {Slot("generator", each): each for each in changed if isinstance(each, Generated)}
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
