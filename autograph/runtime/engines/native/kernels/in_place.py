"""Operations that write into an array that there is: `x += …`, `x[1:-1] = …`.

A kernel may end with one. Its elements then go where the array has them, so what else the kernel uses must not lie
there, but for the very same array: the code looks whether it does. What has been written is undone if NumPy has to do
all of it again, to warn; so what was there before goes into a log.

If the kernel is known to use other parts of that array (`u[1:-1] += u[:-2] + u[2:]`), its elements go into a copy-out
buffer, and where they belong when all is done. Then there is nothing to look at, nor to be undone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograph.runtime.graph.effects import effect_of, is_array
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import VIEW
from autograph.runtime.graph.traits import IN_PLACE
from autograph.runtime.graph.types import TensorType


def target_of(node: Node) -> Value | None:
    """The array that a node writes into, if a kernel may do it; for `x[1:-1] = …` it is `x`."""
    if not node.args or not isinstance(target := node.args[0], Value) or not is_array(target):
        return None
    if node.op in IN_PLACE:
        return target
    return target if node.op == "setitem" and _is_plain(node.args[1], target) else None


def is_whole(node: Node) -> bool:
    """Whether it is all of the array."""
    return node.op in IN_PLACE or node.args[1] in (..., slice(None))


def _is_plain(index: Any, target: Value) -> bool:
    """Whether it is a part of an array, of as many dimensions, whatever the array is like."""
    parts = index if isinstance(index, tuple) else (index,)
    if isinstance(target.type, TensorType) and len(parts) > target.type.ndim:
        return False
    return parts.count(...) < 2 and all(part is ... or _is_slice(part) for part in parts)


def _is_slice(part: Any) -> bool:
    if not isinstance(part, slice):
        return False
    return all(type(each) in (int, type(None)) for each in (part.start, part.stop, part.step))


def may_overlap(target: Value, inputs: Iterable[Any]) -> bool:
    """Whether some of them are other parts of the same array, as far as can be seen."""
    return any(value is not target and _root(value) is _root(target) for value in inputs if is_array(value))


def _root(value: Value) -> Value:
    """The array that another one is a view of."""
    node = value.node
    while node is not None and node.args and isinstance(node.args[0], Value) and is_array(node.args[0]):
        if effect_of(node).kind != VIEW and node.op not in IN_PLACE:
            break
        value = node.args[0]
        node = value.node
    return value
