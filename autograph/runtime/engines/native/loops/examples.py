"""Expected kinds of items, before the first call: from the items of the lists that the call gets.

Without them, machine code would be left at the first item of each list, and compiled again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import islice
from typing import Any

from autograph.runtime.engines.native.loops.result_speculation import both, met
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.types import ANY, PYTHON_TYPES, TensorType

MOST = 64       # examples of a value, at most
_SAME = frozenset({"list", ".copy"})        # a list with the items of another one


def kinds_of_items(root: Node, inputs: Mapping[Value, Any]) -> dict[Value, Any]:
    """The kinds of objects that a loop takes from lists, as far as those in its inputs tell."""
    found = _Examples(inputs)
    found.enter(root)
    return found.kinds


class _Examples:
    """Examples of the values of a loop: objects, of which some are lists of examples."""

    def __init__(self, inputs: Mapping[Value, Any]) -> None:
        self.kinds: dict[Value, Any] = {}
        self._of: dict[Value, list[Any]] = {value: [thing] for value, thing in inputs.items()}
        self._made: dict[int, list[Any]] = {}       # lists of examples, by identity; others are the program's

    def enter(self, loop: Node) -> None:
        """Find the examples in an iteration."""
        params, items = loop.blocks[0].params, loop.kwargs.get("target", 0) if loop.op == "for" else None
        carried = loop.args[1:] if loop.op == "for" else loop.args
        for block in loop.blocks:
            for param, arg in zip(block.params[len(block.params) - len(carried) :], carried):
                self._of[param] = self._examples(arg)
        if items == 0:
            self._take(params[0], self._examples(loop.args[0]))
        for block in loop.blocks:
            self._walk(block)

    def _walk(self, block: Block) -> None:
        for node in block.nodes:
            if node.op in ("for", "while"):
                self.enter(node)
            elif node.blocks:
                for inner in node.blocks:
                    self._walk(inner)
            else:
                self._see(node)

    def _see(self, node: Node) -> None:
        """Find examples of what a node computes or stores."""
        first = self._examples(node.args[0]) if node.args else []
        if node.op == "getitem" and not isinstance(node.args[1], slice):
            self._take(node.output, first)
        elif node.op == "getitem" or node.op in _SAME or (node.op == "mul" and list in map(type, first)):
            self._of[node.output] = first
        elif node.op == "build" and type(node.args[0]) is list:
            made = [each for arg in node.args[0] for each in self._examples(arg)[:1]]
            self._of[node.output], self._made[id(made)] = [made], made
        elif node.op in (".append", "setitem"):
            for each in first:
                if id(each) in self._made and len(each) < MOST:
                    each.extend(self._examples(node.args[-1])[:1])

    def _take(self, value: Value, containers: list[Any]) -> None:
        """Find examples of an item of containers."""
        items = [each for thing in containers if type(thing) is list for each in islice(thing, MOST)][:MOST]
        self._of[value] = items
        if items and value.type == ANY:
            self.kinds[value] = reduce(both, items, met(items[0]))

    def _examples(self, arg: Any) -> list[Any]:
        if not isinstance(arg, Value):
            return [arg]
        if arg not in self._of and isinstance(arg.type, TensorType) and arg.type.kind == "python" and arg.type.exact:
            return [PYTHON_TYPES[arg.type.dtype]()]
        return self._of.get(arg, [])
