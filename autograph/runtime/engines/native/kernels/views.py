"""Parts of arrays that only kernels use: `x[1:-1]`, for which no array is made.

To make one takes Python and NumPy a tenth of a microsecond, and `life` has a dozen in each iteration. So a kernel gets
`x`, and finds out by itself where the part begins, and how long it is. As it does not matter when a part is taken,
unless the array is given another shape, parts wait until a kernel comes; those that anything else uses are taken in
time.

The parts of complex arrays, `z.real` and `z.imag`, are views, too. But as long as nothing is written, whether an
operation reads a view or the array itself cannot be told; so they may be part of a kernel, which has both parts of an
element at hand, and which may have computed `z`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from autograph.runtime.engines.native.kernels.elementwise import is_elementwise, part_of_node, reduction_of
from autograph.runtime.engines.native.kernels.slice_layout import slices
from autograph.runtime.graph.effects import effect_of, is_array
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.graph.types import TensorType


def is_plain_slice(node: Node) -> bool:
    """Whether a node takes a part of an array, without gaps, of as many dimensions, from numbers on, up to numbers."""
    if node.op != "getitem" or not isinstance(node.args[0], Value) or not is_array(node.args[0]):
        return False
    type, parts = node.args[0].type, slices(node.args[1])
    return isinstance(type, TensorType) and len(parts) <= type.ndim and all(map(_is_gapless, parts))


def is_narrower(node: Node) -> bool:
    """Whether it takes parts of rows, which do not lie one behind the other then; or of the only row."""
    parts, type = slices(node.args[1]), node.output.type
    return getattr(type, "ndim", 0) < 2 or any(part != slice(None) for part in parts[1:])


def _is_gapless(part: Any) -> bool:
    if not isinstance(part, slice) or part.step not in (None, 1):
        return False
    return all(bound is None or (type(bound) is int and abs(bound) < 2**31) for bound in (part.start, part.stop))


class WaitingSlices:
    """Those that wait.

    Args:
        uses: how often each value is used in the graph.
    """

    def __init__(self, uses: Counter[Value]) -> None:
        self._uses = Counter(uses)
        self._nodes: dict[Value, Node] = {}

    def add(self, node: Node) -> None:
        """Let a node wait."""
        self._nodes[node.output] = node

    def pop(self, value: Value) -> Node | None:
        """The node that gives it, which waits no longer."""
        return self._nodes.pop(value, None)

    def pop_all(self) -> list[Node]:
        """Those that are used by something else than kernels; none wait any longer."""
        found = []
        for value, node in reversed(self._nodes.items()):
            if self._uses[value] > 0:
                found.append(node)
            else:
                self._uses[node.args[0]] -= 1
        self._nodes.clear()
        return found[::-1]

    def used(self, counts: dict[Value, int]) -> None:
        """Note that a kernel takes these itself, which it uses so often."""
        self._uses.subtract(counts)

    def of(self, value: Value) -> list[Node]:
        """What takes a part, of a part, of an array; nothing if it does not wait."""
        found: list[Node] = []
        while value in self._nodes:
            found.append(self._nodes[value])
            value = found[-1].args[0]
        return found[::-1]


def part_views(nodes: Sequence[Node], uses: Counter[Value]) -> set[Node]:
    """Which of the nodes of a block give parts that are read only, and before anything may have been written.

    Args:
        uses: how often each value is used.
    """
    found, unread = set[Node](), dict[Value, int]()
    for node in nodes:
        if part_of_node(node):
            unread[node.output] = uses[node.output]
        elif unread and (is_elementwise(node) or reduction_of(node)):
            for value, count in Counter(node.inputs).items():
                if value in unread:
                    unread[value] -= count
                    if not unread[value] and value.node is not None:
                        found.add(value.node)
        elif node.blocks or effect_of(node).kind not in (PURE, VIEW):
            unread.clear()
    return found
