"""What the order of a node among others depends on, and how much room it takes when it is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.numpy.statement_tree import operands
from autograph.runtime.graph.graph import Node, Value, gather
from autograph.runtime.graph.opdef import OPS, PURE
from autograph.runtime.graph.traits import COMPARISON, plain
from autograph.runtime.graph.types import ObjectType, TensorType

_METHODS_OF: dict[str, type] = {kind.__name__: kind for kind in (list, dict, set, str, tuple, bytes, frozenset, range)}


def is_free(node: Node) -> bool:
    """Whether it does not matter when a node runs: it neither raises nor does or sees anything else.

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
    """Whether it refers to a part of an array that is there for certain, such as `x[1:, :-1]`, or to `x.T`."""
    x = node.args[0] if node.op in ("getitem", "getattr") else None
    if not isinstance(x, Value) or not isinstance(x.type, TensorType) or x.type.kind != "array" or not x.type.exact:
        return False
    if node.op == "getattr":
        return node.args[1:] == ("T",)
    index = node.args[1] if type(node.args[1]) is tuple else (node.args[1],)
    parts = [part for part in index if part is not None]
    return len(parts) <= x.type.ndim and all(map(_is_always_there, parts))


def _is_always_there(part: Any) -> bool:
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
    """What tells whether an expression may stand among the arguments of a node; None if any may.

    Python looks up `x.method` before it evaluates the arguments, which may raise, and an f-string formats its first
    value before it gets the second.
    """
    found: list[Value] = []
    if node.op == "fstring":
        gather(node.args, found)
        return lambda value: value is found[0] or not _is_visible(value)
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


def _is_visible(value: Value) -> bool:
    return value.node is not None and value.node.op in ("call", "if")


# ----------------------------------------------------------------------------------------------------------- width


def width(node: Node) -> int:
    """How many characters a node takes, roughly, with its arguments, as far as these are variables or constants."""
    op = OPS.get(node.op)
    if op is not None and op.template and not node.kwargs:
        return len(op.template) - 2 * len(node.args) + sum(map(width_of, node.args))
    return _width_around(node.op) + width_of(operands(node))


def _width_around(op: str) -> int:
    """How many characters a node takes besides those of its arguments."""
    match op:
        case "call" | "build":
            return 0
        case "fstring":
            return 3
        case "getattr":
            return -3
    return len(op) + 2


def width_of(arg: Any) -> int:
    """How many characters an argument takes, roughly."""
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
