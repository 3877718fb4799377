"""Alias analysis of nested containers: a row of a matrix that the graph writes to may have another name.

The graph reads some containers of the caller's itself, say `self.rows`. Of others, say `self.first`, traced code has a
copy. If `self.first` is one of `self.rows`, then `self.rows[i][j] = 0` does not show in the copy.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence, Set
from itertools import chain
from typing import Any

from autograph.common import disk_cache
from autograph.runtime.graph.effects import CONTAINER, UNKNOWN, category, effect_of
from autograph.runtime.graph.graph import Block, Node, Value, walk
from autograph.runtime.tracing.environment.object_source import are_leaves, parts_of

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
    are_collected = all(type(each) is not tuple and gc.is_tracked(each) for each in containers)
    seen: dict[int, Any] = {}
    rest = [*around]
    while rest and levels:
        parts = _parts_of_all(rest)
        if are_collected and _are_tuples_of_leaves(parts):
            return True
        found = dict(zip(map(id, parts), parts, strict=True))
        if not wanted.isdisjoint(found):
            return False
        rest = [*found.values()] if seen.keys().isdisjoint(found) else [found[each] for each in found.keys() - seen]
        seen |= found
        levels -= 1
    return True


def _parts_of_all(things: list[Any]) -> list[Any]:
    """The parts of all things. Those of lists and tuples are found together: a call may bring thousands of them."""
    if not _SEQUENCES.issuperset(map(type, things)):
        return [part for each in things for _, part in parts_of(each)]
    parts = [*chain.from_iterable(things)]
    return [] if are_leaves(parts) else parts


def _are_tuples_of_leaves(things: list[Any]) -> bool:
    """Whether all things are tuples, and in them are no objects that CPython's garbage collector tracks.

    It tracks a tuple no longer once it has found out.
    """
    if set(map(type, things)) != {tuple}:
        return False
    return True not in map(gc.is_tracked, things) or are_leaves(chain.from_iterable(things))


_SEQUENCES = frozenset({list, tuple})
