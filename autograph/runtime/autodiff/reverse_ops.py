"""The reverse of ordinary operations, by the derivatives of their ops.

Also the reverse of indexing, of building containers, and of builtins that take long lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from autograph.runtime.autodiff.reverse import ItemGradients, Reverse, handles, on_shadow, refusal, type_of, whole
from autograph.runtime.autodiff.strong_zeros import multiply
from autograph.runtime.graph import effects
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import OpDef, lookup
from autograph.runtime.graph.traits import AGGREGATES, ARRAY_PRODUCT, ELEMENTWISE, GRADIENT, plain
from autograph.runtime.graph.types import ObjectType, TensorType
from autograph.runtime.ops.inference.bind_arguments import positional
from autograph.runtime.tracing.proxies.graph_break import NeedsConcrete, handled
from autograph.runtime.tracing.proxies.proxy import is_tensor

if TYPE_CHECKING:
    from autograph.runtime.tracing.state.trace import Trace


@handles("operation")
def operation(reverse: Reverse, node: Node) -> None:
    """The reverse of an operation: its derivatives applied to the gradients of its outputs."""
    given = [reverse.take(output) for output in node.outputs]
    if all(gradient is None for gradient in given):
        return
    gradient = complete(reverse, node.outputs[0], given[0]) if len(given) == 1 else tuple(given)
    differentiate(reverse, node, gradient)


def differentiate(
    reverse: Reverse, node: Node, gradient: Any, without: Sequence[str] = (), like: str = ""
) -> None:
    """Pass a gradient on to the arguments of a node by the derivatives of its op.

    Args:
        without: options that the derivatives are not to know of.
        like: another op, whose derivatives to use.
    """
    op, moved = lookup(like or node.op), reverse.shadows.moves(node)
    given = effects.without_outs(node)
    options = {name: value for name, value in node.kwargs.items() if name != "out" and name not in without}
    if not reverse.activity.varies((given, options)):
        return
    if not moved and reverse.shadows.is_unclear(node) and any(map(reverse.is_overwritten, node.inputs)):
        raise refusal(
            node,
            "may give a view or a copy of an array that is written to afterwards, so its gradient is unknown. Copy the "
            "result, or the array before",
        )
    if op.vjp is None:
        without_derivative(node)
    varies = reverse.activity.varies
    if op.vjp and varies(options):
        given, options = positional(op.target or getattr(np, op.name[1:], None), given, options, varies)
    if op.vjp and varies((given[len(op.vjp) :], options)):
        raise refusal(node, "lacks a derivative here in an argument that varies")
    assert op.vjp is not None
    zeros = reverse.zeros.of(reverse.trace.lower(gradient))
    outputs = reverse.primal(tuple(node.outputs) or given[0], after=True)
    out = outputs[0] if len(node.outputs) == 1 else outputs
    args, kwargs = reverse.primal((given, options))
    for place, arg in enumerate(given[: len(op.vjp)]):
        if isinstance(arg, dict) and op.name in AGGREGATES:
            continue    # it goes through the keys
        if op.vjp[place] is not None and varies(arg):
            start = len(reverse.trace.block.nodes)
            try:
                found = _by_rule(reverse.trace, op, place, (gradient, out, *args), kwargs)
            except NotImplementedError as error:
                raise refusal(node, f"is differentiated here, but autograph lacks {error} is") from error
            made = reverse.trace.block.nodes[start:]
            reverse.zeros.note_rule(node, made)
            if zeros > (op.name in ARRAY_PRODUCT) and multiply(made):
                found = _cleared(reverse, op, place, found, gradient, args, kwargs)
            for other in reverse.zeros.factors(node, place):
                found = _cleared(reverse, op, place, found, args[other], args, kwargs)
            reverse.contribute(arg, found)


def _cleared(reverse: Reverse, op: OpDef, place: int, found: Any, gradient: Any, args: Any, kwargs: Any) -> Any:
    """The result of a derivative, with zeros where its gradient is a strong zero."""
    is_elementwise = plain(op.name) in ELEMENTWISE
    type = type_of(found)
    if isinstance(found, (tuple, list, dict)) or isinstance(gradient, tuple) or not (
        is_elementwise or op.name in ARRAY_PRODUCT or isinstance(type, TensorType)
    ):
        return found
    if op.name in ARRAY_PRODUCT:
        return reverse.trace.record("cleared_product", (found, op.name, place, gradient, list(args), kwargs))
    return reverse.trace.record("cleared", (found, gradient, is_elementwise))


def _by_rule(trace: Trace, op: OpDef, place: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of the derivative in one argument; applied at run time if it needs facts of the run."""
    assert op.vjp is not None
    rule = op.vjp[place]
    assert rule is not None
    start = len(trace.block.nodes)
    of_lists = any(is_tensor(arg) and isinstance(arg._ag_value.type, ObjectType) and arg._ag_value.type.name == "list"
                   for arg in args[2:])  # fmt: skip
    if not of_lists or op.name in GRADIENT:
        try:
            return rule(*args, **kwargs)
        except NeedsConcrete as signal:
            handled(signal)
            trace.drop(start)
        except (TypeError, ValueError, IndexError):     # as the operation itself will raise, when the graph runs
            trace.drop(start)
    gradient, out, *rest = args
    return trace.record("run_rule", (op.name, place, gradient, out, rest, kwargs))


def without_derivative(node: Node) -> NoReturn:
    raise refusal(
        node,
        "has no derivative here, and the gradient depends on it. Use operations that have one, or "
        "make its result a constant by ag.stop_gradient",
    )


def complete(reverse: Reverse, output: Value, gradient: Any) -> Any:
    """The gradient of a tuple as a tuple, with explicit zeros; any other gradient as it is."""
    if not isinstance(gradient, ItemGradients):
        return gradient
    assert isinstance(output.type, ObjectType)
    found = []
    for at, type in enumerate(output.type.items):
        part = gradient.get(at)
        if part is None:
            item = reverse.trace.record("getitem", (reverse.trace.proxy(output), at))
            is_float = isinstance(type, TensorType) and not type.shape
            part = reverse.trace.record("bound", (0.0,)) if is_float else reverse.trace.record("zero_gradient", (item,))
        found.append(part)
    return tuple(found)


@handles("copy")
def _copy(reverse: Reverse, node: Node) -> None:
    """Pass on the gradient of a result that may be a copy of the first argument; a view has none left."""
    first = node.args[0]
    shadows = [reverse.shadow(each) for each in (node.output, first)]
    gradient = reverse.trace.record("unless_view", (*shadows, node.op == "getitem"))
    if node.op == "getitem":
        reverse.contribute_item(first, reverse.primal(node.args[1]), gradient)
    else:
        differentiate(reverse, node, gradient)


@handles("getitem")
def _getitem(reverse: Reverse, node: Node) -> None:
    gradient = reverse.take(node.output)
    if gradient is not None:
        reverse.contribute_item(node.args[0], reverse.primal(node.args[1]), gradient)


@handles("unpack")
def _unpack(reverse: Reverse, node: Node) -> None:
    for index, output in enumerate(node.outputs):
        reverse.contribute_item(node.args[0], index, reverse.take(output))


@handles("build", "bound", "gradient_in")
def _pass_on(reverse: Reverse, node: Node) -> None:
    """The reverse of ops whose result is their argument, or a container of their arguments."""
    reverse.contribute(node.args[0], reverse.take(node.output))


@handles("sum")
def _sum(reverse: Reverse, node: Node) -> None:
    if not _has_shadow(reverse, node):
        operation(reverse, node)
        return
    gradient = reverse.take(node.output)
    if gradient is not None:
        reverse.trace.record("accumulate_each", (reverse.shadow_then(node.args[0]), gradient))
        if len(node.args) > 1:
            reverse.contribute(node.args[1], gradient)


@handles("min", "max")
def _extreme(reverse: Reverse, node: Node) -> None:
    if len(node.args) > 1 or not _has_shadow(reverse, node) or "key" in node.kwargs:
        operation(reverse, node)
        return
    gradient = reverse.take(node.output)
    if gradient is not None:
        things, out = reverse.primal((node.args[0], node.output), after=True)
        shadow = reverse.shadow_then(node.args[0])
        part = reverse.trace.record("part_like", (shadow, things, out))
        reverse.trace.record("accumulate", (part, whole(gradient, node.output.type)))


@on_shadow("accumulate_each")
def _accumulate_each(reverse: Reverse, node: Node, shadow: Any) -> None:
    reverse.contribute(node.args[1], reverse.trace.record("sum_of_parts", (reverse.shadow_then(node.args[0]),)))


@on_shadow("sum_of_parts")
def _sum_of_parts(reverse: Reverse, node: Node, shadow: Any) -> None:
    gradient = reverse.take(node.output)
    if gradient is not None:
        reverse.trace.record("accumulate_each", (reverse.shadow_then(node.args[0]), gradient))


def _has_shadow(reverse: Reverse, node: Node) -> bool:
    """Whether the first argument has a shadow and is not an array."""
    first = node.args[0]
    return isinstance(first, Value) and first in reverse.shadows and not isinstance(first.type, TensorType)
