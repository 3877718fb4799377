"""The uses of each value of a graph; whether the order of nodes matters; the width of their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.numpy.plan import operands
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, values_in
from autograph.runtime.graph.opdef import OPS, PURE
from autograph.runtime.graph.traits import COMPARISON, IN_PLACE, LOOP, plain
from autograph.runtime.graph.types import ObjectType, TensorType


class Uses:
    """The uses of values by the statements of a graph.

    Attributes:
        aliases: values that are the same object as another: results of `bound`, and arrays changed in place.
        count: how often a value is used; uses of an alias count for the other value.
        shared: values used in another block than the one that computes them.
        items: for each in-place node of `x[i] += v`, the node that gets the item; `stores` has those that set it.
        logical: `if` nodes that may be written `c and x` or `c or x`, for which the condition counts as used once.
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
        """The value itself, or the one that it is an alias of."""
        return self.aliases.get(value, value)

    def live(self, loop: Node) -> list[bool]:
        """For each variable of a loop, whether it must carry it: some are never read."""
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
        self._mentioned.update(values_in(args))

    def _note_alias(self, node: Node) -> None:
        first = node.args[0] if node.args else None
        if not isinstance(first, Value) or len(node.outputs) != 1:
            return
        in_place = node.op in IN_PLACE and isinstance(first.type, TensorType)
        same = in_place and first.type.exact and first.type.kind == "array"  # type: ignore[union-attr]
        if same or node.op == "bound":
            self.aliases[node.outputs[0]] = self.of(first)

    def _note_item(self, before: Node | None, store: Node, block: Block) -> None:
        """Recognize `t = x[i]`, `t += v`, `x[i] = t`, which is how Python itself runs `x[i] += v`."""
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
        for value in map(self.of, values_in(args)):
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


_METHODS_OF: dict[str, type] = {kind.__name__: kind for kind in (list, dict, set, str, tuple, bytes, frozenset, range)}


def is_free(node: Node) -> bool:
    """Whether it does not matter when a node runs: it neither raises, nor has effects, nor depends on those of others.

    Arithmetic of Python's own numbers is free if it cannot raise; that of NumPy's may warn.
    """
    if node.op == "build":
        return not isinstance(node.args[0], (set, dict))
    op = OPS.get(node.op)
    if op is None or op.effect != PURE or op.raises or not op.template:
        return False
    kinds = set(map(_number_kind, node.args)) - {"small"}
    return None not in kinds and (len(kinds) <= 1 or node.op in COMPARISON)


def is_free_update(node: Node) -> bool:
    """Whether `x += v` is free: no array, but arithmetic of Python's own numbers."""
    return isinstance(node.args[0], Value) and is_free(Node(plain(node.op), node.args))


def is_part(node: Node) -> bool:
    """Whether a node takes a part of an array without the risk of an error, such as `x[1:, :-1]`, or `x.T`."""
    x = node.args[0] if node.op in ("getitem", "getattr") else None
    if not isinstance(x, Value) or not isinstance(x.type, TensorType) or x.type.kind != "array" or not x.type.exact:
        return False
    if node.op == "getattr":
        return node.args[1:] == ("T",)
    index = node.args[1] if type(node.args[1]) is tuple else (node.args[1],)
    parts = [part for part in index if part is not None]
    return len(parts) <= x.type.ndim and all(map(_cannot_fail, parts))


def _cannot_fail(part: Any) -> bool:
    if not isinstance(part, slice) or part.step == 0 or isinstance(part.step, Value):
        return False
    return all(bound is None or _number_kind(bound) in ("small", "i") for bound in (part.start, part.stop, part.step))


def _number_kind(arg: Any) -> str | None:
    """`i` or `f` for Python's own numbers, which do not mix without the risk of an overflow; `small` for small ones."""
    if not isinstance(arg, Value):
        small = type(arg) in (bool, int) and abs(arg) < 2**53
        return "small" if small else {int: "i", float: "f"}.get(type(arg))
    type_ = arg.type
    if not (isinstance(type_, TensorType) and type_.exact and type_.kind == "python"):
        return None
    return {"b": "i", "i": "i", "f": "f"}.get(type_.dtype.kind)


def nests(node: Node) -> Callable[[Value], bool] | None:
    """A predicate for expressions among the arguments of a node; None if any are allowed.

    Python looks up `x.method` before it evaluates the arguments, which may raise, and an f-string formats its first
    value before it gets the second.
    """
    if node.op == "fstring":
        found = values_in(node.args)
        return lambda value: value is found[0] or value.node is None or value.node.op not in ("call", "if")
    if node.op.startswith(".") and not _has_method(node.args[0], node.op[1:]):
        return lambda value: value is node.args[0]
    return None


def _has_method(arg: Any, name: str) -> bool:
    """Whether an argument surely has a method."""
    if not isinstance(arg, Value):
        return True
    if isinstance(arg.type, TensorType):
        return arg.type.exact
    kind = _METHODS_OF.get(arg.type.name) if isinstance(arg.type, ObjectType) else None
    return kind is not None and hasattr(kind, name)


# Width ----------------------------------------------------------------------------------------------------------------


def width(node: Node) -> int:
    """The number of characters of a node, roughly, with its arguments as variables or constants."""
    op = OPS.get(node.op)
    if op is not None and op.template and not node.kwargs:
        return len(op.template) - 2 * len(node.args) + sum(map(width_of, node.args))
    return _WIDTHS.get(node.op, len(node.op) + 2) + width_of(operands(node))


_WIDTHS = {"call": 0, "build": 0, "fstring": 3, "getattr": -3}     # characters besides those of the arguments


def width_of(arg: Any) -> int:
    """The number of characters of an argument, roughly."""
    if isinstance(arg, Value):
        return len(arg.name or "t1")
    if isinstance(arg, (tuple, list)):
        return sum(width_of(part) + 2 for part in arg)
    if isinstance(arg, dict):
        return sum(len(str(key)) + 3 + width_of(value) for key, value in arg.items())
    if isinstance(arg, slice):
        return 2 + sum(width_of(part) for part in (arg.start, arg.stop, arg.step) if part is not None)
    if isinstance(arg, (str, bytes)):
        return min(len(arg), 200) + 2
    if isinstance(arg, (int, float, complex)):
        return len(repr(arg)) if not isinstance(arg, int) or abs(arg) < 10**20 else 24
    return 6
