"""Runs a graph node by node: slow, and too simple to be wrong."""

from __future__ import annotations

import operator
from typing import Any

from autograph.runtime.graph.graph import UNBOUND, Block, Constant, Graph, Node, Value, map_args
from autograph.runtime.graph.opdef import lookup

NAMES = {"and": "and_", "or": "or_", "not": "not_"}


class _Stop(Exception):
    """A block that never ends has ended."""


def run(graph: Graph, *args: Any) -> Any:
    values = dict(zip(graph.params, args))
    (result,) = _block(graph.block, values)
    return result


def _of(arg: Any, values: dict[Value, Any]) -> Any:
    def leaf(part: Any) -> Any:
        if isinstance(part, Value):
            return values[part]
        return part.value if isinstance(part, Constant) else part

    return map_args(leaf, arg)


def _block(block: Block, values: dict[Value, Any]) -> Any:
    for node in block.nodes:
        _node(node, values)
    if block.results is None:
        raise _Stop
    return _of(block.results, values)


def _node(node: Node, values: dict[Value, Any]) -> None:
    if node.op == "if":
        results = _block(node.blocks[not _of(node.args[0], values)], values)
    elif node.op == "while":
        results = _while(node, values)
    elif node.op == "for":
        results = _for(node, values)
    else:
        found = _compute(node, _of(node.args, values), _of(node.kwargs, values))
        results = found if len(node.outputs) > 1 else (found,)
    values.update(zip(node.outputs, results))


def _while(node: Node, values: dict[Value, Any]) -> Any:
    carried = _of(node.args, values)
    test, body = node.blocks
    while True:
        values.update(zip(test.params, carried))
        if not _block(test, values)[0]:
            return carried
        values.update(zip(body.params, carried))
        carried, stopped = _iteration(node, body, values)
        if stopped:
            return carried


def _for(node: Node, values: dict[Value, Any]) -> Any:
    (body,) = node.blocks
    iterable, *carried = _of(node.args, values)
    for item in iterable:
        items = _taken_apart(node.kwargs.get("target", 0), item)
        values.update(zip(body.params, [*items, *carried]))
        carried, stopped = _iteration(node, body, values)
        if stopped:
            break
    return carried


def _iteration(node: Node, body: Block, values: dict[Value, Any]) -> tuple[Any, Any]:
    results = _block(body, values)
    return (results[1:], results[0]) if node.kwargs.get("until") else (results, False)


def _taken_apart(target: Any, item: Any) -> list[Any]:
    if target == 0 or not isinstance(target, tuple):
        return [item]
    parts = [_taken_apart(inner, part) for inner, part in zip(target, tuple(item), strict=True)]
    return [each for part in parts for each in part]


def _compute(node: Node, args: Any, kwargs: Any) -> Any:
    op, name = lookup(node.op), NAMES.get(node.op, node.op)
    if name == "call":
        return args[0](*args[1:], **kwargs)
    if name == "raise":
        raise args[0]
    if name == "build":
        return args[0]
    if name == "unpack":
        first, *rest = args[0]
        return first, *rest
    if name == "bound":
        if args[0] is UNBOUND:
            raise UnboundLocalError(kwargs["name"])
        return args[0]
    if name == "in":
        return args[0] in args[1]
    if name == "getattr":
        return getattr(*args)
    if name == "setattr":
        return setattr(*args)
    if name.startswith("."):
        return getattr(args[0], name[1:])(*args[1:], **kwargs)
    if op.target is not None:
        return op.target(*args, **kwargs)
    return getattr(operator, name)(*args, **kwargs)
