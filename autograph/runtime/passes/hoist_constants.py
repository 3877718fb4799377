"""Hoisting of tables: build a list, tuple or dict of numbers, or of tuples, once, if the program only looks into it.

    for(r):                             t = build([a, b, c])
      body(i):                          for(r):
        t = build([a, b, c])     →        body(i):
        v = t[i]                            v = t[i]

Such containers come from arguments that were flattened, into which a staged value then looks. In `i in [a, b]` the list
is an argument of the node. If items are tuples, the program only takes apart what it finds: `op, arg = program[pc]`. So
it cannot tell whether they are the same objects as in the iteration before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from autograph.runtime.graph.effects import is_mutable
from autograph.runtime.graph.graph import Graph, Node, Value, used_by, values_in, walk, walk_blocks
from autograph.runtime.graph.traits import LOOKS_INTO, LOOP, ON_CONTAINER
from autograph.runtime.ops.inference.containers import build_type
from autograph.runtime.passes.rewriter import Outcome, key


def run(graph: Graph) -> Outcome:
    """Build tables of values from outside of all loops before the statement that uses them."""
    nodes = list(walk(graph.block))
    hoisting = _Hoisting(_tables(graph, nodes))
    if not hoisting.tables and not any(_literal(node) is not None for node in nodes):
        return Outcome()
    known = {*graph.params}
    statements, graph.block.nodes = graph.block.nodes, []
    for node in statements:
        graph.block.append(node)
        for inner, looped in _inside(node, False):
            graph.block.nodes[-1:-1] = hoisting.of(inner, known, looped)
        known.update(node.outputs)
    for node in nodes if hoisting.instead else ():
        place = _place(node)
        if place is not None and isinstance(node.args[place], Value) and node.args[place] in hoisting.instead:
            _look_into(node, hoisting.instead[node.args[place]])
    for block in walk_blocks(graph.block) if hoisting.moved else ():
        block.nodes = [node for node in block.nodes if node not in hoisting.moved]
    return hoisting.outcome


class _Hoisting:
    """
    Attributes:
        tables: the containers that may move.
        instead: for those that have moved, what takes their place.
        moved: the nodes that made them.
    """

    def __init__(self, tables: set[Value]) -> None:
        self.tables = tables
        self.instead: dict[Value, Value] = {}
        self.moved: set[Node] = set()
        self.outcome = Outcome()
        self._made: dict[object, Value] = {}

    def of(self, node: Node, known: set[Value], looped: bool) -> list[Node]:
        """Hoist the container that a node makes, or looks into. Returns the node that makes it now, if it is new."""
        is_table = node.op == "build" and node.output in self.tables
        parts = node.args[0] if is_table else _literal(node)
        if parts is None or not known.issuperset(values_in(parts)):
            return []
        same, new = key(parts), list[Node]()
        if same not in self._made and looped:
            new = [Node("build", (parts,), None, (), node.place)]
            name = node.output.name if is_table else ""
            self._made[same] = new[0].add_output(node.output.type if is_table else build_type(parts), name)
        if same in self._made:
            self.outcome.changed = True
            if is_table:
                self.instead[node.output] = self._made[same]
                self.moved.add(node)
            else:
                _look_into(node, self._made[same])
        return new


def _tables(graph: Graph, nodes: list[Node]) -> set[Value]:
    """The containers into which the program only looks."""
    tuples = {node.output for node in nodes if node.op == "build" and _is_of_tuples(node.args[0])}
    found = {node.output for node in nodes if node.op == "build" and _is_of_numbers(node.args[0])} | tuples
    found -= _taken(graph, nodes, tuples) if tuples else set()
    looked_into = (node.args[place] for node in nodes if (place := _place(node)) is not None)
    looks = Counter(each for each in looked_into if isinstance(each, Value))
    uses = Counter(graph.block.result_values)
    for node in nodes if found else ():
        uses.update(used_by(node))
    return {value for value in found if uses[value] == looks[value]}


def _taken(graph: Graph, nodes: list[Node], tables: set[Value]) -> set[Value]:
    """The tables of tuples of which the program takes one as a whole."""
    items = {node.output: node.args[0] for node in nodes if _place(node) == 0 and node.outputs}
    items = {item: table for item, table in items.items() if table in tables}
    uses, parted = Counter(graph.block.result_values), Counter[Value]()
    for node in nodes:
        uses.update(used_by(node))
        if node.op == "unpack" or (node.op == "getitem" and not isinstance(node.args[1], slice)):
            parted.update(values_in(node.args[0]))
    return {table for item, table in items.items() if uses[item] != parted[item]}


def _is_of_tuples(parts: Any) -> bool:
    """Whether some of the items of a list or dict are tuples, and all others are numbers or the like."""
    if type(parts) not in (list, dict) or (type(parts) is dict and values_in(tuple(parts))):
        return False
    items = parts.values() if type(parts) is dict else parts
    tuples = [each for each in items if type(each) is tuple]
    others = [each for each in items if type(each) is not tuple]
    return bool(tuples) and not any(map(is_mutable, [*others, *(part for each in tuples for part in each)]))


def _is_of_numbers(parts: Any) -> bool:
    if type(parts) is dict:
        return not values_in(tuple(parts)) and not any(map(is_mutable, parts.values()))
    return type(parts) in (list, tuple) and not any(map(is_mutable, parts))


def _place(node: Node) -> int | None:
    """The argument of a node into which the node only looks."""
    place = LOOKS_INTO.get(ON_CONTAINER.get(node.op, ""))
    return place if place is not None and place < len(node.args) else None


def _literal(node: Node) -> Any:
    """The list or dict of numbers among the arguments of a node into which the node only looks; None if it has none."""
    place = _place(node)
    if place is None or not values_in(node.args[place]):
        return None
    parts = node.args[place]
    if type(parts) is tuple and place == LOOKS_INTO["contains"]:
        parts = list(parts)
    return parts if type(parts) in (list, dict) and _is_of_numbers(parts) else None


def _look_into(node: Node, table: Value) -> None:
    """Let a node look into a container."""
    place = _place(node)
    node.args = tuple(table if number == place else arg for number, arg in enumerate(node.args))


def _inside(node: Node, looped: bool) -> Iterator[tuple[Node, bool]]:
    """A node and those in its blocks, each with a flag for being in a loop."""
    yield node, looped
    for block in node.blocks:
        for inner in block.nodes:
            yield from _inside(inner, looped or node.op in LOOP)
