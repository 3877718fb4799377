"""What the order of a node among others depends on, and how much room it takes when it is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.plan import operands
from autograph.runtime.graph import Node, Value, gather
from autograph.runtime.opdef import OPS, PURE
from autograph.runtime.types import ObjectType, TensorType

_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
_METHODS_OF: dict[str, type] = {kind.__name__: kind for kind in (list, dict, set, str, tuple, bytes, frozenset, range)}
_WIDTHS = {"getitem": 2, "call": 2, "build": 0, "fstring": 3, "getattr": 1}


def is_free(node: Node) -> bool:
    """Whether it does not matter when a node runs: it neither raises nor does or sees anything else.

    Arithmetic of Python's own numbers is free if it cannot raise; that of NumPy's may warn.
    """
    if node.op == "build":
        return not isinstance(node.args[0], (set, dict))
    op = OPS.get(node.op)
    if op is None or op.effect != PURE or op.raises or not op.template:
        return False
    kinds = {_number_kind(arg) for arg in node.args}
    return None not in kinds and (len(kinds) == 1 or node.op in _COMPARISONS)


def _number_kind(arg: Any) -> str | None:
    if not isinstance(arg, Value):
        return {bool: "i", int: "i", float: "f"}.get(type(arg))
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
    if node.op in _WIDTHS:
        own = _WIDTHS[node.op]
    else:
        op = OPS.get(node.op)
        own = len(op.template) - 2 * len(node.args) if op and op.template else len(node.op) + 2
    return own + width_of(operands(node))


def width_of(args: Any) -> int:
    """How many characters some arguments take, roughly."""
    if isinstance(args, Value):
        return len(args.name or "t1") + 2
    if isinstance(args, (tuple, list)):
        return sum(map(width_of, args))
    if isinstance(args, dict):
        return sum(len(str(key)) + 2 + width_of(value) for key, value in args.items())
    if isinstance(args, slice):
        return 2 + sum(width_of(part) for part in (args.start, args.stop, args.step) if part is not None)
    if isinstance(args, (str, bytes)):
        return min(len(args), 200) + 4
    if isinstance(args, (int, float, complex)):
        return len(repr(args)) + 2 if not isinstance(args, int) or abs(args) < 10**20 else 24
    return 6
