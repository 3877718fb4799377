"""Writes under a mask: `x[mask] = x[mask] * 2 + y[mask]`.

NumPy gathers the chosen elements of each array, computes with these, and scatters the results. A kernel computes with
elements where they are: with ones where the mask is false, so that these raise no flags, and there it writes what was
there before. So its nodes are the same, but the arrays between them have the shape of the mask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.engines.native.kernels.elementwise import (
    has_rule,
    is_complex,
    is_elementwise,
    is_numeric,
    is_operand,
    mask_of,
)
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.graph.types import TensorType, type_of
from autograph.runtime.passes.speculatable import is_quiet


def masked_writes(nodes: Sequence[Node], uses: Counter[Value]) -> dict[Node, list[Node]]:
    """The writes under masks in a block, with the nodes that only compute what each writes.

    These may run at the place of the write: what is between them neither raises nor warns, nor changes anything.

    Args:
        uses: the number of uses of each value in the graph.
    """
    found: dict[Node, list[Node]] = {}
    for place, node in enumerate(nodes):
        if node.op == "setitem" and mask_of(node) is not None:
            members = _computing(node, nodes[:place])
            begin = nodes.index(members[0]) if members else place
            others = [each for each in nodes[begin:place] if each not in (members or ())]
            if members is not None and _only_for(members, node, uses) and all(map(_is_silent, others)):
                found[node] = members
    return found


def _computing(write: Node, before: Sequence[Node]) -> list[Node] | None:
    """The nodes that compute the value of a write under a mask, in order; None if a kernel cannot."""
    target, mask, value = write.args
    if not _is_array(value):
        return [] if _is_number_for(value, target.type.dtype) else None
    wanted, members = [value], set[Node]()
    while wanted:
        node = wanted.pop().node
        if node is None or len(node.outputs) != 1:
            return None
        members.add(node)
        if node.op == "getitem" and mask_of(node) is mask:
            continue
        if not is_elementwise(node) or not has_rule(node) or is_complex(node.output):
            return None     # inner loops, and products of complex numbers, may depend on the number of elements
        wanted += [each for each in node.inputs if _is_array(each) and each.node not in members]
    found = [node for node in before if node in members]
    return found if len(found) == len(members) else None


def _only_for(members: Sequence[Node], write: Node, uses: Counter[Value]) -> bool:
    """Whether nothing else uses what some nodes compute."""
    inside = Counter(value for node in (*members, write) for value in node.inputs)
    return all(uses[node.output] == inside[node.output] for node in members)


def _is_silent(node: Node) -> bool:
    return not node.blocks and effect_of(node).kind in (PURE, VIEW) and is_quiet(node)


def _is_array(each: Any) -> bool:
    return isinstance(each, Value) and is_numeric(each.type, 1)


def _is_number_for(each: Any, dtype: np.dtype[Any]) -> bool:
    """Whether something is a number that elements of a dtype hold without a change of kind."""
    type = each.type if isinstance(each, Value) else type_of(each) if is_operand(each) else None
    if not isinstance(type, TensorType) or not type.exact or type.ndim or type.kind == "array":
        return False
    return np.can_cast(type.dtype, dtype, "same_kind") and (type.dtype.kind == "b") == (dtype.kind == "b")
