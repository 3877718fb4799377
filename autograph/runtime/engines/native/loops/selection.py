"""Which loops of a graph become machine code: the outermost ones that have a lowering for all that must run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.identities import NEW_NUMBERS, compares_new_objects
from autograph.runtime.engines.native.analysis.structure import used_in
from autograph.runtime.engines.native.analysis.subjects import named_operations
from autograph.runtime.engines.native.kernels.loop_interchange import is_interchangeable
from autograph.runtime.engines.native.kernels.straight_lines import inline, is_straight, straight_lines
from autograph.runtime.engines.native.loops.python_calls import is_python_callback
from autograph.runtime.engines.native.loops.region import Region
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, user_line, walk
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.recursion import as_one, calls_itself, helper_in
from autograph.runtime.graph.signature import Event
from autograph.runtime.graph.traits import LOOP, ON_CONTAINER, ON_LIST
from autograph.runtime.graph.types import TensorType
from autograph.runtime.passes.rewriter import shown


class Splitter(Copier):
    """Copies a graph, and replaces loops by calls of regions.

    Args:
        make: makes a region of a loop and the places of outputs that are never read.
        whole: a loop that stays.

    Attributes:
        graph: the copy.
        regions: the loops.
        events: the report of `explain` about loops that stay.
    """

    def __init__(
        self, graph: Graph, make: Callable[[Node, Collection[int]], Region], whole: Node | None = None
    ) -> None:
        super().__init__()
        self.regions: list[Region] = []
        self.events: list[Event] = []
        self._make = make
        self._whole = whole
        self._tells_apart = compares_new_objects(graph)
        block = (None if self._tells_apart else as_one(graph)) or graph.block
        self._used = used_in([block])
        self.graph = Graph(graph.name, self.block(block))

    def fill(self, into: Block, nodes: Sequence[Node]) -> None:
        for node in nodes if self._tells_apart else straight_lines(nodes, self._used):
            if is_straight(node) or calls_itself(node):
                self._call(into, node)
                continue
            if node.op not in LOOP or node is self._whole:
                into.append(self.node(node))
                continue
            if is_interchangeable(node, self._used):
                into.append(self._kernel(node))
                continue
            reason = NEW_NUMBERS if self._tells_apart else refusal(node)
            if reason:
                self.events.append(Event("native", f"this loop stays in Python: {reason}", user_line(node.place)))
                self.events += [] if self._tells_apart else named_operations(node)
                into.append(self.node(node))
            else:
                self._call(into, node)

    def _kernel(self, loop: Node) -> Node:
        """A copy of a loop whose whole body becomes a kernel."""
        copier = Copier()
        copier.params, copier.values = self.params, self.values
        return copier.node(loop)

    def _call(self, into: Block, node: Node) -> None:
        """Append the call of a region instead of a node."""
        region = self._make(node, self._unused(node))
        self.regions.append(region)
        self.call(into, region, region.inputs, region.structure.used(node.outputs), node.place)

    def _unused(self, loop: Node) -> list[int]:
        """The places of outputs that are numbers or arrays, and that are never read.

        The program could observe the end of other objects.
        """
        return [
            place
            for place, value in enumerate(loop.outputs)
            if value not in self._used and isinstance(value.type, TensorType)
        ]


def put_back(region: Region, block: Block) -> None:
    """Replace the call of a region in a block by its loop."""
    for position, node in enumerate(block.nodes):
        if node.op == "call" and isinstance(node.args[0], Constant) and node.args[0].value is region:
            copier = Copier()
            copier.values.update(zip(region.values, node.args[1:]))
            loop = copier.node(region.structure.root)
            used = region.structure.used(range(len(loop.outputs)))
            count = 1 if len(used) < 2 else 2       # nodes, of which the second takes a tuple apart
            values = block.nodes[position + count - 1].outputs
            for place, value in zip(used, values):
                loop.outputs[place], value.node = value, loop
            block.nodes[position : position + count] = inline(loop) if loop.op == "if" else [loop]
            return
        for inner in node.blocks:
            put_back(region, inner)


def refusal(loop: Node) -> str:
    """Why a loop cannot be machine code, by its ops; types are known only when it runs."""
    if not any(_is_lowered(node) for block in loop.blocks for node in walk(block)):
        return "all its operations call Python or NumPy"
    return _obstacle(loop)


def _obstacle(loop: Node) -> str:
    for block in loop.blocks:
        for node in block.nodes:
            if node.op in LOOP:
                reason = _obstacle(node)
            else:
                can = node.op in ("if", "bound") or is_python_callback(node)
                reason = "" if can else f"there is no machine code for {shown(node)}"
            if reason:
                return reason
    return ""


def _is_lowered(node: Node) -> bool:
    """Whether a node may have a lowering for its arguments."""
    op = OPS.get(node.op)
    if helper_in(node) is not None:
        return True
    return op is not None and (op.lower is not None or op.name in ON_CONTAINER or op.name in ON_LIST)
