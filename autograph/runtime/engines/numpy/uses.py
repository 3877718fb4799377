"""How often each value of a graph is used, and where, by what is worth writing down."""

from __future__ import annotations

from collections import Counter
from typing import Any

from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, gather
from autograph.runtime.graph.traits import IN_PLACE, LOOP
from autograph.runtime.graph.types import TensorType


class Uses:
    """What the statements of a graph use.

    Attributes:
        aliases: values that are the same object as another: what `bound` gives, and arrays changed in place.
        count: how often a value is used; for one of `aliases`, it is the other that is used.
        shared: values used in a block other than that which computes them.
        items: `x[i] += v`: the node in place, with the one that gets the item; `stores` has those that set it.
        logical: `if` nodes that may be written `c and x` or `c or x`: the condition counts as used once.
    """

    def __init__(self, graph: Graph) -> None:
        self.aliases: dict[Value, Value] = {}
        self.count: Counter[Value] = Counter()
        self.shared: set[Value] = set()
        self.items: dict[Node, Node] = {}
        self.stores: set[Node] = set()
        self.logical: set[Node] = set()
        self._home: dict[Value, Block] = {}
        self._mentioned: set[Value] = set()
        self._survey(graph.block)
        self._count(graph.block, graph.block.results or ())

    def of(self, value: Value) -> Value:
        """The value that a variable would hold for `value`."""
        return self.aliases.get(value, value)

    def live(self, loop: Node) -> list[bool]:
        """Which variables a loop has to carry: some are never looked at."""
        count = len(loop.outputs)
        params = [block.params[len(block.params) - count :] for block in loop.blocks]
        return [
            any(value in self._mentioned for value in (loop.outputs[i], *(each[i] for each in params)))
            for i in range(count)
        ]

    # In program order -------------------------------------------------------------------------------------------------

    def _survey(self, block: Block) -> None:
        for value in block.params:
            self._home[value] = block
        for position, node in enumerate(block.nodes):
            for value in node.outputs:
                self._home[value] = block
            self._note_alias(node)
            self._mention((node.args, node.kwargs))
            for inner in node.blocks:
                self._survey(inner)
            if node.op == "setitem" or node.op == "setattr":
                self._note_item(block.nodes[position - 1] if position else None, node, block)
        self._mention(block.results)

    def _mention(self, args: Any) -> None:
        found: list[Value] = []
        gather(args, found)
        self._mentioned.update(found)

    def _note_alias(self, node: Node) -> None:
        first = node.args[0] if node.args else None
        if not isinstance(first, Value) or len(node.outputs) != 1:
            return
        in_place = node.op in IN_PLACE and isinstance(first.type, TensorType)
        same = in_place and first.type.exact and first.type.kind == "array"  # type: ignore[union-attr]
        if same or node.op == "bound":
            self.aliases[node.outputs[0]] = self.of(first)

    def _note_item(self, before: Node | None, store: Node, block: Block) -> None:
        """Recognise `t = x[i]`, `t += v`, `x[i] = t`, which is how Python itself runs `x[i] += v`."""
        if before is None or before.op not in IN_PLACE or not isinstance(before.args[0], Value):
            return
        got = before.args[0].node
        value = store.args[2]
        if got is None or self._home[got.outputs[0]] is not block or self.aliases.get(got.outputs[0]):
            return
        if got.op != store.op.replace("set", "get") or not same_args(got.args[:2], store.args[:2]):
            return
        if isinstance(value, Value) and self.of(value) in (self.of(out) for out in (*before.outputs, got.outputs[0])):
            self.items[before] = got
            self.stores.add(store)

    # Backwards --------------------------------------------------------------------------------------------------------

    def _count(self, block: Block, results: Any) -> None:
        self._use(results, block)
        for node in reversed(block.nodes):
            self._use((node.args[:2] if node in self.stores else node.args, node.kwargs), block)
            if node.op == "if":
                self._count_branches(node)
            elif node.op in LOOP:
                self._count_loop(node)

    def _count_branches(self, node: Node) -> None:
        used = [position for position, value in enumerate(node.outputs) if self.count[self.of(value)]]
        results = [None if inner.results is None else [inner.results[i] for i in used] for inner in node.blocks]
        if len(used) == 1 and not node.outputs[used[0]].name:
            same = [each for each in results if each and each[0] is node.args[0] and isinstance(each[0], Value)]
            if len(same) == 1:
                self.logical.add(node)
                same[0].clear()
        for inner, each in zip(node.blocks, results):
            self._count(inner, each or ())

    def _count_loop(self, node: Node) -> None:
        live = self.live(node)
        for inner in node.blocks:
            results: Any = inner.results or ()
            head = len(results) - len(live)
            if inner is node.blocks[-1] and results:
                results = (*results[:head], *(each for each, used in zip(results[head:], live) if used))
            self._count(inner, results)

    def _use(self, args: Any, block: Block) -> None:
        found: list[Value] = []
        gather(args, found)
        for value in found:
            value = self.of(value)
            self.count[value] += 1
            if self._home[value] is not block:
                self.shared.add(value)


def same_args(first: Any, second: Any) -> bool:
    """Whether two nested arguments are the same values and equal constants."""
    if type(first) is not type(second):
        return False
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(map(same_args, first, second))
    if isinstance(first, slice):
        return same_args((first.start, first.stop, first.step), (second.start, second.stop, second.step))
    if isinstance(first, Constant):
        return first.value is second.value
    return first is second or (isinstance(first, (int, float, str)) and bool(first == second))
