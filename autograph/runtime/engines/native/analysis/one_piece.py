"""A whole graph as one piece: the block of an `if True:`, which a region takes as it does a loop."""

from __future__ import annotations

from typing import Any

from autograph.runtime.engines.native.analysis.identities import compares_new_objects
from autograph.runtime.graph.graph import Block, Graph, Node, Value, map_args, piece, values_in, walk
from autograph.runtime.graph.recursion import as_one
from autograph.runtime.graph.traits import LOOP
from autograph.runtime.graph.types import ObjectType

FEW = 6         # nodes without a loop, which Python runs as fast as it calls machine code
MANY = 200      # nodes, of which the code would take long to compile
_ATOMS = frozenset({bool, int, float, complex, str, type(None)})


def one_piece(graph: Graph) -> Graph | None:
    """A graph of one node around the nodes of another one, which it shares; None if that does not suit.

    The node has one output at most, the result of the graph.
    """
    nodes, results = list(walk(graph.block)), graph.block.results
    if results is None or not _is_suitable(graph, nodes):
        return None
    body, whole = Block(graph.block.nodes), Block()
    whole.params = graph.block.params
    (result,) = results
    if type(result) is tuple:
        if not _is_plain(result):
            return None
        made = body.append(Node("build", (result,), place=graph.block.nodes[-1].place))
        result = made.add_output(ObjectType("tuple"))
    elif not isinstance(result, Value) and type(result) not in _ATOMS:
        return None
    body.results = tuple(value for value in values_in(result) if value.node is not None)
    node = whole.append(piece(body, graph.block.nodes[0].place))
    outputs = {value: node.add_output(value.type, value.name) for value in body.results}
    whole.results = (map_args(lambda leaf: outputs.get(leaf, leaf) if isinstance(leaf, Value) else leaf, result),)
    return Graph(graph.name, whole)


def _is_suitable(graph: Graph, nodes: list[Node]) -> bool:
    if len(nodes) > MANY or not (len(nodes) > FEW or any(node.op in LOOP for node in nodes)):
        return False
    if any(node.op == "call" for node in nodes):
        return False
    return as_one(graph) is None and not compares_new_objects(graph)


def _is_plain(result: Any) -> bool:
    """Whether a result is a value or a constant, or a tuple of such."""
    if type(result) is tuple:
        return all(map(_is_plain, result))
    return isinstance(result, Value) or type(result) in _ATOMS
