"""The reverse of in-place operations: it takes the gradient of the written values out of the array's shadow."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from autograph.runtime.autodiff.reverse import Reverse, handles, on_shadow, refusal
from autograph.runtime.autodiff.reverse_ops import differentiate, operation, without_derivative
from autograph.runtime.autodiff.shadow_rules import is_container
from autograph.runtime.graph import effects
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import ORDERED, lookup
from autograph.runtime.graph.traits import WRITTEN_ARGUMENT
from autograph.runtime.graph.types import ObjectType, TensorType
from autograph.runtime.tracing.proxies.proxy import is_tensor


@on_shadow("setitem")
def _setitem(reverse: Reverse, node: Node, shadow: Any) -> None:
    target, index, value = node.args
    if is_container(target) or not reverse.activity.varies((target, value)):
        return
    index = reverse.primal(index)
    if _may_lack(reverse, target):
        reverse.contribute(value, reverse.trace.record("take_back", (shadow, index)))
    elif _is_basic(node.args[1]):
        gradient = copied(reverse, reverse.trace.record("getitem", (shadow, index)))
        reverse.trace.record("setitem", (shadow, index, 0.0))
        reverse.contribute(value, gradient)
    else:
        reverse.contribute(value, reverse.trace.record("take_at", (shadow, index)))


@on_shadow("overwriting")
def _overwriting(reverse: Reverse, node: Node, shadow: Any) -> None:
    """The reverse of a function that writes a value into some items of an array."""
    place = WRITTEN_ARGUMENT[node.op]
    if len(node.args) <= place:
        refuse(node)
    args, options = reverse.primal((node.args[1:], node.kwargs))
    reverse.contribute(
        node.args[place], reverse.trace.record("take_overwritten", (shadow, node.op, place, *args), options)
    )


@on_shadow("np.copyto", ".fill")
def _fill(reverse: Reverse, node: Node, shadow: Any) -> None:
    where = (reverse.primal(node.kwargs["where"]),) if "where" in node.kwargs else ()
    reverse.contribute(node.args[1], reverse.trace.record("take_out", (shadow, *where)))


@on_shadow("add_at", "np.add.at")
def _add_at(reverse: Reverse, node: Node, shadow: Any) -> None:
    array, index, value = node.args
    reverse.contribute(value, copied(reverse, _read(reverse, array, reverse.primal(index))))


@on_shadow("np.subtract.at")
def _subtract_at(reverse: Reverse, node: Node, shadow: Any) -> None:
    array, index, value = node.args
    read = _read(reverse, array, reverse.primal(index))
    reverse.contribute(value, reverse.trace.record("neg", (read,)))


@on_shadow("gradient_at")
def _gradient_at(reverse: Reverse, node: Node, shadow: Any) -> None:
    gradient = reverse.take(node.output)
    if gradient is not None:
        reverse.trace.record("add_at", (shadow, reverse.primal(node.args[1]), gradient))


@on_shadow("accumulate")
def _accumulate(reverse: Reverse, node: Node, shadow: Any) -> None:
    array, value = node.args
    found = reverse.shadow_then(array)
    if _may_lack(reverse, array):
        found = reverse.trace.record("or_zero", (found,))
    reverse.contribute(value, copied(reverse, found))


# The reverse of taking gradients out of a shadow puts gradients in.


@on_shadow("take_out")
def _taken_out(reverse: Reverse, node: Node, shadow: Any) -> None:
    gradient, where = _gradient(reverse, node), reverse.primal(node.args[1:])
    if _may_lack(reverse, node.args[0]):
        reverse.trace.record("put_back", (shadow, ..., gradient, *where))
    else:
        reverse.trace.record("np.copyto", (shadow, gradient), {"where": where[0]} if where else {})


@on_shadow("take_at")
def _taken_at(reverse: Reverse, node: Node, shadow: Any) -> None:
    _put_at(reverse, node, shadow, "put_back" if _may_lack(reverse, node.args[0]) else "setitem")


@on_shadow("take_back")
def _taken_back(reverse: Reverse, node: Node, shadow: Any) -> None:
    _put_at(reverse, node, shadow, "put_back")


def _put_at(reverse: Reverse, node: Node, shadow: Any, op: str) -> None:
    gradient = _gradient(reverse, node)
    reverse.trace.record(op, (shadow, reverse.primal(node.args[1]), gradient))


def _gradient(reverse: Reverse, node: Node) -> Any:
    """The gradient of a node's result, or zero."""
    found = reverse.take(node.output)
    return 0.0 if found is None else found


@on_shadow("take_overwritten")
def _taken_overwritten(reverse: Reverse, node: Node, shadow: Any) -> None:
    array, op, place = node.args[:3]
    gradient = _gradient(reverse, node)
    if _may_lack(reverse, array):
        refuse(node)
    args, options = reverse.primal((list(node.args[2:]), node.kwargs))
    args[0], args[place] = shadow, gradient
    reverse.trace.record(op, tuple(args), options)


@on_shadow("unless_view")
def _unless_view(reverse: Reverse, node: Node, shadow: Any) -> None:
    gradient = _gradient(reverse, node)
    _, base, is_item = node.args
    if base in reverse.shadows:
        reverse.trace.record("put_unless_view", (shadow, reverse.shadow(base), is_item, gradient))


@on_shadow("put_unless_view")
def _put_unless_view(reverse: Reverse, node: Node, shadow: Any) -> None:
    _, base, is_item, gradient = node.args
    if base in reverse.shadows:
        reverse.contribute(gradient, reverse.trace.record("unless_view", (shadow, reverse.shadow(base), is_item)))


@on_shadow("put_back")
def _put_back(reverse: Reverse, node: Node, shadow: Any) -> None:
    """The reverse of putting gradients in takes them out."""
    _, where, gradient, *mask = node.args
    op, *args = ("take_out", *reverse.primal(mask)) if mask else ("take_back", reverse.primal(where))
    reverse.contribute(gradient, reverse.trace.record(op, (shadow, *args)))


@handles("in place")
def _in_place(reverse: Reverse, node: Node) -> None:
    if is_container(node.args[0]):
        return  # a list made longer: its items have shadows of their own
    if node.args[0] not in reverse.shadows:
        operation(reverse, node)
        return
    changed = node.outputs[0] if node.outputs and node.outputs[0] in reverse.shadows else node.args[0]
    shadow = reverse.shadow(changed)
    differentiate(reverse, node, reverse.trace.record("take_out", (shadow,)))


@on_shadow(".sort", ".partition")
def _rearrange(reverse: Reverse, node: Node, shadow: Any) -> None:
    """The reverse of array methods that reorder items in place."""
    if not isinstance(node.args[0].type, TensorType):
        refuse(node)
    differentiate(reverse, node, reverse.trace.record("take_out", (shadow,)), like=f"np{node.op}")


@handles("np.nan_to_num")
def _nan_to_num(reverse: Reverse, node: Node) -> None:
    if len(node.args) > 1 or node.kwargs.get("copy", True) is not True:
        refuse(node)
    operation(reverse, node)


@handles("write")
def _writing(reverse: Reverse, node: Node) -> None:
    """The reverse of any other op that writes to an object with a shadow: a function with `out=`."""
    changed, is_ufunc = effects.outs(node), isinstance(lookup(node.op).target, np.ufunc)
    several = isinstance(node.output.type, ObjectType) and len(node.output.type.items) if len(node.outputs) == 1 else -1
    if len(changed) != (several or 1) or not set(reverse.shadows.written(node)) <= set(changed):
        refuse(node)
    where = (reverse.primal(node.kwargs["where"]),) if is_ufunc and "where" in node.kwargs else ()
    found = [_take_out(reverse, array, where) for array in changed]
    options = ("where",) if is_ufunc else ()    # of others, it says which items they take into account
    differentiate(reverse, node, tuple(found) if several else found[0], without=options)


def _take_out(reverse: Reverse, array: Value, where: tuple[Any, ...]) -> Any:
    """The gradient of a value that overwrote an array, or the part of it where a mask is true."""
    if array not in reverse.shadows:
        return reverse.zero(array)
    return reverse.trace.record("take_out", (reverse.shadow(array), *where))


def refuse(node: Node) -> NoReturn:
    if lookup(node.op).effect == ORDERED:
        without_derivative(node)
    advice = "Use operations that give new arrays and lists, or give it ag.stop_gradient of the array"
    if node.op == "setattr":
        advice = "Keep the array in a local variable or an ag.Variable, or give it ag.stop_gradient of the array"
    raise refusal(
        node,
        "changes in place an object that the gradient depends on, and has no derivative. "
        + advice,
    )


def copied(reverse: Reverse, gradient: Any) -> Any:
    """A gradient that does not change when its shadow does."""
    type = gradient._ag_value.type if is_tensor(gradient) else None
    if isinstance(type, TensorType) and type.exact and type.kind != "array":
        return gradient
    return reverse.trace.record("snapshot", (gradient,))


def _may_lack(reverse: Reverse, array: Value) -> bool:
    """Whether a mutated object may have no shadow at run time, because it is an array of integers."""
    return not isinstance(reverse.shadows[array].type, TensorType)


def _read(reverse: Reverse, array: Value, index: Any) -> Any:
    """The gradients of some items of an array."""
    op = "gradient_at" if _may_lack(reverse, array) else "getitem"
    return reverse.trace.record(op, (reverse.shadow(array), index))


def _is_basic(index: Any) -> bool:
    """Whether an index certainly selects no item twice."""
    parts = index if isinstance(index, tuple) else (index,)
    types = [part.type if isinstance(part, Value) else None for part in parts]
    return all(
        part is None or part is ... or type(part) in (int, slice)
        or (isinstance(type_, TensorType) and type_.exact and type_.dtype.kind in "iub"
            and (not type_.shape or type_.dtype.kind == "b"))
        for part, type_ in zip(parts, types)
    )
