"""Whether two graphs are the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value
from autograph.runtime.graph_text import notation


def same(first: Graph, second: Graph) -> bool:
    """Whether two graphs do the same with the same types, whatever their names and places."""
    return _same_blocks(first.block, second.block, {})


def _same_blocks(first: Block, second: Block, pairs: dict[Value, Value]) -> bool:
    return (
        _same_values(first.params, second.params, pairs)
        and len(first.nodes) == len(second.nodes)
        and all(_same_nodes(a, b, pairs) for a, b in zip(first.nodes, second.nodes))
        and _same_args(first.results, second.results, pairs)
    )


def _same_nodes(first: Node, second: Node, pairs: dict[Value, Value]) -> bool:
    return (
        first.op == second.op
        and _same_args(first.args, second.args, pairs)
        and list(first.kwargs) == list(second.kwargs)
        and _same_args(first.kwargs, second.kwargs, pairs)
        and len(first.blocks) == len(second.blocks)
        and all(_same_blocks(a, b, pairs) for a, b in zip(first.blocks, second.blocks))
        and _same_values(first.outputs, second.outputs, pairs)
    )


def _same_values(first: Sequence[Value], second: Sequence[Value], pairs: dict[Value, Value]) -> bool:
    pairs.update(zip(first, second))
    return [value.type for value in first] == [value.type for value in second]


def _same_args(first: Any, second: Any, pairs: dict[Value, Value]) -> bool:
    if type(first) is not type(second):
        return False
    if isinstance(first, Value):
        return pairs.get(first) is second
    if isinstance(first, slice):
        return _same_args((first.start, first.stop, first.step), (second.start, second.stop, second.step), pairs)
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(_same_args(a, b, pairs) for a, b in zip(first, second))
    if isinstance(first, dict):
        return _same_args([*first.items()], [*second.items()], pairs)
    if first is second or (isinstance(first, Constant) and first == second):
        return True
    written = notation.literal(first)
    return written is not None and written == notation.literal(second)
