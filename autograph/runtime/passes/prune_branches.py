"""Branch pruning: replace an `if` with a known condition by its branch, and drop loops without iterations.

    y = if(True):                       …                   the nodes of the block
        then:                     →     …                   its result in place of y
            …

A condition is also known inside the branches of an `if` of the same condition. An output that is the same in both
branches is replaced.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.effects import CONSTANT, NUMBER, category
from autograph.runtime.graph.graph import Block, Graph, Node, Value
from autograph.runtime.graph.traits import LOOP, NEGATION
from autograph.runtime.graph.types import BOOL, TensorType
from autograph.runtime.graph_text.verifier import never_ends
from autograph.runtime.passes.rewriter import Outcome, Rewriter, is_leaf, keep_outputs, key, known_range


def run(graph: Graph) -> Outcome:
    """Inline or drop blocks whose number of runs is known."""
    return _Pruning().run(graph)


class _Pruning(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self.truths: dict[Value, bool] = {}

    def nodes(self, nodes: list[Node], block: Block) -> None:
        """Rewrite nodes, and drop those behind one that never ends."""
        for node in nodes:
            super().nodes([node], block)
            if block.nodes and never_ends(block.nodes[-1]):
                block.results = None
                return

    def node(self, node: Node, block: Block) -> None:
        if node.op == "if":
            self.branch(node, block)
        elif node.op in LOOP and self.has_no_iteration(node):
            self.put(node, node.args[node.op == "for" :], block, f"this `{node.op}` loop has no iterations")
        else:
            super().node(node, block)

    def put(self, node: Node, args: Any, block: Block, note: str = "") -> None:
        """Replace the outputs of a node by arguments; new containers are built once, here."""
        found = []
        for output, arg in zip(node.outputs, args):
            if not is_leaf(arg):
                arg = block.append(Node("build", (arg,), place=node.place)).add_output(output.type, output.name)
            found.append(arg)
        self.replace(node.outputs, found, note, node.place)

    # ------------------------------------------------------------------------------------------------- branches

    def branch(self, node: Node, block: Block) -> None:
        truth = self.truth(node.args[0])
        if truth is None:
            for inner, here in zip(node.blocks, (True, False)):
                self.inside(inner, node.args[0], here)
            self.join(node)
            block.append(node)
            return
        taken = node.blocks[not truth]
        self.changed(f"the condition of this `if` is always {'true' if truth else 'false'}", node.place)
        self.nodes(taken.nodes, block)
        if taken.results is not None and not (block.nodes and never_ends(block.nodes[-1])):
            self.put(node, self.replaced(taken.results), block)

    def truth(self, test: Any) -> bool | None:
        """Whether a condition is true, if that is known."""
        if isinstance(test, Value):
            return self.truths.get(test)
        return bool(test) if test is None or type(test) in (bool, int, float, complex, str) else None

    def inside(self, block: Block, test: Any, truth: bool) -> None:
        """Rewrite a branch, in which the condition has a known value."""
        implied = [(value, here) for value, here in _implied(test, truth) if value not in self.values]
        known = {value: here for value, here in implied if value not in self.truths}
        exactly = {value: here for value, here in known.items() if value.type == BOOL}
        self.truths.update(known)
        self.values.update(exactly)
        self.block(block)
        for value in known:
            del self.truths[value]
        for value in exactly:
            del self.values[value]

    def join(self, node: Node) -> None:
        """Drop outputs of an `if` that are the same in both branches.

        For a bool `b`, `True if b else False` is `b`.
        """
        if any(block.results is None for block in node.blocks):
            return
        test = node.args[0]
        kept = []
        for number, (a, b) in enumerate(zip(*(block.results or () for block in node.blocks))):
            if is_leaf(a) and key(a) == key(b):
                self.replace([node.outputs[number]], [a])
            elif a is True and b is False and isinstance(test, Value) and test.type == BOOL:
                self.replace([node.outputs[number]], [test])
            else:
                kept.append(number)
        keep_outputs(node, kept)

    # ---------------------------------------------------------------------------------------------------- loops

    def has_no_iteration(self, node: Node) -> bool:
        if node.op == "for":
            return _is_empty(node.args[0])
        test = node.blocks[0]
        return not test.nodes and test.results is not None and self.truth(test.results[0]) is False


def _implied(test: Any, truth: bool) -> list[tuple[Value, bool]]:
    """The values that a condition being true or false determines: itself, and `b` if it is `not b`."""
    found = []
    while isinstance(test, Value):
        if category(test) in (NUMBER, CONSTANT):
            found.append((test, truth))
        node = test.node
        test = node.args[0] if node is not None and node.op in NEGATION else None
        truth = not truth
    return found


def _is_empty(iterable: Any) -> bool:
    """Whether an iterable is certainly empty."""
    if isinstance(iterable, Value):
        numbers = known_range(iterable)
        if numbers is not None:
            return not numbers
        found = iterable.type
        return isinstance(found, TensorType) and found.exact and found.shape[:1] == (0,) and found.dtype.kind != "O"
    return type(iterable) in (range, tuple, list, str) and not iterable
