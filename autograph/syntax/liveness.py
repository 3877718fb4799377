"""Liveness analysis: finds the live names at each step, and from them the state of each construct that becomes a call.

A name is live at a step if a path from there reads it before writing it. Names that inner functions capture, and
globals, are live everywhere, since they may be read at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from autograph.syntax import binding, cfg, scope


@dataclass
class State:
    """The names that a construct shares with the code around it.

    Attributes:
        names: the names written in the construct and live after it, live in the next iteration, or passed from the test
            of a `while` to its body; in order of first appearance.
        shared: for each body, the names that must not be local to it: `names`, and the names that it reads before
            writing.
    """

    names: list[str]
    shared: dict[str, list[str]]


def analyze(function: gast.AST) -> list[str]:
    """Set `node.state` on every construct of a `FunctionDef` that will be converted, and mark unbound reads.

    Returns:
        the names that are live at the entry: some path reads them unbound, unless they are parameters.
    """
    own = scope.uses(*function.body)
    order = [*scope.parameters(function), *own.writes, *own.reads, *own.captured]
    graph = cfg.build(function, list(dict.fromkeys(order)), own.rebound)
    always = graph.bits([*own.captured, *own.globals, *own.nonlocals])
    live = solve(graph)
    binding.mark(function, own, graph, live)
    for construct in graph.constructs:
        construct.node.state = _state(graph, construct, live, always)
    return graph.listed(live[graph.entry])


def solve(graph: cfg.Graph) -> list[int]:
    """Return the names that are live before each step."""
    live = [0] * len(graph.steps)
    changed = True
    while changed:
        changed = False
        for i, step in enumerate(graph.steps):
            now = 0
            for successor in step.successors:
                now |= live[successor]
            now = step.reads | (now & ~step.writes)
            for handler in step.handlers:
                now |= live[handler]
            if now != live[i]:
                live[i], changed = now, True
    return live


def _state(graph: cfg.Graph, construct: cfg.Construct, live: list[int], always: int) -> State:
    after = live[construct.after] | always
    if construct.head is not None:
        after |= live[construct.head] | graph.bits(getattr(construct.node, "until", ()))
    written = 0
    shared = {}
    for body, (entry, names) in construct.bodies.items():
        written |= names
        # Each iteration writes the target of a `for` first, so it is shared only if it is live after the loop.
        shared[body] = graph.listed(names & (after | live[entry] | construct.test))
        after |= live[entry] & construct.test  # passed from the test of a `while` to its body
    return State(graph.listed(written & after), shared)
