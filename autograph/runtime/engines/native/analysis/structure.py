"""The nesting of the blocks of a loop, and the values that are live at a point.

A *point* is a place in the loop: before the node of that number of a block, or at the block's end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from autograph.common import disk_cache, forking
from autograph.runtime.engines.native.analysis.range_analysis import RangeAnalysis
from autograph.runtime.graph.graph import Block, Node, Value, gather, walk
from autograph.runtime.graph.passed_numbers import PassedNumbers
from autograph.runtime.graph.traits import CHECKS_CLASS, MAKES_OBJECTS
from autograph.runtime.ops.native.intervals import ANY, Span

T = TypeVar("T")


@disk_cache.storable
class Point(NamedTuple):
    block: Block
    place: int


# A value of the graph; or a `for` loop, for the rest of its iterable.
Key: TypeAlias = "Value | Node"


@disk_cache.storable
class Structure:
    """The nesting of blocks in the outermost loop of a region, and liveness.

    Attributes:
        root: the loop.
        made_anew: nodes of its outermost block that make views for which there is no object; where machine code is
            left, Python makes them anew. So what they view is live as long as they are.
        free: the values that its blocks use, but do not define.
        sizes: the lengths of vectors at the call for which code is made, which decide whether it pays.
    """

    def __init__(
        self,
        root: Node,
        known: Mapping[Value, Span] = MappingProxyType({}),
        unused: Collection[int] = (),
        made: Collection[Value] = (),
        made_anew: Collection[Node] = (),
    ) -> None:
        """
        Args:
            known: the ranges of integers from outside; of an iterator, that of its items.
            unused: the places of outputs that are never read.
            made: see `PassedNumbers`.
        """
        self.root = root
        self.made_anew = frozenset(made_anew)
        self._unused, self._made = unused, made
        self.sizes: dict[Value, int] = {}
        self._known = dict(known)
        self._owners: dict[Block, tuple[Node, Point | None]] = {}
        self._last: dict[Block, dict[Value, int]] = {}
        self._free: dict[Node, set[Value]] = {}
        self._around: dict[Block | None, tuple[Block, ...]] = {}
        self._outer: dict[Block, set[Key]] = {}
        self._live: dict[Point | Node, set[Key]] = {}
        self._alive: dict[Block, Alive] = {}
        self._visit(root, None)
        self._find_live(root)
        self.free = [value for value in used_in(root.blocks) if value in self._free[root]]

    @forking.cached_property
    def _ranges(self) -> RangeAnalysis:
        return RangeAnalysis(self.root, self._known)

    @forking.cached_property
    def passed(self) -> PassedNumbers:
        """The numbers that the loop passes on as they are."""
        return PassedNumbers([self.root], self.used(self.root.outputs), self._made)

    @forking.cached_property
    def classes(self) -> dict[Value, list[type]]:
        """The classes of objects, where nodes make them or check their classes."""
        found: dict[Value, list[type]] = {}
        for node in (each for block in self.root.blocks for each in walk(block)):
            if node.op in CHECKS_CLASS:
                found.setdefault(node.args[0], []).append(node.args[2].value)
            elif node.op in MAKES_OBJECTS:
                found.setdefault(node.outputs[0], []).append(node.args[0].value)
        return found

    def __getstate__(self) -> Any:
        """The parts that are saved on disk: without the results of analyses."""
        kept = {name: value for name, value in vars(self).items() if name not in ("_ranges", "passed", "classes")}
        return kept | {"_live": {}, "_alive": {}}

    def owner(self, block: Block) -> tuple[Node, Point | None]:
        """The node that a block belongs to, and the point of that node; None for the root."""
        return self._owners[block]

    def node_at(self, at: Point) -> Node:
        """The node at a point; at the end of a block, the node that the block belongs to."""
        return at.block.nodes[at.place] if at.place < len(at.block.nodes) else self._owners[at.block][0]

    def after(self, block: Block) -> Point | None:
        """The point behind the node that a block belongs to."""
        at = self._owners[block][1]
        return None if at is None else Point(at.block, at.place + 1)

    def last_use(self, block: Block, value: Value) -> int:
        """The place of the last node of a block that uses a value; behind all nodes if its results do."""
        return self._last[block].get(value, -1)

    def used(self, outputs: Sequence[T]) -> list[T]:
        """Items for the loop's outputs, without those for outputs that are never read."""
        return [each for place, each in enumerate(outputs) if place not in self._unused]

    def live(self, at: Point | Node) -> set[Key]:
        """The values that are live at a point, or where an iteration of a loop begins, before its item is taken."""
        found = self._live.get(at)
        if found is None:
            if isinstance(at, Node):
                after = self.after(at.blocks[0])
                found = {at, *self._free[at], *carried(at), *(self.live(after) if after is not None else ())}
            else:
                found = self._outer[at.block] | self._alive_at(at)
            self._live[at] = found
        return found

    def _alive_at(self, at: Point) -> set[Value]:
        if at.block not in self._alive:
            self._alive[at.block] = Alive(at.block, self._last[at.block])
        return self._alive[at.block].at(at.place)

    def depth(self, block: Block) -> int:
        """How many loops are around a block."""
        node, at = self._owners[block]
        return (node.op != "if") + (0 if at is None else self.depth(at.block))

    def range_of(self, value: Value, block: Block | None = None) -> Span:
        """The range of a value in a block, if it is a Python integer."""
        if value in self.root.args:     # after a side exit, the code begins with the values of any iteration
            return ANY
        return self._ranges.of(value, self._around[block] if block is not None else ())

    def is_rare(self, block: Block) -> bool:
        """Whether iterations of the loop around a block may skip it."""
        node = self._owners[block][0]
        return node.op == "if" and node is not self.root

    def is_unlikely(self, block: Block) -> bool:
        """Whether a block is for objects of other classes than the expected ones."""
        node, _ = self._owners[block]
        test = getattr(node.args[0], "node", None) if node.op == "if" else None
        return test is not None and test.op in CHECKS_CLASS and block is node.blocks[1]

    def _visit(self, node: Node, at: Point | None) -> set[Value]:
        """Visit the blocks of a node. Returns the values that they use, but do not define."""
        free: set[Value] = set()
        for block in node.blocks:
            self._owners[block] = node, at
            self._around[block] = (*self._around.get(at and at.block, ()), block)
            last = self._last[block] = {}
            for index, inner in enumerate(block.nodes):
                used = set(inner.inputs)
                if inner.blocks:
                    used |= self._visit(inner, Point(block, index))
                for value in used:
                    last[value] = index
            for value in block.result_values:
                last[value] = len(block.nodes)
            for inner in reversed(block.nodes):
                for value in inner.inputs if inner in self.made_anew else ():
                    last[value] = max(last[value], last.get(inner.output, -1))
            free |= last.keys()
        for block in node.blocks:
            free.difference_update(block.params)
            for inner in block.nodes:
                free.difference_update(inner.outputs)
        self._free[node] = free
        return free

    def _find_live(self, node: Node) -> None:
        """Find the values that are live behind each block of a node."""
        for block in node.blocks:
            after = self.after(block)
            outer: set[Key] = set() if after is None else {*self._outer[after.block], *self._alive_at(after)}
            if node.op != "if":
                outer |= self._free[node]
            if node.op == "for":
                outer.add(node)
            if node.op == "while" and block is node.blocks[0]:
                outer |= set(block.params)
            self._outer[block] = outer
            for inner in block.nodes:
                if inner.blocks:
                    self._find_live(inner)


class Alive:
    """The values that are used in a block at a place or later, and known there.

    Going forward in the block takes a time that is linear in its length, however many places are asked for.

    Args:
        last: where the block uses each value last.
    """

    def __init__(self, block: Block, last: Mapping[Value, int]) -> None:
        born = {value: place for place, node in enumerate(block.nodes, 1) for value in node.outputs}
        self._born: list[list[Value]] = [[] for _ in range(len(block.nodes) + 2)]
        self._dead: list[list[Value]] = [[] for _ in range(len(block.nodes) + 2)]
        for value, place in last.items():
            self._born[born.get(value, 0)].append(value)
            self._dead[place + 1].append(value)
        self._place, self._values = -1, set[Value]()

    def at(self, place: int) -> set[Value]:
        if place < self._place:
            self._place, self._values = -1, set()
        while self._place < place:
            self._place += 1
            self._values.update(self._born[self._place])
            self._values.difference_update(self._dead[self._place])
        return self._values


def carried(loop: Node) -> list[Value]:
    """The parameters of the first block of a loop for carried values; those of a `for` come behind its items."""
    params = loop.blocks[0].params
    return params[len(params) - len(loop.args) + 1 :] if loop.op == "for" else params


def used_in(blocks: Iterable[Block]) -> Counter[Value]:
    """How often blocks, and the blocks within, use each value, in the order in which they first do."""
    found: list[Value] = []
    for block in blocks:
        for inner in block.nodes:
            gather((inner.args, inner.kwargs), found)
            found += used_in(inner.blocks).elements()
        gather(block.results, found)
    return Counter(found)
