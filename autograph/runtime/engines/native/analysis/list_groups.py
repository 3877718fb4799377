"""Lists of numbers that only the next nodes read, so that machine code needs no objects for them.

    w = sorted(x[i:i + 5])      # or sorted([a, b, c])
    out.append(w[len(w) // 2])

Numbers in a buffer do for such a list. If the code is left among these nodes, Python does all of them again.
"""

from __future__ import annotations

from autograph.runtime.engines.native.analysis.structure import Structure
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.opdef import OPS, PURE
from autograph.runtime.graph.traits import ON_CONTAINER, ON_LIST

LONGEST = 16    # nodes
_READS = frozenset({"length", "load", "sorted", "sort", "sum", "min", "max"})


def routine_of(node: Node) -> str:
    """The name of an operation on a list: `build`, `slice`, one of `_READS`; "" for any other node."""
    if node.kwargs:
        return ""
    if node.op in ON_LIST:
        found = ON_LIST[node.op]
        is_slice = found == "load" and type(node.args[-1]) is slice
        return ("" if node.args[-1].step is not None else "slice") if is_slice else found
    found = ON_CONTAINER.get(node.op, "")
    return found if len(node.args) == 1 else ""


def list_group(structure: Structure, block: Block, place: int) -> list[Node]:
    """A node that makes a list, and the next ones up to the last that reads it, or one that is made of it.

    None if a node may keep such a list, or has another effect.
    """
    nodes, lists, stop = block.nodes, set[Value](), place + 1
    for at, node in enumerate(nodes[place : place + LONGEST], place):
        routine, reads = routine_of(node), [value for value in node.inputs if value in lists]
        if reads and (routine not in _READS or reads != node.inputs[:1] or node.args[0] is not reads[0]):
            return []
        if not reads and at > place and not _is_of_numbers(node):
            return []
        if routine in ("build", "slice", "sorted") and (reads or at == place):
            if routine != "slice" and not reads and not (type(node.args[0]) is list and node.args[0]):
                return []
            lists.add(node.output)
            stop = max(stop, structure.last_use(block, node.output) + 1)
        if at + 1 == stop or not lists:
            return nodes[place:stop] if lists and stop > place + 1 else []
    return []


def _is_of_numbers(node: Node) -> bool:
    op = OPS.get(node.op)
    return not node.blocks and op is not None and op.lower is not None and effect_of(node).kind == PURE
