"""The blocks of a graph that is being made."""

from __future__ import annotations

from collections.abc import Iterator
from threading import get_ident
from typing import Any

from autograph.errors import StagingError
from autograph.runtime.graph.graph import Block, Graph, Node, Place, walk
from autograph.runtime.tracing.proxies.graph_break import leaked, of_another_thread
from autograph.runtime.tracing.state.element_types import Assumed


class Blocks:
    """A graph, and which of its blocks nodes go to."""

    def __init__(self, name: str) -> None:
        self.graph = Graph(name)
        self.block = self.graph.block
        self.closed = False
        self.thread = get_ident()  # that makes it; no other one may use its proxies
        self.opened = [self.block]  # and those around it, the innermost last
        self.assumed = Assumed(self.opened)
        self._into: dict[Block, Block] = {}  # of branches that became part of the block around them: that block
        self._merged: dict[Block, list[Block]] = {}  # the other way round
        self.dropped: set[Node] = set()  # those that were recorded in a block that still stands, and undone
        self.recorded = 0  # how many nodes there were, those included that are undone by now
        self.long_loops: set[Any] = set()  # the bodies of loops of few iterations that record much all the same
        # iterations of loops, to be given up where the first `if` or loop is to be staged
        self.trying: list[object] = []

    def append(self, node: Node) -> None:
        """Add a node to the block that is open."""
        self.block.nodes.append(node)
        self.recorded += 1

    def merge(self, block: Block) -> None:
        """Add the nodes of a branch to the block that is open, as the other branch always raises."""
        self.block.nodes.extend(block.nodes)
        self._into[block] = self.block
        self._merged.setdefault(self.block, []).append(block)

    def merged_parts(self, block: Block) -> Iterator[Block]:
        """A block, and those that became part of it."""
        rest = [block]
        while rest:
            yield (part := rest.pop())
            rest += self._merged.get(part, ())

    def merged_into(self, block: Block) -> Block:
        """The block that one has become part of, or itself."""
        while block in self._into:
            block = self._into[block]
        return block

    def drop(self, start: int, recorded: int | None = None) -> None:
        """Take the nodes from a place on out of the block that is open; `recorded`: how many to count from now on."""
        self.recorded = self.recorded if recorded is None else recorded
        self.dropped.update(self.block.nodes[start:])
        del self.block.nodes[start:]

    def open(self, block: Block) -> Opened:
        """While it lasts, nodes are recorded in `block`."""
        return Opened(self, block)

    @property
    def depth(self) -> int:
        """How many staged blocks are around."""
        return len(self.opened) - 1

    def has(self, block: Block) -> bool:
        """Whether a block is open, or stands in the graph; those of tracings that were undone do not."""
        return any(block is each for each in self.opened) or any(
            block is each for around in self.opened for node in walk(around) for each in node.blocks
        )

    def close(self) -> None:
        """End the trace, whether it has come to a graph or not. Proxies of it answer no questions any more."""
        self.closed = True

    def strayed(self, tensor: Any, place: Place) -> StagingError:
        """The error for a proxy of this trace that is used after its end, or by another thread."""
        if self.closed or get_ident() == self.thread:
            return leaked(tensor._ag_value, place)
        return of_another_thread(tensor._ag_value, self.graph.name, place)


class Opened:
    """A block in which nodes are recorded. As a class, for it is entered often, and generators take longer."""

    __slots__ = ("_before", "_block", "_blocks")

    def __init__(self, blocks: Blocks, block: Block) -> None:
        self._blocks = blocks
        self._block = block

    def __enter__(self) -> Block:
        self._before, self._blocks.block = self._blocks.block, self._block
        self._blocks.opened.append(self._block)
        return self._block

    def __exit__(self, *raised: Any) -> None:
        self._blocks.block = self._before
        self._blocks.opened.pop()
