"""Nodes that a loop nest can compute: elementwise operations, and as the last one a reduction or a write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autograph.common.numpy_internals import sums_are_known, sums_of_rows_are_known
from autograph.runtime.engines.native.abi.calling_convention import COMPLEX_NUMBERS, ELEMENTS, NUMBERS
from autograph.runtime.engines.native.kernels.indices import selects_part
from autograph.runtime.engines.native.kernels.loop_nest import Reduction, Sums
from autograph.runtime.engines.native.libmath.ufunc_loops import find
from autograph.runtime.graph import traits
from autograph.runtime.graph.effects import effect_of, is_array
from autograph.runtime.graph.graph import Constant, Node, Value
from autograph.runtime.graph.opdef import VIEW
from autograph.runtime.graph.operands import NoLowering
from autograph.runtime.graph.types import TensorType, type_of
from autograph.runtime.ops.inner_loops import CLIPS, LOOPS, power_of
from autograph.runtime.ops.native.number_rules import Inner, known_dtype, promotes

SUMMED = "?bBhHiIlLqQfd"        # dtypes whose elements NumPy adds with one rounding each

# `Reduction.how` by the ufunc whose reduction it is.
_HOW: dict[np.ufunc | None, str] = {
    np.add: "add", np.maximum: "max", np.minimum: "min", np.logical_or: "or", np.logical_and: "and"
}  # fmt: skip


def operands(node: Node) -> tuple[Any, ...]:
    """The arguments of a node that are operands: arrays and numbers."""
    if node.op in traits.UFUNC_BY_VALUE and (power := _power(node)):
        return node.args[: power[1]]
    if node.op in traits.AS_UFUNC_OF:
        return tuple(traits.AS_UFUNC_OF[node.op][1](*node.args))
    if node.op == "setitem":
        return node.args[2:] if mask_of(node) is None else node.args[::-1]
    if mask_of(node) is not None:
        return node.args
    return node.args[:1] if node.op in traits.CASTS or how_of(node) or part_of_node(node) else node.args


def loop_of_node(node: Node) -> Inner | None:
    """NumPy's inner loop for a node; None if the result depends on more than the operands."""
    if traits.plain(node.op) in traits.UFUNC_BY_VALUE:
        if node.op in traits.IN_PLACE:
            return None
        exponent = node.args[1]
        if power := _power(node):
            return LOOPS.get(power[0])
        if not (isinstance(exponent, Value) and isinstance(exponent.type, TensorType) and exponent.type.ndim):
            return None
    if node.op in CLIPS and not _is_array(node.args[0]):
        return None
    if node.op in traits.UFUNC_IF_COMPLEX:
        return LOOPS[traits.UFUNC_IF_COMPLEX[node.op]] if is_complex(node.args[0]) else None
    return LOOPS.get(traits.AS_UFUNC_OF[node.op][0] if node.op in traits.AS_UFUNC_OF else traits.plain(node.op))


def part_of_node(node: Node) -> str:
    """`real` or `imag`, if a node is that part of a complex array, which is a view of it; else nothing."""
    name = traits.ATTRIBUTE.get(node.op)
    if node.op == "getattr" and len(node.args) == 2:
        name = node.args[1]
    return name if name in ("real", "imag") and is_complex(node.args[0]) else ""


def has_loop(node: Node) -> bool:
    """Whether machine code can compute or call NumPy's inner loop for a node, as far as types tell."""
    loop = loop_of_node(node)
    if loop is None or len(operands(node)) != loop.ufunc.nin:
        return False
    types = [arg.type if isinstance(arg, Value) else type_of(arg) for arg in operands(node)]
    known = [type for type in types if isinstance(type, TensorType) and type.exact]
    if len(known) < len(types) or loop.rule_of(type.dtype for type in known):
        return True
    try:
        dtypes = tuple(map(known_dtype, loop.dtypes(*map(promotes, known))))
        return loop.rule_of(dtypes) is not None or find(loop.ufunc, dtypes) is not None
    except NoLowering:
        return False


def has_rule(node: Node) -> bool:
    """Whether a rule computes a node, and no inner loop is called."""
    loop = loop_of_node(node)
    types = [arg.type for arg in node.args if isinstance(arg, Value) and isinstance(arg.type, TensorType)]
    return loop is None or loop.rule_of(type.dtype for type in types) is not None


def is_elementwise(node: Node) -> bool:
    """Whether machine code can compute a node element by element, as far as types tell, into an array of numbers."""
    if node.kwargs or node.blocks or len(node.outputs) != 1 or not is_numeric(node.output.type, 1):
        return False
    if node.op in traits.SELECTS:
        known = len(node.args) == 3
    elif node.op in traits.MASKS:
        known = len(node.args) == 2 and all(_is_array(arg) and arg.type.exact and arg.type.ndim for arg in node.args)
    elif node.op in traits.CASTS:
        known = len(node.args) == 2 and isinstance(node.args[1], (type, str, np.dtype))
        known = known and (np.dtype(node.args[1]).kind in "bc" or not is_complex(node.args[0]))
    else:
        has_ufunc = node.op in LOOPS or node.op in traits.UFUNC_IF_COMPLEX or node.op in traits.AS_UFUNC_OF
        known = has_ufunc and has_loop(node)
    args, made = operands(node), node.output.type
    makes_floats = isinstance(made, TensorType) and made.dtype.kind in "fc"
    # LLVM might not compute a result that is known because both operands are the same.
    settled = len(args) == 2 and key_of(args[0]) == key_of(args[1]) and not makes_floats
    return known and all(map(is_operand, args)) and not settled


def is_operand(arg: Any) -> bool:
    """Whether machine code can take an argument as an operand."""
    if isinstance(arg, Value):
        return is_numeric(arg.type, 0)
    if type(arg) in COMPLEX_NUMBERS:
        return True
    return type(arg) in NUMBERS and (type(arg) is not int or -(2**63) <= arg < 2**63)


def is_numeric(type: Any, ndim: int) -> bool:
    """Whether a type is an array of numbers with at least so many dimensions, or for 0 a number."""
    return (
        isinstance(type, TensorType)
        and type.ndim >= ndim
        and (ndim == 0 or type.kind == "array")
        and type.dtype.isnative
        and type.dtype.char in ELEMENTS
    )


def _power(node: Node) -> tuple[str, int] | None:
    """The ufunc that NumPy computes a power with a Python number by, and the number of its operands."""
    x, exponent = node.args
    if not (_is_array(x) and x.type.exact):
        return None
    return power_of(x.type.dtype, exponent) if type(exponent) in (int, float) else None


def _is_array(arg: Any) -> bool:
    return isinstance(arg, Value) and isinstance(arg.type, TensorType) and arg.type.kind == "array"


def is_complex(arg: Any) -> bool:
    """Whether an argument is a complex array, as far as types tell."""
    return _is_array(arg) and bool(arg.type.exact) and arg.type.dtype.kind == "c"


def how_of(node: Node) -> str:
    """The `Reduction.how` of a node; nothing if a nest cannot end with it."""
    return "mean" if node.op in traits.MEAN else _HOW.get(traits.REDUCES.get(node.op), "")


def reduction_of(node: Node) -> Reduction | None:
    """The reduction of a node, if a nest can end with it."""
    how, x = how_of(node), node.args[0] if node.args else None
    if not how or not isinstance(x, Value) or not isinstance(x.type, TensorType) or x.type.dtype.kind == "c":
        return None
    if x.type.dtype.kind == "f" and how in ("add", "mean") and not sums_are_known(x.type.dtype):
        return None
    options = {"axis": None, "keepdims": False, **dict(zip(["axis"], node.args[1:])), **node.kwargs}
    axis, keepdims, ndim = options.pop("axis"), options.pop("keepdims"), x.type.ndim
    if options or len(node.args) > 2 or type(keepdims) is not bool or type(axis) not in (int, type(None)):
        return None
    if axis is None or (ndim == 1 and axis in (0, -1)):
        return None if keepdims else Reduction(how, True)
    return Reduction(how, False, keepdims) if axis in (-1, ndim - 1) else None


def sums_of(node: Node) -> Sums | None:
    """The sums of a node over axes other than the last, if a nest can end with them."""
    x = node.args[0] if node.args else None
    if how_of(node) != "add" or not isinstance(x, Value) or not isinstance(x.type, TensorType):
        return None
    options = {"axis": None, "keepdims": False, **dict(zip(["axis"], node.args[1:])), **node.kwargs}
    axis, keepdims, ndim = options.pop("axis"), options.pop("keepdims"), x.type.ndim
    axes = axis if type(axis) is tuple else (axis,)
    if options or len(node.args) > 2 or type(keepdims) is not bool or not all(type(each) is int for each in axes):
        return None
    places = {each % ndim for each in axes if -ndim <= each < ndim}
    if not places or len(places) < len(axes) or ndim - 1 in places or x.type.dtype.char not in SUMMED:
        return None
    if x.type.dtype.kind == "f" and not sums_of_rows_are_known(x.type.dtype):
        return None
    return Sums(frozenset(places), keepdims)


def mask_of(node: Node) -> Value | None:
    """The mask of `x[mask]` or `x[mask] = …`, if it is an array of booleans with as many axes as `x`."""
    if node.op not in ("getitem", "setitem") or not all(isinstance(each, Value) for each in node.args[:2]):
        return None
    x, mask = node.args[:2]
    if not all(is_numeric(each.type, 1) and each.type.exact for each in (x, mask)) or x is mask:
        return None
    return mask if mask.type.dtype.kind == "b" and mask.type.ndim == x.type.ndim else None


def key_of(arg: Any) -> Any:
    """The identity of an operand: equal for equal values and constants."""
    if isinstance(arg, (Value, Constant)):
        return arg
    return id(arg) if isinstance(arg, np.ndarray) else (type(arg), repr(arg))


# Writes into arrays ---------------------------------------------------------------------------------------------------


def target_of(node: Node) -> Value | None:
    """The array that a node writes into, if a kernel can do that; for `x[1:-1] = …` it is `x`."""
    if not node.args or not isinstance(target := node.args[0], Value) or not is_array(target):
        return None
    if node.op in traits.IN_PLACE:
        return target
    is_part = node.op == "setitem" and (_is_plain(node.args[1], target) or selects_part(node.args[1], target.type))
    is_part = is_part or (node.op == "setitem" and mask_of(node) is not None)
    return target if is_part else None


def is_whole(node: Node) -> bool:
    """Whether a node writes the whole target."""
    return node.op in traits.IN_PLACE or node.args[1] in (..., slice(None))


def _is_plain(index: Any, target: Value) -> bool:
    """Whether an index selects a part with as many dimensions, for any shape of the array."""
    parts = index if isinstance(index, tuple) else (index,)
    if isinstance(target.type, TensorType) and len(parts) > target.type.ndim:
        return False
    return parts.count(...) < 2 and all(part is ... or _is_constant_slice(part) for part in parts)


def _is_constant_slice(part: Any) -> bool:
    if not isinstance(part, slice):
        return False
    return all(type(each) in (int, type(None)) for each in (part.start, part.stop, part.step))


def may_overlap(target: Value, inputs: Iterable[Any]) -> bool:
    """Whether some operands are other parts of the target, as far as the graph tells."""
    return any(value is not target and _root(value) is _root(target) for value in inputs if is_array(value))


def _root(value: Value) -> Value:
    """The array that a value is a view of, or the value itself."""
    node = value.node
    while node is not None and node.args and isinstance(node.args[0], Value) and is_array(node.args[0]):
        if effect_of(node).kind != VIEW and node.op not in traits.IN_PLACE:
            break
        value = node.args[0]
        node = value.node
    return value
