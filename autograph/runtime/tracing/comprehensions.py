"""Comprehensions, generator expressions and lazy builtins over staged values, or with staged conditions.

A comprehension with staged parts is a loop that appends to a list. A generator expression computes its elements only
when they are taken, and so do `map`, `zip` and the like.
"""

from __future__ import annotations

import builtins
import copy
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from autograph.common.code_marks import UNBOUND
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.effects import ITERATOR, category, effect_of
from autograph.runtime.graph.graph import Node, Value, user_line
from autograph.runtime.graph.opdef import ORDERED
from autograph.runtime.graph.traits import INSERTS, LOOP
from autograph.runtime.graph.types import ObjectType, length_of
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.control_flow.cond import State, branch, stage_if
from autograph.runtime.tracing.control_flow.python_loops import ForLoop
from autograph.runtime.tracing.control_flow.speculation import SHORT, STAGED, UNROLL, Checkpoint, Unrolling
from autograph.runtime.tracing.proxies.graph_break import (
    NeedsConcrete,
    NeedsStaging,
    Restart,
    Unjoinable,
    Unstageable,
    handled,
)
from autograph.runtime.tracing.proxies.proxy import is_tensor, iterated
from autograph.runtime.tracing.state.exceptions import raise_in_graph
from autograph.runtime.tracing.state.iterators import TracedIterator, is_staged_here, iterables_of_graph, traced
from autograph.runtime.tracing.state.staged_containers import (
    is_spread,
    is_staged,
    iterated_container,
    watched,
)
from autograph.runtime.tracing.state.trace import Trace

LISTED = 64  # elements over a range that may become a list in traced code


@dataclass(eq=False)
class Generated:
    """A comprehension or generator expression whose elements are not computed yet.

    Attributes:
        parts: functions of the item: the element, or key and value.
        state: the variables that they can reach.
        first: the condition of the first item, if it was computed already; else True.
        flattens: whether the only part gives several elements for an item, rather than one.
        exclusive: whether no other code takes items from its iterable, if that is an iterator.
        iterator: the iterator that traced code has for it, if `generator` made one.
        consumed: the elements that were taken: "none", "some" or "all"; staged if it depends on the path.
        is_expression: whether it is a generator expression.
    """

    trace: Trace
    iterable: Any
    parts: tuple[Callable[[Any], Any], ...]
    condition: Callable[[Any], Any] | None
    state: State
    first: Any = True
    flattens: bool = False
    exclusive: bool = True
    iterator: TracedIterator | None = None
    consumed: Any = "none"
    is_expression: bool = False

    @on_behalf
    def __iter__(self) -> Any:
        return iterated(collect(self, [], ".append"), sys._getframe(1))

    @on_behalf
    def __next__(self) -> Any:
        return first_of(self.trace, self, ())

    def take(self, some: bool) -> Any:
        """Take all elements, or `some`; returns the iterable to compute them from.

        Raises:
            Unstageable: the number of elements that were taken before is unknown.
        """
        if is_tensor(self.consumed) or self.consumed == "some":
            self.trace.unstageable("a generator is used again, of which some elements have been taken already")
        if type(self.iterable) is TracedIterator:
            self.exclusive = self.iterable.is_exclusive(1)
        source = self.iterable if self.consumed == "none" else ()
        self.trace.undo_log.touch(self)
        if self.iterator is not None:
            self.trace.undo_log.touch(self.iterator)
        self.consumed = "some" if some and self.consumed == "none" else "all"
        return source

    def feed(self, use: Callable[..., Any], state: State, until: Any = None) -> Callable[[Any], None]:
        """A function of the item that calls `use` with the element, or key and value, if the condition holds."""
        pending = [] if self.first is True else [self.first]

        def feed(item: Any) -> None:
            def accept() -> None:
                if self.flattens:
                    run_over(ForLoop(self.trace, use, state, until, STAGED), self.compute(self.parts[0], item))
                else:
                    use(*[self.compute(part, item) for part in self.parts])

            if self.condition is None:
                accept()
                return
            branch(self.trace, pending.pop() if pending else self.compute(self.condition, item), accept, None, state)

        return feed

    def compute(self, function: Callable[[Any], Any], item: Any) -> Any:
        """The result of a part or condition for an item. A StopIteration cannot leave a generator expression."""
        if not self.is_expression:
            return function(item)
        self.trace.special_calls.append("__next__")
        try:
            return function(item)
        except StopIteration as error:
            raise RuntimeError("generator raised StopIteration") from error
        finally:
            self.trace.special_calls.pop()


def is_long(generated: Generated) -> bool:
    """Whether a comprehension over plain values is better a loop of the graph than the list of its elements.

    Its elements are many, or the first one records a loop, or as many operations as those of a loop may at most.
    """
    source, trace = generated.iterable, generated.trace
    if generated.flattens and type(source) in (range, list, tuple) and source:
        if any(_is_open(generated, item) for item in (source[0], source[-1])):
            return True
    if type(source) is not range or len(source) <= UNROLL:
        return False
    if len(source) > LISTED:
        return True
    with Checkpoint(trace, generated.state) as checkpoint:
        try:
            if generated.condition is None or generated.condition(source[0]) is not False:
                for part in generated.parts:
                    part(source[0])
            nodes = trace.block.nodes[checkpoint.nodes :]
            return checkpoint.grown > SHORT // UNROLL or any(node.op in LOOP for node in nodes)
        except (NeedsConcrete, NeedsStaging, Unjoinable) as signal:
            handled(signal)
            return False
        except Exception:       # the element raises it again when it is computed
            return False
        finally:
            checkpoint.undo()


def _is_open(generated: Generated, item: Any) -> bool:
    """Whether only the graph knows how many elements a comprehension with several `for`s has for an item."""
    trace, (inner,) = generated.trace, generated.parts
    with Checkpoint(trace, generated.state) as checkpoint:
        try:
            if generated.condition is not None and generated.condition(item) is False:
                return False
            found = inner(item)
            if generated_by(trace, found) is not None:
                found = elements_of(trace, found)
            return isinstance(found, Generated) or (is_tensor(found) and length_of(trace.type_of(found)) is None)
        except (NeedsConcrete, NeedsStaging, Unjoinable) as signal:
            handled(signal)
            return False
        except Exception:       # as above
            return False
        finally:
            checkpoint.undo()


def run_over(loop: ForLoop, iterable: Any) -> None:
    """Run a `for` loop, also over a generator, of which each iteration computes an element."""
    generated = as_generated(loop.trace, iterable)
    if generated is None:
        loop.run(iterable)
        return
    source = generated.take(some=loop.until is not None)
    state = _joined(loop.state, generated.state)
    feed = generated.feed(loop.body, state, loop.until)
    run_over(replace(loop, body=feed, state=state, exclusive=generated.exclusive), source)


def _joined(first: State, second: State) -> State:
    """The variables that both can reach."""
    known = set(map(_identity, (*first.carried, *first.passing, *first.beyond)))
    more = (*second.carried, *second.passing, *second.beyond)
    both = copy.copy(first)
    both.beyond = (*first.beyond, *(each for each in more if _identity(each) not in known))
    return both


def _identity(variable: Any) -> tuple[int, str]:
    """Which variable it is: two objects may represent one."""
    return id(getattr(variable, "holder", variable)), variable.name


class StagedCondition(Unstageable):
    """Only the graph knows whether a generator over plain values has another element.

    Attributes:
        rest: the remaining elements.
    """

    def __init__(self, rest: Generated) -> None:
        super().__init__(
            "a generator, whose elements are chosen by what is known only when the program runs, is used by code that "
            "is not staged",
            rest.trace.place(),
        )
        self.rest = rest


def generator(generated: Generated) -> Any:
    """A generator over plain values; `generated_by` returns its `generated`."""

    @on_behalf
    def elements() -> Generator[Any, None, None]:
        (part,), condition, trace = generated.parts, generated.condition, generated.trace
        iterator = iter(watched(generated.take(some=False)))
        for item in iterator:
            if condition is not None:
                accepted = condition(item)
                if is_staged(accepted):
                    rest = chain((item,), iterator)
                    how = condition, generated.state, accepted, generated.flattens
                    raise StagedCondition(Generated(trace, rest, (part,), *how))
                if not accepted:
                    continue
            if generated.flattens:
                yield from _listed(trace, part(item))
            else:
                yield part(item)

    running: Any = elements()
    running.__name__ = "<genexpr>"
    generated.iterator = iterator = TracedIterator(generated.trace, running)
    generated.trace.generators[id(iterator)] = iterator, generated
    return iterator


def _listed(trace: Trace, inner: Any) -> Any:
    """The elements for one item, if their number is known."""
    found = elements_of(trace, inner)
    if is_tensor(found) or isinstance(found, Generated):
        trace.unstageable("a generator with several `for`s is used by code that is not staged")
    return found


def generated_by(trace: Trace, made: Any) -> Generated | None:
    """The expression of a generator that `generator` made, if none of its elements was taken."""
    found = trace.generators.get(id(made))
    return found[1] if found is not None and found[0] is made and found[1].consumed == "none" else None


@on_behalf
def elements_of(trace: Trace, made: Any) -> Any:
    """All elements of such a generator: a list, or an object of the graph if there are staged conditions."""
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
        op: adds an element: `.append`, `.add` or `setitem`.
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
    rule = STAGED if type(source) is range else Unrolling()
    run_over(ForLoop(trace, generated.feed(add, generated.state), generated.state, None, rule), source)
    return target


@dataclass(eq=False)
class Slot:
    """A variable of a loop that is not in the user's code."""

    name: str
    value: Any

    def get(self) -> Any:
        return self.value

    def set(self, value: Any) -> None:
        self.value = value


def consume(generated: Generated, slots: tuple[Slot, ...], use: Callable[[Any], None], until: Any) -> State:
    """Call `use` for elements until `until` is true; returns the state of that loop, which carries the slots."""
    state = copy.copy(generated.state)
    state.carried = slots
    source = generated.take(some=True)
    loop = ForLoop(generated.trace, generated.feed(use, state, until), state, until, Unrolling(), generated.exclusive)
    run_over(loop, source)
    return state


@on_behalf
def first_of(trace: Trace, generated: Generated, default: tuple[Any, ...]) -> Any:
    """`next` of the elements, with a default if there is one."""
    found, result = Slot("found", False), Slot("element", default[0] if default else UNBOUND)

    def use(element: Any) -> None:
        found.set(True)
        result.set(element)

    state = consume(generated, (found, result), use, found.get)
    if not default:
        if is_staged(found.get()):
            stage_if(trace, found.get(), lambda: None, lambda: raise_in_graph(trace, StopIteration()), state)
        elif not found.get():
            raise StopIteration
    return result.get()


def mapping(trace: Trace, function: Callable[[Any], Any]) -> Callable[[Any], Any] | None:
    """A function for the elements of `map(function, xs)`; None if one may end the iteration by a `StopIteration`."""
    key = "mapped", *(user_line(trace.place()) or ())
    if key in trace.context.late:
        return None

    @on_behalf
    def element(item: Any) -> Any:
        block, count = trace.block, len(trace.block.nodes)
        try:
            found = function(item)
        except StopIteration:
            raise Restart({key}) from None
        if trace.block is not block or any(map(_may_end, block.nodes[count:])):
            raise Restart({key})
        return found

    return element


def _may_end(node: Node) -> bool:
    """Whether a node may raise `StopIteration`: it runs unknown code, or takes an item from an iterator."""
    if effect_of(node).wild or any(category(each) == ITERATOR for each in node.inputs):
        return True
    return any(_may_end(inner) for block in node.blocks for inner in block.nodes)


LAZY = frozenset({"enumerate", "zip", "map", "filter", "iter", "reversed"})


@on_behalf
def iterator_of(trace: Trace, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a builtin function that makes an iterator."""
    if name == "zip" and trace.staged_items and is_spread(args):    # `zip(*rows)`
        return trace.record(name, args, dict(kwargs))
    args = tuple(_one_by_one(trace, part) for part in args)
    make, is_one = getattr(builtins, name), name in ("iter", "reversed") and len(args) == 1
    if name == "iter" and is_one and type(args[0]) is TracedIterator:
        return args[0]
    if is_staged_here(trace) or any(map(is_staged, (*args, *kwargs.values()))):
        return trace.record(name, iterables_of_graph(trace, args), dict(kwargs))
    if is_one:
        return traced(trace, make(*args), args, iterated_container(args[0]))
    return traced(trace, make(*map(watched, args), **kwargs), args)


@on_behalf
def _one_by_one(trace: Trace, value: Any) -> Any:
    """An iterable to take items from one by one, instead of a generator expression.

    Raises:
        Plain: the program would notice that all elements are computed at once.
    """
    generated = as_generated(trace, value)
    if generated is None or type(generated.iterable) is TracedIterator:
        return trace.context.environment.array(value) if type(value) is np.ndarray else value
    nodes, changes = len(trace.block.nodes), trace.undo_log.begin()
    found = collected(trace, value)
    trace.undo_log.keep()
    touched = {type(thing) for thing, _ in changes} - {TracedIterator, Generated}
    if found is not value and (touched or _can_be_seen(trace.block.nodes[nodes:])):
        trace.graph_break("an iterator takes the elements of a generator one by one")
    return found


def _can_be_seen(nodes: list[Node], own: frozenset[Value] = frozenset()) -> bool:
    """Whether the program notices when nodes run that compute elements, and append them to a list of their own."""
    own = own | {output for node in nodes if node.op == "build" for output in node.outputs}
    for node in nodes:
        if node.op in ("for", "if"):
            effect = effect_of(node)
            if effect.kind == ORDERED or effect.writes or any(_can_be_seen(block.nodes, own) for block in node.blocks):
                return True
        elif not (is_quiet(node) or (node.op in INSERTS and node.args[0] in own)):
            return True
    return False


def as_generated(trace: Trace, value: Any) -> Generated | None:
    """The generator expression of a value, if none of its elements was taken."""
    return value if isinstance(value, Generated) else generated_by(trace, value)


@on_behalf
def collected(trace: Trace, value: Any) -> Any:
    """An argument of a builtin function: the proxy of an array; all elements of a generator; others as they are."""
    if type(value) is np.ndarray:
        return trace.context.environment.array(value)
    generated = generated_by(trace, value)
    if generated is not None and generated.condition is not None:
        return elements_of(trace, value)
    return collect(value, [], ".append") if isinstance(value, Generated) else value
