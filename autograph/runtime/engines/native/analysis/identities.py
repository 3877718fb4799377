"""Which objects a graph compares by `is`, and whether machine code may have made new ones of them.

    for a in bodies:
        for b in bodies:
            if a is not b:
                a.vx += pull(a, b)

Machine code makes new objects of numbers that it stores. It compares two objects only if one of them can be no number,
as its type says, or if both are *parts* of the caller's objects: reached from the graph's arguments by items and
attributes, among which the graph puts nothing that it made. Unknown code gets the numbers among the arguments as they
are (`handed_over`), for it may keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from autograph.runtime.graph.effects import CONTAINER, UNKNOWN, category, effect_of
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, values_in, walk
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.graph.passed_numbers import passes_on
from autograph.runtime.graph.recursion import as_one
from autograph.runtime.graph.traits import (
    COPIES_ITEMS,
    GIVES_ITEM,
    GIVES_PARTS,
    IDENTITY,
    ITERATES,
    KEEPS,
    LOOKS_UP,
    LOOP,
    MAKES_ITERATORS,
    ON_ATTRIBUTE,
    VIEWS_ITEMS,
)
from autograph.runtime.graph.types import ObjectType, TensorType, python

_GIVE_PARTS = GIVES_ITEM | GIVES_PARTS | LOOKS_UP | ITERATES | COPIES_ITEMS | MAKES_ITERATORS | VIEWS_ITEMS
NEW_NUMBERS = "the program compares numbers by identity (`is`)"
_KEPT = {python(kind) for kind in (bool, int, float)}
_ITEMS = "items"        # stands for all items, beside the names of attributes


def compares(node: Node) -> bool:
    """Whether a node compares two values by `is`, neither of them a constant."""
    return node.op in IDENTITY and len(node.inputs) > 1


def handed_over(root: Node) -> set[Value]:
    """The values that a loop hands to unknown code, which may keep the objects."""
    nodes = [node for block in root.blocks for node in walk(block)] if root.op in LOOP else ()
    return {value for node in nodes if node.op == "call" for value in node.inputs}


def compared(root: Node) -> set[Value]:
    """The values that a loop compares by `is`, and those that become one of them: their objects must stay the same."""
    sources: dict[Value, list[Any]] = {}
    found: set[Value] = set()
    rest: list[Value] = []
    for node in (root, *(each for block in root.blocks for each in walk(block))):
        for value, *arguments in _joined(node):
            sources.setdefault(value, []).extend(values_in(arguments))
        rest += node.inputs if compares(node) else ()
    while rest:
        value = rest.pop()
        if value not in found:
            found.add(value)
            rest += sources.get(value, ())
    return found


def compares_new_objects(graph: Graph) -> bool:
    """Whether a graph compares objects by `is` that machine code may have made anew."""
    tests = [node for node in walk(graph.block) if compares(node)]
    if not tests:
        return False
    new = _NewObjects(graph).new
    return not all(any(map(_is_no_number, test.args)) or new.isdisjoint(test.inputs) for test in tests)


def _joined(node: Node) -> Iterator[tuple[Value, Any, Any]]:
    """The values at which paths meet, each with an initial value, or None, and a result."""
    inits = node.inits
    carried = [block.params[len(block.params) - len(inits) :] for block in node.blocks if inits]
    for values in (*carried, node.outputs):
        for block in node.blocks[node.op == "while" :]:
            results = (block.results or ())[-len(values) :] if values else ()
            yield from zip(values, inits or [None] * len(values), results)


def _is_no_number(arg: Any) -> bool:
    """Whether an argument is an object that machine code never makes anew."""
    if isinstance(arg, Value):
        return isinstance(arg.type, ObjectType) and arg.type.name in ("list", "dict", "set")
    thing = arg.value if isinstance(arg, Constant) else arg
    return thing is None or isinstance(thing, (bool, str))


class _NewObjects:
    """The values of a graph that may be new objects, or reach one.

    Attributes:
        new: these values.
    """

    def __init__(self, graph: Graph) -> None:
        self.new: set[Any] = set()
        self._gives: dict[Any, list[Any]] = {}      # what is new if a value is: values, `_ITEMS`, names of attributes
        self._own: set[Value] = {node.output for node in walk(graph.block) if node.op == "build"}
        is_loops = as_one(graph) is None    # whose code has the objects of arguments, also those of numbers
        self._kept = {value for value in graph.block.params if is_loops and value.type in _KEPT}
        self._rest: list[Any] = [value for value in graph.block.params if isinstance(value.type, TensorType)]
        self._visit(graph.block)
        while self._rest:
            value = self._rest.pop()
            if value not in self.new:
                self.new.add(value)
                self._rest += self._gives.get(value, ())

    def _visit(self, block: Block) -> None:
        for node in block.nodes:
            for value, *sources in _joined(node):
                self._give(sources, value)
            if node.op == "for":
                items = node.blocks[0].params[: len(node.blocks[0].params) - len(node.inits)]
                for value in items:
                    self._give(node.args[:1], value)
                    self._give([_ITEMS], value)
            elif not node.blocks:
                self._see(node)
            for inner in node.blocks:
                self._visit(inner)
        self._rest += [value for node in block.nodes for value in node.outputs if isinstance(value.type, TensorType)]

    def _see(self, node: Node) -> None:
        """Note what a node without blocks reads, makes and stores."""
        if node.op in ON_ATTRIBUTE and node.op in KEEPS:
            self._give(node.args[2:], node.args[1])
        elif node.op in ON_ATTRIBUTE and len(node.args) == 2:
            self._give([node.args[0], node.args[1]], node.output)
        elif node.op in _GIVE_PARTS or node.op == "unpack":
            for value in node.outputs:
                self._give([*node.args, _ITEMS], value)
        else:
            self._rest += node.outputs
        if node.op not in ON_ATTRIBUTE and self._stores(node):
            # Unknown code is given the objects of constants and arguments themselves.
            given = [value for value in node.inputs if value not in self._kept] if node.op == "call" else node.args
            self._give(given, _ITEMS)

    def _stores(self, node: Node) -> bool:
        """Whether a node may put its arguments into an object that the graph has not made."""
        effect = effect_of(node)
        if effect.kind in (PURE, VIEW) or not passes_on(node):
            return False
        return any(leaf not in self._own and category(leaf) in (CONTAINER, UNKNOWN) for leaf in effect.writes)

    def _give(self, sources: Iterable[Any], to: Any) -> None:
        """Note that a value, an item or an attribute may be one of some arguments, or a part of it."""
        for source in sources:
            if isinstance(source, (Value, str)):
                self._gives.setdefault(source, []).append(to)
            elif isinstance(source, (tuple, list, dict)):
                self._give(source.values() if isinstance(source, dict) else source, to)
            elif not _is_no_number(source):
                self._rest.append(to)
