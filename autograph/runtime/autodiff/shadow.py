"""Shadows: the gradients of objects that are mutated, or contained in such objects.

Such an object has many names, at many times. So its gradient is an object, too, its shadow, which is made with it and
follows it: an array of zeros for an array, a view of a shadow for a view, a list of shadows for a list. Where the
program appends a number to a list, a shadow is appended to the list's shadow. The reverse then adds to shadows in
place; where the program overwrote something, it takes the gradient out of the shadow and sets the shadow to zero.

The nodes that make and move shadows are added to the computation before its reverse is recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.autodiff.activity import Activity, changed_by, has_gradient, uses_in
from autograph.runtime.autodiff.shadow_rules import RULES, Move, is_container, moved, sorts_by_items
from autograph.runtime.autodiff.view_or_copy import is_array, may_share, shares
from autograph.runtime.graph.effects import ITERATOR, category, is_mutable, outs
from autograph.runtime.graph.graph import Block, Constant, Node, Value, map_args, walk, walk_blocks
from autograph.runtime.graph.traits import AGGREGATES, EXTREME, IN_PLACE, MAKES_ITERATORS, OVERLOADED, SHARES_FIRST
from autograph.runtime.graph.types import ANY, ObjectType, TensorType, Type, bound_type
from autograph.runtime.graph_text.printer import expression


class Shadows:
    """The shadows of a computation.

    Attributes:
        nodes: the nodes of the computation and those of shadows.
        all: all shadows.
    """

    def __init__(self, nodes: Sequence[Node], activity: Activity) -> None:
        self._activity = activity
        self._of: dict[Value, Value] = {}
        self._collected: dict[Node | Block, list[tuple[Value, Value]]] = {}
        self._items: dict[Node, list[Value]] = {}
        self._moved: set[Node] = set()
        self.aliasing = activity.aliasing
        self._shadowed = self._find(Block(nodes))
        self.nodes = list(nodes)
        if self._shadowed:
            self.nodes = []
            for value in activity.outside:
                if value in self._shadowed:
                    self._fresh(value, self.nodes, ())
            self._nodes(nodes, self.nodes)
        collected = (shadow for found in self._collected.values() for _, shadow in found)
        self.all = frozenset((*self._of.values(), *collected))

    def __contains__(self, value: Any) -> bool:
        return value in self._shadowed

    def __getitem__(self, value: Value) -> Value:
        return self._of[value]

    def __bool__(self) -> bool:
        return bool(self._shadowed)

    def collected(self, where: Node | Block) -> list[tuple[Value, Value]]:
        """The numbers that a node stores, or a block returns, with the shadows that they get there."""
        return self._collected.get(where, [])

    def of_number(self, value: Value) -> Value | None:
        """The shadow to which the gradient of a number goes that was read from an object with a shadow."""
        return None if value in self._shadowed else self._of.get(value)

    def moves(self, node: Node) -> bool:
        """Whether shadows were moved along with the results of a node."""
        return node in self._moved

    def is_unclear(self, node: Node) -> bool:
        """Whether the result of a node may be a view or a copy of an object with a shadow."""
        views = any(map(is_mutable, node.outputs))
        return views and self._is_shadowed(node.args) and shares(node) is None

    def may_copy(self, node: Node) -> bool:
        """Whether it is known only at run time if a result whose shadow was moved is a view or a copy."""
        if not may_share(node.op) or node.args[0] not in self._of or node.output not in self._shadowed:
            return False
        if node.op == "getitem":
            held = node.args[0].type
            is_tuple = isinstance(held, ObjectType) and bool(held.items)
            return not (is_tuple or is_container(node.args[0]) or self.aliasing.is_view(node.output))
        return shares(node) is None

    def has_items(self, node: Node) -> bool:
        """Whether the items of a loop have shadows."""
        return node in self._items

    def touches(self, block: Block) -> bool:
        """Whether a block uses shadows or objects with shadows."""
        return any(value in self._shadowed or value in self.all for value in uses_in(block))

    # Which ------------------------------------------------------------------------------------------------------------

    def _find(self, block: Block) -> set[Value]:
        """The active values in regions that are mutated or contain containers."""
        varied = self._activity.values
        changed = (value for node in walk(block) if not node.blocks for value in changed_by(node))
        written = set(map(self.aliasing.region, changed))
        once = _used_by_one_loop(block) if any(category(value) == ITERATOR for value in varied) else set()
        held = (value for value in varied if _is_dynamic(value) and not self._iterates_over_arrays(value, once))
        regions = {self.aliasing.region(value) for value in varied} & written | set(map(self.aliasing.region, held))
        return {value for value in varied if is_mutable(value) and self.aliasing.region(value) in regions}

    def _iterates_over_arrays(self, value: Any, once: set[Value]) -> bool:
        """Whether a value is an iterator over arrays, each used once, so that a loop knows the reverse."""
        node = value.node if isinstance(value, Value) else None
        if node is None or value not in once or node.op not in MAKES_ITERATORS:
            return False
        return all(
            is_array(arg) or not self._activity.varies(arg) or self._iterates_over_arrays(arg, once)
            for arg in node.args
        )

    # Nodes ------------------------------------------------------------------------------------------------------------

    def _nodes(self, nodes: Sequence[Node], into: list[Node]) -> None:
        for node in nodes:
            if node.blocks:
                self._statement(node, into)
                continue
            self._keep_items(node, into)
            made = [self._move(node, into)] if self._is_move(node) else []
            into += [*made, node] if sorts_by_items(node) else [node, *made]
            for output in node.outputs:
                if output in self._shadowed and output not in self._of:
                    self._of_result(node, output, into)

    def _keep_items(self, node: Node, into: list[Node]) -> None:
        """Put the items of an iterator into a list, for operations whose reverse reads them again."""
        of_one = node.op in AGGREGATES and (len(node.args) == 1 or node.op not in EXTREME)
        first = node.args[0] if of_one else None
        if isinstance(first, Value) and first in self._shadowed and _is_iterator(first.type):
            items = Node("list", (first,), None, (), node.place)
            self._shadowed.add(items.add_output(ObjectType("list"), _name(first)))
            self._nodes([items], into)
            node.args = (items.output, *node.args[1:])

    def _is_move(self, node: Node) -> bool:
        first = node.args[0] if node.args else None
        held = isinstance(first, Value) and first in self._shadowed
        if node.op == "setitem":
            return held and not is_array(first)
        if node.op == "getitem":
            given = self._is_shadowed(node.outputs) and not _is_fancy(node.args[1])
            return held and (given or not is_array(first))
        if node.op in OVERLOADED and not any(map(is_container, node.args)):
            return False
        if node.op in RULES and node.op not in SHARES_FIRST:
            return self._is_shadowed((node.args, node.kwargs, node.outputs))
        if not held or not self._is_shadowed(node.outputs):
            return False
        return shares(node) is True or (shares(node) is None and may_share(node.op))

    def _is_shadowed(self, args: Any) -> bool:
        found: list[bool] = []
        map_args(lambda leaf: found.append(isinstance(leaf, Value) and leaf in self._shadowed), args)
        return any(found)

    def _move(self, node: Node, into: list[Node]) -> Node:
        """A node that does the operation of `node` on shadows."""
        self._moved.add(node)
        op, args, kwargs = moved(Move(node, into, lambda leaf: self._shadow(leaf, node, into), self.aliasing.is_view))
        made = Node(op, args, kwargs, (), node.place)
        for output in node.outputs:
            known = op != "bound" or (isinstance(args[0], Value) and args[0].type != ANY)
            self._of[output] = made.add_output(_shadow_type(output.type) if known else ANY, _name(output))
        return made

    def _shadow(self, leaf: Any, where: Node | Block, into: list[Node]) -> Any:
        """The shadow of an argument; made at its use if it has none."""
        if isinstance(leaf, (tuple, list, dict)):
            return map_args(lambda part: self._shadow(part, where, into), leaf)
        if isinstance(leaf, Value) and leaf in self._of and leaf in self._shadowed:
            return self._of[leaf]  # that of a number is only where its gradient goes in the end
        if not isinstance(leaf, (Value, Constant, float, complex, np.ndarray)):
            return None
        place = where.place if isinstance(where, Node) else ()
        if isinstance(leaf, Value) and self._activity.varies(leaf):
            if not has_gradient(leaf.type):
                return _added(into, Node("blank", (leaf, expression(leaf)), None, (), place))
            shadow = _added(into, Node("shadow_of", (leaf,), None, (), place), _shadow_type(leaf.type))
            self._collected.setdefault(where, []).append((leaf, shadow))
            return shadow
        type = _shadow_type(leaf.type) if isinstance(leaf, Value) else ANY
        return _added(into, Node("shadow_of", (leaf,), None, (), place), type)

    def _of_result(self, node: Node, output: Value, into: list[Node]) -> None:
        """Make the shadow of a result: that of the mutated object, or a new one."""
        if node.op in IN_PLACE and node.args[0] in self._of:
            before = self._of[node.args[0]]
            if is_array(node.args[0]):
                self._of[output] = before
                return
            other = self._shadow(node.args[1], node, into)
            made = Node("shadow_after", (before, other, output, node.args[0], node.op), None, (), node.place)
            self._of[output] = _added(into, made)
            return
        written = outs(node)
        if len(written) > 1:
            shadows = tuple(self._shadow(out, node, into) for out in written)
            self._of[output] = _added(into, Node("build", (shadows,), None, (), node.place))
            return
        if written and written[0] in self._of:
            self._of[output] = self._of[written[0]]
            return
        self._fresh(output, into, node.place)

    def written(self, node: Node) -> list[Value]:
        """The objects with shadows that a node mutates."""
        return [value for value in changed_by(node) if value in self._shadowed]

    def _fresh(self, value: Value, into: list[Node], place: Any) -> None:
        args = (value,) if isinstance(value.type, TensorType) or value.node is None else (value, expression(value))
        made = Node("shadow_of", args, None, (), place)
        self._of[value] = _added(into, made, _shadow_type(value.type), _name(value))

    # Statements -------------------------------------------------------------------------------------------------------

    def _statement(self, node: Node, into: list[Node]) -> None:
        inits = node.inits
        params = [block.params[len(block.params) - len(inits) :] for block in node.blocks]
        slots = [
            number
            for number, output in enumerate(node.outputs)
            if any(value in self._shadowed for value in (output, *(carried[number] for carried in params if carried)))
        ]
        before = [self._shadow(inits[number], node, into) for number in slots] if inits else []
        if node.op == "for" and node.args[0] in self._of:
            self._zip_items(node, len(inits), into)
        for block, carried in zip(node.blocks, params):
            for number in slots if inits else ():
                param = carried[number]
                shadow = self._of[param] = Value(_shadow_type(param.type), None, _name(param))
                block.params.append(shadow)
            nodes: list[Node] = []
            self._nodes(block.nodes, nodes)
            is_test = node.op == "while" and block is node.blocks[0]
            if block.results is not None and not is_test:
                first = len(block.results) - len(node.outputs)
                found = [self._shadow(block.results[first + number], block, nodes) for number in slots]
                block.results = (*block.results, *found)
            block.nodes = nodes
        node.args = (*node.args, *before)
        for number in slots:
            output = node.outputs[number]
            self._of[output] = node.add_output(_shadow_type(output.type), _name(output))
        into.append(node)

    def _zip_items(self, node: Node, carried: int, into: list[Node]) -> None:
        """Let a loop iterate over shadows along with the items."""
        body = node.blocks[0]
        count = len(body.params) - carried
        target = node.kwargs["target"]
        parts = Node("parts_of", (self._of[node.args[0]], target), None, (), node.place)
        zipped = Node("zip", (node.args[0], parts.add_output(ANY)), None, (), node.place)
        into += [parts, zipped]
        node.args = (zipped.add_output(ObjectType("zip")), *node.args[1:])
        node.kwargs = {**node.kwargs, "target": (target, map_args(lambda number: number + count, target))}
        self._items[node] = body.params[:count]
        shadows = [Value(_shadow_type(item.type), None, _name(item)) for item in body.params[:count]]
        body.params[count:count] = shadows
        self._of.update(zip(self._items[node], shadows))


def _added(into: list[Node], made: Node, type: Type = ANY, name: str = "") -> Value:
    """Add a node to others; returns its output."""
    into.append(made)
    return made.add_output(type, name)


def _is_fancy(index: Any) -> bool:
    """Whether an index certainly makes a copy: whether it contains an array or list."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, (list, np.ndarray)) or is_array(part) for part in parts)


def _is_iterator(type: Type) -> bool:
    return isinstance(type, ObjectType) and type.name not in ("list", "tuple", "dict")


def _is_dynamic(value: Value) -> bool:
    """Whether a value is not an array, a number or a tuple with known items."""
    return category(value) == ITERATOR or _has_unknown_items(value.type)


def _has_unknown_items(type: Type) -> bool:
    type = bound_type(type)
    if isinstance(type, TensorType):
        return False
    return not type.items or any(map(_has_unknown_items, type.items))


def _used_by_one_loop(block: Block) -> set[Value]:
    """The iterators that only one loop uses, in the block in which they are made."""
    uses: Counter[Value] = Counter()
    by_loops: set[Value] = set()
    for each in walk_blocks(block):
        own = {output for node in each.nodes for output in node.outputs}
        uses.update(each.result_values)
        for node in each.nodes:
            uses.update(node.inputs)
            if node.op == "for" or node.op in MAKES_ITERATORS:
                by_loops.update(arg for arg in node.args if isinstance(arg, Value) and arg in own)
    return {value for value in by_loops if uses[value] == 1}


def _shadow_type(type: Type) -> Type:
    if isinstance(type, TensorType):
        if type.dtype.kind not in "fc" or not type.exact:
            return ANY
        return TensorType(type.dtype, type.shape)
    return ObjectType(type.name) if isinstance(type, ObjectType) and has_gradient(type) else ANY


def _name(value: Value) -> str:
    return f"{value.name}_gradient" if value.name else ""
