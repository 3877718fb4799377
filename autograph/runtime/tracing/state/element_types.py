"""Element types of lists that a trace has made, which the type of a list does not have.

A list may come to hold anything later. But at a node that stands in the block in which the list was made, all that has
happened to it by then has been recorded. If nobody else has got hold of it, and all that was put in is of one type,
then so is what is got out.

In a block within, that of a loop for one, it is not known yet what the rest of the body will put in. It is assumed to
be of the type of what there is (`Assumed`), and when the body has been traced, that is looked at: if it is not so, the
body is traced once more, with a type that covers all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Block, Node, Place, Value, gather, types_in
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

_MOST = 1000  # nodes that are looked at
_COUNTS = (1, 2, 3, 5)  # of items, for which a rule is asked in the place of any number


@dataclass
class Contents:
    """Of a list: the type of its items, and whether there is one for certain."""

    item: Type
    filled: bool


@dataclass
class Assumed:
    """The blocks that are open, the innermost last, and what is assumed of the lists that they have made.

    Attributes:
        items: of which type the items of a list are, whatever the rest of a loop's body does.
        wider: of which type they have turned out to be, by the place where the list is made.
    """

    opened: list[Block]
    items: dict[Value, Type] = field(default_factory=dict)
    wider: dict[Place, Type] = field(default_factory=dict)

    def fails(self, body: Block, carried: Sequence[Value]) -> bool:
        """Whether a loop's body, which is traced now, does something else; then it is to be traced once more.

        Args:
            carried: values that have other names in the body.
        """
        nodes = list(_nodes(body.nodes)) if self.items else []
        inside = {id(node) for node, _ in nodes}
        found = False
        for value, item in list(self.items.items()):
            if value.node is None or id(value.node) in inside:
                continue
            found_now = self._put(value, nodes) if value not in carried and value not in (body.results or ()) else [ANY]
            whole = join_all([item, *found_now])
            if whole != item:
                del self.items[value]
                self.wider[value.node.place] = whole
                found = True
        return found

    @staticmethod
    def _put(value: Value, nodes: Sequence[tuple[Node, bool]]) -> list[Type]:
        """The types of what nodes put into a list; ANY if somebody else might do so."""
        found: list[Type] = []
        for node, _ in nodes:
            if node.op in RESHAPES or _gets_away(node, value):
                return [ANY]
            if node.op in KEEPS and node.args[0] is value:
                found.append(_type(node.args[-1]))
        return found


def known_of_lists(known: Assumed, op: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any], inferred: Any) -> Any:
    """What an op gives, by its rule or, if that knows nothing, for a list of unknown length that a block has made."""
    if inferred != ANY and not (isinstance(inferred, list) and ANY in inferred):
        return inferred
    if op.name in GIVES_ITEM:
        found = contents(known, args[0])
        whole = None if found is None else ObjectType("list", (found.item,))
        answers = [] if whole is None else [op.infer(whole, *types_in(args[1:]), **types_in(kwargs))]
    elif op.effect in (PURE, VIEW) and (op.name.startswith("np.") or op.name in AGGREGATES):
        lists = {arg: found for arg in args if _is_list(arg) and (found := contents(known, arg)) is not None}
        if len(lists) != 1:
            return inferred
        (found,) = lists.values()
        if op.name.startswith("np.") and (found.item == INT or not _must_be_alike(found.item, op, args, kwargs)):
            return inferred  # large numbers, and arrays of several shapes, may become an array of objects
        least = () if found.filled or op.name in NEEDS_ITEMS else (0,)
        answers = [_with_count(op, args, kwargs, lists, count) for count in (*least, *_COUNTS)]
    else:
        return inferred
    found = _in_common(answers)
    return inferred if found == ANY else found


def _must_be_alike(item: Type, op: OpDef, args: Any, kwargs: Any) -> bool:
    """Whether arrays of a type have the same shape, or else an op of a list of them raises."""
    if not isinstance(item, TensorType):
        return False
    return None not in item.shape or op.name in NEEDS_ITEMS or (op.target is np.array and len(args) == 1 and not kwargs)


def _is_list(arg: Any) -> bool:
    return isinstance(arg, Value) and isinstance(arg.type, ObjectType) and arg.type.name == "list"


def _with_count(op: OpDef, args: Any, kwargs: Any, known: dict[Any, Contents], count: int) -> Any:
    given = [[known[arg].item] * count if _is_list(arg) and arg in known else types_in(arg) for arg in args]
    return op.infer(*given, **types_in(kwargs))


def _in_common(answers: Sequence[Any]) -> Any:
    """The type that all answers have, apart from lengths."""
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


def contents(known: Assumed, value: Any, ahead: bool = False) -> Contents | None:
    """What is in a list that an open block has made; None if that is not known.

    Args:
        ahead: whether it is asked what will be in it in the loop that is about to be traced.
    """
    made = value.node if _is_list(value) else None
    items = None if made is None else _first_items(made)
    if items is None or made is None:
        return None
    since, inner = _nodes_since(known.opened, made)
    if since is None:
        return None
    inner |= ahead
    if inner and made.place in known.wider:
        items.append(known.wider[made.place])
    filled = bool(items)
    for node, certain in _nodes(since):
        if node.op in RESHAPES or _gets_away(node, value):
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
        known.items[value] = item
    return Contents(item, filled and not inner)


def _is_certain(item: Type) -> bool:
    if isinstance(item, ObjectType) and item.name == "tuple":
        return bool(item.items) and all(map(_is_certain, item.items))
    return isinstance(item, TensorType) and item.exact


def _nodes_since(opened: Sequence[Block], made: Node) -> tuple[list[Node] | None, bool]:
    """What has been recorded since a node, and whether that is partly in blocks within; None if it is too much."""
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
    """What a new list begins with; one of all its items, if that is of the same type."""
    if made.op == "build" and type(made.args[0]) is list:
        return [_type(part) for part in made.args[0]]
    item = ITEMS.get(made.op)
    return None if item is None else [item(*types_in(made.args), **types_in(made.kwargs))]


def _type(part: Any) -> Type:
    """The type of what is put into a list."""
    return build_type(types_in(part))


def _nodes(nodes: Any, certain: bool = True) -> Iterator[tuple[Node, bool]]:
    """Nodes and those in their blocks, with whether they are certain to run."""
    for node in nodes:
        yield node, certain
        for inner in node.blocks:
            yield from _nodes(inner.nodes, certain and node.op == "for" and has_items(node.args[0]))


def has_items(iterable: Any) -> bool:
    """Whether something that is iterated over is for certain not empty."""
    return isinstance(iterable, Value) and bool(length_of(iterable.type))


def _gets_away(node: Node, value: Value) -> bool:
    """Whether somebody else may get hold of a list by a node, or put into it what is not looked at here."""
    found: list[Value] = []
    gather((node.args, node.kwargs), found)
    gather([inner.results for inner in node.blocks], found)
    if value not in found:
        return False
    first = node.args[0] if node.args else None
    if found.count(value) > 1 or first is not value:
        return lookup(node.op).effect != PURE and node.op not in MAKES_ITERATORS and node.op not in PRINTS
    if node.op == "setitem":
        return not isinstance(_type(node.args[1]), TensorType)  # a slice takes many
    known = any(node.op in trait for trait in (KEEPS, ADDS_NO_ITEMS, READS_ITEMS, PRINTS))
    return not (known or node.op == "for" or lookup(node.op).effect == PURE or node.op.startswith("np."))
