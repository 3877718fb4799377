"""Alias analysis: which values may share memory, and where that memory may change.

Values that may be the same object, share memory, or refer to one another are in one region (an alias class). The
outside is one region: parameters, which the caller may hold and which may share memory among themselves, mutable
constants, and everything that unknown code gets. Immutable values such as numbers and strings are in none.

The analysis is conservative: a region contains a list together with its items, at all times. In return it takes time
almost linear in the size of the graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from autograph.runtime.graph.effects import Effect, effect_of, is_array, is_mutable, is_tame, mutable_in
from autograph.runtime.graph.graph import Block, Graph, Node, Value
from autograph.runtime.graph.opdef import OPS, ORDERED, PURE
from autograph.runtime.graph.traits import OWN_VIEW
from autograph.runtime.graph.types import TensorType

Region: TypeAlias = object
Regions: TypeAlias = frozenset[Region]

NOTHING: Regions = frozenset()


def aliasing_of(graph: Graph) -> Aliasing:
    """The alias analysis of a graph, cached until the graph changes."""
    if graph.analysis is None:
        return Aliasing(graph)
    if not graph.analysis:
        graph.analysis.append(Aliasing(graph))
    return graph.analysis[0]  # type: ignore[no-any-return]


class Aliasing:
    """The alias classes of a graph as it is now; to be computed again after changes."""

    def __init__(self, graph: Graph) -> None:
        self._outside: Region = self
        self._parents: dict[Region, Region] = {}
        self._effects: dict[Node, Effect] = {}
        self._roots: set[Region] = set()
        self._kept: set[Value] = set()
        self._writes: dict[Node, Regions] = {}
        self._join_params(graph.params)
        self._block(graph.block)
        self._written = self._writes_of(graph.block)
        returned = mutable_in(graph.block.results)
        self._keep(returned)
        self._visible = {self._find(leaf) for leaf in returned} | {self._find(self._outside)}

    # ---------------------------------------------------------------------------------------------- queries

    def effect(self, node: Node) -> Effect:
        """The effects of a node, without its blocks."""
        return self._effects[node]

    def region(self, leaf: Any) -> Region | None:
        """The region of a value or constant; None if it never changes."""
        return self._find(leaf) if is_mutable(leaf) else None

    def reads(self, node: Node) -> Regions:
        """The regions that a node itself reads."""
        return frozenset(map(self._find, self._effects[node].reads))

    def writes(self, node: Node) -> Regions:
        """The regions that may change while a node with its blocks runs."""
        return self._writes[node]

    def may_write(self, node: Node, leaf: Any) -> bool:
        """Whether a value or constant may change while a node runs."""
        return self.region(leaf) in self._writes[node]

    def is_written(self, leaf: Any) -> bool:
        """Whether the memory of a value or constant may change at any time."""
        return self.region(leaf) in self._written

    def escapes(self, leaf: Any) -> bool:
        """Whether outside code may get a reference to the memory of a value or constant."""
        return self.region(leaf) in self._visible

    def is_kept(self, value: Value) -> bool:
        """Whether something else may become this very object, because the value is more than read."""
        return value in self._kept

    def is_fresh(self, value: Any) -> bool:
        """Whether the value is a new array that shares no memory when it is made."""
        if not isinstance(value, Value) or value.node is None or value.node not in self._effects:
            return False
        return is_array(value) and self._effects[value.node].kind == PURE and not value.node.blocks

    def is_alone(self, value: Value) -> bool:
        """Whether nothing else, here or outside, refers to the array or shares its memory."""
        return value not in self._parents and value not in self._roots

    def is_private(self, value: Value) -> bool:
        """Whether the value is an array that never changes and never escapes."""
        return is_array(value) and not self.is_written(value) and not self.escapes(value)

    def is_view(self, value: Value) -> bool:
        """Whether the value is certainly a new view of an array, and no copy."""
        node = value.node
        if node is None or not is_array(value) or not node.args or not is_array(node.args[0]):
            return False
        if node.op == "getattr":
            return bool(node.args[1] == "T")
        parts = node.args[1] if node.op == "getitem" else [[]]
        return all(map(_is_basic, parts if isinstance(parts, tuple) else (parts,)))

    def changes_outside(self) -> bool:
        """Whether the graph may change anything but what it makes, or do anything else that others see."""
        outside = self._find(self._outside)
        for node, effect in self._effects.items():
            if node.op == "raise":
                continue
            is_seen = effect.kind == ORDERED and not (node.blocks or _is_tame_call(node))
            if effect.wild or is_seen or any(self._find(leaf) is outside for leaf in effect.writes):
                return True
        return False

    def add_alias(self, value: Value, like: Value) -> None:
        """Add a value that a pass made in place of another one."""
        self._join(value, like)     # in this order, so that regions that were returned before stay valid
        if like in self._kept:
            self._kept.add(value)

    # ---------------------------------------------------------------------------------------------- analysis

    def _join_params(self, params: list[Value]) -> None:
        self._join(*params, self._outside)

    def _find(self, leaf: Any) -> Region:
        if not isinstance(leaf, Value):
            leaf = self._outside
        parents = self._parents
        root = leaf
        while root in parents:
            root = parents[root]
        while leaf is not root:
            parents[leaf], leaf = root, parents[leaf]
        return root

    def _join(self, *leaves: Any) -> None:
        """Merge the regions of leaves that can change."""
        mutable = [leaf for leaf in leaves if leaf is self._outside or is_mutable(leaf)]
        for leaf in mutable[1:]:
            first, second = self._find(mutable[0]), self._find(leaf)
            if first is not second:
                self._parents[first] = second
                self._roots.add(second)

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            effect = self._effects[node] = self._effect_of(node)
            if effect.wild:
                self._join(*effect.shared, *node.outputs, self._outside)
            elif effect.shared:
                self._join(*effect.shared, *node.outputs)
            if effect.kind == ORDERED:
                self._keep(effect.reads)
            elif not (node.op in OWN_VIEW and is_array(node.args[0])):
                self._keep(effect.shared)
            if node.blocks:
                self._statement(node)

    def _effect_of(self, node: Node) -> Effect:
        return effect_of(node)

    def _statement(self, node: Node) -> None:
        inits = node.inits
        if node.op == "for":
            items = node.blocks[0].params[: len(node.blocks[0].params) - len(inits)]
            self._join(node.args[0], *items)
            self._keep([node.args[0]])
        carried = [block.params[len(block.params) - len(inits) :] for block in node.blocks]
        for block, params in zip(node.blocks, carried):
            self._block(block)
            self._flow(inits, params)
        self._flow(inits, node.outputs)
        for block in node.blocks[node.op == "while" :]:         # the result of the test is not carried
            if block.results is not None:
                results = block.results[len(block.results) - len(node.outputs) :]
                for values in [node.outputs, *carried]:
                    self._flow(results, values)

    def _flow(self, args: Any, values: list[Value]) -> None:
        """Let each value alias its argument."""
        for arg, value in zip(args, values):
            leaves = mutable_in(arg)
            self._join(value, *leaves)
            self._keep(leaves)

    def _keep(self, leaves: list[Any]) -> None:
        self._kept.update(leaf for leaf in leaves if isinstance(leaf, Value))

    def _writes_of(self, block: Block) -> Regions:
        """The regions that a block may change, after those of each node are computed."""
        found: set[Region] = set()
        for node in block.nodes:
            effect = self._effects[node]
            writes = frozenset(map(self._find, effect.writes)) if effect.writes else NOTHING
            if effect.wild:
                writes |= {self._find(self._outside)}
            for inner in node.blocks:
                writes |= self._writes_of(inner)
            self._writes[node] = writes
            found |= writes
        return frozenset(found)


def changed_params(graph: Graph) -> list[Value] | None:
    """The parameters of which a graph may change the contents, if these are containers of numbers and texts only.

    Then operations on their items run no code of the user's.

    Returns:
        None if the graph may change anything else, or have other effects.
    """
    found = _Apart(graph)
    return None if found.does_more() else [param for param in graph.params if found.is_written(param)]


class _Apart(Aliasing):
    """The alias analysis of a graph each of whose parameters holds numbers and texts of its own."""

    def _join_params(self, params: list[Value]) -> None:
        pass

    def _effect_of(self, node: Node) -> Effect:
        return replace(effect_of(node), wild=False)

    def does_more(self) -> bool:
        """Whether the graph changes anything but its parameters, or has effects that operations alone do not have."""
        return self._find(self._outside) in self._written or any(map(_is_seen, self._effects))


def _is_seen(node: Node) -> bool:
    """Whether a node has effects besides those of an operation on its arguments."""
    if node.op == "raise" or node.blocks or _is_tame_call(node):
        return False
    return node.op not in OPS or OPS[node.op].effect == ORDERED


def _is_tame_call(node: Node) -> bool:
    return node.op == "call" and is_tame(node.args[0])


def _is_basic(index: Any) -> bool:
    """Whether a part of an index is a number or a slice, which make views."""
    if isinstance(index, Value):
        found = index.type
        return isinstance(found, TensorType) and found.kind != "array" and found.dtype.kind in "iu" and found.exact
    return index is None or index is Ellipsis or isinstance(index, slice) or type(index) is int
