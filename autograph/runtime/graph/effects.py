"""Effects: what a node reads and mutates when it runs, and which references it creates.

An op declares its effect for numbers, arrays and Python's own containers. The effect of a node also depends on its
arguments: `a + b` runs a method of the user's if `a` is any object; `x += 1` mutates `x` if it is an array, and not if
it is a number; `list(pairs)` consumes the iterator `pairs`.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from functools import cache
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from autograph.common.statics import module_of, reads_plainly
from autograph.runtime.graph import traits
from autograph.runtime.graph.graph import UNBOUND, Constant, Node, Value
from autograph.runtime.graph.opdef import OPS, ORDERED, PURE, VIEW, WRITE, lookup
from autograph.runtime.graph.types import NAMED_TUPLES, MaybeUnbound, ObjectType, TensorType, Type, type_of

# The categories of values and constants.
NUMBER, CONSTANT, ARRAY = "number", "constant", "array"
CONTAINER, ITERATOR, UNKNOWN = "container", "iterator", "unknown"

_CONSTANTS = frozenset("str bytes NoneType range slice ellipsis ufunc _Unbound Unbound _NoValueType".split())
_CONTAINERS = NAMED_TUPLES.keys() | frozenset("list tuple dict set frozenset bytearray".split())
_ITERATORS = frozenset(
    "enumerate zip reversed iterator list_reverseiterator range_iterator list_iterator tuple_iterator".split()
)
_ATOMS = frozenset({int, float, complex, bool, str, type(None)})


@dataclass(frozen=True, slots=True)
class Effect:
    """The effects of a node, without its blocks.

    Attributes:
        kind: PURE if it only computes a new value; VIEW if the value may refer to `shared`; WRITE if it mutates the
            objects in `writes`; ORDERED if it has other visible effects.
        reads: the arguments, values or constants, whose contents it reads.
        writes: those that it may mutate.
        shared: those that may share memory with its outputs, be referred to by them, or by each other from now on.
        wild: whether it may do anything to everything that its arguments or the outside refer to.
    """

    kind: str
    reads: list[Any]
    writes: list[Any]
    shared: list[Any]
    wild: bool = False


def effect_of(node: Node) -> Effect:
    """The effects of a node, cached until a pass changes the node."""
    if node.blocks:
        return _of_statement(node)
    known = node.effect
    if known is None or known[0] != node.op or known[1] is not node.args or known[2] is not node.kwargs:
        known = node.effect = node.op, node.args, node.kwargs, _of_operation(node)
    return known[3]  # type: ignore[no-any-return]


def _of_operation(node: Node) -> Effect:
    leaves = mutable_in((node.args, node.kwargs))
    if _is_wild(node, leaves):
        return Effect(ORDERED, leaves, leaves, leaves, wild=True)
    op = lookup(node.op)
    target = node.args[0] if node.args else None
    changed = outs(node)
    if node.op not in ("build", "bound"):
        changed += [leaf for leaf in leaves if category(leaf) == ITERATOR]
    if op.effect == WRITE and is_mutable(target):
        return Effect(WRITE, leaves, [target, *changed], [target] if is_array(target) else leaves)
    if is_new(node):
        return Effect(PURE, leaves, [], [])
    fresh = all(is_array(output) or not is_mutable(output) for output in node.outputs)
    if op.effect == ORDERED:
        changed += leaves if op.name in traits.CHANGES_ARGUMENTS else []
        return Effect(ORDERED, leaves, changed, [] if fresh else leaves)
    if changed:
        return Effect(WRITE, leaves, changed, leaves)
    if op.effect == VIEW and not (op.name in traits.COPIES_ARRAYS and is_array(target)):
        return Effect(VIEW, leaves, [], [target] if node.op in traits.PART_OF_FIRST and leaves else leaves)
    return Effect(PURE, leaves, [], [] if fresh else leaves)         # not fresh: `sorted` of a list of arrays


def _of_statement(node: Node) -> Effect:
    """The effects of an `if`, `while` or `for` without its blocks: it asks for a truth or for items."""
    asked: list[Any] = list(node.args[:1]) if node.op == "if" else []
    if node.op == "while":
        asked = list(node.blocks[0].results or ())
    if node.kwargs.get("until"):
        asked += (node.blocks[-1].results or ())[:1]
    iterable = node.args[:1] if node.op == "for" else ()
    leaves = [leaf for leaf in (*asked, *iterable) if is_mutable(leaf)]
    if any(category(leaf) == UNKNOWN for leaf in asked) or not all(map(_is_plain_iterable, iterable)):
        return Effect(ORDERED, leaves, leaves, leaves, wild=True)
    return Effect(PURE, leaves, [leaf for leaf in iterable if category(leaf) == ITERATOR], [])


def _is_wild(node: Node, leaves: list[Any]) -> bool:
    """Whether running a node may run unknown code."""
    if node.op == "call" and is_tame(node.args[0]):
        return False
    if node.op in ("call", "raise") or node.op in traits.IDENTITY or node.op not in OPS:
        return True
    harmless = traits.MAKES_OBJECTS | traits.CHECKS_CLASS | traits.GRADIENT
    if node.op in ("build", "bound", "enter", "exit") or node.op in harmless:
        return False
    first = node.args[0] if node.args else None
    kind = category(first)
    if node.op in ("getattr", "setattr"):
        if isinstance(first, Value) and isinstance(first.type, ObjectType) and first.type.name in NAMED_TUPLES:
            return False
        return kind in (UNKNOWN, CONTAINER, ITERATOR) and not _is_plain_attribute(node.op, first, node.args[1])
    if kind == CONTAINER and node.op in traits.LOOKS_UP:
        key = node.args[1] if len(node.args) > 1 else 0
        if isinstance(key, slice):
            return not all(map(_is_plain_iterable, leaves))
        return category(key) not in (NUMBER, CONSTANT)
    if kind == CONTAINER and node.op in traits.INSERTS:
        return False
    if node.op in traits.SHALLOW:      # their items may be any objects
        return not all(map(_is_plain_iterable, leaves))
    return not all(map(_holds_numbers, leaves))


def tame(function: Any) -> Any:
    """Mark a function whose calls mutate neither their arguments nor anything that the graph knows of."""
    try:
        function.__ag_tame__ = True
    except AttributeError:
        function = functools.partial(function)
        function.__ag_tame__ = True
    return function


def is_new(node: Node) -> bool:
    """Whether a node returns new arrays: it calls a function marked so, or unpacks such a result."""
    if node.op == "unpack" and isinstance(node.args[0], Value) and node.args[0].node is not None:
        node = node.args[0].node
    return node.op == "call" and isinstance(node.args[0], Constant) and getattr(node.args[0].value, "__ag_new__", False)


def is_tame(leaf: Any) -> bool:
    """Whether a function is marked by `tame`."""
    return isinstance(leaf, Constant) and getattr(leaf.value, "__ag_tame__", False)


def _is_plain_attribute(op: str, leaf: Any, name: Any) -> bool:
    """Whether reading or setting an attribute of a constant runs no code of the user's."""
    if isinstance(leaf, Value) or not isinstance(name, str):
        return False
    thing = leaf.value if isinstance(leaf, Constant) else leaf
    kind = type(thing)
    if kind in (ModuleType, CellType):
        return True
    found = inspect.getattr_static(kind, name, None)
    if hasattr(type(found), "__set__") or hasattr(type(found), "__delete__"):
        return False
    if op == "setattr":
        return _is_objects(kind, "__setattr__")
    plain = reads_plainly(kind) and not hasattr(kind, "__getattr__")
    return plain and not hasattr(type(found), "__get__")


def _is_objects(kind: type, method: str) -> bool:
    return inspect.getattr_static(kind, method) is inspect.getattr_static(object, method)


def _is_plain_iterable(leaf: Any) -> bool:
    """Whether iteration runs no code of the user's."""
    kind = category(leaf)
    if kind != ITERATOR:
        return kind != UNKNOWN
    node = leaf.node if isinstance(leaf, Value) else None
    return node is not None and node.op in traits.MAKES_ITERATORS and all(
        _is_plain_iterable(arg) for arg in node.args if is_mutable(arg)
    )


def _holds_numbers(leaf: Any) -> bool:
    """Whether a leaf is an array, or a tuple of numbers, strings and arrays only."""
    return holds_values(leaf.type) if isinstance(leaf, Value) else is_array(leaf)


def holds_values(type: Type | list[Type]) -> bool:
    """Whether values of these types are numbers, arrays or texts, or tuples of these, and so refer to no container."""
    if isinstance(type, list):
        return all(map(holds_values, type))
    if isinstance(type, MaybeUnbound):
        return holds_values(type.inner)
    if isinstance(type, ObjectType) and type.name == "tuple" and type.items:
        return all(map(holds_values, type.items))
    return _category_of_type(type) in (NUMBER, CONSTANT, ARRAY)


def outs(node: Node) -> list[Any]:
    """The arrays that a function writes to by `out=`."""
    place = _place_of_out(node.op) if len(node.args) > 1 else None
    return mutable_in((node.kwargs.get("out"), () if place is None else node.args[place]))


def without_outs(node: Node) -> tuple[Any, ...]:
    """The positional arguments without the arrays of `out=`."""
    place = _place_of_out(node.op) if len(node.args) > 1 else None
    if place is None or isinstance(lookup(node.op).target, np.ufunc):
        return node.args[:place and place.start]
    return tuple(None if at == place.start else arg for at, arg in enumerate(node.args))


@cache
def _place_of_out(name: str) -> slice | None:
    """The positions of the arrays that an op writes to."""
    op = lookup(name)
    if isinstance(op.target, np.ufunc):
        return slice(op.target.nin, None)
    if name in traits.OUT_BY_NAME:
        return None  # whatever its signature says
    # Before NumPy 2.4, methods have no signatures, but the functions of their names do.
    likely = [getattr(of, name[1:], None) for of in (np.ndarray, np)] if name.startswith(".") else []
    for function in (op.target, *likely, op.infer):
        if "out" not in (getattr(function, "__text_signature__", None) or "out"):
            return None  # written in C, and says so; asking `inspect` takes longer
        positional = _positional(function)
        if positional is not None:
            return slice(positional.index("out"), None) if "out" in positional else None
    return None


def _positional(function: Any) -> list[str] | None:
    """The names of positional parameters; None for a function in C without a signature."""
    inner = inspect.unwrap(function)
    if type(inner) is FunctionType:     # asking `inspect` takes longer
        return [*inner.__code__.co_varnames[: inner.__code__.co_argcount]]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [each.name for each in parameters if each.kind != each.KEYWORD_ONLY]


# ------------------------------------------------------------------------------------------------------ arguments


def mutable_in(args: Any) -> list[Any]:
    """All values and constants in nested arguments that can change, in order."""
    found: list[Any] = []
    _add_mutable(args, found)
    return found


def _add_mutable(args: Any, found: list[Any]) -> None:
    kind = type(args)
    if kind in _ATOMS:
        return
    if isinstance(args, (tuple, list)):
        for part in args:
            _add_mutable(part, found)
    elif kind is dict:
        _add_mutable([*args.values()], found)
    elif kind is slice:
        _add_mutable((args.start, args.stop, args.step), found)
    elif is_mutable(args):
        found.append(args)


def is_mutable(leaf: Any) -> bool:
    """Whether a value or constant, or an object that it refers to, can change."""
    return category(leaf) not in (NUMBER, CONSTANT)


def is_array(leaf: Any) -> bool:
    """Whether a value or constant is certainly an array, but not one of Python objects."""
    return category(leaf) == ARRAY


def category(leaf: Any) -> str:
    """The coarse kind of a value or constant."""
    kind = type(leaf)
    if kind is Value:
        return _category_of_type(leaf.type)
    if kind is Constant:
        return CONTAINER if type(leaf.value) in (list, tuple, dict, set, frozenset) else category(leaf.value)
    if kind in _ATOMS or leaf is UNBOUND:
        return CONSTANT
    if kind is type or isinstance(leaf, np.dtype):
        return CONSTANT if isinstance(leaf, np.dtype) or module_of(leaf) in ("builtins", "numpy") else UNKNOWN
    if isinstance(leaf, np.ndarray) and kind is not np.ndarray:
        return UNKNOWN
    if module_of(kind) not in ("builtins", "numpy") and not isinstance(leaf, np.generic):
        return UNKNOWN
    return _category_of_type(type_of(leaf))


def _category_of_type(type: Type) -> str:
    if isinstance(type, TensorType):
        if type.dtype.kind in "OV":
            return UNKNOWN
        return ARRAY if type.kind == "array" else NUMBER
    if isinstance(type, MaybeUnbound):
        return _category_of_type(type.inner)
    if type.name in _CONSTANTS:
        return CONSTANT
    if type.name == "tuple" and type.items and all(_category_of_type(i) in (NUMBER, CONSTANT) for i in type.items):
        return CONSTANT
    return CONTAINER if type.name in _CONTAINERS else ITERATOR if type.name in _ITERATORS else UNKNOWN
