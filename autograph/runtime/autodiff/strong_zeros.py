"""Strong zeros: gradients that are zero since the result does not depend on the value, and win over NaN and infinity.

An item that is not read, the side of `np.where` that is not taken, what is computed for a branch that does not use it:
their gradient is zero, whatever they are. But rules multiply it by slopes, and zero times infinity is NaN. So where a
gradient may be such a zero (it comes from a shadow, from zeros to which the gradients of some items were added, from a
branch that gave none), what a rule makes of it is put right when the graph runs: `cleared`, in
`runtime/ops/gradients/adjoint_ops.py`. Zeros that come about by computing are no such zeros: the square of a root has
no slope at zero.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from autograph.runtime.autodiff.shadow import Shadows
from autograph.runtime.graph.graph import Block, Node, Value, used_by, walk
from autograph.runtime.graph.traits import ADDITION, CHOOSES, ELEMENTWISE, FACTORS, GIVES_BOOLEANS, MOVES, STRONG_ZEROS

_CHOICES: weakref.WeakSet[Node] = weakref.WeakSet()  # by which rules pass a gradient on to what was chosen


class Zeros:
    """How far the gradients of a computation may be zero because what they belong to does not count.

    Not at all: 0. By what `np.maximum` and the like choose: 1; that is of no use to sums of products, which are not
    finite either, then. By anything else: 2.

    Args:
        nodes: of the computation.
    """

    def __init__(self, nodes: Sequence[Node], shadows: Shadows) -> None:
        self._computation = set(walk(Block(nodes)))
        self._known: dict[Value, int] = dict.fromkeys(shadows.all, 2)

    def _made_of(self, gradient: Value) -> list[Value]:
        """The values that a gradient is computed from."""
        node = gradient.node
        return used_by(node) if node is not None and (node.own or node not in self._computation) else []

    def note(self, param: Value, first: Any) -> None:
        """Say what a gradient that goes from iteration to iteration begins with."""
        self._known[param] = self.of(first)

    def note_rule(self, node: Node, made: Sequence[Node]) -> None:
        """Tell of the nodes that the rule of a node's op has recorded."""
        if node.op in ELEMENTWISE or node in _CHOICES:
            choices = [each for each in made if each.op in CHOOSES]
            _CHOICES.update(choices)
            self._known.update((each.output, 1) for each in choices)

    def of(self, gradient: Any) -> int:
        """How far a gradient, lowered, may be such a zero."""
        if not isinstance(gradient, Value):
            if isinstance(gradient, (tuple, list)):
                return max(map(self.of, gradient), default=0)
            return 2 if isinstance(gradient, (int, float)) and not gradient else 0
        rest = [gradient]  # no recursion: sums of thousands of gradients are as deep as they are long
        while rest:
            made_of = [] if rest[-1] in self._known else [v for v in self._made_of(rest[-1]) if v not in self._known]
            rest += made_of
            if not made_of:
                value = rest.pop()
                if value not in self._known:
                    self._known[value] = self._of_made(value)
        return self._known[gradient]

    def factors(self, node: Node, place: int) -> list[int]:
        """Where else among the arguments of a product, or quotient, there is a gradient that may be such a zero."""
        places = FACTORS.get(node.op, ()) if node.own else ()
        return [other for other in places if other != place and self.of(node.args[other])]

    def _of_made(self, gradient: Value) -> int:
        node = gradient.node
        if node is None:
            return 0
        if node.op in STRONG_ZEROS:
            return 2
        if node in self._computation and not node.own:
            return 0
        if node.op in CHOOSES:
            return 2
        if node.op == "if":
            number = node.outputs.index(gradient)
            return max(self.of(block.results[number]) for block in node.blocks if block.results is not None)
        if node.op in ("for", "while"):
            return self.of(node.args[1 + node.outputs.index(gradient)])
        return (min if node.op in ADDITION else max)(map(self.of, node.inputs), default=0)


def multiply(nodes: Sequence[Node]) -> bool:
    """Whether nodes of a rule do more than move a gradient."""
    return not all(node.op in MOVES or node.op in GIVES_BOOLEANS or _is_by_number(node) for node in nodes)


def _is_by_number(node: Node) -> bool:
    return node.op in FACTORS and any(isinstance(arg, (int, float)) and arg for arg in node.args[-1:])
