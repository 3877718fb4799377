"""Hoisting of tables: build a list or tuple of numbers once, if it is only indexed.

    for(r):                             t = build([a, b, c])
      body(i):                          for(r):
        t = build([a, b, c])     →        body(i):
        v = t[i]                            v = t[i]

Such lists come from arguments that were flattened and are then indexed by a staged value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from autograph.runtime.graph.effects import is_mutable
from autograph.runtime.graph.graph import Graph, Node, Value, used_by, walk, walk_blocks
from autograph.runtime.graph.traits import LOOP
from autograph.runtime.passes.rewriter import Outcome, key


def run(graph: Graph) -> Outcome:
    """Build tables of values from outside of all loops before the statement that uses them."""
    outcome, nodes = Outcome(), list(walk(graph.block))
    tables = _tables(graph, nodes)
    if not tables:
        return outcome
    known = {*graph.params}
    made: dict[object, Node] = {}
    instead: dict[Value, Value] = {}
    moved: set[Node] = set()
    statements, graph.block.nodes = graph.block.nodes, []
    for node in statements:
        graph.block.append(node)
        for inner, looped in _inside(node, False):
            if inner.op == "build" and inner.output in tables and known.issuperset(inner.inputs):
                same = key(inner.args)
                if same not in made and looped:
                    made[same] = Node(inner.op, inner.args, None, (), inner.place)
                    made[same].add_output(inner.output.type, inner.output.name)
                    graph.block.nodes.insert(-1, made[same])
                if same in made:
                    instead[inner.output] = made[same].output
                    moved.add(inner)
        known.update(node.outputs)
    for node in nodes:
        if node.op == "getitem" and node.args[0] in instead:
            node.args = (instead[node.args[0]], *node.args[1:])
    for block in walk_blocks(graph.block) if moved else ():
        block.nodes = [node for node in block.nodes if node not in moved]
    outcome.changed = bool(moved)
    return outcome


def _tables(graph: Graph, nodes: list[Node]) -> set[Value]:
    """The lists and tuples of numbers that are only indexed."""
    found = {
        node.output
        for node in nodes
        if node.op == "build" and type(node.args[0]) in (list, tuple) and not any(map(is_mutable, node.args[0]))
    }
    looks = Counter(node.args[0] for node in nodes if node.op == "getitem" and isinstance(node.args[0], Value))
    uses = Counter(graph.block.result_values)
    for node in nodes if found else ():
        uses.update(used_by(node))
    return {value for value in found if uses[value] == looks[value]}


def _inside(node: Node, looped: bool) -> Iterator[tuple[Node, bool]]:
    """A node and those in its blocks, each with a flag for being in a loop."""
    yield node, looped
    for block in node.blocks:
        for inner in block.nodes:
            yield from _inside(inner, looped or node.op in LOOP)
