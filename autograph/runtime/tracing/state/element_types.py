"""Element types of lists that a trace has made. The type of a list itself does not have them.

A list may get items of any type later. But at a node in the block that has made the list, all operations on the list
are recorded. If the list has not escaped, and all its items have one type, then an item that is read has this type.

In an inner block, such as the body of a loop, the rest of the body is not traced yet. The trace assumes that it adds no
items of other types (`Assumptions`). If the traced body does, it is traced again, with a type that covers all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Block, Node, Place, Value, types_in, used_by
from autograph.runtime.graph.opdef import PURE, VIEW, OpDef, lookup
from autograph.runtime.graph.traits import (
    ADDS_NO_ITEMS,
    AGGREGATES,
    GIVES_ITEM,
    ITEMS,
    KEEPS,
    MAKES_ITERATORS,
    NEEDS_ITEMS,
    PRINTS,
    READS_ITEMS,
    RESHAPES,
)
from autograph.runtime.graph.types import ANY, INT, ObjectType, TensorType, Type, join_all, length_of
from autograph.runtime.ops.inference.containers import build_type

_MOST = 1000  # nodes to look at
_COUNTS = (1, 2, 3, 5)  # numbers of items for which a rule is evaluated, instead of any number


@dataclass
class ListItems:
    """The type of a list's items, and whether it is known not to be empty."""

    item: Type
    filled: bool


@dataclass
class Assumptions:
    """The open blocks, the innermost last, and the assumptions about the lists that they have made.

    Attributes:
        items: the assumed element types of lists, after the rest of a loop's body.
        wider: the element types after a wrong assumption, by the place that makes the list.
    """

    opened: list[Block]
    items: dict[Value, Type] = field(default_factory=dict)
    wider: dict[Place, Type] = field(default_factory=dict)

    def fails(self, body: Block, carried: Sequence[Value]) -> bool:
        """Whether an assumption is wrong after a loop's body, so that this must be traced again.

        Args:
            carried: values that have other names in the body.
        """
        nodes = list(_nodes(body.nodes)) if self.items else []
        inside = {id(node) for node, _ in nodes}
        found = False
        for value, item in list(self.items.items()):
            if value.node is None or id(value.node) in inside:
                continue
            is_renamed = value in carried or value in (body.results or ())
            whole = join_all([item, *([ANY] if is_renamed else self._added(value, nodes))])
            if whole != item:
                del self.items[value]
                self.wider[value.node.place] = whole
                found = True
        return found

    @staticmethod
    def _added(value: Value, nodes: Sequence[tuple[Node, bool]]) -> list[Type]:
        """The types of the items that nodes add to a list; ANY if it may escape."""
        found: list[Type] = []
        for node, _ in nodes:
            if node.op in RESHAPES or _escapes(node, value):
                return [ANY]
            if node.op in KEEPS and node.args[0] is value:
                found.append(_type(node.args[-1]))
        return found


def refine_lists(assumed: Assumptions, op: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any], inferred: Any) -> Any:
    """The type of an op's result: `inferred`, or a better one if its argument is a list with a known element type."""
    if inferred != ANY and not (isinstance(inferred, list) and ANY in inferred):
        return inferred
    if op.name in GIVES_ITEM:
        found = element_type(assumed, args[0])
        whole = None if found is None else ObjectType("list", (found.item,))
        answers = [] if whole is None else [op.infer(whole, *types_in(args[1:]), **types_in(kwargs))]
    elif op.effect in (PURE, VIEW) and (op.name.startswith("np.") or op.name in AGGREGATES):
        lists = {arg: found for arg in args if _is_list(arg) and (found := element_type(assumed, arg)) is not None}
        if len(lists) != 1:
            return inferred
        (found,) = lists.values()
        if op.name.startswith("np.") and (found.item == INT or not _must_be_alike(found.item, op, args, kwargs)):
            return inferred  # large numbers, or arrays of several shapes, may give an array of objects
        least = () if found.filled or op.name in NEEDS_ITEMS else (0,)
        answers = [_with_count(op, args, kwargs, lists, count) for count in (*least, *_COUNTS)]
    else:
        return inferred
    found = _in_common(answers)
    return inferred if found == ANY else found


def _must_be_alike(item: Type, op: OpDef, args: Any, kwargs: Any) -> bool:
    """Whether an op of a list of arrays of this type raises, unless they have the same shape."""
    if not isinstance(item, TensorType):
        return False
    return None not in item.shape or op.name in NEEDS_ITEMS or (op.target is np.array and len(args) == 1 and not kwargs)


def _is_list(arg: Any) -> bool:
    return isinstance(arg, Value) and isinstance(arg.type, ObjectType) and arg.type.name == "list"


def _with_count(op: OpDef, args: Any, kwargs: Any, lists: dict[Any, ListItems], count: int) -> Any:
    types = [[lists[arg].item] * count if _is_list(arg) and arg in lists else types_in(arg) for arg in args]
    return op.infer(*types, **types_in(kwargs))


def _in_common(answers: Sequence[Any]) -> Any:
    """The type that covers all answers, if they differ only in lengths."""
    first = answers[0] if answers else ANY
    for answer in answers[1:]:
        if answer == first:
            continue
        if not isinstance(first, TensorType) or not isinstance(answer, TensorType):
            return ANY
        shape = tuple(a if a == b else None for a, b in zip(first.shape, answer.shape))
        if len(first.shape) != len(answer.shape) or first != TensorType(answer.dtype, first.shape, answer.kind):
            return ANY
        first = TensorType(first.dtype, shape, first.kind)
    return first


def element_type(assumed: Assumptions, value: Any, in_body: bool = False) -> ListItems | None:
    """The element type of a list that an open block has made; None if it is unknown.

    Args:
        in_body: ask for the type in the body of a loop that is about to be traced.
    """
    made = value.node if _is_list(value) else None
    items = None if made is None else _first_items(made)
    if items is None or made is None:
        return None
    since, inner = _nodes_since(assumed.opened, made)
    if since is None:
        return None
    inner |= in_body
    if inner and made.place in assumed.wider:
        items.append(assumed.wider[made.place])
    filled = bool(items)
    for node, certain in _nodes(since):
        if node.op in RESHAPES or _escapes(node, value):
            return None
        if node.args and node.args[0] is value:
            if node.op in KEEPS:
                items.append(_type(node.args[-1]))
                filled |= certain
            elif node.op in ADDS_NO_ITEMS:
                filled = False
    item = join_all(items) if items else ANY
    if not _is_certain(item):
        return None
    if inner:
        assumed.items[value] = item
    return ListItems(item, filled and not inner)


def _is_certain(item: Type) -> bool:
    if isinstance(item, ObjectType) and item.name == "tuple":
        return bool(item.items) and all(map(_is_certain, item.items))
    return isinstance(item, TensorType) and item.exact


def _nodes_since(opened: Sequence[Block], made: Node) -> tuple[list[Node] | None, bool]:
    """The nodes recorded since `made`, and whether some are in inner blocks; None if there are too many."""
    since: list[Node] = []
    for depth in reversed(range(len(opened))):
        for node in reversed(opened[depth].nodes):
            if node is made:
                return since[::-1], depth < len(opened) - 1
            since.append(node)
            if len(since) > _MOST:
                return None, False
    return None, False


def _first_items(made: Node) -> list[Type] | None:
    """The types of the first items of a new list; one for all, if they have the same type; None if unknown."""
    if made.op == "build" and type(made.args[0]) is list:
        return [_type(part) for part in made.args[0]]
    item = ITEMS.get(made.op)
    return None if item is None else [item(*types_in(made.args), **types_in(made.kwargs))]


def _type(part: Any) -> Type:
    """The type of an item that is added to a list."""
    return build_type(types_in(part))


def _nodes(nodes: Any, certain: bool = True) -> Iterator[tuple[Node, bool]]:
    """Nodes and those in their blocks, and whether these certainly run."""
    for node in nodes:
        yield node, certain
        for inner in node.blocks:
            yield from _nodes(inner.nodes, certain and node.op == "for" and has_items(node.args[0]))


def has_items(iterable: Any) -> bool:
    """Whether an iterable is known not to be empty."""
    return isinstance(iterable, Value) and bool(length_of(iterable.type))


def _escapes(node: Node, value: Value) -> bool:
    """Whether a list may escape at a node, or get items there that are unknown."""
    found = used_by(node)
    if value not in found:
        return False
    first = node.args[0] if node.args else None
    if found.count(value) > 1 or first is not value:
        return lookup(node.op).effect != PURE and node.op not in MAKES_ITERATORS and node.op not in PRINTS
    if node.op == "setitem":
        return not isinstance(_type(node.args[1]), TensorType)  # a slice takes many
    is_covered = any(node.op in trait for trait in (KEEPS, ADDS_NO_ITEMS, READS_ITEMS, PRINTS))
    return not (is_covered or node.op == "for" or lookup(node.op).effect == PURE or node.op.startswith("np."))
