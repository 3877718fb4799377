"""Does an op return a view of its first argument or a copy?"""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph import traits
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import VIEW, lookup
from autograph.runtime.graph.types import ObjectType, TensorType


def shares(node: Node) -> bool | None:
    """Whether a node returns views of its first argument, an array; None if unknown."""
    definition = lookup(node.op)
    if definition.effect != VIEW or definition.name in traits.COPIES_ARRAYS:
        return False
    if node.op in traits.SHARES_FIRST:
        return True
    if node.op.startswith("np.") and _is_sequence(node.args[0]):
        return False    # a new array of the items
    if node.op in traits.VIEW_OF_FIRST or node.op in traits.VIEWS_OF_FIRST:
        return True if is_array(node.args[0]) else None
    rule = traits.SHARES.get(node.op)
    return None if rule is None else rule(node)


def may_share(op: str) -> bool:
    """Whether an op returns a view of an array, always or where it can."""
    return op in traits.VIEW_OF_FIRST or op in traits.VIEW_OR_COPY


def is_array(leaf: Any) -> bool:
    """Whether an argument is certainly an array."""
    type = leaf.type if isinstance(leaf, Value) else None
    return isinstance(type, TensorType) and type.kind == "array" and type.exact


def _is_sequence(leaf: Any) -> bool:
    """Whether an argument is certainly a list or tuple."""
    type = leaf.type if isinstance(leaf, Value) else None
    return isinstance(leaf, (list, tuple)) or (isinstance(type, ObjectType) and type.name in ("list", "tuple"))
