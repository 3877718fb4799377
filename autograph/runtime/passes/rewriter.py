"""Tools of passes: a walk that replaces values, and keys of arguments."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Place, Value, map_args, values_in
from autograph.runtime.graph.traits import MAKES_RANGES
from autograph.runtime.graph_text import notation

Note: TypeAlias = tuple[str, Place]


@dataclass(slots=True)
class Outcome:
    """The result of a pass.

    Attributes:
        changed: whether it changed the graph.
        notes: for `explain`: what happened to a node, and its place in the user's program.
    """

    changed: bool = False
    notes: list[Note] = field(default_factory=list)


def shown(node: Node) -> str:
    """The name of an operation in messages: its symbol, if it has one."""
    return f"`{_SYMBOLS.get(node.op, node.op).strip()}`"


_ITEMS = {"getitem": "[]", "setitem": "[] =", "add_item": "[] +="}
_SYMBOLS = {**notation.BINARY, **notation.UNARY, **_ITEMS, "getattr": "."}


class Rewriter:
    """Walks a graph in program order. Subclasses override `node`.

    Values are replaced on the way: when a node is reached, its arguments have been replaced already. That takes one
    walk in all, since values are computed before they are used.
    """

    def __init__(self) -> None:
        self.values: dict[Value, Any] = {}
        self.outcome = Outcome()

    def run(self, graph: Graph) -> Outcome:
        self.block(graph.block)
        return self.outcome

    def block(self, block: Block) -> None:
        """Rewrite a block."""
        nodes, block.nodes = block.nodes, []
        self.nodes(nodes, block)
        if block.results is not None:
            block.results = self.replaced(block.results)

    def nodes(self, nodes: list[Node], block: Block) -> None:
        """Rewrite nodes into `block`."""
        for node in nodes:
            node.args, node.kwargs = self.replaced(node.args), self.replaced(node.kwargs)
            self.node(node, block)

    def node(self, node: Node, block: Block) -> None:
        """Rewrite a node into `block`; by default append it, with its blocks rewritten."""
        for inner in node.blocks:
            self.block(inner)
        block.append(node)

    def replaced(self, args: Any) -> Any:
        """Nested arguments with values replaced."""
        if not self.values or not args:
            return args
        if not any(value in self.values for value in values_in(args)):
            return args
        self.outcome.changed = True
        return map_args(lambda leaf: self.values.get(leaf, leaf) if isinstance(leaf, Value) else leaf, args)

    def replace(self, values: list[Value], args: Any, note: str = "", place: Place = ()) -> None:
        """Replace values by arguments, which are rewritten themselves, from here on."""
        self.values.update(zip(values, args))
        self.changed(note, place)

    def changed(self, note: str = "", place: Place = ()) -> None:
        self.outcome.changed = True
        if note:
            self.outcome.notes.append((note, place))


def key(arg: Any) -> Any:
    """A key of nested arguments; it differs for 1, 1.0 and True, and for 0.0 and -0.0."""
    kind = type(arg)
    if isinstance(arg, Value):
        return arg
    if kind is int or kind is bool or kind is str or arg is None:
        return (kind, arg)
    if kind is float:
        return (kind, struct.pack("d", arg))
    if kind is complex:
        return (kind, struct.pack("dd", arg.real, arg.imag))
    if kind is tuple or kind is list:
        return (kind, *map(key, arg))
    if kind is dict:
        return (kind, *map(key, arg), *map(key, arg.values()))
    if kind is slice:
        return (kind, key(arg.start), key(arg.stop), key(arg.step))
    if isinstance(arg, np.generic) and arg.dtype.kind in "biufc":
        return (kind, arg.tobytes())
    if kind is Constant:
        return (kind, id(arg.value))
    return (kind, id(arg))          # the graph keeps it alive


def is_leaf(arg: Any) -> bool:
    """Whether an argument is one object, and not a structure, which is built anew at each use."""
    return not isinstance(arg, (tuple, list, dict, slice))


def known_range(iterable: Value) -> range | None:
    """The range of constants that a value is, if it is one."""
    made = iterable.node
    if made is None or made.op not in MAKES_RANGES or not all(type(arg) is int for arg in made.args):
        return None
    return None if 0 in made.args[2:] else range(*made.args)


def keep_outputs(node: Node, kept: Sequence[int]) -> bool:
    """Drop all but some outputs of an `if` or loop, with the values carried for them; returns whether any
    were dropped.
    """
    count = len(node.outputs)
    if len(kept) == count:
        return False

    def pick(parts: Sequence[Any]) -> list[Any]:
        head = len(parts) - count
        return [*parts[:head], *(parts[head + number] for number in kept)]

    if node.op != "if":
        node.args = tuple(pick(node.args))
        for block in node.blocks:
            block.params = pick(block.params)
    for block in node.blocks[node.op == "while" :]:
        if block.results is not None:
            block.results = tuple(pick(block.results))
    node.outputs = pick(node.outputs)
    return True
