"""The reverse of taking items out of things and of putting things together, and of builtins that take long lists."""

from __future__ import annotations

from autograph.runtime.autodiff.frames import whole
from autograph.runtime.autodiff.reverse import Reverse, handles
from autograph.runtime.autodiff.reverse_ops import operation
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.types import TensorType


@handles("getitem")
def _getitem(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    gradient = reverse.take(node.output)
    if gradient is not None:
        reverse.contribute_item(node.args[0], reverse.primal(node.args[1], block, at), gradient)


@handles("unpack")
def _unpack(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    for index, output in enumerate(node.outputs):
        gradient = reverse.take(output)
        if gradient is not None:
            reverse.contribute_item(node.args[0], index, gradient)


@handles("build")
def _build(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    gradient = reverse.take(node.output)
    if gradient is not None:
        reverse.contribute(node.args[0], gradient)


@handles("bound")
def _bound(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    reverse.contribute(node.args[0], reverse.take(node.output))


@handles("sum")
def _sum(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    if not _is_held(reverse, node):
        operation(reverse, node, block, at)
        return
    gradient = reverse.take(node.output)
    if gradient is not None:
        reverse.trace.record("accumulate_each", (reverse.shadow_then(node.args[0]), gradient))
        if len(node.args) > 1:
            reverse.contribute(node.args[1], gradient)


@handles("min", "max")
def _extreme(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    if len(node.args) > 1 or not _is_held(reverse, node) or "key" in node.kwargs:
        operation(reverse, node, block, at)
        return
    gradient = reverse.take(node.output)
    if gradient is not None:
        things, out = reverse.primal((node.args[0], node.output), block, at + 1)
        shadow = reverse.shadow_then(node.args[0])
        part = reverse.trace.record("part_like", (shadow, things, out))
        reverse.trace.record("accumulate", (part, whole(gradient, node.output.type)))


@handles("accumulate_each")
def _accumulate_each(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    shadow, gradient = node.args
    if shadow in reverse.shadows:
        found = reverse.trace.record("sum_of_parts", (reverse.shadow_then(shadow),))
        reverse.contribute(gradient, found)


@handles("sum_of_parts")
def _sum_of_parts(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    gradient = reverse.take(node.output)
    if gradient is not None and node.args[0] in reverse.shadows:
        reverse.trace.record("accumulate_each", (reverse.shadow_then(node.args[0]), gradient))


@handles("gradient_in")
def _gradient_in(reverse: Reverse, node: Node, block: Block, at: int) -> None:
    """The gradient of an argument: nobody but who asked for it has to do with that shadow any more."""
    reverse.contribute(node.args[0], reverse.take(node.output))


def _is_held(reverse: Reverse, node: Node) -> bool:
    """Whether the first argument is something with a shadow other than an array."""
    first = node.args[0]
    return isinstance(first, Value) and first in reverse.shadows and not isinstance(first.type, TensorType)
