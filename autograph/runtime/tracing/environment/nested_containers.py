"""Alias analysis of nested containers: a row of a matrix that the graph writes to may have another name.

The graph reads some containers of the caller's itself, say `self.rows`. Of others, say `self.first`, traced code has a
copy. If `self.first` is one of `self.rows`, then `self.rows[i][j] = 0` does not show in the copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from autograph.common import disk_cache
from autograph.runtime.graph.effects import CONTAINER, UNKNOWN, category, effect_of
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.tracing.environment.object_source import parts_of

ANY = 1_000_000  # levels


def written_levels(block: Block, loaded: Set[Value]) -> int:
    """How deep inside containers of the caller's a graph may write: 1 for the rows of a matrix, 0 for no deeper writes.

    Args:
        loaded: the values of the graph that are such containers.
    """
    iterated = {node.blocks[0].params[0]: node for node in walk(block) if node.op == "for"}
    deepest = 0
    for node in walk(block):
        effect = effect_of(node)
        for leaf in effect.writes:
            if category(leaf) in (CONTAINER, UNKNOWN):
                found = _level_of(leaf, iterated, loaded)
                deepest = max(deepest, ANY if found and effect.wild else found)
    return deepest


def _level_of(leaf: Any, iterated: dict[Value, Node], loaded: Set[Value]) -> int:
    """The number of steps from a container of the caller's to a value; 0 also for new containers."""
    level = 0
    while isinstance(leaf, Value) and leaf not in loaded:
        node = iterated.get(leaf, leaf.node)
        if node is not None and node.op == "build" and not level:
            return 0
        if node is None or (node.op != "getitem" and leaf not in iterated):
            return ANY
        leaf, level = node.args[0], level + 1
    return level


@disk_cache.storable
def are_outside(containers: Sequence[Any], around: Iterable[Any], levels: int) -> bool:
    """Whether none of some containers is inside the containers `around`, at most so many levels deep."""
    wanted = set(map(id, containers))
    seen: dict[int, Any] = {}
    rest = [*around]
    while rest and levels:
        rest = [part for each in rest for _, part in parts_of(each)]
        rest = [part for part in {id(part): part for part in rest}.values() if id(part) not in seen]
        seen.update((id(part), part) for part in rest)
        if not wanted.isdisjoint(map(id, rest)):
            return False
        levels -= 1
    return True
