"""The reverse of what changes arrays in place: it takes the gradient of what was written out of the array's shadow."""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph import Block, Node, Value
from autograph.runtime.reverse import HANDLERS, Reverse, differentiate, handles, operation
from autograph.runtime.tensor import is_tensor
from autograph.runtime.types import TensorType


@handles("setitem")
def _setitem(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    array, index, value = node.args
    if array not in reverse.shadows:
        return
    shadow, index = reverse.trace.handle(reverse.shadows[array]), reverse.primal(index, block, at)
    gradient = copied(reverse, reverse.trace.record("getitem", (shadow, index)))
    reverse.trace.record("setitem", (shadow, index, 0.0))
    reverse.contribute(value, gradient)


@handles("np.copyto", ".fill")
def _fill(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    array, value = node.args
    if array in reverse.shadows:
        reverse.contribute(value, reverse.trace.record("take_out", (reverse.trace.handle(reverse.shadows[array]),)))


@handles("add_at", "np.add.at")
def _add_at(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    array, index, value = node.args
    if array in reverse.shadows:
        shadow, index = reverse.trace.handle(reverse.shadows[array]), reverse.primal(index, block, at)
        reverse.contribute(value, copied(reverse, reverse.trace.record("getitem", (shadow, index))))


@handles("accumulate")
def _accumulate(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    array, value = node.args
    if array in reverse.shadows:
        reverse.contribute(value, copied(reverse, reverse.trace.handle(reverse.shadows[array])))


@handles("take_out")
def _take_out(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    gradient = reverse.take(node.output)
    array = node.args[0]
    if array in reverse.shadows:
        shadow = reverse.trace.handle(reverse.shadows[array])
        reverse.trace.record("take_out", (shadow,))
        if gradient is not None:
            reverse.trace.record("accumulate", (shadow, gradient))


@handles("iadd", "isub", "imul", "itruediv", "ipow", "imatmul")
def _in_place(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    if node.args[0] not in reverse.shadows:
        operation(reverse, node, block, at)
        return
    written = node.outputs[0] if node.outputs and node.outputs[0] in reverse.shadows else node.args[0]
    shadow = reverse.trace.handle(reverse.shadows[written])
    differentiate(reverse, node, block, at, reverse.trace.record("take_out", (shadow,)))


def copied(reverse: Reverse, gradient: Any) -> Any:
    """A gradient that does not change with the shadow that it was got out of."""
    type = gradient._value.type if is_tensor(gradient) else None
    if isinstance(type, TensorType) and type.exact and type.kind != "array":
        return gradient
    return reverse.trace.record("snapshot", (gradient,))


def writes_out(reverse: Reverse, node: Node) -> Value | None:
    """The array that an operation is told to write into, if that has a shadow."""
    out = node.kwargs.get("out")
    return out if isinstance(out, Value) and out in reverse.shadows else None


__all__ = ["HANDLERS", "writes_out"]
