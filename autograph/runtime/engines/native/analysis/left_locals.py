"""The user's variables at a side exit, for the frames of an exception.

The continuation gets only the values that it needs. All live values are in `values` of `Region.resume`, whose frame is
in the traceback.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

from autograph.runtime.engines.native.analysis.structure import Point, Structure
from autograph.runtime.engines.numpy.coalescing import assigned_name
from autograph.runtime.engines.numpy.line_table import calls, pieces_of
from autograph.runtime.engines.numpy.tracebacks import Known
from autograph.runtime.engines.numpy.user_locals import (
    done_by,
    is_followed,
    is_of_one_loop,
    nested_pieces,
    user_names,
    within,
)
from autograph.runtime.graph.graph import Block, Node, Place, Value


def known_where_left(structure: Structure, values: Mapping[Any, Any], place: Place) -> Known:
    """The user's variables at a node within a loop, for each of the user's frames.

    Args:
        values: the values that were live.
        place: of the node.
    """
    root = structure.root
    nodes = [root, *within(root)]
    there = next((Point(block, at) for block, at in _points(root) if block.nodes[at].place == place), None)
    frames, before = pieces_of(place), pieces_of(root.place)
    known: Known = [(shown, {}) for shown in calls(place)]
    for depth in range(len(before) - 1, len(frames) if there else 0):
        inside = frames[depth][len(before[depth]) if depth < len(before) else 0 :]  # pieces in the loop
        mine = {node for node in nodes if _is_in_frame(node, frames, depth)}
        done = done_by(mine)
        pieces = nested_pieces(inside[0][0]) if inside else []
        whole = nested_pieces(frames[depth][0][0])
        names = {name for name in user_names(whole) if is_of_one_loop(name, whole, frames[depth])}
        for name, value in _current(structure, there, mine).items() if inside and there else ():
            if value in values and name in names and is_followed(name, pieces, done):
                known[depth][1][name] = values[value]
    return known


def _points(node: Node) -> Iterator[tuple[Block, int]]:
    """All nodes within a node."""
    for block in node.blocks:
        for at, inner in enumerate(block.nodes):
            yield block, at
            yield from _points(inner)


def _is_in_frame(node: Node, frames: list[list[tuple[CodeType, int]]], depth: int) -> bool:
    """Whether a node comes from the same call of a function as one of these frames."""
    own = pieces_of(node.place)
    return len(own) == depth + 1 and own[:-1] == frames[:depth] and own[-1][0][0] is frames[depth][0][0]


def _current(structure: Structure, there: Point, nodes: set[Node]) -> dict[str, Value | None]:
    """For each name, the last value that one of the nodes assigned to it; None if the graph does not determine it."""
    found: dict[str, Value | None] = {}
    point: Point | None = there
    while point is not None:
        for node in reversed(point.block.nodes[: point.place]):
            for value in node.outputs if node in nodes else ():
                found.setdefault(assigned_name(value), value)
            for inner in within(node):
                for value in inner.outputs if inner in nodes else ():
                    found.setdefault(assigned_name(value), None)
        owner, outer = structure.owner(point.block)
        for param in point.block.params if owner in nodes else ():
            found.setdefault(param.name, param)
        point = outer
    return {name: value for name, value in found.items() if name}
