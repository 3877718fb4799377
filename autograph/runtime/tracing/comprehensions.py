"""Comprehensions and generator expressions over staged values, or with staged conditions: lists that grow in a loop."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from autograph.common.code_marks import UNBOUND
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.types import ObjectType
from autograph.runtime.tracing.calls.user_operators import truth
from autograph.runtime.tracing.control_flow.body import State
from autograph.runtime.tracing.control_flow.cond import stage_if
from autograph.runtime.tracing.control_flow.for_loop import run_for
from autograph.runtime.tracing.control_flow.speculation import Options
from autograph.runtime.tracing.proxies.graph_break import Unstageable, handled
from autograph.runtime.tracing.proxies.proxy import is_tensor, iterated
from autograph.runtime.tracing.state.exceptions import raise_in_graph
from autograph.runtime.tracing.state.iterators import TracedIterator
from autograph.runtime.tracing.state.staged_containers import as_tensor, is_staged, watched
from autograph.runtime.tracing.state.trace import Trace


class Generated:
    """A comprehension, or generator expression, whose elements are not computed yet.

    Attributes:
        parts: functions of the item: the element, or key and value.
        state: the variables that they reach.
        first: the condition of the first item, if it was computed already; else True.
        several: whether the only part gives the elements for an item, rather than one.
        alone: whether nobody else takes items from what it iterates over, if that is an iterator.
        made: the iterator that traced code has for it, if `generator` made one.
        taken: which elements somebody has taken: none, `some` or `all`. Where paths meet that differ, it is staged.
    """

    def __init__(
        self,
        trace: Trace,
        iterable: Any,
        parts: tuple[Callable[[Any], Any], ...],
        condition: Callable[[Any], Any] | None,
        state: State,
        first: Any = True,
        several: bool = False,
    ) -> None:
        self.trace = trace
        self.iterable = iterable
        self.parts = parts
        self.condition = condition
        self.state = state
        self.first = first
        self.several = several
        self.alone = True
        self.made: TracedIterator | None = None
        self.taken: Any = "none"

    @on_behalf
    def __iter__(self) -> Any:
        return iterated(collect(self, [], ".append"), sys._getframe(1))

    @on_behalf
    def __next__(self) -> Any:
        return first_of(self.trace, self, ())

    def take(self, some: bool) -> Any:
        """What to iterate over for the elements, which are gone then.

        Raises:
            Unstageable: nobody knows how many have been taken before.
        """
        if is_tensor(self.taken) or self.taken == "some":
            raise Unstageable(
                "a generator is used again, of which some elements have been taken already", self.trace.place()
            )
        if type(self.iterable) is TracedIterator:
            self.alone = self.iterable.is_alone(1)
        source = self.iterable if self.taken == "none" else ()
        self.trace.undo_log.touch(self)
        if self.made is not None:
            self.trace.undo_log.touch(self.made)
        self.taken = "some" if some and self.taken == "none" else "all"
        return source

    def feed(self, use: Callable[..., Any], state: State, until: Any = None) -> Callable[[Any], None]:
        """A function of the item that calls `use` with what is made of it, if it passes the condition."""
        pending = [] if self.first is True else [self.first]

        def feed(item: Any) -> None:
            def accept() -> None:
                if self.several:
                    run_over(self.trace, self.parts[0](item), use, state, until, {"unroll": False})
                else:
                    use(*[part(item) for part in self.parts])

            if self.condition is None:
                accept()
                return
            accepted = pending.pop() if pending else self.condition(item)
            if is_staged(accepted):
                stage_if(self.trace, as_tensor(accepted), accept, None, state)
            elif accepted:
                accept()

        return feed


def run_over(
    trace: Trace,
    iterable: Any,
    body: Callable[..., Any],
    state: State,
    until: Callable[[], Any] | None,
    options: Options,
    alone: bool = True,
) -> None:
    """A `for` loop, also over a generator: each iteration computes one of its elements; `alone` as for `run_for`."""
    generated = iterable if isinstance(iterable, Generated) else generated_by(trace, iterable)
    if generated is None:
        run_for(trace, iterable, body, state, until, options, alone)
        return
    source = generated.take(some=until is not None)
    both = _joined(state, generated.state)
    run_over(trace, source, generated.feed(body, both, until), both, until, options, generated.alone)


def _joined(first: State, second: State) -> State:
    """What both reach."""
    cells = {id(getattr(each, "cell", each)) for each in (*first.carried, *first.passing, *first.beyond)}
    more = (*second.carried, *second.passing, *second.beyond)
    both = copy.copy(first)
    both.beyond = (*first.beyond, *(each for each in more if id(getattr(each, "cell", each)) not in cells))
    return both


class StagedCondition(Unstageable):
    """Whether a generator over plain values has another element, is known only when the graph runs.

    Attributes:
        rest: what is left of it.
    """

    def __init__(self, rest: Generated) -> None:
        super().__init__(
            "a generator, whose elements are chosen by what is known only when the program runs, is used by code that "
            "is not staged",
            rest.trace.place(),
        )
        self.rest = rest


def generator(generated: Generated) -> Any:
    """A generator over plain values, for the code that takes its elements; `generated_by` gives `generated` back."""

    @on_behalf
    def elements() -> Generator[Any, None, None]:
        (part,), condition, trace = generated.parts, generated.condition, generated.trace
        iterator = iter(watched(generated.take(some=False)))
        for item in iterator:
            if condition is not None:
                accepted = condition(item)
                if is_staged(accepted):
                    rest = chain((item,), iterator)
                    how = condition, generated.state, accepted, generated.several
                    raise StagedCondition(Generated(trace, rest, (part,), *how))
                if not accepted:
                    continue
            if generated.several:
                yield from _listed(trace, part(item))
            else:
                yield part(item)

    running: Any = elements()
    running.__name__ = "<genexpr>"
    generated.made = made = TracedIterator(generated.trace, running)
    generated.trace.generators[id(made)] = made, generated
    return made


def _listed(trace: Trace, inner: Any) -> Any:
    """The elements for one item, if it is known how many there are."""
    found = elements_of(trace, inner)
    if is_tensor(found) or isinstance(found, Generated):
        raise Unstageable("a generator with several `for`s is used by code that is not staged", trace.place())
    return found


def generated_by(trace: Trace, made: Any) -> Generated | None:
    """What a generator was made of by `generator`, if it has not begun."""
    found = trace.generators.get(id(made))
    return found[1] if found is not None and found[0] is made and found[1].taken == "none" else None


@on_behalf
def elements_of(trace: Trace, made: Any) -> Any:
    """All elements that such a generator gives: a list, or if that has to be, an object of the graph."""
    done: list[Any] = []
    try:
        for element in made:
            done.append(element)
    except StagedCondition as signal:
        handled(signal)
        return collect(signal.rest, done, ".append")
    return done


def collect(generated: Generated, done: Any, op: str) -> Any:
    """Compute all elements, into an object of the graph that begins with `done`.

    Args:
        op: how an element is added: `.append`, `.add` or `setitem`.
    """
    trace = generated.trace
    if isinstance(done, set):
        target = trace.record("call", (set, list(done)))
        target._ag_value.type = ObjectType("set")
    else:
        target = trace.constant(type(done)(done))

    def add(*parts: Any) -> None:
        trace.record(op, (target, *parts))

    source = generated.take(some=False)
    options = {"unroll": False} if type(source) is range else None
    run_over(trace, source, generated.feed(add, generated.state), generated.state, None, options)
    return target


@dataclass(eq=False)
class _Slot:
    """A variable of a loop that the user did not write."""

    name: str
    value: Any

    def get(self) -> Any:
        return self.value

    def set(self, value: Any) -> None:
        self.value = value


def decide(trace: Trace, generated: Generated, consumer: str) -> Any:
    """`any` or `all` of the elements, which are computed until one of them decides."""
    found = _Slot(consumer, consumer == "all")
    state = copy.copy(generated.state)
    state.carried = (found,)

    @on_behalf
    def use(element: Any) -> None:
        element = truth(trace, element)
        found.set(trace.record("bool", (as_tensor(element),)) if is_staged(element) else bool(element))

    def until() -> Any:
        decided = found.get()
        if consumer == "any":
            return decided
        return trace.record("not", (decided,)) if is_staged(decided) else not decided

    source = generated.take(some=True)
    run_over(trace, source, generated.feed(use, state, until), state, until, None, generated.alone)
    return found.get()


@on_behalf
def first_of(trace: Trace, generated: Generated, default: tuple[Any, ...]) -> Any:
    """`next` of the elements, with the default if there is one."""
    found, result = _Slot("found", False), _Slot("element", default[0] if default else UNBOUND)
    state = copy.copy(generated.state)
    state.carried = (found, result)

    def use(element: Any) -> None:
        found.set(True)
        result.set(element)

    source = generated.take(some=True)
    run_over(trace, source, generated.feed(use, state, found.get), state, found.get, None, generated.alone)
    if not default:
        missing = found.get()
        if is_staged(missing):
            stage_if(trace, missing, lambda: None, lambda: raise_in_graph(trace, StopIteration()), state)
        elif not missing:
            raise StopIteration
    return result.get()
