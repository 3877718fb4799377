"""The reverse of control flow: an `if` of the same condition; a `for` over the tape, backwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.errors import DerivativeError
from autograph.runtime.autodiff.residuals import keep_of_branch, keep_of_iterations
from autograph.runtime.autodiff.reverse import Frame, Reverse, handles
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.types import ANY, INT, TensorType, Type, inexact, join, type_of
from autograph.runtime.graph_text.printer import expression
from autograph.runtime.tracing.state.blame import line_of


@handles("if")
def _if(reverse: Reverse, node: Node) -> None:
    given = [
        (number, reverse.take(output))
        for number, output in enumerate(node.outputs)
        if output not in reverse.shadows
    ]
    frames = []
    for branch in node.blocks:
        with reverse.reversing(branch, loop=False) as frame:
            if branch.results is not None:
                reverse.pass_on(branch)
                for number, gradient in given:
                    reverse.contribute(branch.results[number], gradient)
                reverse.sweep(branch)
        frames.append(frame)
    passed = dict.fromkeys(value for frame in frames for value in frame.gradients if value not in frame.own)
    if not passed and not any(frame.into.nodes for frame in frames):
        return
    made = Node("if", node.args, None, tuple(frame.into for frame in frames), node.place)
    for frame in frames:
        with reverse.trace.open(frame.into):
            found = [_gradient(reverse, frame, value) for value in passed]
            frame.into.results = reverse.trace.lower(tuple(found))
    for branch, frame in zip(node.blocks, frames):
        keep_of_branch(node, branch, frame.into)
    for number in range(len(passed)):
        types = [_type_of(frame.into.results[number]) for frame in frames if frame.into.results is not None]
        made.add_output(join(types[0], types[1]))
    reverse.trace.block.append(made)
    for value, output in zip(passed, made.outputs):
        reverse.contribute(value, reverse.trace.proxy(output))


def _gradient(reverse: Reverse, frame: Frame, value: Value) -> Any:
    found = frame.gradients.get(value)
    return reverse.zero(value) if found is None else found


def _type_of(arg: Any) -> Type:
    return arg.type if isinstance(arg, Value) else type_of(arg)


def _carried_type(value: Value, first: Any) -> Type:
    """The type of a gradient that the reverse loop carries; its initial value comes from behind the loop."""
    type = value.type
    if not isinstance(type, TensorType):
        return ANY
    if type.kind == "array":
        carried = join(type, _type_of(first)) if type.exact else ANY
        return carried if type.shape else inexact(carried)  # NumPy's sums of arrays without dimensions are scalars
    dtype = np.result_type(type.dtype, float)
    return join(TensorType(dtype, (), "scalar", exact=False), _type_of(first))


@handles("for", "while")
def _loop(reverse: Reverse, node: Node) -> None:
    trace, body = reverse.trace, node.blocks[-1]
    inits = node.inits
    given = [None if output in reverse.shadows else reverse.take(output) for output in node.outputs]
    if body.results is None or (all(each is None for each in given) and not reverse.shadows.touches(body)):
        return
    items, carried = body.params[: len(body.params) - len(inits)], body.params[len(body.params) - len(inits) :]
    slots = [n for n, pair in enumerate(zip(carried, node.outputs)) if _goes_by_value(reverse, pair)]
    firsts = [reverse.zero(node.outputs[n]) if given[n] is None else given[n] for n in slots]
    lowered = [trace.lower(first) for first in firsts]
    with reverse.reversing(body, loop=True) as frame:
        index = trace.proxy(frame.into.add_param(INT))
        gradients = [frame.into.add_param(_carried_type(carried[n], first)) for n, first in zip(slots, lowered)]
        for gradient, first in zip(gradients, lowered):
            reverse.zeros.note(gradient, first)
        reverse.pass_on(body)
        for number, gradient in zip(slots, gradients):
            reverse.contribute(body.results[number - len(inits)], trace.proxy(gradient))
        reverse.sweep(body)
        if reverse.shadows.has_items(node):
            for item in items:
                reverse.return_number(item)
        elif node.op == "for" and reverse.activity.varies(node.args[0]):
            _items(reverse, node, node.args[0], node.kwargs["target"], items, index)
        found = [_gradient(reverse, frame, carried[number]) for number in slots]
        frame.into.results = trace.lower((trace.record("sub", (index, 1)), *found))
    tape, target = keep_of_iterations(node, reverse.frame.block, reverse.frame.at, frame.into)
    last = trace.record("sub", (trace.record("len", (trace.proxy(tape),)), 1))
    iterations = trace.record("reversed", (trace.proxy(tape),))
    made = Node("for", trace.lower((iterations, last, *lowered)), {"target": target}, (frame.into,), node.place)
    for param in frame.into.params[-len(lowered) - 1 :]:
        made.add_output(param.type)
    trace.block.append(made)
    for number, output in zip(slots, made.outputs[1:]):
        reverse.contribute(inits[number], trace.proxy(output))
    reverse.pass_on(node)


def _goes_by_value(reverse: Reverse, pair: tuple[Value, Value]) -> bool:
    """Whether the reverse loop carries the gradient of a variable: it is active, and has no shadow."""
    return reverse.activity.varies(pair) and not any(value in reverse.shadows for value in pair)


def _items(reverse: Reverse, node: Node, iterable: Any, target: Any, items: list[Value], index: Any) -> None:
    """Pass the gradients of a loop's items on to the arrays that it iterates over.

    Args:
        target: the pattern that unpacks items, as the loop has it.
        index: of the items that belong to this iteration.
    """
    if not reverse.activity.varies(iterable):
        return
    source = iterable.node if isinstance(iterable, Value) else None
    kind, args = (source.op, source.args) if source is not None else ("", ())
    if kind == "zip" and isinstance(target, tuple):
        for arg, part in zip(args, target):
            _items(reverse, node, arg, part, items, index)
    elif kind == "enumerate" and isinstance(target, tuple):
        _items(reverse, node, args[0], target[1], items, index)
    elif kind == "iter":
        _items(reverse, node, args[0], target, items, index)
    elif kind == "reversed":
        last = reverse.trace.record("sub", (reverse.trace.record("len", (reverse.trace.proxy(args[0]),)), 1))
        _items(reverse, node, args[0], target, items, reverse.trace.record("sub", (last, index)))
    elif isinstance(iterable, Value) and isinstance(iterable.type, TensorType):
        _pass_on(reverse, iterable, target, items, (index,))
    else:
        name = expression(iterable) if isinstance(iterable, Value) else ""
        gone_through = f"`{name}`" if name else "what this loop goes through"
        raise DerivativeError(
            f"a gradient is asked for that depends on the items of {gone_through}, which is no array, list or dict, "
            "nor made of such by iter, enumerate, zip or reversed. Go through one of these, or make the items "
            "constants by ag.stop_gradient",
            *line_of(node.place),
        )


def _pass_on(reverse: Reverse, array: Value, target: Any, items: list[Value], index: tuple[Any, ...]) -> None:
    if isinstance(target, tuple):
        for number, part in enumerate(target):
            _pass_on(reverse, array, part, items, (*index, number))
    else:
        at = index[0] if len(index) == 1 else index
        reverse.contribute_item(array, at, reverse.take(items[target]))
