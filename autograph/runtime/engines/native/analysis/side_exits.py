"""Side exits: points where machine code is left, and the continuations that run in Python.

For each point at which the code of a loop can be left there is a *continuation*: a graph of what remains of the
iteration, from that node on, which the NumPy engine makes a function. It raises what is to be raised, warns of what is
to be warned of, computes with big integers. What it gives is whether the loop goes on, and with what.
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
    """A reference to an object in the frame, which passes to the code that fetches it."""

    slot: int


@disk_cache.storable
@dataclass(slots=True)
class Exit:
    """What is in the frame when machine code has ended.

    Attributes:
        at: where to go on; None if the loop has come to its end.
        keys: what there are values of.
        values: how to fetch them, in a tuple; if the loop has come to its end, what it gives.
    """

    at: Point | None
    keys: list[Key]
    values: tuple[Any, ...]


@disk_cache.storable
class Interrupted(Exit):
    """A signal, or what has been called, has raised an exception."""

    def __init__(self) -> None:
        super().__init__(None, [], ())


class Continuation:
    """What remains of an iteration of a loop.

    Attributes:
        graph: gives whether there is another iteration, and then what is carried into it, or what comes out of the
            loop.
        keys: what its parameters are.
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
        """Append what is left to do from a point on. Gives what the graph gives."""
        for node in at.block.nodes[at.place :]:
            self._into.append(self._copier.node(node))
        if at.block.results is None:
            return None
        return self._ended(at.block, self._copier.arg(at.block.results))

    def _ended(self, block: Block, results: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Append what is left to do from the end of a block on, which has come to `results`."""
        node, at = self._structure.owner(block)
        if node.op != "if":
            going, carried = self._turned(node, block, results)
            if at is None:
                return ((going, *carried),)
            results = self._looped(node, going, carried)
        assert at is not None
        self._copier.values.update(zip(node.outputs, results))
        return self._rest(Point(at.block, at.place + 1))

    def _turned(self, node: Node, block: Block, results: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """Whether a loop goes on behind one of its blocks, and what it carries."""
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
        """The same, of the results of a body."""
        if not node.kwargs.get("until"):
            return True, results
        going = self._into.append(Node("not", results[:1], place=node.place)).add_output(BOOL)
        return going, results[1:]

    def _looped(self, node: Node, going: Any, carried: tuple[Any, ...]) -> tuple[Any, ...]:
        """Append the iterations that remain of an inner loop. Gives what comes out of it."""
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
