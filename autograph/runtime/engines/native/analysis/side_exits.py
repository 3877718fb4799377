"""Side exits (deoptimization): points where machine code is left, and the continuations that run in Python.

The *continuation* of a point is a graph of the rest of the iteration, from that node on, which the NumPy engine makes a
function. It raises exceptions, warns, and computes with big integers. It returns whether the loop continues, and the
carried values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograph.common import disk_cache
from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.structure import Key, Point, Structure
from autograph.runtime.graph.graph import Block, Graph, Node, Value
from autograph.runtime.graph.types import ANY, BOOL, TensorType


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Fetch:
    """A number in the frame."""

    slot: int
    type: TensorType


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Handed:
    """A reference to an object in the frame. Fetching it takes over the reference."""

    slot: int


@disk_cache.storable
@dataclass(slots=True)
class Exit:
    """The contents of the frame when machine code has returned.

    Attributes:
        at: where Python resumes; None if the loop has ended.
        keys: the values in the frame.
        values: recipes for fetching them; if the loop has ended, for fetching its results.
    """

    at: Point | None
    keys: list[Key]
    values: tuple[Any, ...]


class Continuation:
    """The rest of an iteration of a loop.

    Attributes:
        graph: returns whether there is another iteration, and the carried values, or else the results of the loop.
        keys: the values that its parameters stand for.
    """

    def __init__(self, structure: Structure, at: Point, name: str) -> None:
        self._structure = structure
        self._copier = Copier()
        self._into = Block()
        self._into.results = self._rest(at)
        self._into.params = list(self._copier.params.values())
        self.graph = Graph(name, self._into)
        self.keys = list(self._copier.params)

    def _rest(self, at: Point) -> tuple[Any, ...] | None:
        """Append the rest from a point on. Returns the results of the graph."""
        for node in at.block.nodes[: at.place]:
            if node in self._structure.made_anew and node.output in self._structure.live(at):
                self._into.append(self._copier.node(node))
        for node in at.block.nodes[at.place :]:
            self._into.append(self._copier.node(node))
        if at.block.results is None:
            return None
        return self._ended(at.block, self._copier.arg(at.block.results))

    def _ended(self, block: Block, results: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Append the rest from the end of a block on, whose results are given."""
        node, at = self._structure.owner(block)
        if node.op != "if":
            going, carried = self._end_iteration(node, block, results)
            if at is None:
                return ((going, *carried),)
            results = self._finish_loop(node, going, carried)
        if at is None:
            return ((False, *results),)
        self._copier.values.update(zip(node.outputs, results))
        return self._rest(Point(at.block, at.place + 1))

    def _end_iteration(self, node: Node, block: Block, results: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """Append the rest of an iteration. Returns whether the loop continues, and the carried values."""
        if node.op == "while" and block is node.blocks[0]:
            body, carried = node.blocks[1], self._copier.arg(tuple(block.params))
            then, orelse = Block(), Block()
            orelse.results = False, *carried
            around, self._into = self._into, then
            self._copier.values.update(zip(body.params, carried))
            for each in body.nodes:
                then.append(self._copier.node(each))
            if body.results is not None:
                going, rest = self._flagged(node, self._copier.arg(body.results))
                then.results = going, *rest
            else:
                then.results = None
            self._into = around
            outputs = self._if(node, results[0], then, orelse, [BOOL, *(value.type for value in node.outputs)])
            return outputs[0], tuple(outputs[1:])
        return self._flagged(node, results)

    def _flagged(self, node: Node, results: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """Whether a loop continues by its flag, and the carried values, by the results of its body."""
        if not node.kwargs.get("until"):
            return True, results
        going = self._into.append(Node("not", results[:1], place=node.place)).add_output(BOOL)
        return going, results[1:]

    def _finish_loop(self, node: Node, going: Any, carried: tuple[Any, ...]) -> tuple[Any, ...]:
        """Append the remaining iterations of an inner loop. Returns its results."""
        args = carried
        if node.op == "for":
            rest = self._copier.params.setdefault(node, Value(ANY))
            args = rest, *carried
        if going is True:
            return tuple(self._into.append(self._copier.node(node, args)).outputs)
        then, orelse = Block(), Block()
        then.results = tuple(then.append(self._copier.node(node, args)).outputs)
        orelse.results = carried
        return tuple(self._if(node, going, then, orelse, [value.type for value in node.outputs]))

    def _if(self, node: Node, test: Any, then: Block, orelse: Block, types: Sequence[Any]) -> list[Value]:
        made = self._into.append(Node("if", (test,), None, (then, orelse), node.place))
        for type in types:
            made.add_output(type)
        return made.outputs
