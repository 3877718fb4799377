"""Buffer reuse: write a result into an operand that is no longer used.

    total = x * y                       total = x * y
    shifted = total + 1         →       total += 1              …  `total` is `shifted` from here on

For arrays larger than the processor's cache, or than the blocks that the C library caches (128 KB), new memory costs
several times as much as the arithmetic; small arrays gain next to nothing. NumPy itself reuses temporary arrays of
256 KB or more within an expression of operators. If lengths are unknown, this pass relies on that: it cannot tell
whether operands broadcast, and a statement in place would break the expression.

The result must be the same: of the same dtype and shape, and with its elements in the same order in memory, because a
later `sum` adds them in that order. With several arrays, the orders of their axes must be known, or, for large arrays,
are compared when the graph runs:

    step = rate * (x.T @ error)         t = x.T @ error
                                        t *= rate
    w = w - step                →       w = np.subtract(w, t, out=room(t, w))
"""

from __future__ import annotations

import math
from typing import Any

from autograph.runtime.graph import traits
from autograph.runtime.graph.aliasing import aliasing_of
from autograph.runtime.graph.effects import is_array, is_new
from autograph.runtime.graph.graph import Block, Graph, Node, Value, values_in, walk
from autograph.runtime.graph.types import TensorType
from autograph.runtime.passes.rewriter import Outcome, shown

WORTHWHILE = 2**14      # bytes
LARGE = 2**16           # bytes; from this many on, to look in which order they are costs next to nothing


def run(graph: Graph) -> Outcome:
    """Write results of elementwise operations into operands that are no longer used."""
    if not any(node.op in traits.SAME_IN_PLACE and is_worthwhile(node.output) for node in walk(graph.block)):
        return Outcome()
    reuse = _Reuse(graph)
    reuse.block(graph.block)
    return reuse.outcome


class _Reuse:
    """Walks blocks backwards.

    Attributes:
        later: the values that are used after the current node.
        orders: for arrays, in which order their axes are in memory: equal things for equal orders.
    """

    def __init__(self, graph: Graph) -> None:
        self.outcome = Outcome()
        self.aliasing = aliasing_of(graph)
        self.later: set[Value] = set()
        self.uses: dict[Value, int] = {}
        self.homes: dict[Value, Block] = {}
        self.orders: dict[Value, Any] = {}
        self.survey(graph.block)

    def survey(self, block: Block) -> None:
        for node in block.nodes:
            self.count((node.args, node.kwargs))
            for inner in node.blocks:
                self.survey(inner)
            for value in node.outputs:
                self.homes[value] = block
                self.orders[value] = self.order(node, value)
        self.count(block.results)

    def count(self, args: Any) -> None:
        for value in values_in(args):
            self.uses[value] = self.uses.get(value, 0) + 1

    def order(self, node: Node, value: Value) -> Any:
        """The order of an array's axes in memory; elementwise operations keep that of their operands."""
        if (node.op in traits.IN_C_ORDER and "order" not in node.kwargs) or _is_product(node):
            return "C"
        if not _is_elementwise(node) or not is_array(value):
            return value
        operands = [arg for arg in node.args if _breadth(arg) > 1]
        found = {self.orders.get(arg, arg) for arg in operands if isinstance(arg, Value)}
        return found.pop() if len(found) == 1 and all(isinstance(arg, Value) for arg in operands) else value

    def block(self, block: Block) -> None:
        self.need(block.results)
        nodes: list[Node] = []
        for node in reversed(block.nodes):
            for inner in node.blocks:
                self.block(inner)
            nodes.append(node)
            old = next((arg for arg in node.args if self.may_take(arg, node, block)), None)
            if old is not None:
                self.outcome.notes.append((f"the result of {shown(node)} reuses the memory of an operand", node.place))
                self.outcome.changed = True
                nodes += self.put_into(node, old)
            self.need((node.args, node.kwargs))
        block.nodes = nodes[::-1]

    def put_into(self, node: Node, old: Value) -> list[Node]:
        """Let a node write its result into an operand; returns the node that checks at run time whether it may."""
        others = self.in_other_orders(node, old)
        in_place = f"i{node.op}"
        if node.args[0] is old and in_place in traits.IN_PLACE and not others:
            node.op = in_place
            return []
        node.op = traits.AS_UFUNC.get(node.op, node.op)
        node.kwargs = {"out": old}
        if not others:
            return []
        look = Node("room", (old, *others), place=node.place)
        look.own = True
        node.kwargs = {"out": look.add_output(old.type)}
        return [look]

    def need(self, args: Any) -> None:
        self.later.update(values_in(args))

    def may_take(self, old: Any, node: Node, block: Block) -> bool:
        """Whether a node may write its result into one of its operands."""
        if not isinstance(old, Value) or node.kwargs or old in self.later or self.homes.get(old) is not block:
            return False
        if node.op not in traits.SAME_IN_PLACE or not _fits(old, node):
            return False
        made = old.node
        if made is None:
            return False
        if not (_is_elementwise(made) or _is_product(made) or made.op in traits.IN_C_ORDER or is_new(made)):
            return False
        if not self.aliasing.is_fresh(old) or not self.aliasing.is_alone(old):
            return False
        others = self.in_other_orders(node, old)
        if any(not isinstance(arg, Value) or arg.type != old.type for arg in others):
            return False
        known = self.orders[old] == "C" or _has_one_order(old)
        return known and (not others or _size(old) >= LARGE) and self.pays(old, node)

    def pays(self, old: Value, node: Node) -> bool:
        """Whether reuse saves time. NumPy itself reuses large intermediate results of expressions."""
        if _size(old):
            return _size(old) >= WORTHWHILE
        is_reused = node.op in traits.AS_UFUNC and (node.args[0] is old or node.op in traits.COMMUTATIVE)
        return not self.is_nested(node.output) and not (is_reused and self.is_nested(old))

    def is_nested(self, value: Value) -> bool:
        """Whether a value is an intermediate result of an expression, most probably."""
        return self.uses.get(value) == 1 and not value.name

    def in_other_orders(self, node: Node, old: Value) -> list[Any]:
        """The operands whose axes may be in another order than those of `old`."""
        others = [arg for arg in node.args if arg is not old and _breadth(arg) > 1]
        return [arg for arg in others if not isinstance(arg, Value) or self.orders.get(arg, arg) != self.orders[old]]


def _is_elementwise(node: Node) -> bool:
    """Whether a node computes a new array elementwise."""
    return node.op in traits.ELEMENTWISE and not node.kwargs


def _is_product(node: Node) -> bool:
    """Whether a node is a matrix product that makes a new array in C's order."""
    if node.op not in traits.MATRIX_PRODUCT or node.kwargs:
        return False
    found = node.output.type
    return isinstance(found, TensorType) and found.kind == "array" and found.ndim <= 2


def _has_one_order(array: Value) -> bool:
    """Whether the order of its axes determines the memory layout; axes of length 1 may be anywhere in it."""
    assert isinstance(array.type, TensorType)
    shape = array.type.shape
    return len(shape) == 1 or all(dim is not None and dim > 1 for dim in shape)


def _breadth(arg: Any) -> int:
    """The number of axes of an operand that are longer than 1."""
    if isinstance(arg, Value) and isinstance(arg.type, TensorType) and arg.type.exact:
        return sum(dim != 1 for dim in arg.type.shape)
    return 0 if type(arg) in (int, float, bool) else 9


def _fits(old: Value, node: Node) -> bool:
    """Whether the result certainly has the dtype and shape of an operand."""
    found = old.type
    if not isinstance(found, TensorType) or not found.exact or found.kind != "array" or node.output.type != found:
        return False
    if found.dtype.kind not in "biuf" or not found.dtype.isnative or not found.shape:
        return False
    others = [arg for arg in node.args if arg is not old]
    if any(_breadth(arg) == 9 for arg in others):
        return False
    # For arrays that do not broadcast, NumPy's error differs if there is an `out=`.
    shapes = [arg.type.shape for arg in others if isinstance(arg, Value) and is_array(arg)]     # type: ignore[union-attr]
    return not shapes or all(None not in shape for shape in (found.shape, *shapes))


def _size(array: Value) -> int:
    """The number of bytes of an array; 0 if it is unknown."""
    assert isinstance(array.type, TensorType)
    return 0 if None in array.type.shape else math.prod(array.type.shape) * array.type.dtype.itemsize  # type: ignore


def is_worthwhile(value: Value) -> bool:
    """Whether a value is an array that is large, or may be."""
    is_certain = isinstance(value.type, TensorType) and is_array(value)
    return is_certain and (_size(value) or WORTHWHILE) >= WORTHWHILE
