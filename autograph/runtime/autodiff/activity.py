"""Activity analysis: the values that depend on the inputs and on which the outputs depend."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from autograph.runtime.graph import effects
from autograph.runtime.graph.aliasing import Aliasing
from autograph.runtime.graph.effects import is_mutable
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, map_args, values_in, walk, walk_blocks
from autograph.runtime.graph.opdef import ORDERED, PURE, VIEW, WRITE, lookup
from autograph.runtime.graph.traits import ENCODES_FLOATS, GIVES_SHAPE, PRINTS, READS_TEXT
from autograph.runtime.graph.types import ANY, TensorType, Type, array, bound_type, type_of

# Classes of objects without gradients.
_NUMBERLESS = frozenset("str bytes NoneType range slice ellipsis dtype type bool ndindex".split())
_TEXTS = frozenset("str bytes".split())


def has_gradient(type: Type) -> bool:
    """Whether a value of the type may be or contain a float or complex number."""
    type = bound_type(type)
    if isinstance(type, TensorType):
        return type.dtype.kind in "fcOV"
    return type.name not in _NUMBERLESS and (not type.items or any(map(has_gradient, type.items)))


def encodes_floats(type: Type) -> bool:
    """Whether a value of the type may encode a float exactly without a gradient: whether it is or contains a text."""
    type = bound_type(type)
    if isinstance(type, TensorType):
        return type.dtype.kind in "SU"
    return type.name in _TEXTS or any(map(encodes_floats, type.items))


class Activity:
    """The active values of a computation.

    Args:
        nodes: the computation.
        inputs: the differentiated inputs.
        outputs: the differentiated outputs; None if they are unknown, so that all values may be.
        constant: nodes whose results count as constants.

    Attributes:
        values: the active values.
        outside: the values from before the computation that it uses.
        aliasing: its alias analysis.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        inputs: Sequence[Value],
        outputs: Sequence[Value] | None = None,
        constant: Collection[Node] = (),
    ) -> None:
        self._constant = constant
        part = Block(nodes)
        own = values_of(part)
        self.outside = [value for value in dict.fromkeys((*inputs, *uses_in(part))) if value not in own]
        part.params = self.outside
        self.aliasing = Aliasing(Graph("", part))
        mutable = [each for each in (*self.outside, *own) if is_mutable(each) and not _gives_shape(each.node)]
        self.values = set(inputs)
        self._regions: set[Any] = set()  # to which active values are written
        before = -1
        while before != len(self.values):  # until a fixpoint: loops carry values around, and writes reach older objects
            before = len(self.values)
            self._nodes(nodes)
            self._mark(value for value in mutable if self.aliasing.region(value) in self._regions)
            if not self._regions and not any(node.blocks for node in nodes):
                break
        if outputs is not None:
            needed = _Needed(nodes, outputs, self.aliasing)
            self.values = {value for value in self.values if value in needed} | set(inputs)

    def varies(self, args: Any) -> bool:
        """Whether nested arguments contain an active value."""
        return not self.values.isdisjoint(values_in(args))

    def _nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if node in self._constant:
                continue
            if node.blocks:
                self._statement(node)
                continue
            if self.varies((node.args, node.kwargs)) and not _has_no_gradient(node):
                self._mark(node.outputs, self._gives_exact_integers(node))
                written = changed_by(node)
                self._mark(written)
                self._regions.update(map(self.aliasing.region, written))

    def _mark(self, values: Iterable[Any], also_integers: bool = False) -> None:
        for value in values:
            if isinstance(value, Value) and (also_integers or has_gradient(value.type) or encodes_floats(value.type)):
                self.values.add(value)

    def _gives_exact_integers(self, node: Node) -> bool:
        """Whether a node may encode active floats as integers, such as their bits."""
        if node.op in ENCODES_FLOATS:
            return True
        read = [value for value in node.inputs if value in self.values]
        return any(_is_integer(value.type) or (node.op in READS_TEXT and encodes_floats(value.type)) for value in read)

    def _statement(self, node: Node) -> None:
        inits = node.inits
        for block in node.blocks:
            carried = block.params[len(block.params) - len(inits) :]
            if node.op == "for" and self.varies(node.args[0]):
                self._mark(block.params[: len(block.params) - len(inits)])
            self._flow(inits, carried)
            self._nodes(block.nodes)
            if block.results is not None and not (node.op == "while" and block is node.blocks[0]):
                results = block.results[len(block.results) - len(node.outputs) :]
                self._flow(results, node.outputs)
                if inits:
                    self._flow(results, carried)
        self._flow(inits, node.outputs)

    def _flow(self, sources: Sequence[Any], values: Sequence[Value]) -> None:
        for source, value in zip(sources, values):
            if self.varies(source):
                self._mark([value])


class _Needed:
    """The values on which outputs depend."""

    def __init__(self, nodes: Sequence[Node], outputs: Sequence[Value], aliasing: Aliasing) -> None:
        self._aliasing = aliasing
        self._values: set[Value] = set()
        self._regions: set[Any] = set()
        self._back = False  # whether values flow from a node to an earlier one
        self._need(tuple(outputs))
        before = -1
        while before != len(self._values) + len(self._regions):
            before = len(self._values) + len(self._regions)
            self._nodes(nodes)
            if not self._back:
                break

    def __contains__(self, value: Value) -> bool:
        return value in self._values or self._aliasing.region(value) in self._regions

    def _need(self, args: Any) -> None:
        for value in values_in(args):
            self._values.add(value)
            if is_mutable(value):
                self._regions.add(self._aliasing.region(value))

    def _nodes(self, nodes: Sequence[Node]) -> None:
        for node in reversed(nodes):
            if node.blocks:
                self._back = True
                self._statement(node)
                continue
            changed = changed_by(node)
            self._back = self._back or bool(changed)
            if any(value in self for value in (*node.outputs, *changed)):
                self._need((node.args, node.kwargs))

    def _statement(self, node: Node) -> None:
        inits = node.inits
        for block in reversed(node.blocks):
            items = len(block.params) - len(inits)
            is_test = node.op == "while" and block is node.blocks[0]
            for number, output in enumerate(node.outputs):
                if output in self or (inits and block.params[items + number] in self):
                    self._need(inits[number] if inits else ())
                    if block.results is not None and not is_test:
                        self._need(block.results[len(block.results) - len(node.outputs) + number])
            self._nodes(block.nodes)
            if node.op == "for" and any(param in self for param in block.params[:items]):
                self._need(node.args[0])


def changed_by(node: Node) -> list[Value]:
    """The objects that a node without blocks may mutate; an op with a derivative mutates only what it declares."""
    op = lookup(node.op)
    changed = effects.outs(node)
    if op.effect == WRITE:
        changed = [node.args[0], *changed]
    elif node.op in PRINTS:
        changed = [node.kwargs.get("file")]
    elif op.vjp is None and op.effect == ORDERED:
        changed = effects.effect_of(node).writes
    return [leaf for leaf in changed if isinstance(leaf, Value) and is_mutable(leaf)]


def _gives_shape(node: Node | None) -> bool:
    """Whether a node returns the shape of an array, or a number that follows from it; its type may be unknown."""
    if node is None:
        return False
    if node.op == "getattr":
        return node.own and node.args[1] in ("shape", "ndim", "size", "dtype")     # not an attribute of the user's
    return node.op in GIVES_SHAPE


def _has_no_gradient(node: Node) -> bool:
    """Whether the result of a node has no gradient: its derivatives are zero everywhere, or it holds no floats."""
    op = lookup(node.op)
    if node.op in PRINTS:
        return "file" not in node.kwargs
    if _gives_shape(node):
        return True
    if op.vjp is not None and not any(op.vjp) and op.effect == PURE:
        return not (node.op in READS_TEXT and any(encodes_floats(value.type) for value in values_in(node.args)))
    if node.blocks or op.effect not in (PURE, VIEW) or not any(output.type == ANY for output in node.outputs):
        return False
    answers = (op.infer(*_types_with(node.args, each), **_types_with(node.kwargs, each)) for each in _FLOATS)
    known = [each for each in answers if each != ANY]
    return bool(known) and not any(map(_holds_gradient, known))


def _is_integer(type: Type) -> bool:
    type = bound_type(type)
    if isinstance(type, TensorType):
        return type.dtype.kind in "iu"
    return bool(type.items) and all(map(_is_integer, type.items))


_FLOATS = (array(float, None), array(float, None, None))


def _types_with(args: Any, type: Type) -> Any:
    """The types of arguments, with `type` for unknown ones."""

    def leaf(each: Any) -> Any:
        if isinstance(each, Constant):
            return type_of(each.value)
        return each if not isinstance(each, Value) else type if each.type == ANY else each.type

    return map_args(leaf, args)


def _holds_gradient(answer: Any) -> bool:
    return any(map(_holds_gradient, answer)) if isinstance(answer, list) else has_gradient(answer)


def defined_in(block: Block) -> set[Value]:
    """The values that a block itself defines."""
    return {*block.params, *(output for node in block.nodes for output in node.outputs)}


def values_of(block: Block) -> set[Value]:
    """The values that a block and its inner blocks define."""
    return {value for each in walk_blocks(block) for value in defined_in(each)}


def uses_in(block: Block) -> list[Value]:
    """The values that a block and its inner blocks use, in order, each once."""
    found: dict[Value, None] = {}
    _add_uses(block, found)
    return list(found)


def _add_uses(block: Block, found: dict[Value, None]) -> None:
    for node in block.nodes:
        found.update(dict.fromkeys(node.inputs))
        for inner in node.blocks:
            _add_uses(inner, found)
    found.update(dict.fromkeys(block.result_values))


def unread(nodes: Sequence[Node]) -> set[Node]:
    """The nodes that set attributes which the computation never reads, so that no gradient comes back through them."""
    every = [node for node in walk(Block(nodes)) if not node.blocks]
    setting = {node for node in every if node.op == "setattr"}
    read = {node.args[1] for node in every if node.op == "getattr"}
    if not setting or any(effects.effect_of(node).wild for node in every if node.op not in ("setattr", "getattr")):
        return set()
    return {node for node in setting if node.args[1] not in read}


class Writes:
    """The last write to each region, in each block of a computation."""

    def __init__(self, block: Block, nodes: Sequence[Node], aliasing: Aliasing) -> None:
        self._aliasing = aliasing
        self._numbers: dict[Node, int] = {}
        self._last: dict[Block, dict[Any, int]] = {}
        self._block(block, nodes)

    def _block(self, block: Block, nodes: Sequence[Node]) -> dict[Any, int]:
        last: dict[Any, int] = {}
        for node in nodes:
            number = self._numbers[node] = len(self._numbers)
            regions = set() if node.blocks else set(map(self._aliasing.region, changed_by(node)))
            for inner in node.blocks:
                regions.update(self._block(inner, inner.nodes))
            last.update(dict.fromkeys(regions, number))
        self._last[block] = last
        return last

    def come_after(self, value: Value, block: Block, node: Node | None) -> bool:
        """Whether a block may mutate a value at a node or later; at any time, if no node is given."""
        if not is_mutable(value):
            return False
        last = self._last[block].get(self._aliasing.region(value))
        return last is not None and (node is None or last >= self._numbers.get(node, -1))
