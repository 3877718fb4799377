"""Graphs as JSON, for other programs.

    graph  ::=  {"format": "autograph-graph", "version": 1, "name": text, "block": block, "objects": {name: about, …}}
    block  ::=  {"params": [value, …], "nodes": [node, …], "results": [arg, …] or null}
    value  ::=  {"name": text, "type": text}
    node   ::=  {"op": text, "effect": text, "args": [arg, …], "kwargs": {name: arg, …}, "outputs": [value, …],
                 "blocks": [{"label": text, …block}, …], "place": {"file": text, "line": number} or null}
    arg    ::=  {"value": name}  |  {"literal": text, "json": the same in JSON, where it can be}  |  {"object": name}
             |  {"tuple": [arg, …]}  |  {"list": [arg, …]}  |  {"dict": [[arg, arg], …]}  |  {"slice": [arg, arg, arg]}
             |  {"namedtuple": name of the class among the objects, "parts": [arg, …]}

Names, types and literals are written as in the text of the graph; see `notation`. A block whose results are null never
reaches its end. `objects` describes each object that the graph refers to, in a few words. The key `effect` is
`pure`, `view`, `write`, `ordered`, or `control` for a node with blocks.
"""

from __future__ import annotations

import json
import math
from typing import Any

from autograph.runtime.graph.graph import Block, Graph, Node, Value, user_line
from autograph.runtime.graph_text import notation
from autograph.runtime.graph_text.graphviz import effect_of
from autograph.runtime.graph_text.printer import Printer, describe

FORMAT = "autograph-graph"
VERSION = 1
_LARGEST = 2**53  # beyond it, many programs take an integer for a float


def to_json(graph: Graph, indent: int | None = 2) -> str:
    """The graph as JSON."""
    printer = Printer.named(graph)
    described = {
        "format": FORMAT,
        "version": VERSION,
        "name": graph.name,
        "block": _block(graph.block, printer),
        "objects": {name: describe(value) for name, value in printer.names.objects.items()},
    }
    return json.dumps(described, indent=indent, ensure_ascii=False, allow_nan=False)


def _block(block: Block, printer: Printer) -> dict[str, Any]:
    return {
        "params": [_value(param, printer) for param in block.params],
        "nodes": [_node(node, printer) for node in block.nodes],
        "results": None if block.results is None else [_arg(result, printer) for result in block.results],
    }


def _value(value: Value, printer: Printer) -> dict[str, str]:
    return {"name": printer.names.value(value), "type": printer.type(value.type)}


def _node(node: Node, printer: Printer) -> dict[str, Any]:
    place = user_line(node.place)
    return {
        "op": node.op,
        "effect": effect_of(node),
        "args": [_arg(arg, printer) for arg in node.args],
        "kwargs": {name: _arg(arg, printer) for name, arg in node.kwargs.items()},
        "outputs": [_value(output, printer) for output in node.outputs],
        "blocks": [
            {"label": notation.label(node.op, index), **_block(block, printer)}
            for index, block in enumerate(node.blocks)
        ],
        "place": place and {"file": place[0], "line": place[1]},
    }


def _arg(arg: Any, printer: Printer) -> dict[str, Any]:
    if isinstance(arg, Value):
        return {"value": printer.names.value(arg)}
    if isinstance(arg, slice):
        return {"slice": [_arg(part, printer) for part in (arg.start, arg.stop, arg.step)]}
    if type(arg) is dict:
        return {"dict": [[_arg(key, printer), _arg(value, printer)] for key, value in arg.items()]}
    if isinstance(arg, tuple) and hasattr(arg, "_fields"):
        return {"namedtuple": printer.names.object(type(arg))[1:], "parts": [_arg(part, printer) for part in arg]}
    if type(arg) in (tuple, list):
        return {type(arg).__name__: [_arg(part, printer) for part in arg]}
    written = notation.literal(arg)
    if written is None:
        return {"object": printer.names.object(arg)[1:]}
    return {"literal": written, "json": arg} if _is_json(arg) else {"literal": written}


def _is_json(arg: Any) -> bool:
    if type(arg) is int:
        return -_LARGEST <= arg <= _LARGEST
    return type(arg) in (bool, str, type(None)) or (type(arg) is float and math.isfinite(arg))
