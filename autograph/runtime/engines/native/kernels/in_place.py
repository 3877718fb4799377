"""Operations that write into an existing array, its *target*: `x += …`, `x[1:-1] = …`.

A kernel may end with one. It stores results in the target at once, so no other operand may overlap the target, which
the C function checks. If NumPy must compute everything again, to warn, the target gets its old elements back from an
undo log.

If the kernel uses other parts of the target (`u[1:-1] += u[:-2] + u[2:]`), results go into a copy-out buffer, which is
copied into the target after all elements have been computed. Then nothing needs to be checked or undone.
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
    """The array that a node writes into, if a kernel can do that; for `x[1:-1] = …` it is `x`."""
    if not node.args or not isinstance(target := node.args[0], Value) or not is_array(target):
        return None
    if node.op in IN_PLACE:
        return target
    return target if node.op == "setitem" and _is_plain(node.args[1], target) else None


def is_whole(node: Node) -> bool:
    """Whether a node writes the whole target."""
    return node.op in IN_PLACE or node.args[1] in (..., slice(None))


def _is_plain(index: Any, target: Value) -> bool:
    """Whether an index selects a part with as many dimensions, for any shape of the array."""
    parts = index if isinstance(index, tuple) else (index,)
    if isinstance(target.type, TensorType) and len(parts) > target.type.ndim:
        return False
    return parts.count(...) < 2 and all(part is ... or _is_constant_slice(part) for part in parts)


def _is_constant_slice(part: Any) -> bool:
    if not isinstance(part, slice):
        return False
    return all(type(each) in (int, type(None)) for each in (part.start, part.stop, part.step))


def may_overlap(target: Value, inputs: Iterable[Any]) -> bool:
    """Whether some operands are other parts of the target, as far as the graph tells."""
    return any(value is not target and _root(value) is _root(target) for value in inputs if is_array(value))


def _root(value: Value) -> Value:
    """The array that a value is a view of, or the value itself."""
    node = value.node
    while node is not None and node.args and isinstance(node.args[0], Value) and is_array(node.args[0]):
        if effect_of(node).kind != VIEW and node.op not in IN_PLACE:
            break
        value = node.args[0]
        node = value.node
    return value
