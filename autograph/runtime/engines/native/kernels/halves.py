"""The parts of complex arrays, `z.real` and `z.imag`, that only operations on whole arrays read.

They are views. But as long as nothing is written, whether such an operation reads a view or the array itself cannot be
told; so they may be part of a kernel, which has both parts of an element at hand, and which may have computed `z`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from autograph.runtime.engines.native.kernels.elementwise import is_elementwise, part_of_node, reduction_of
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW


def halves(nodes: Sequence[Node], uses: Counter[Value]) -> set[Node]:
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
