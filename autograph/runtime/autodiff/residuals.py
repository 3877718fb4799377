"""Residuals: the values of a block that its reverse needs, saved for it.

A branch returns them as further results of its `if`. Each iteration of a loop appends them to a list, the *tape*, over
which the reverse of the loop iterates backwards.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.autodiff.activity import defined_in, uses_in
from autograph.runtime.graph.graph import UNBOUND, Block, Node, Value, substitute
from autograph.runtime.graph.types import MaybeUnbound, ObjectType, bound_type


def needed(branch: Block, reverse: Block) -> list[Value]:
    """The residuals of a block: the values that it defines and its reverse uses."""
    own = defined_in(branch)
    return [value for value in uses_in(reverse) if value in own]


def replace(block: Block, values: dict[Value, Any]) -> None:
    """Replace values that a block uses."""
    around = Node("", (), None, (block,))
    substitute(around, values)


def keep_of_branch(node: Node, branch: Block, reverse: Block) -> None:
    """Save the residuals of a branch as further results of its `if`."""
    kept: dict[Value, Any] = {}
    for value in needed(branch, reverse):
        ends = all(block.results is not None for block in node.blocks)
        type = bound_type(value.type)
        output = node.add_output(MaybeUnbound(type) if ends else value.type, value.name)
        for block in node.blocks:
            if block.results is not None:
                block.results = (*block.results, value if block is branch else UNBOUND)
        if isinstance(value.type, MaybeUnbound):  # a variable that an inner branch may have left unbound
            kept[value] = output
            continue
        bound = Node("bound", (output,), None, (), node.place)
        kept[value] = bound.add_output(type, value.name)
    replace(reverse, kept)
    reverse.nodes[:0] = [value.node for value in kept.values() if value.node is not node]


def keep_of_iterations(node: Node, block: Block, at: int, reverse: Block) -> tuple[Value, Any]:
    """Save the residuals of each iteration of a loop on its tape.

    Args:
        block: the block around the loop, which is at `at`.

    Returns:
        The tape, and the target of a `for` over its items.
    """
    body = node.blocks[-1]
    values = needed(body, reverse)
    make = Node("build", ([],), None, (), node.place)
    tape = make.add_output(ObjectType("list"), "tape")
    block.nodes.insert(at, make)
    item = values[0] if len(values) == 1 else tuple(values)
    body.append(Node(".append", (tape, item), None, (), node.place))
    params = [Value(value.type, None, value.name) for value in values]
    replace(reverse, dict(zip(values, params)))
    if not values:
        params = [Value(ObjectType("tuple"))]
    reverse.params[:0] = params
    return tape, 0 if len(values) < 2 else tuple(range(len(values)))
