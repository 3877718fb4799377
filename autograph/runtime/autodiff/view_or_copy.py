"""What is known of ops whose results may share memory with their first argument: that they do, or that they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import VIEW, lookup
from autograph.runtime.graph.traits import COPIES_ARRAYS, SHARES_FIRST, VIEW_OF_FIRST, VIEW_OR_COPY, VIEWS_OF_FIRST
from autograph.runtime.graph.types import ObjectType, TensorType


def shares(node: Node) -> bool | None:
    """Whether a node gives views of its first argument, an array; None if that cannot be told."""
    definition = lookup(node.op)
    if definition.effect != VIEW or definition.name in COPIES_ARRAYS:
        return False
    if node.op in SHARES_FIRST:
        return True
    if node.op.startswith("np.") and _is_sequence(node.args[0]):
        return False    # a new array of the items
    if node.op in VIEW_OF_FIRST or node.op in VIEWS_OF_FIRST:
        return True if is_array(node.args[0]) else None
    told = _TOLD.get(node.op) or (_of_transform if node.op.startswith("np.fft.") else None)
    return None if told is None else told(node)


def may_share(op: str) -> bool:
    """Whether an op gives a view of an array that is its first argument, always or where it can."""
    return op in VIEW_OF_FIRST or op in VIEW_OR_COPY


def is_array(leaf: Any) -> bool:
    """Whether an argument is an array for certain."""
    type = leaf.type if isinstance(leaf, Value) else None
    return isinstance(type, TensorType) and type.kind == "array" and type.exact


def _is_sequence(leaf: Any) -> bool:
    """Whether an argument is a list or tuple for certain."""
    type = leaf.type if isinstance(leaf, Value) else None
    return isinstance(leaf, (list, tuple)) or (isinstance(type, ObjectType) and type.name in ("list", "tuple"))


def _of_attribute(node: Node) -> bool | None:
    return True if node.args[1] in ("T", "mT", "real", "flat") else None


def _of_array(node: Node) -> bool | None:
    return None if "copy" in node.kwargs or len(node.args) > 2 else False


def _as_array(node: Node) -> bool | None:
    """An array of the same dtype is given back; if there is another, it is copied."""
    given, found = node.args[0], node.output.type
    if not isinstance(given, Value) or node.kwargs.keys() - {"dtype"} or len(node.args) > 2:
        return None
    before = given.type
    if not (isinstance(before, TensorType) and isinstance(found, TensorType) and before.exact and found.exact):
        return None
    return before.dtype == found.dtype if before.kind == "array" else False


def _of_power(node: Node) -> bool | None:
    exponent = node.args[1] if len(node.args) > 1 else None
    return exponent == 1 if isinstance(exponent, int) else None


def _of_transform(node: Node) -> bool | None:
    return None if len(node.args) > 2 or "axes" in node.kwargs else False


def _of_sum(node: Node) -> bool | None:
    return False if len(node.args) > 2 else None


def _of_diagonal(node: Node) -> bool | None:
    """Of a matrix it is a view; a vector is copied into a matrix."""
    given = node.args[0].type if isinstance(node.args[0], Value) else None
    return False if isinstance(given, TensorType) and given.exact and given.ndim == 1 else None


_TOLD: dict[str, Callable[[Node], bool | None]] = {
    "cleared": lambda node: False,  # nobody else has what it may give back
    "cleared_product": lambda node: False,
    "max": lambda node: False,  # of numbers: arrays have no order
    "min": lambda node: False,
    "getattr": _of_attribute,
    ".astype": _of_array,
    "np.astype": _of_array,
    "np.array": _of_array,
    "np.asarray": _as_array,
    "np.asanyarray": _as_array,
    "np.linalg.matrix_power": _of_power,
    "np.einsum": _of_sum,
    "np.diag": _of_diagonal,
    "sum": lambda node: False if len(node.args) == 1 and not node.kwargs else None,     # `0 + item` is a new array
}
