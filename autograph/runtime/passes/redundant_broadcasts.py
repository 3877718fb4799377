"""Removal of broadcasts before arithmetic that broadcasts by itself; gradients are full of them.

    a = np.expand_dims(g, 1)             a = g[:, None]
    b = np.broadcast_to(a, (64, 10))  →  …
    y = b * x                            y = a * x

It only changes nodes that this library added: users find their own operations unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Block, Graph, Node, Value, walk
from autograph.runtime.graph.traits import ADDS_AXES, ARITHMETIC, BROADCASTS
from autograph.runtime.graph.types import Shape, TensorType, type_of
from autograph.runtime.passes.rewriter import Outcome, Rewriter, shown


def run(graph: Graph) -> Outcome:
    """Drop redundant broadcasts."""
    if not any(node.op in BROADCASTS or node.op in ADDS_AXES for node in walk(graph.block)):
        return Outcome()
    return _Broadcasting().run(graph)


class _Broadcasting(Rewriter):
    def node(self, node: Node, block: Block) -> None:
        if node.op in ARITHMETIC:
            for place in (0, 1):
                self._leave(node, place)
        elif node.op in ADDS_AXES and node.own:
            self._index(node)
        super().node(node, block)

    def _leave(self, node: Node, place: int) -> None:
        """Use the array that an operand was broadcast from, if the other operand is as large as the result."""
        inner, other = node.args[place], node.args[1 - place]
        wanted, shape = _shape(node.output), _shape(other)
        while wanted and shape is not None and (before := _broadcast_from(inner)) is not None:
            smaller = _shape(before)
            if smaller is None or _together(smaller, shape) != wanted:
                break
            self.changed(f"{shown(node)} broadcasts by itself", node.place)
            inner = before
        node.args = (inner, other) if place == 0 else (other, inner)

    def _index(self, node: Node) -> None:
        """Replace `np.expand_dims(x, 1)` by `x[:, None]`, which takes a tenth of the time."""
        x, *axes = node.args
        if len(axes) == 1 and type(axes[0]) is int and not node.kwargs and _shape(x) is not None:
            axis = axes[0] % len(node.output.type.shape)  # type: ignore[union-attr]
            index = (*[slice(None)] * axis, None) if axis else None
            node.op, node.args, node.effect = "getitem", (x, index), None
            self.changed("`[]` adds an axis sooner than `np.expand_dims`", node.place)


def _broadcast_from(arg: Any) -> Any:
    """The array that this library broadcast; None if it was not broadcast, or by the user."""
    made = arg.node if isinstance(arg, Value) else None
    if made is None or not made.own or made.kwargs or len(made.args) != 2:
        return None
    if made.op in BROADCASTS or (made.op in ADDS_AXES and made.args[1] == 0):
        return made.args[0]
    return made.args[0] if made.op == "getitem" and made.args[1] is None else None


def _shape(arg: Any) -> Shape | None:
    """The shape of an array or NumPy scalar; None if unknown, or for a Python number, which would adopt
    another dtype.
    """
    found = arg.type if isinstance(arg, Value) else type_of(arg) if isinstance(arg, np.generic) else None
    if not isinstance(found, TensorType) or not found.exact or found.weak or None in found.shape:
        return None
    return found.shape


def _together(one: Shape, other: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(one, other)  # type: ignore[arg-type]
    except ValueError:
        return None
