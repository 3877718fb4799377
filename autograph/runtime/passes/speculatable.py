"""Speculatable nodes: they neither raise nor warn for any values, so they can be dropped or run early.

NumPy's floating-point warnings count like exceptions: a program can see them, and turn them into exceptions. So
arithmetic of NumPy's floats is never quiet, and that of Python's is. If in doubt, a node is not quiet.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph import traits
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.opdef import PURE, VIEW, lookup
from autograph.runtime.graph.types import Shape, TensorType, type_of
from autograph.runtime.ops.python.quiet import is_exact, operand_type


def is_quiet(node: Node) -> bool:
    """Whether a node itself, without its blocks, neither raises nor warns."""
    rule = traits.QUIET.get(node.op)
    if rule is not None:
        return bool(rule(node))
    if (node.own or node.op in traits.GRADIENT) and lookup(node.op).effect in (PURE, VIEW):
        return True
    name = traits.AS_OPERATOR.get(node.op) or traits.plain(node.op)
    if name in traits.COMPARISON or name in traits.RING or (name in traits.BITWISE and not lookup(name).raises):
        return not node.kwargs and _quiet_arithmetic(name, node)
    if lookup(node.op).raises or node.kwargs:
        return False
    if node.op in traits.FILLED:
        return len(node.args) == 1 and _is_shape(node.args[0])
    if node.op in traits.TOTAL:
        return len(node.args) == 1 and is_exact(operand_type(node.args[0]))
    return False


def only_warns(node: Node) -> bool:
    """Whether a node never raises, but may warn: arithmetic of arrays."""
    if lookup(node.op).raises or lookup(node.op).effect != PURE:
        return False
    if node.op in traits.SUMMATION:
        array, *axis = node.args
        options = {"axis": None, "keepdims": False, **dict(zip(["axis"], axis)), **node.kwargs}
        found = operand_type(array)
        if not isinstance(found, TensorType) or found.kind != "array" or not is_exact(found):
            return False
        at = options["axis"]
        known = at is None or (type(at) is int and -found.ndim <= at < found.ndim)
        return known and len(axis) < 2 and len(options) == 2 and type(options["keepdims"]) is bool
    types = [operand_type(arg) for arg in node.args]
    is_product = node.op in traits.MATRIX_PRODUCT
    if not (is_product or node.op in traits.ELEMENTWISE) or node.kwargs or not all(map(is_exact, types)):
        return False
    tensors = [type for type in types if isinstance(type, TensorType)]
    if all(type.weak for type in tensors) or not all(type.dtype.kind == "f" or type.weak for type in tensors):
        return False
    shapes = [type.shape for type in tensors]
    if is_product:
        return is_exact(node.output.type) and not any(None in shape for shape in shapes)
    return _broadcast(shapes)


def _is_shape(arg: Any) -> bool:
    parts = arg if type(arg) is tuple else (arg,)
    return all(type(part) is int and 0 <= part < 2**31 for part in parts)


# --------------------------------------------------------------------------------------------------- arithmetic


def _quiet_arithmetic(name: str, node: Node) -> bool:
    types = [operand_type(arg) for arg in node.args]
    tensors = [type for type in types if isinstance(type, TensorType)]
    if len(tensors) < len(types) or not tensors or not all(map(is_exact, tensors)):
        return False
    if name in traits.BITWISE and not all(type.dtype.kind in "biu" for type in tensors):
        return False
    if not all(is_exact(output.type) for output in node.outputs):
        return False
    python = [type.kind == "python" for type in tensors]
    if all(python):
        return _quiet_python(name, node.args, tensors)
    if not _broadcast([type.shape for type in tensors]):
        return False
    if not all(_fits(arg, type, tensors) for arg, type in zip(node.args, tensors) if type.kind == "python"):
        return False
    return name in traits.COMPARISON or name in traits.BITWISE or _quiet_numpy(name, tensors)


def _quiet_python(name: str, args: Sequence[Any], types: list[TensorType]) -> bool:
    """Whether an operator on Python numbers is quiet: an int may be too large for a float; `~True` warns."""
    kinds = {type.dtype.kind for arg, type in zip(args, types) if not _is_small(arg)} or {"i"}
    if name in traits.BITWISE and len(types) == 1:
        return kinds == {"i"}
    if name in traits.COMPARISON:
        return name not in traits.ORDERING or "c" not in kinds
    return not ("i" in kinds and kinds & set("fc"))


def _is_small(arg: Any) -> bool:
    """Whether an argument is an integer that every float format holds."""
    return type(arg) is int and abs(arg) < 2**53


def _quiet_numpy(name: str, types: list[TensorType]) -> bool:
    """Whether an operator on NumPy's integers is quiet: overflow warns for scalars, and not for arrays."""
    kinds = {type.dtype.kind for type in types}
    if "b" in kinds and name not in traits.COMMUTATIVE:
        return False
    if name in traits.CONVERSION:
        return True
    if not kinds <= set("biu") or len({type.dtype for type in types if type.kind != "python"}) > 1:
        return False
    return any(type.kind == "array" and type.shape for type in types)


def _fits(arg: Any, type: TensorType, operands: list[TensorType]) -> bool:
    """Whether NumPy converts a Python number to the dtypes of the other operands without raising or warning."""
    dtypes = {each.dtype for each in operands if each.kind != "python"}
    kinds = {dtype.kind for dtype in dtypes}
    if type.dtype.kind == "b":
        return True
    if type.dtype.kind == "i":
        return type_of(arg) == type and all(_in_range(arg, dtype) for dtype in dtypes)
    return kinds <= set("biu") or dtypes <= {np.dtype("float64"), np.dtype("complex128")}


def _in_range(number: int, dtype: np.dtype[Any]) -> bool:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min) <= number <= int(limits.max)
    return abs(number) <= 2**15


def _broadcast(shapes: list[Shape]) -> bool:
    """Whether arrays of these shapes certainly broadcast."""
    shapes = [shape for shape in shapes if shape]
    if len(shapes) < 2:
        return True
    for dims in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        if None in dims or len({dim for dim in dims if dim != 1}) > 1:
            return False
    return True
