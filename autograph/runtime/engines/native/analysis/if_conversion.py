"""If-conversion: which blocks run without a branch, and in which order `min` and `max` compare integers.

A cheap block runs always, since an unused result costs less than a mispredicted branch.

`min(a, b, c)` compares `a` with `b`, and the lesser with `c`. The processor overlaps iterations, and an iteration waits
only for the values that it needs from the one before. So such a value is compared last (reassociation, which shortens
the critical path). Floats keep their order, because a NaN makes it visible.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.engines.native.analysis.structure import used_in
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.traits import BITWISE, COMPARISON, FLOOR_DIVISION, NEGATION, RING, SHIFT, plain
from autograph.runtime.graph.types import BOOL, FLOAT, INT


def late_last(node: Node, block: Block | None, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of `min` or `max` in a block, with those that depend on the previous iteration last."""
    if block is None or not all(isinstance(each, Number) and each.type.dtype.kind in "iu" for each in operands):
        return operands
    late = [_is_late(arg, node, block) for arg in node.args]
    return tuple(operands[place] for place in sorted(range(len(operands)), key=late.__getitem__))


def _is_late(arg: Any, node: Node, block: Block) -> bool:
    """Whether an argument depends on the result of a node in the previous iteration, also through elements."""
    written = [each.args[:2] for each in block.nodes if each.op == "setitem"]
    carried = zip(reversed(block.params), reversed(block.results or ()))
    late = {param for param, result in carried if result is node.output}
    own, seen, to_see = set(block.nodes), set[Value](), [arg]
    while to_see:
        value = to_see.pop()
        source = value.node if isinstance(value, Value) else None
        if isinstance(value, Value) and value in late:
            return True
        if source is None or source not in own or value in seen:
            continue
        seen.add(value)
        if source.op == "getitem" and any(_are_beside(source.args, place) for place in written):
            return True
        to_see += source.inputs
    return False


def _are_beside(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two elements are in the same row of an array."""
    (x, index), (y, place) = one, other
    parts, others = (each if isinstance(each, tuple) else (each,) for each in (index, place))
    return x is y and len(parts) == len(others) and parts[:-1] == others[:-1] and parts != others


MOST = 3            # operations


def is_speculatable(block: Block) -> bool:
    """Whether a block returns numbers that it computes with a few cheap operations at most."""
    if block.results is None or len(block.nodes) > MOST:
        return False
    args = [arg for node in block.nodes for arg in node.args]
    if not all(isinstance(each, (Value, bool, int, float)) for each in (*args, *block.results)):
        return False
    return all(map(_takes_a_cycle, block.nodes))


def compares(test: Block) -> bool:
    """Whether a test only computes with Python's numbers, and is cheap."""
    return is_speculatable(test) and all(value.type in (BOOL, INT, FLOAT) for value in used_in([test]))


def _takes_a_cycle(node: Node) -> bool:
    """Whether a node is an operation that takes about a cycle on integers."""
    op, by = plain(node.op), node.args[-1] if node.args else None
    if op in SHIFT:
        return type(by) is int and 0 <= by < 63
    if op in FLOOR_DIVISION:
        return type(by) is int and 0 < by < 2**62 and by & by - 1 == 0
    return any(op in each for each in (RING, BITWISE, COMPARISON, NEGATION))
