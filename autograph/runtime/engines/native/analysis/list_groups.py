"""Lists that only the next nodes read, so that machine code needs no objects for them.

    w = sorted(x[i:i + 5])      # or sorted([a, b, c])
    out.append(w[len(w) // 2])

Numbers in a buffer do for such a list, or the place of a part in another list. If the code is left among these nodes,
Python does all of them again.
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


def join_group(structure: Structure, block: Block, place: int) -> list[Node]:
    """A part of a list or a `+` of lists, and the next nodes up to the last `+`, as in `out + xs[i:] + ys[j:]`.

    Only these may read the lists that the others make; between them, numbers may be computed.
    """
    found, made = 0, set[Value]()
    for at, node in enumerate(block.nodes[place : place + LONGEST], place):
        routine = "join" if ON_CONTAINER.get(node.op) == "join" and not node.kwargs else routine_of(node)
        reads = not made.isdisjoint(node.inputs)
        if routine == "join" or (routine == "slice" and not reads):
            made.add(node.output)
        elif at == place or reads or not _is_of_numbers(node):
            break
        if routine == "join" and not any(structure.last_use(block, each) > at for each in made - {node.output}):
            found = at + 1
            if not _is_joined(block.nodes, at, structure.last_use(block, node.output)):
                break
    return block.nodes[place:found] if found else []


def _is_joined(nodes: list[Node], place: int, last: int) -> bool:
    """Whether the last node that uses an output is a `+`."""
    return place < last < len(nodes) and ON_CONTAINER.get(nodes[last].op) == "join"


def _is_of_numbers(node: Node) -> bool:
    op = OPS.get(node.op)
    return not node.blocks and op is not None and op.lower is not None and effect_of(node).kind == PURE
