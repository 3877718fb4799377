"""Loop-invariant code motion: compute what is the same in each iteration once, before the loop.

    for(r, …):                          if(r):
      body(i):                            then:
        v = np.linalg.inv(m)      →         v = np.linalg.inv(m)
        …                                   for(r, …):
                                              …

An operation that may raise or warn must not run if the loop would not have run it, nor before other visible effects. It
moves only if it is the first visible effect of the first iteration, and then behind a test for an iteration.

An array that each iteration makes moves only if the program cannot tell that it is one array. A value that the loop
carries unchanged through all iterations is no longer carried.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.aliasing import aliasing_of
from autograph.runtime.graph.effects import effect_of, is_array, is_mutable
from autograph.runtime.graph.graph import Block, Graph, Node, Value, walk
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.graph.passed_numbers import passed_by
from autograph.runtime.graph.traits import LOOP
from autograph.runtime.graph.types import INT, ObjectType, TensorType, length_of
from autograph.runtime.passes.rewriter import (
    Outcome,
    Rewriter,
    is_leaf,
    keep_outputs,
    key,
    known_range,
    shown,
)
from autograph.runtime.passes.speculatable import is_quiet


def run(graph: Graph) -> Outcome:
    """Move invariant operations out of loops."""
    if not any(node.op in LOOP for node in walk(graph.block)):
        return Outcome()
    return _Moving(graph).run(graph)


class _Moving(Rewriter):
    """Handles inner loops first, so that their invariants may move out of outer loops, too.

    Attributes:
        depth: the number of loops around.
        depths: that number for each value seen so far.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.aliasing = aliasing_of(graph)
        self.passed = passed_by(graph)
        self.depth = 0
        self.depths: dict[Value, int] = {}

    def block(self, block: Block) -> None:
        self.depths.update(dict.fromkeys(block.params, self.depth))
        super().block(block)

    def node(self, node: Node, block: Block) -> None:
        if node.op in LOOP:
            self.stop_carrying(node)
            self.depth += 1
            for inner in node.blocks:
                self.block(inner)
            self.depth -= 1
            self.move(node, block)
        else:
            super().node(node, block)
        self.depths.update(dict.fromkeys(node.outputs, self.depth))

    # ------------------------------------------------------------------------------------------------- carrying

    def stop_carrying(self, node: Node) -> None:
        """Replace carried values that never change by their initial values."""
        body, count = node.blocks[-1], len(node.outputs)
        if body.results is None or not count:
            return
        kept = []
        for number, (init, result, output) in enumerate(zip(node.args[-count:], body.results[-count:], node.outputs)):
            params = [inner.params[number - count] for inner in node.blocks]
            if is_leaf(init) and (result is params[-1] or key(result) == key(init)):
                for value in (*params, output):
                    self.replace([value], [init])
            else:
                kept.append(number)
        keep_outputs(node, kept)

    # --------------------------------------------------------------------------------------------------- moving

    def move(self, loop: Node, block: Block) -> None:
        """Append a loop to a block, and before it the nodes that move out of it."""
        certain = _has_an_iteration(loop)
        guard = None if certain else _asks_for_an_iteration(loop)
        quiet: list[Node] = []      # without a guard
        moved: list[Node] = []      # behind the guard, if there is one
        for inner in loop.blocks:
            first = inner is loop.blocks[0] and (certain or guard is not None)
            remaining = []
            for node in inner.nodes:
                if self.may_move(node, loop) and (first or is_quiet(node)):
                    (quiet if guard is not None and is_quiet(node) and not moved else moved).append(node)
                    self.depths.update(dict.fromkeys(node.outputs, self.depth))
                    self.changed(f"{shown(node)} gives the same in each iteration of the loop", node.place)
                else:
                    first = first and _is_invisible(node)
                    remaining.append(node)
            inner.nodes = remaining
        block.nodes += quiet
        if guard is None or all(map(is_quiet, moved)):
            block.nodes += [*moved, loop]
        else:
            block.nodes += self.guarded(loop, guard, moved)

    def may_move(self, node: Node, loop: Node) -> bool:
        """Whether a node is invariant and has no effect but to raise or warn."""
        effect = effect_of(node)
        if node.blocks or node.op == "build" or effect.kind not in (PURE, VIEW) or effect.writes:
            return False
        if any(self.depths[value] > self.depth for value in node.inputs):
            return False
        if any(self.aliasing.may_write(loop, leaf) for leaf in effect.reads):
            return False
        return all(map(self.may_be_one, node.outputs))

    def may_be_one(self, value: Value) -> bool:
        """Whether the program cannot tell if a value is made once or in each iteration."""
        if not is_mutable(value):
            return not self.passed.is_kept(value)
        if self.aliasing.is_view(value):
            return not self.aliasing.is_kept(value)
        return self.aliasing.is_private(value)

    def guarded(self, loop: Node, guard: Any, moved: list[Node]) -> list[Node]:
        """A loop inside an `if` that tests whether there is an iteration."""
        nodes = []
        if is_array(guard):
            nodes.append(Node("len", (guard,), place=loop.place))
            guard = nodes[0].add_output(INT)
        then, orelse = Block([*moved, loop]), Block()
        then.results = tuple(loop.outputs)
        orelse.results = loop.args[1:]
        choice = Node("if", (guard,), None, (then, orelse), loop.place)
        outputs = [choice.add_output(value.type, value.name) for value in loop.outputs]
        self.depths.update(dict.fromkeys([*outputs, *(nodes[0].outputs if nodes else ())], self.depth))
        for output, value in zip(outputs, loop.outputs):
            self.aliasing.add_alias(output, value)
        self.replace(loop.outputs, outputs)
        return [*nodes, choice]


def _is_invisible(node: Node) -> bool:
    """Whether running a node has no visible effect."""
    effect = effect_of(node)
    return not node.blocks and effect.kind in (PURE, VIEW) and not effect.writes and is_quiet(node)


def _has_an_iteration(loop: Node) -> bool:
    """Whether the first block of a loop certainly runs before anything else."""
    if loop.op == "while":
        return True
    iterable = loop.args[0]
    if loop.kwargs.get("target", 0) != 0:
        return False
    if not isinstance(iterable, Value):
        return type(iterable) in (range, str, tuple) and len(iterable) > 0
    numbers = known_range(iterable)
    if numbers is not None:
        return bool(numbers)
    return bool(length_of(iterable.type))


def _asks_for_an_iteration(loop: Node) -> Any:
    """The condition that a loop has an iteration; None if it cannot be tested without side effects."""
    if loop.op != "for" or loop.kwargs.get("target", 0) != 0 or not isinstance(loop.args[0], Value):
        return None
    iterable = loop.args[0]
    if isinstance(iterable.type, ObjectType):
        return iterable if iterable.type.name in ("range", "str", "tuple", "list") else None
    if isinstance(iterable.type, TensorType) and is_array(iterable) and iterable.type.exact and iterable.type.shape:
        return iterable
    return None
