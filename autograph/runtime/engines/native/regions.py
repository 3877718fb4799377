"""Which loops of a graph become machine code: the outermost ones of which all that must run can be lowered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.native.exits import Copier
from autograph.runtime.engines.native.region import Region
from autograph.runtime.graph import Block, Constant, Graph, Node, Value
from autograph.runtime.opdef import OPS
from autograph.runtime.types import NONE, ObjectType

LOOPS = ("while", "for")
_CONSTRUCTS = frozenset({"if", "while", "for", "build", "bound", "unpack"})
_HIDDEN = frozenset({"list", "dict", "set", "str"})     # objects that no machine code looks into


class Splitter(Copier):
    """Copies a graph, with calls in the place of loops.

    Attributes:
        graph: the copy.
        regions: the loops.
    """

    def __init__(self, graph: Graph, compile: Callable[[Graph], Any]) -> None:
        super().__init__()
        self.regions: list[Region] = []
        self._compile = compile
        self._name = graph.name
        self.graph = Graph(graph.name, self.block(graph.block))

    def block(self, block: Block) -> Block:
        copy = Block()
        for param in block.params:
            self.values[param] = copy.add_param(param.type, param.name)
        for node in block.nodes:
            if node.op in LOOPS and is_native(node):
                self._call(node, copy)
            else:
                copy.append(self.node(node))
        copy.results = self.arg(block.results)
        return copy

    def _call(self, node: Node, into: Block) -> None:
        region = Region(node, self._name, self._compile)
        self.regions.append(region)
        inputs = self.arg(tuple(region.inputs))
        call = into.append(Node("call", (Constant(region), *inputs), place=node.place))
        if len(node.outputs) == 1:
            self.values[node.output] = call.add_output(node.output.type, node.output.name)
            return
        found = call.add_output(ObjectType("tuple", tuple(value.type for value in node.outputs)) if node.outputs else NONE)
        if node.outputs:
            parts = into.append(Node("unpack", (found, len(node.outputs)), place=node.place))
            for value in node.outputs:
                self.values[value] = parts.add_output(value.type, value.name)


def is_native(loop: Node) -> bool:
    """Whether a loop may be machine code, as far as the ops tell; what the types are shows when it runs."""
    return all(map(_is_leaf, loop.args)) and _loops(loop)


def _loops(loop: Node) -> bool:
    target = loop.kwargs.get("target", 0)
    return target == 0 and all(map(_runs, loop.blocks))


def _runs(block: Block) -> bool:
    """Whether all that must run in a block can be lowered."""
    return all(map(_is_lowered, block.nodes))


def _is_lowered(node: Node) -> bool:
    if node.op in LOOPS:
        return _loops(node)
    if node.op in _CONSTRUCTS:
        return True         # what cannot be lowered in a branch is left to Python when it is reached
    op = OPS.get(node.op)
    return op is not None and op.lower is not None and not any(map(_is_hidden, node.args))


def _is_hidden(arg: Any) -> bool:
    return isinstance(arg, Value) and isinstance(arg.type, ObjectType) and arg.type.name in _HIDDEN


def _is_leaf(arg: Any) -> bool:
    return not isinstance(arg, (tuple, list, dict, set, slice))
