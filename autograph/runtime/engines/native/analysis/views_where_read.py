"""Views that are made again in front of each node that reads them, so that machine code needs no objects for them.

    row = a[i]                    row = a[i]
    if row[0] > 0:        →       if a[i][0] > 0:
        total += row[1]               total += a[i][1]

A view is without an object only as long as the nodes that read it follow at once, see `view_group`. That it is made
several times cannot be seen: the nodes give numbers, and write to the array's memory. The first one stays, for the
error that an index out of bounds raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.view_groups import computes_long, is_plain_view, makes_view
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Graph, Node, Value, used_by, values_in, walk
from autograph.runtime.graph.traits import LOOP, MAKES_VIEWS, READS_VIEWS, RESHAPES


class ViewsWhereRead(Copier):
    """Copies a graph with such views.

    Attributes:
        graph: the copy; the graph itself if there are none.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._again = {node for loop in _loops(graph.block) for node in made_again(loop)}
        self.graph = Graph(graph.name, self.block(graph.block)) if self._again else graph

    def fill(self, into: Block, nodes: Sequence[Node]) -> None:
        for node in nodes:
            for value in dict.fromkeys(node.inputs):
                if value.node in self._again:
                    into.append(self.node(value.node))
            into.append(self.node(node))


def made_again(loop: Node) -> list[Node]:
    """The nodes of an iteration, without the loops within, that make views which it pays to make again."""
    if any(effect_of(node).wild or node.op in RESHAPES for node in walk(loop.blocks[-1])):
        return []
    found = _Views()
    found.visit(loop.blocks[-1])
    return [node for value, (node, _) in found.made.items() if value in found.parted - found.needed]


def _loops(block: Block) -> Iterator[Node]:
    return (node for node in walk(block) if node.op in LOOP)


@dataclass
class _Views:
    """The views of an iteration.

    Attributes:
        needed: those that nodes need as objects.
        parted: those that are read behind a node with blocks, or in its blocks.
        made: the nodes that make them, and how many parts of the iteration are before these.
    """

    needed: set[Value] = field(default_factory=set)
    parted: set[Value] = field(default_factory=set)
    made: dict[Value, tuple[Node, int]] = field(default_factory=dict)
    _parts: int = 0

    def visit(self, block: Block) -> None:
        for node in block.nodes:
            read = [value for value in node.inputs if value in self.made]
            if not _gives_number(node):
                self.needed.update(read)
            self.parted.update(value for value in read if self.made[value][1] < self._parts)
            for inner in node.blocks:
                self._parts += 1
                if node.op in LOOP:
                    self._need(inner)
                else:
                    self.visit(inner)
            self._parts += bool(node.blocks)
            if is_plain_view(node):
                self.made[node.output] = node, self._parts
        self.needed.update(values_in(block.results))

    def _need(self, block: Block) -> None:
        """A loop within reads objects: it need not make the views of the iteration around it again and again."""
        for node in walk(block):
            self.needed.update(used_by(node))
        self.needed.update(values_in(block.results))


def _gives_number(node: Node) -> bool:
    """Whether a node reads or writes views, and makes none."""
    reads = node.op in READS_VIEWS or node.op in MAKES_VIEWS
    return reads and not node.blocks and not makes_view(node) and not computes_long(node)
