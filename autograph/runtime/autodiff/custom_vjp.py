"""Custom gradients, and checkpointing, which recomputes a function for its gradient.

The results of such a function go through a node `custom_gradient(values, inputs)`, which returns the values. The
reverse skips the nodes that computed them, and asks the function's pullback for the cotangents of the inputs.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any

from autograph.common import pytree
from autograph.errors import DerivativeError
from autograph.runtime.autodiff.activity import encodes_floats, has_gradient, uses_in, values_of
from autograph.runtime.autodiff.reverse import Reverse, handles
from autograph.runtime.autodiff.reverse_ops import complete
from autograph.runtime.autodiff.transforms import traced
from autograph.runtime.graph.callables import name_of
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.tracing.proxies.proxy import is_tensor, unpack
from autograph.runtime.tracing.state.trace import Trace

# From the gradients of the values, and which inputs are asked for, to the gradients of the inputs.
Back = Callable[[Any, list[bool]], list[Any]]


def traced_custom(trace: Trace, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Trace a call of a function with a custom gradient; keyword-only arguments count as constants."""
    name = name_of(function)
    if kwargs:
        bound = inspect.signature(function).bind(*args, **kwargs)
        args, kwargs = bound.args, bound.kwargs
    result = trace.context.calls.replacement(function)(*args, **kwargs)
    if not isinstance(result, tuple) or len(result) != 2:
        raise DerivativeError(f"{name} is decorated by custom_gradient, so it must return a pair: a value, and a "
                              "function that takes the gradient of the value to those of the arguments")  # fmt: skip
    value, gradient = result

    def back(cotangents: Any, wanted: list[bool]) -> list[Any]:
        found = trace.context.calls.replacement(gradient)(cotangents)
        if len(args) == 1 and not (isinstance(found, tuple) and len(found) == 1):
            found = (found,)
        if len(found) != len(args):
            raise DerivativeError(f"the gradient of {name} gave {len(found)} gradients for {len(args)} arguments")
        return [part for arg, given in zip(args, found) for part in _leaves(arg, given)]

    return through(trace, value, [leaf for arg in args for leaf in pytree.flatten(arg) if is_tensor(leaf)], back)


def _leaves(arg: Any, gradient: Any) -> list[Any]:
    """The gradients of the proxies in an argument; None means zeros."""
    leaves = pytree.flatten(arg)
    found = [None] * len(leaves) if gradient is None else pytree.flatten(gradient)
    return [part for leaf, part in zip(leaves, found) if is_tensor(leaf)]


def traced_checkpoint(trace: Trace, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Trace a call of a function decorated with `ag.checkpoint`."""
    start = len(trace.block.nodes)
    value = trace.context.calls.replacement(function)(*args, **kwargs)
    part = Block(trace.block.nodes[start:])
    own = values_of(part)
    used = [each for each in uses_in(part) if each not in own]
    inputs = [trace.proxy(each) for each in used if has_gradient(each.type) or encodes_floats(each.type)]

    def back(cotangents: Any, wanted: list[bool]) -> list[Any]:
        chosen = [each for each, is_wanted in zip(inputs, wanted) if is_wanted]
        again = traced(trace, function, chosen, args, kwargs)
        found = iter(again.gradients(again.result, cotangents))
        return [next(found) if is_wanted else None for is_wanted in wanted]

    return through(trace, value, inputs, back)


def through(trace: Trace, value: Any, inputs: list[Any], back: Back) -> Any:
    """Attach a pullback to a value: `back` maps the cotangents of its leaves to those of the inputs."""
    leaves = pytree.flatten(value)
    if not inputs or not any(map(is_tensor, leaves)):
        return value
    results = trace.record("custom_gradient", (tuple(leaves), tuple(inputs)))
    node = trace.use(results).node
    assert node is not None
    _BACK[node] = lambda cotangents, wanted: back(pytree.pack(value, cotangents), wanted)
    return pytree.pack(value, list(unpack(trace, results, len(leaves))))


_BACK: weakref.WeakKeyDictionary[Node, Back] = weakref.WeakKeyDictionary()


@handles("custom_gradient")
def _custom(reverse: Reverse, node: Node) -> None:
    gradient = reverse.take(node.output)
    if gradient is None:
        return
    if is_tensor(gradient):     # a shadow, as one of the values has one
        cotangents = list(unpack(reverse.trace, reverse.trace.record("in_shadow", (gradient,)), len(node.args[0])))
    else:
        cotangents = list(complete(reverse, node.output, gradient))
    wanted = [reverse.activity.varies(value) for value in node.args[1]]
    for value, found in zip(node.args[1], _BACK[node](cotangents, wanted)):
        if isinstance(value, Value):
            reverse.contribute(value, found)
