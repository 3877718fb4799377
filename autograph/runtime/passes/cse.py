"""Common subexpression elimination: compute an operation on the same, unchanged operands once.

    v2 = mul(x, y)                      v2 = mul(x, y)
    v3 = mul(x, y)               →      v4 = add(v2, v2)
    v4 = add(v2, v3)

Each mutable region has a version. The key of a node consists of its op, its arguments, and the versions of the regions
that it reads; a node that may write to a region gives it a new version. Of two nodes with the same key, the first
replaces the second if it dominates it: if it precedes it in its block, or in one around.

An operation on arrays makes a new array each time. Two such results are merged only if neither is ever written, and the
second never escapes.
"""

from __future__ import annotations

import itertools
from typing import Any

from autograph.runtime.graph.aliasing import Region, aliasing_of
from autograph.runtime.graph.effects import is_array, is_mutable
from autograph.runtime.graph.graph import Block, Graph, Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.graph.passed_numbers import passed_by
from autograph.runtime.passes.rewriter import Outcome, Rewriter, key, shown


def run(graph: Graph) -> Outcome:
    """Merge nodes that compute the same."""
    return _Merging(graph).run(graph)


def _changes_settings(node: Node) -> bool:
    """Whether a node may change whether later operations warn or raise."""
    return node.op in ("enter", "exit") or (node.op == "call" and getattr(node.args[0], "__name__", "") in _SETTINGS)


_SETTINGS = frozenset("seterr seterrcall simplefilter filterwarnings resetwarnings".split())


class _Merging(Rewriter):
    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.aliasing = aliasing_of(graph)
        self.passed = passed_by(graph)
        self.known: dict[Any, list[Value]] = {}
        self.scope: list[Any] = []          # the keys that the current block has added
        self.versions: dict[Region, int] = {}
        self.fresh = itertools.count(1)

    def block(self, block: Block) -> None:
        outer, self.scope = self.scope, []
        super().block(block)
        for each in self.scope:
            self.known.pop(each, None)
        self.scope = outer

    def node(self, node: Node, block: Block) -> None:
        if _changes_settings(node):
            self.known.clear()
        if node.blocks:
            self.written(node)              # by an earlier iteration of a loop
            super().node(node, block)
            self.written(node)
            return
        effect = self.aliasing.effect(node)
        if effect.kind in (PURE, VIEW) and not self.aliasing.writes(node) and node.op != "build":
            versions = tuple(self.versions.get(self.aliasing.region(leaf), 0) for leaf in effect.reads)
            known_by = (node.op, key(node.args), key(node.kwargs), versions)
            first = self.known.get(known_by)
            if first is not None and all(map(self.may_merge, first, node.outputs)):
                self.replace(node.outputs, first, f"{shown(node)} has been computed before", node.place)
                return
            if first is None:
                self.known[known_by] = node.outputs
                self.scope.append(known_by)
        self.written(node)
        block.append(node)

    def written(self, node: Node) -> None:
        for region in self.aliasing.writes(node):
            self.versions[region] = next(self.fresh)

    def may_merge(self, first: Value, second: Value) -> bool:
        """Whether the program cannot tell if `second` is `first` or an equal object."""
        aliasing = self.aliasing
        if not is_mutable(second):
            return not (self.passed.is_kept(first) and self.passed.is_kept(second))
        if aliasing.is_view(first):
            return not aliasing.is_kept(first) and not aliasing.is_kept(second)
        return is_array(first) and aliasing.is_private(second) and not aliasing.is_written(first)
