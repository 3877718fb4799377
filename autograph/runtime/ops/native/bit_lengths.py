"""Which ops give integers of fewer bits than they get, so that a loop that goes on with them ends soon.

The rules get the arguments of a node, and one of them, which is positive. See the relation `SHORTENS`.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.graph import Value


def shifted_right(args: tuple[Any, ...], of: Value) -> bool:
    """`x >> 1`."""
    return args[0] is of and type(args[1]) is int and args[1] >= 1


def divided(args: tuple[Any, ...], of: Value) -> bool:
    """`x // 2`."""
    return args[0] is of and type(args[1]) is int and args[1] >= 2


def without_lowest_bit(args: tuple[Any, ...], of: Value) -> bool:
    """`x & x - 1`, which has fewer bits that are 1."""
    return any(one is of and _is_less(other, of) for one, other in (args, args[::-1]))


def _is_less(value: Any, than: Value) -> bool:
    """Whether a number is that other one, minus 1."""
    return isinstance(value, Value) and value.node is not None and (value.node.op, *value.node.args) == ("sub", than, 1)
