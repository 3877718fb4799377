"""Builtin functions that make iterators, which take items one by one: over plain values, or in the graph."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import ORDERED
from autograph.runtime.graph.traits import INSERTS
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.comprehensions import Generated, collect, elements_of, generated_by
from autograph.runtime.tracing.proxies.graph_break import Plain
from autograph.runtime.tracing.state.iterators import TracedIterator, is_staged_here, iterables_of_graph, traced
from autograph.runtime.tracing.state.staged_containers import is_staged, iterated_container, watched
from autograph.runtime.tracing.state.trace import Trace

LAZY = frozenset({"enumerate", "zip", "map", "filter", "iter", "reversed"})


@on_behalf
def iterator_of(trace: Trace, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What such a function gives."""
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
    """What an iterator takes items from, one by one, in the place of a generator expression.

    Raises:
        Plain: it makes a difference whether all elements are computed at once.
    """
    generated = as_generated(trace, value)
    if generated is None or type(generated.iterable) is TracedIterator:
        return trace.context.environment.array(value) if type(value) is np.ndarray else value
    nodes, changes = len(trace.block.nodes), trace.undo_log.begin()
    found = collected(trace, value)
    trace.undo_log.keep()
    touched = {type(thing) for thing, _ in changes} - {TracedIterator, Generated}
    if found is not value and (touched or _can_be_seen(trace.block.nodes[nodes:])):
        raise Plain("an iterator takes the elements of a generator one by one", trace.place())
    return found


def _can_be_seen(nodes: list[Node], own: frozenset[Value] = frozenset()) -> bool:
    """Whether it makes a difference when nodes run that compute elements, and append them to a list of their own."""
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
    """The generator expression that a value stands for, if none of its elements has been taken."""
    return value if isinstance(value, Generated) else generated_by(trace, value)


@on_behalf
def collected(trace: Trace, value: Any) -> Any:
    """What a builtin function gets in the place of an array, or of a generator expression of which it takes all."""
    if type(value) is np.ndarray:
        return trace.context.environment.array(value)
    generated = generated_by(trace, value)
    if generated is not None and generated.condition is not None:
        return elements_of(trace, value)
    return collect(value, [], ".append") if isinstance(value, Generated) else value
