"""Strong zeros: gradients of values that the result does not depend on; they win over NaN and infinity.

The gradient of an item that is not read, of the unused side of `np.where`, or of a value for a branch that ignores it
is zero, whatever the value is. But derivatives multiply it by slopes, and zero times infinity is NaN. So where a
gradient may be such a zero (it comes from a shadow, from `scatter_add`, or from a branch without a gradient), `cleared`
corrects the result when the graph runs (`runtime/ops/gradients/adjoint_ops.py`). Zeros that were computed are no strong
zeros: the square of a root has no slope at zero.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from autograph.runtime.autodiff.shadow import Shadows
from autograph.runtime.graph.graph import Block, Node, Value, used_by, walk
from autograph.runtime.graph.traits import ADDITION, CHOOSES, ELEMENTWISE, FACTORS, GIVES_BOOLEANS, MOVES, STRONG_ZEROS

_CHOICES: weakref.WeakSet[Node] = weakref.WeakSet()  # nodes of derivatives that select the chosen elements


class Zeros:
    """How far gradients may be strong zeros.

    0: not at all. 1: by a choice such as `np.maximum`, which does not matter for sums of products, because they are not
    finite either. 2: by anything else.

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
        """Note the initial value of a gradient that a loop carries."""
        self._known[param] = self.of(first)

    def note_rule(self, node: Node, made: Sequence[Node]) -> None:
        """Note the nodes that the derivative of a node recorded."""
        if node.op in ELEMENTWISE or node in _CHOICES:
            choices = [each for each in made if each.op in CHOOSES]
            _CHOICES.update(choices)
            self._known.update((each.output, 1) for each in choices)

    def of(self, gradient: Any) -> int:
        """How far a gradient may be a strong zero."""
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
        """The other factors of a product or quotient that are gradients and may be strong zeros."""
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
    """Whether nodes of a derivative do more than move a gradient."""
    return not all(node.op in MOVES or node.op in GIVES_BOOLEANS or _is_by_number(node) for node in nodes)


def _is_by_number(node: Node) -> bool:
    return node.op in FACTORS and any(isinstance(arg, (int, float)) and arg for arg in node.args[-1:])
