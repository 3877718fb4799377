"""Conditions under which constructs and builtins of Python neither raise nor warn for any values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.graph.effects import CONSTANT, NUMBER, category
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.traits import QUIET
from autograph.runtime.graph.types import BOOL, INT, MaybeUnbound, ObjectType, TensorType, Type, type_of

_FIELDS = frozenset({"shape", "ndim", "size", "dtype", "T", "real", "imag", "nbytes", "itemsize"})


def operand_type(arg: Any) -> Type:
    return arg.type if isinstance(arg, Value) else type_of(arg)


def is_exact(type: Type) -> bool:
    """Whether a type is that of a number or array, exact except for its dimensions."""
    return isinstance(type, TensorType) and type.exact and type.dtype.kind in "biufc"


def _getitem(node: Node) -> bool:
    x, index = node.args
    found = operand_type(x)
    if isinstance(found, ObjectType) and found.name == "tuple" and isinstance(index, int):
        return -len(found.items) <= index < len(found.items)
    if not (is_exact(found) and isinstance(found, TensorType) and found.kind == "array"):
        return False
    parts = index if isinstance(index, tuple) else (index,)
    shape = list(found.shape)
    for part in _spelled_out(parts, len(shape)):
        if part is None:
            continue
        if not shape:
            return False
        size = shape.pop(0)
        if isinstance(part, slice):
            if not all(each is None or _is_int(each) for each in (part.start, part.stop, part.step)) or part.step == 0:
                return False
        elif not (_is_int(part) and size is not None and -size <= part < size):
            return False
    return True


def _spelled_out(parts: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """The parts of an index with slices in place of an ellipsis."""
    places = [place for place, part in enumerate(parts) if part is ...]
    if len(places) != 1:
        return parts
    missing = ndim - sum(part is not None and part is not ... for part in parts)
    return (*parts[: places[0]], *[slice(None)] * missing, *parts[places[0] + 1 :])


def _is_int(arg: Any) -> bool:
    return type(arg) is int


def _getattr(node: Node) -> bool:
    type = operand_type(node.args[0])
    return is_exact(type) and isinstance(type, TensorType) and type.kind == "array" and node.args[1] in _FIELDS


def of_numbers(kinds: str) -> Callable[[Node], bool]:
    """The rule of an op that never fails for Python numbers of certain kinds of dtypes."""

    def rule(node: Node) -> bool:
        if len(node.args) != 1 or node.kwargs:
            return False
        type = operand_type(node.args[0])
        return isinstance(type, TensorType) and is_exact(type) and type.kind == "python" and type.dtype.kind in kinds

    return rule


def _range(node: Node) -> bool:
    step = node.args[2] if len(node.args) == 3 else 1
    return all(operand_type(arg) in (BOOL, INT) for arg in node.args) and type(step) is int and step != 0


def _bound(node: Node) -> bool:
    return isinstance(node.args[0], Value) and not isinstance(node.args[0].type, MaybeUnbound)


def _len(node: Node) -> bool:
    type = operand_type(node.args[0])
    if isinstance(type, TensorType):
        return is_exact(type) and bool(type.shape)
    return isinstance(type, ObjectType) and type.name in ("list", "tuple", "str", "dict")


def _truth(node: Node) -> bool:
    """The rule of `if` and `not`: numbers and strings have a truth; an array may have none."""
    return category(node.args[0]) in (NUMBER, CONSTANT) and not isinstance(operand_type(node.args[0]), MaybeUnbound)


def _for(node: Node) -> bool:
    """Whether a loop is sure to end, and its iterator never raises."""
    if node.kwargs.get("target", 0) != 0:
        return False
    if node.kwargs.get("until") and category((node.blocks[0].results or (0,))[0]) != NUMBER:
        return False
    type = operand_type(node.args[0])
    if isinstance(type, TensorType):
        return is_exact(type) and type.kind == "array" and bool(type.shape)
    return isinstance(type, ObjectType) and type.name in ("range", "str", "tuple")


QUIET.update({
    "if": _truth,
    "not": _truth,
    "for": _for,
    "while": lambda node: False,
    "build": lambda node: type(node.args[0]) in (tuple, list),      # the keys of dicts and sets may not be hashable
    "new": lambda node: True,
    "bound": _bound,
    "getitem": _getitem,
    "getattr": _getattr,
    "has_member": lambda node: True,
    "has_operator": lambda node: True,
    "has_setter": lambda node: True,
    "range": _range,
    "len": _len,
    "abs": of_numbers("bif"),
    "bool": of_numbers("biufc"),
    "int": of_numbers("bi"),
    "float": of_numbers("f"),
    "complex": of_numbers("fc"),
})  # fmt: skip
