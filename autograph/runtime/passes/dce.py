"""Dead code elimination: drop operations whose results are unused and whose absence is invisible.

Live are visible effects (prints, writes, calls, operations that may raise or warn, loops that may run forever) and the
results, and whatever these need. An operation that may raise or warn stays although its result is unused, as in plain
Python. Single outputs of an `if` or a loop are dropped, too, with the values carried for them.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Graph, Node, Value, values_in
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.passes.rewriter import Outcome, keep_outputs, shown
from autograph.runtime.passes.speculatable import is_quiet


def run(graph: Graph, strict: bool = True) -> Outcome:
    """Drop dead code.

    Args:
        strict: whether exceptions and warnings are visible effects.
    """
    needs = _Needs(graph, strict)
    return _sweep(graph.block, needs, Outcome())


class _Needs:
    """The live nodes and values of a graph.

    Attributes:
        nodes: the nodes, and
        values: the values that are.
    """

    def __init__(self, graph: Graph, strict: bool) -> None:
        self.strict = strict
        self.nodes: set[Node] = set()
        self.values: set[Value] = set()
        self._around: dict[Node, Node | None] = {}      # for each node the node around it
        self._feeds: dict[Value, list[Any]] = {}        # the sources of values that come out of blocks or are carried
        self._pending: list[Value] = []
        self._survey(graph.block, None)
        self._need(graph.block.results)
        while self._pending:
            value = self._pending.pop()
            self._need(self._feeds.get(value, ()))
            self._need_node(value.node)

    def _survey(self, block: Block, around: Node | None) -> None:
        for node in block.nodes:
            self._around[node] = around
            for inner in node.blocks:
                self._survey(inner, node)
            for number, output in enumerate(node.outputs if node.blocks else ()):
                self._feeds[output] = _sources(node, number)
                for param in _carried(node, number):
                    self._feeds[param] = [output]
            if not _may_go(node, self.strict):
                self._need_node(node)

    def _need(self, args: Any) -> None:
        for value in values_in(args):
            if value not in self.values:
                self.values.add(value)
                self._pending.append(value)

    def _need_node(self, node: Node | None) -> None:
        while node is not None and node not in self.nodes:
            self.nodes.add(node)
            if not node.blocks:
                self._need((node.args, node.kwargs))
            else:
                self._need(node.blocks[0].results if node.op == "while" else node.args[0])
                if node.kwargs.get("until"):
                    self._need((node.blocks[-1].results or (None,))[0])
            node = self._around[node]


def _may_go(node: Node, strict: bool) -> bool:
    """Whether a node with its blocks need not run if its results are unused."""
    effect = effect_of(node)
    return effect.kind in (PURE, VIEW) and not effect.writes and (not strict or is_quiet(node))


def _sources(node: Node, number: int) -> list[Any]:
    """The arguments that become an output of an `if` or a loop."""
    back = number - len(node.outputs)
    blocks = node.blocks[node.op == "while" :]
    found = [block.results[back] for block in blocks if block.results is not None]
    return found if node.op == "if" else [node.args[back], *found]


def _carried(node: Node, number: int) -> list[Value]:
    """The block parameters that carry an output of a loop."""
    return [] if node.op == "if" else [block.params[number - len(node.outputs)] for block in node.blocks]


def _sweep(block: Block, needs: _Needs, outcome: Outcome) -> Outcome:
    kept = [node for node in block.nodes if node in needs.nodes]
    if len(kept) < len(block.nodes):
        outcome.changed = True
        outcome.notes += [(f"nothing uses this {shown(n)}", n.place) for n in block.nodes if n not in needs.nodes]
        block.nodes = kept
    for node in kept:
        if node.blocks:
            outputs = [number for number, output in enumerate(node.outputs) if output in needs.values]
            outcome.changed |= keep_outputs(node, outputs)
            for inner in node.blocks:
                _sweep(inner, needs, outcome)
    return outcome
