"""Types of Python's containers, of their items, and of items taken from them."""

from __future__ import annotations

import operator
from typing import Any

from autograph.runtime.graph.types import ANY, INT, NAMED_TUPLES, STR, ObjectType, TensorType, Type, item_of, join_all
from autograph.runtime.ops.inference.shape_rules import ELEMENTARY, Unknown, is_type, type_of_arg


def list_of(item: Type, name: str = "list") -> ObjectType:
    """The type of a new list or set.

    It says nothing of the items, although they are known: a later `xs[i] = v` or `xs.append(v)` may put something else
    into the list, while the type of a value is fixed.
    """
    return ObjectType(name)


def tuple_of(*items: Type) -> ObjectType:
    return ObjectType("tuple", items)


def tuple_items(type: Type) -> tuple[Type, ...] | None:
    """The types of the items of a tuple, if they are known."""
    if isinstance(type, ObjectType) and type.items and (type.name == "tuple" or type.name in NAMED_TUPLES):
        return type.items
    return None


def build_type(structure: Any) -> Type:
    """The type of a new container."""
    if type(structure) is tuple:
        return ObjectType("tuple", tuple(map(build_type, structure)))
    if is_type(structure):
        return type_of_arg(structure)
    if isinstance(structure, (tuple, list, dict, set, frozenset)):
        return ObjectType(type(structure).__name__)
    return type_of_arg(structure)


def iterated(arg: Any) -> Type:
    """The type of the items that iteration over an argument gives."""
    if type(arg) in (tuple, list):
        return join_all(map(type_of_arg, arg))
    found = type_of_arg(arg)
    if isinstance(found, TensorType) and found.dtype.kind not in ELEMENTARY:
        return ANY
    if isinstance(found, ObjectType) and found.name == "dict":
        return found.items[0] if found.items else ANY
    if isinstance(found, ObjectType) and found.name in ("bytes", "bytearray", "range"):
        return INT
    return item_of(found)


def item_at(container: ObjectType, index: Any) -> Type:
    """The type of `container[index]`."""
    name, items = container.name, container.items
    if name == "dict":
        return items[1] if len(items) == 2 else ANY
    if name == "str":
        return STR
    sliced = isinstance(index, slice) or (isinstance(index, ObjectType) and index.name == "slice")
    if name in ("range", "bytes", "bytearray"):
        return container if sliced else INT
    if name == "list":
        return list_of(join_all(items)) if sliced else join_all(items)
    found = tuple_items(container)
    if found is None:
        if name == "tuple" and sliced:
            return container
        raise Unknown
    if sliced:
        return _slice_of_tuple(found, index)
    return join_all(found) if is_type(index) else found[operator.index(index)]


def _slice_of_tuple(items: tuple[Type, ...], index: Any) -> Type:
    if is_type(index) or any(map(is_type, (index.start, index.stop, index.step))):
        return ObjectType("tuple")
    return ObjectType("tuple", items[index])
