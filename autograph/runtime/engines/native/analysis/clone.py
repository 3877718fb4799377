"""Copying nodes and blocks of a graph, with substitutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph.runtime.engines.native.analysis.structure import Key
from autograph.runtime.graph.graph import Block, Constant, Node, Place, Value, map_args
from autograph.runtime.graph.types import NONE, ObjectType


class Copier:
    """Copies nodes, with new values for theirs.

    Attributes:
        params: the new values for those that the copies use, but do not define.
        values: the new values so far.
    """

    def __init__(self) -> None:
        self.params: dict[Key, Value] = {}
        self.values: dict[Value, Any] = {}

    def arg(self, args: Any) -> Any:
        return map_args(self._leaf, args)

    def _leaf(self, leaf: Any) -> Any:
        if not isinstance(leaf, Value):
            return leaf
        if leaf not in self.values:
            self.values[leaf] = self.params[leaf] = Value(leaf.type, None, leaf.name)
        return self.values[leaf]

    def node(self, node: Node, args: tuple[Any, ...] | None = None) -> Node:
        """A copy of a node, of these arguments if they are given."""
        copy = Node(node.op, self.arg(node.args) if args is None else args, self.arg(node.kwargs), (), node.place)
        copy.own = node.own
        copy.blocks = tuple(map(self.block, node.blocks))
        for value in node.outputs:
            self.values[value] = copy.add_output(value.type, value.name)
        return copy

    def block(self, block: Block) -> Block:
        copy = Block()
        for param in block.params:
            self.values[param] = copy.add_param(param.type, param.name)
        self.fill(copy, block.nodes)
        copy.results = self.arg(block.results)
        return copy

    def fill(self, into: Block, nodes: Sequence[Node]) -> None:
        """Append copies of nodes to a block. Subclasses replace some."""
        for node in nodes:
            into.append(self.node(node))

    def call(self, into: Block, function: Any, inputs: Sequence[Any], outputs: Sequence[Value], place: Place) -> None:
        """Append a call of a function that returns the values of nodes, instead of these."""
        call = into.append(Node("call", (Constant(function), *self.arg(tuple(inputs))), place=place))
        if not outputs:
            call.add_output(NONE)
        elif len(outputs) == 1:
            self.values[outputs[0]] = call.add_output(outputs[0].type, outputs[0].name)
        else:
            found = call.add_output(ObjectType("tuple", tuple(value.type for value in outputs)))
            parts = into.append(Node("unpack", (found, len(outputs)), place=place))
            for value in outputs:
                self.values[value] = parts.add_output(value.type, value.name)
