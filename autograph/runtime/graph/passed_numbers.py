"""The numbers that a graph passes on to Python as they are: to a list, to other code, or as a result.

    for i in range(n):
        ys.append(xs[i])
    return ys == xs

A NaN is not equal to itself, so that Python finds it in a container only by its identity: here `ys == xs` holds also
with NaNs. Machine code makes new objects of numbers. So it does not take a NaN out of an object if the number may get
into another object; nor does it compute a NaN that may get into several. Python does these iterations. For the same
reason passes do not make one number of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.graph.effects import ARRAY, category
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, values_in, walk
from autograph.runtime.graph.opdef import OPS, PURE
from autograph.runtime.graph.traits import CONVERSION, EXTREME, IN_PLACE, LOOP, PRINTS, TAKES_ANY
from autograph.runtime.graph.types import ObjectType, TensorType

_RESULT, _AGAIN = "result", "again"
Uses: TypeAlias = "frozenset[Node | str]"   # the nodes that pass a number on, `_RESULT`, `_AGAIN` if one may repeatedly


def passed_by(graph: Graph) -> PassedNumbers:
    """The numbers that a graph passes on; those that it returns only if it passes others on, too."""
    if not any(map(passes_on, walk(graph.block))):
        return PassedNumbers((), ())
    return PassedNumbers(graph.block.nodes, values_in(graph.block.results))


class PassedNumbers:
    """The values of a graph, or of a loop, that may be such numbers.

    Args:
        nodes: the nodes of the graph; the loop.
        results: the values that it returns.
        made: initial values that are constants, and no NaNs.

    Attributes:
        with_nan: the blocks and nodes that give one of them a constant NaN.
    """

    def __init__(self, nodes: Iterable[Node], results: Iterable[Value], made: Iterable[Value] = ()) -> None:
        self.with_nan: set[Block | Node] = set()
        self._made = set(made)      # values that are in no object
        self._uses: dict[Value, Uses] = {}
        self._sources: dict[Value, list[tuple[Any, Block | Node, bool]]] = {}
        self._loops: dict[Value | Node, Node | None] = {}      # in which values and nodes are
        self._rest: list[tuple[Value, Uses]] = [(value, frozenset({_RESULT})) for value in results]
        for node in nodes:
            self._visit(node, None)
            for init, param in zip(node.inits[::-1], node.blocks[0].params[::-1] if node.inits else ()):
                if isinstance(init, Value) and init in self._made:      # a side exit may give it a later value
                    self._add(init, param, node)
        self._propagate()

    def is_kept(self, value: Value) -> bool:
        """Whether a value may be a NaN that is passed on to a list or to other code."""
        return _may_be_nan(value) and not self._uses.get(value, frozenset()) <= {_RESULT}

    def must_be_no_nan(self, value: Value) -> bool:
        """Whether a NaN as this value may be in an object already, or get into several, and get into another one."""
        return len(self._uses.get(value, ())) > 1 or value in self._in_objects

    def _find_objects(self) -> None:
        """Find the values that are passed on, and may be in an object already."""
        given: dict[Value, list[Value]] = {}
        rest: list[Value] = []
        for value in self._uses:
            sources = [source for source, _, _ in self._sources.get(value, ())]
            if any(map(_has_nan, sources)) or not (sources or value in self._made):
                rest.append(value)
            for source in values_in(sources):
                given.setdefault(source, []).append(value)
        self._in_objects = set[Value]()
        while rest:
            value = rest.pop()
            if value not in self._in_objects:
                self._in_objects.add(value)
                rest += given.get(value, ())

    def pass_to(self, nodes: Iterable[Node]) -> None:
        """Note that Python runs nodes."""
        for node in nodes:
            self._use(node)
            self._made.difference_update(node.outputs)
        self._propagate()

    def _visit(self, node: Node, loop: Node | None) -> None:
        """Visit a node in a loop, and those in its blocks."""
        self._loops.update(dict.fromkeys([node, *node.outputs], loop))
        if node.blocks:
            self._flow(node)
            within = node if node.op in LOOP else loop
            for block in node.blocks:
                self._loops.update(dict.fromkeys(block.params, within))
                for inner in block.nodes:
                    self._visit(inner, within)
        elif _gives_argument(node):
            for value in node.outputs:
                self._add(value, node.args, node)
        elif passes_on(node):
            self._use(node)
        else:
            self._made.update(node.outputs)

    def _use(self, node: Node) -> None:
        """Note that a node passes its arguments on."""
        for value in node.inputs:
            is_made_here = self._loops.get(value) is self._loops.get(node)
            self._rest.append((value, frozenset({node} if is_made_here else {node, _AGAIN})))

    def _flow(self, node: Node) -> None:
        """Note what the outputs of a branch or loop, and the values that it carries, may be."""
        inits = node.inits
        carried = [block.params[len(block.params) - len(inits) :] for block in node.blocks if inits]
        for values in (*carried, node.outputs):
            for value, init in zip(values, inits):
                self._add(value, init, node)
            for block in node.blocks[node.op == "while" :]:
                results = (block.results or ())[-len(values) :] if values else ()
                for value, result in zip(values, results):
                    self._add(value, result, block, values is not node.outputs)

    def _add(self, value: Value, source: Any, where: Block | Node, is_next: bool = False) -> None:
        """Note what a value may be; `is_next`: in the next iteration."""
        self._sources.setdefault(value, []).append((source, where, is_next))

    def _propagate(self) -> None:
        """Find all values that reach a use, with their uses; of several, two suffice."""
        found = self._uses
        while self._rest:
            value, uses = self._rest.pop()
            known = found.get(value)
            if known is not None and (len(known) > 1 or uses <= known):
                continue
            found[value] = uses = uses | (known or frozenset())
            for source, where, is_next in self._sources.get(value, ()):
                repeated = uses | {_AGAIN} if is_next and uses != {_RESULT} else uses
                self._rest += [(each, repeated) for each in values_in(source)]
                if _has_nan(source):
                    self.with_nan.add(where)
        self._find_objects()


def _gives_argument(node: Node) -> bool:
    """Whether an output of a node may be one of its arguments, or hold it."""
    return node.op in EXTREME or node.op in CONVERSION or node.op in ("bound", "build", "unpack")


def passes_on(node: Node) -> bool:
    """Whether a node may keep its arguments, rather than make a new number, or write to an array or a text."""
    if node.blocks:
        return False
    op = OPS.get(node.op)
    if op is not None and op.lower is not None:
        if op.effect == PURE or node.op in IN_PLACE or (bool(node.args) and category(node.args[0]) == ARRAY):
            return False
    return not (_gives_argument(node) or node.op in PRINTS or node.op in TAKES_ANY)


def _has_nan(source: Any) -> bool:
    """Whether an argument is a constant NaN, or a tuple with one."""
    if isinstance(source, (tuple, list)):
        return any(map(_has_nan, source))
    return is_nan(source.value if isinstance(source, Constant) else source)


def is_nan(thing: Any) -> bool:
    """Whether an object is a NaN."""
    return isinstance(thing, (float, complex, np.inexact)) and bool(thing != thing)


def _may_be_nan(value: Value) -> bool:
    """Whether a value may be a number that is a NaN, or a tuple with one."""
    type = value.type
    if isinstance(type, TensorType):
        return type.kind != "array" and not (type.exact and type.dtype.kind in "biu")
    return isinstance(type, ObjectType) and type.name == "tuple"
