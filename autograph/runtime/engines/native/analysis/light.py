"""Blocks that take the machine next to no time, so that it may as well do them once more, or in vain."""

from __future__ import annotations

from autograph.runtime.engines.native.analysis.structure import used_in
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.types import BOOL, FLOAT, INT

MOST = 3            # operations
_LIGHT = frozenset({"and", "or", "xor", "add", "sub", "mul", "floordiv", "mod", "lshift", "rshift"})
_LIGHT |= {f"i{name}" for name in _LIGHT} | {"lt", "le", "eq", "ne", "gt", "ge", "neg", "invert", "not"}


def is_light(block: Block) -> bool:
    """Whether a block gives numbers that there are, or those and what comes of a few operations on integers."""
    if block.results is None or len(block.nodes) > MOST:
        return False
    args = [arg for node in block.nodes for arg in node.args]
    if not all(isinstance(each, (Value, bool, int, float)) for each in (*args, *block.results)):
        return False
    return all(map(_is_light, block.nodes))


def compares(test: Block) -> bool:
    """Whether a test is of Python's numbers, and light."""
    return is_light(test) and all(value.type in (BOOL, INT, FLOAT) for value in used_in([test]))


def _is_light(node: Node) -> bool:
    """Whether a node is an operation that takes the machine next to no time, if it is one of integers."""
    if node.op.removeprefix("i") in ("floordiv", "mod", "lshift", "rshift"):
        by = node.args[-1]
        return type(by) is int and (0 < by < 2**62 and by & by - 1 == 0 if "shift" not in node.op else 0 <= by < 63)
    return node.op in _LIGHT
