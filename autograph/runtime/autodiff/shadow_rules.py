"""Shadow rules: for each operation on objects, the operation on their shadows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from autograph.runtime.autodiff.view_or_copy import is_array
from autograph.runtime.graph.graph import Node, Value, map_args
from autograph.runtime.graph.opdef import WRITE, lookup
from autograph.runtime.graph.traits import COMPARES_ITEMS
from autograph.runtime.graph.types import ANY, ObjectType, TensorType, Type

_CONTAINERS = (ObjectType("list"), ObjectType("dict"))


@dataclass(frozen=True, slots=True)
class Move:
    """An operation on an object with a shadow.

    Attributes:
        node: the operation.
        into: the list of nodes before it.
        shadow: returns the shadow of an argument.
        is_view: whether a value is a view of an array.
    """

    node: Node
    into: list[Node]
    shadow: Callable[[Any], Any]
    is_view: Callable[[Value], bool]

    def before(self, op: str, *args: Any, type: Type = ANY) -> Value:
        """Add an operation before; returns its result."""
        made = Node(op, args, None, (), self.node.place)
        self.into.append(made)
        return made.add_output(type)

    def parts(self, things: Sequence[Any]) -> list[Value]:
        """The shadows of the items of things."""
        return [self.before("parts_of", self.shadow(thing)) for thing in things]


# The operation and its arguments; and its keywords, unless they are those of the node without the key.
Done: TypeAlias = "tuple[str, tuple[Any, ...]] | tuple[str, tuple[Any, ...], dict[str, Any]]"
Rule: TypeAlias = Callable[[Move], Done]
RULES: dict[str, Rule] = {}


def moved(move: Move) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The operation on shadows, its arguments and keywords."""
    op, args, *keywords = RULES.get(move.node.op, _view)(move)
    if keywords:
        return op, args, keywords[0]
    return op, args, {name: arg for name, arg in move.node.kwargs.items() if name != "key"}


def _view(move: Move) -> Done:
    """A view: of an array by the same op, and of other objects by `view_of`."""
    first, *rest = move.node.args
    if is_array(first):
        return _to_first(move)
    return "view_of", (move.shadow(first), move.node.output, move.node.op, *rest)


def _of(ops: str) -> Callable[[Rule], Rule]:
    """Register the rule of these ops."""

    def note(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops.split(), rule))
        return rule

    return note


@_of("build bound add next .append .copy .reverse .clear .items .values .keys")
@_of("parts_of arranged given custom_gradient")
def _to_all(move: Move) -> Done:
    return move.node.op, map_args(move.shadow, move.node.args)


@_of("delitem view_of part_of part_like sort_like sorted_like ordered_like")
def _to_first(move: Move) -> Done:
    first, *rest = move.node.args
    return move.node.op, (move.shadow(first), *rest)


@_of(".popitem popped_item")
def _popitem(move: Move) -> Done:
    return "popped_item", (move.shadow(move.node.args[0]),)


@_of(".insert .pop .get .setdefault put_part fill_gap")
def _with_key(move: Move) -> Done:
    args = enumerate(move.node.args)
    return move.node.op, tuple(move.shadow(arg) if at in (0, 2) else arg for at, arg in args)   # not the key


@_of("setitem")
def _setitem(move: Move) -> Done:
    first, index, value = move.node.args
    if _may_be_slice(first, index):
        return _put_parts(move)
    return "setitem" if is_container(first) else "put_part", (move.shadow(first), index, move.shadow(value))


@_of("put_parts")
def _put_parts(move: Move) -> Done:
    first, index, value = move.node.args[:3]
    return "put_parts", (move.shadow(first), index, move.shadow(value), first)


@_of("getitem")
def _getitem(move: Move) -> Done:
    first, *rest = move.node.args
    is_view = is_array(first) and move.is_view(move.node.output)
    return "getitem" if is_view else "part_of", (move.shadow(first), *rest)


@_of("list tuple made_of")
def _made_of(move: Move) -> Done:
    args = move.node.args
    return ("made_of", (move.shadow(args[0]), move.node.output)) if args else (move.node.op, ())


@_of(".extend extended_by")
def _extended_by(move: Move) -> Done:
    return "extended_by", (*map(move.shadow, move.node.args[:2]), move.node.args[0])


@_of("iadd")
def _added_to(move: Move) -> Done:
    return _extended_by(move) if is_container(move.node.args[0]) else _to_all(move)


@_of(".update updated_by")
def _updated_by(move: Move) -> Done:
    keywords = [move.node.kwargs] if move.node.kwargs else []
    return "updated_by", tuple(map(move.shadow, (*move.node.args, *keywords))), {}


@_of("mul imul")
def _repeated(move: Move) -> Done:
    return move.node.op, tuple(move.shadow(arg) if is_container(arg) else arg for arg in move.node.args)


@_of("unpack")
def _unpacked(move: Move) -> Done:
    return "unpack", (*move.parts(move.node.args[:1]), *move.node.args[1:])


@_of("zip reversed iter")
def _iterated(move: Move) -> Done:
    return move.node.op, tuple(move.parts(move.node.args))


@_of("enumerate")
def _enumerated(move: Move) -> Done:
    return "zip", tuple(move.parts((None, move.node.args[0])))


@_of("sorted")
def _sorted(move: Move) -> Done:
    """Sorting: with a key, the order follows from the items before and after, so that the key is not called twice."""
    things, *rest = move.node.args
    if has_key(move.node):
        return "ordered_like", (*move.parts([things]), things, move.node.output), {}
    return "sorted_like", (*move.parts([things]), things, *rest)


@_of(".sort")
def _sort(move: Move) -> Done:
    """The same in place."""
    things, *rest = move.node.args
    if has_key(move.node):
        before = move.before("list", things, type=ObjectType("list"))
        return "ordered_like", (move.shadow(things), before, things, True), {}
    return "sort_like", (*move.parts([things]), things, *rest)


@_of("shadow_after")
def _after(move: Move) -> Done:
    return "shadow_after", (*map(move.shadow, move.node.args[:2]), *move.node.args[2:])


@_of("in_shadow or_zero")
def _number(move: Move) -> Done:
    """A number, whose shadow is an array."""
    return "bound", (move.shadow(move.node.args[0]),)


def has_key(node: Node) -> bool:
    """Whether a node sorts by a key."""
    return node.kwargs.get("key") is not None


def sorts_by_items(node: Node) -> bool:
    """Whether a node sorts a list in place by its items; its shadow is sorted first."""
    return node.op in COMPARES_ITEMS and lookup(node.op).effect == WRITE and not has_key(node)


def is_container(arg: Any) -> bool:
    """Whether an argument is a list or dict, whose items have shadows of their own."""
    return isinstance(arg, list) or (isinstance(arg, Value) and arg.type in _CONTAINERS)


def _may_be_slice(container: Any, index: Any) -> bool:
    """Whether an index may select several items of a list."""
    is_number = isinstance(index, int) or (isinstance(index, Value) and isinstance(index.type, TensorType))
    return is_container(container) and container.type == ObjectType("list") and not is_number
