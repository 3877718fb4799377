"""Expected results of Python callbacks: by types, and by earlier results."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from types import BuiltinFunctionType, NoneType
from typing import Any

import numpy as np

from autograph.runtime.engines.native.abi import calling_convention
from autograph.runtime.engines.native.kernels.straight_lines import is_straight
from autograph.runtime.engines.native.llvm.cpython_abi import ARRAY_FLAGS, class_of
from autograph.runtime.graph.graph import Node, Value, values_in, walk
from autograph.runtime.graph.opdef import OPS, OpDef
from autograph.runtime.graph.operands import Boxed, Fixed
from autograph.runtime.graph.traits import ON_CONTAINER, ON_LIST
from autograph.runtime.graph.types import ANY, TensorType, scalar

UNKNOWN = "unknown"         # until there has been a result
MOST = 3        # kinds of one value
# The classes of objects, besides numbers and arrays, that machine code knows, by name.
_CLASSES: tuple[type, ...] = (
    *(list, tuple, dict, set, frozenset, str, deque, defaultdict, Counter, OrderedDict),
    *(type({}.items()), type({}.keys()), type({}.values())),
)
CLASSES = {kind.__name__: kind for kind in _CLASSES}
SIZED = frozenset(_CLASSES)     # whose truth is whether there are items


def kind_expected(type: Any, is_useful: bool) -> Any:
    """The kind of operand that machine code expects for a value of a type."""
    if not isinstance(type, TensorType):
        return UNKNOWN if type == ANY and is_useful else CLASSES.get(getattr(type, "name", ""))
    if not type.exact:
        return UNKNOWN if is_useful else None
    dtype = calling_convention.ELEMENTS.get(np.dtype(type.dtype.str).char) if type.dtype.isnative else None
    if dtype is None or (type.kind == "array" and not type.shape):
        return None
    if type.kind == "array":
        return dtype, len(type.shape), ARRAY_FLAGS
    return type if type.kind == "python" else scalar(dtype)


def useful(root: Node) -> set[Value]:
    """The values that machine code could use, if they were numbers or arrays."""
    found: set[Value] = set()
    for node in (root, *(each for block in root.blocks for each in walk(block))):
        op = OPS.get(node.op)
        is_lowered = (op is not None and op.lower is not None) or node.op in ON_LIST or node.op in ON_CONTAINER
        if node.blocks or is_lowered or _calls_function_in_c(node, op):
            found.update(node.inputs)
        for block in node.blocks:
            found.update(block.result_values)
    return found


def _calls_function_in_c(node: Node, op: OpDef | None) -> bool:
    """Whether a node calls a function without an op, such as `bisect.insort`, which looks for a number in a list."""
    return op is not None and op.target is None and bool(node.args) and type(node.args[0]) is BuiltinFunctionType


def kept_whole(root: Node) -> set[Value]:
    """The values of which the objects suffice.

    The code only looks them up in dicts and sets, puts them into containers, or, where it is no loop, returns them.
    """
    whole: set[Value] = set()
    other: set[Value] = set()
    for node in (root, *(each for block in root.blocks for each in walk(block))):
        places = _WHOLE.get(ON_CONTAINER.get(node.op) or ON_LIST.get(node.op) or "", {})
        of, keys = places.get("of", 0), places.get(_name(node, places.get("of", 0)), ())
        for place, arg in enumerate(node.args):
            (whole if place in keys and place != of else other).update(values_in(arg))
        other.update(values_in(tuple(node.kwargs.values())))
        for block in node.blocks:
            (whole if is_straight(node) else other).update(block.result_values)
    return whole - other


def _name(node: Node, place: int) -> str:
    """The name of the class of an argument, as far as the graph knows it."""
    type = getattr(node.args[place], "type", None) if place < len(node.args) else None
    return getattr(type, "name", "")


# By routine, the argument that is the container, and by its class those that may be objects of any class.
_WHOLE: dict[str, dict[str, Any]] = {
    "contains": {"of": 1, "dict": [0], "set": [0]},
    "get": {"dict": [1, 2]}, "item": {"dict": [1]}, "set_item": {"dict": [1, 2]}, "delete": {"dict": [1]},
    "setdefault": {"dict": [1, 2]},
    "append": {"list": [1]}, "add": {"set": [1]}, "discard": {"set": [1]},
}  # fmt: skip


def met(thing: Any) -> Any:
    """The kind of an object for machine code: the type of a number, the kind of an array, one of `CLASSES`, or None.

    That of the object None is its class.
    """
    if thing is None:
        return NoneType
    kind = calling_convention.kind_of(thing)
    if isinstance(kind, type) and kind in _CLASSES:
        return kind
    if isinstance(kind, type):
        return calling_convention.NUMBERS.get(kind) or calling_convention.COMPLEX_NUMBERS.get(kind)
    return kind if calling_convention.is_machines(kind) else None


def class_expected(kind: Any) -> type:
    """The class of the objects of a kind of numbers or other objects."""
    found: type = kind if is_class(kind) else class_of(kind)
    return found


def is_class(kind: Any) -> bool:
    """Whether a kind is that of the objects of one of `CLASSES`, or of None."""
    return isinstance(kind, type)


def of_class(ref: Any, kind: type) -> Boxed | Fixed:
    """The operand of an object of such a class."""
    return Fixed(None) if kind is NoneType else Boxed(ref, kind)


def fits(thing: Any, expected: Any) -> bool:
    """Whether an object is of the expected kind."""
    return expected is None or both(expected, thing) == expected != UNKNOWN


def both(expected: Any, thing: Any) -> Any:
    """The kind to expect after another result; for several of Python's numbers and `CLASSES`, the set of these."""
    return either(expected, met(thing))


def either(expected: Any, found: Any) -> Any:
    """The kind to expect if there have been results of two kinds."""
    if isinstance(found, tuple) and isinstance(expected, tuple) and found[:2] == expected[:2]:
        return *found[:2], found[2] & expected[2]
    if found == expected:
        return found
    sets = [each if type(each) is frozenset else frozenset([each]) for each in (expected, found)]
    kinds = sets[0] | sets[1]
    if len(kinds) == 1:
        return found
    return kinds if len(kinds) <= MOST and all(map(_is_simple, kinds)) else None


def _is_simple(kind: Any) -> bool:
    if isinstance(kind, TensorType):
        return kind.kind == "python" and kind.dtype.kind in "bifc"
    return isinstance(kind, type)
