"""Which nodes neither raise nor warn, whatever the values: those that can be dropped, or run before their turn.

NumPy's floating-point warnings count as much as exceptions: a program can see them, and make exceptions of them. So
arithmetic of NumPy's floats is never quiet, that of Python's is. When in doubt, a node is not quiet.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from autograph.runtime.graph.effects import CONSTANT, NUMBER, category
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW, lookup
from autograph.runtime.graph.traits import ELEMENTWISE, GRADIENT
from autograph.runtime.graph.types import BOOL, INT, MaybeUnbound, ObjectType, Shape, TensorType, Type, type_of

_NAMES = {
    "np.add": "add", "np.subtract": "sub", "np.multiply": "mul", "np.negative": "neg", "np.positive": "pos",
    "np.less": "lt", "np.less_equal": "le", "np.equal": "eq", "np.not_equal": "ne", "np.greater_equal": "ge",
    "np.greater": "gt", "np.bitwise_and": "and", "np.bitwise_or": "or", "np.bitwise_xor": "xor",
    "np.invert": "invert", "iadd": "add", "isub": "sub", "imul": "mul", "iand": "and", "ior": "or", "ixor": "xor",
}  # fmt: skip
_COMPARISONS = frozenset({"lt", "le", "eq", "ne", "gt", "ge"})
_BITS = frozenset({"and", "or", "xor", "invert"})
_ARITHMETIC = frozenset({"add", "sub", "mul", "neg", "pos"})
_FIELDS = frozenset({"shape", "ndim", "size", "dtype", "T", "real", "imag", "nbytes", "itemsize"})
_CREATION = frozenset({"np.zeros", "np.ones", "np.empty"})
_COPIES = frozenset("np.zeros_like np.ones_like np.empty_like np.copy .copy np.transpose .transpose".split())
_SUMS = frozenset({"np.sum", "np.mean", ".sum", ".mean"})
_CASTS = {"bool": "biufc", "int": "bi", "float": "f", "complex": "fc"}


def is_quiet(node: Node) -> bool:
    """Whether running the node itself neither raises nor warns; what is in its blocks is another question."""
    if node.op in _QUIET:
        return _QUIET[node.op](node)
    if (node.own or node.op in GRADIENT) and lookup(node.op).effect in (PURE, VIEW):
        return True
    name = _NAMES.get(node.op, node.op)
    if name in _COMPARISONS or name in _BITS or name in _ARITHMETIC:
        return not node.kwargs and _quiet_arithmetic(name, node)
    if lookup(node.op).raises or node.kwargs:
        return False
    if node.op in _CREATION:
        return len(node.args) == 1 and _is_shape(node.args[0])
    if node.op in _COPIES:
        return len(node.args) == 1 and _is_exact(_type(node.args[0]))
    return False


def only_warns(node: Node) -> bool:
    """Whether running the node raises nothing, whatever the numbers are, of which it may warn: arithmetic of arrays."""
    if lookup(node.op).raises or lookup(node.op).effect != PURE:
        return False
    if node.op in _SUMS:
        array, *axis = node.args
        options = {"axis": None, "keepdims": False, **dict(zip(["axis"], axis)), **node.kwargs}
        found = _type(array)
        if not isinstance(found, TensorType) or found.kind != "array" or not _is_exact(found):
            return False
        known = options["axis"] is None or (_is_int(options["axis"]) and -found.ndim <= options["axis"] < found.ndim)
        return known and len(axis) < 2 and len(options) == 2 and type(options["keepdims"]) is bool
    types = [_type(arg) for arg in node.args]
    if node.op not in ELEMENTWISE or node.kwargs or not all(map(_is_exact, types)):
        return False
    tensors = [type for type in types if isinstance(type, TensorType)]
    fitting = all(type.dtype.kind == "f" or type.weak for type in tensors)
    return fitting and not all(type.weak for type in tensors) and _broadcast([type.shape for type in tensors])


def _type(arg: Any) -> Type:
    return arg.type if isinstance(arg, Value) else type_of(arg)


def _is_exact(type: Type) -> bool:
    """Whether it is the type of a number, or array of them, of which all is known but the dimensions."""
    return isinstance(type, TensorType) and type.exact and type.dtype.kind in "biufc"


def _is_shape(arg: Any) -> bool:
    parts = arg if type(arg) is tuple else (arg,)
    return all(type(part) is int and 0 <= part < 2**31 for part in parts)


# --------------------------------------------------------------------------------------------------- arithmetic


def _quiet_arithmetic(name: str, node: Node) -> bool:
    types = [_type(arg) for arg in node.args]
    tensors = [type for type in types if isinstance(type, TensorType)]
    if len(tensors) < len(types) or not tensors or not all(map(_is_exact, tensors)):
        return False
    if name in _BITS and not all(type.dtype.kind in "biu" for type in tensors):
        return False
    if not all(_is_exact(output.type) for output in node.outputs):
        return False
    python = [type.kind == "python" for type in tensors]
    if all(python):
        return _quiet_python(name, tensors)
    if not _broadcast([type.shape for type in tensors]):
        return False
    if not all(_fits(arg, type, tensors) for arg, type in zip(node.args, tensors) if type.kind == "python"):
        return False
    return name in _COMPARISONS or name in _BITS or _quiet_numpy(name, tensors)


def _quiet_python(name: str, types: list[TensorType]) -> bool:
    """Of Python numbers: an int may be too large for a float; `~True` warns; complex numbers are in no order."""
    kinds = {type.dtype.kind for type in types}
    if name == "invert":
        return kinds == {"i"}
    if name in _COMPARISONS:
        return name in ("eq", "ne") or "c" not in kinds
    return not ("i" in kinds and kinds & set("fc"))


def _quiet_numpy(name: str, types: list[TensorType]) -> bool:
    """Integers, if at least one is an array: scalars warn when they overflow. No `-` for booleans."""
    if name == "pos":
        return types[0].dtype.kind != "b"
    kinds = {type.dtype.kind for type in types}
    if not kinds <= set("biu") or len({type.dtype for type in types if type.kind != "python"}) > 1:
        return False
    if name in ("sub", "neg") and "b" in kinds:
        return False
    return any(type.kind == "array" and type.shape for type in types)


def _fits(arg: Any, type: TensorType, operands: list[TensorType]) -> bool:
    """Whether NumPy takes a Python number for a number of the dtypes of the others, without raising or warning."""
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
    """Whether it is certain that arrays of these shapes can be broadcast together."""
    shapes = [shape for shape in shapes if shape]
    if len(shapes) < 2:
        return True
    for dims in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        if None in dims or len({dim for dim in dims if dim != 1}) > 1:
            return False
    return True


# ---------------------------------------------------------------------------------------------------- the others


def _quiet_getitem(node: Node) -> bool:
    x, index = node.args
    found = _type(x)
    if isinstance(found, ObjectType) and found.name == "tuple" and isinstance(index, int):
        return -len(found.items) <= index < len(found.items)
    if not (_is_exact(found) and isinstance(found, TensorType) and found.kind == "array"):
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
    """Parts of an index with as many slices as an ellipsis stands for."""
    places = [place for place, part in enumerate(parts) if part is ...]
    if len(places) != 1:
        return parts
    missing = ndim - sum(part is not None and part is not ... for part in parts)
    return (*parts[: places[0]], *[slice(None)] * missing, *parts[places[0] + 1 :])


def _is_int(arg: Any) -> bool:
    return type(arg) is int


def _quiet_getattr(node: Node) -> bool:
    type = _type(node.args[0])
    return _is_exact(type) and isinstance(type, TensorType) and type.kind == "array" and node.args[1] in _FIELDS


def _quiet_cast(node: Node) -> bool:
    if len(node.args) != 1 or node.kwargs:
        return False
    type = _type(node.args[0])
    if not isinstance(type, TensorType) or not _is_exact(type):
        return False
    return type.kind == "python" and type.dtype.kind in _CASTS[node.op]


def _quiet_range(node: Node) -> bool:
    step = node.args[2] if len(node.args) == 3 else 1
    return all(_type(arg) in (BOOL, INT) for arg in node.args) and type(step) is int and step != 0


def _quiet_bound(node: Node) -> bool:
    return isinstance(node.args[0], Value) and not isinstance(node.args[0].type, MaybeUnbound)


def _quiet_len(node: Node) -> bool:
    type = _type(node.args[0])
    if isinstance(type, TensorType):
        return _is_exact(type) and bool(type.shape)
    return isinstance(type, ObjectType) and type.name in ("list", "tuple", "str", "dict")


def _quiet_abs(node: Node) -> bool:
    type = _type(node.args[0])
    return isinstance(type, TensorType) and _is_exact(type) and type.kind == "python" and type.dtype.kind in "bif"


def _quiet_truth(node: Node) -> bool:
    """Of `if` and `not`: any number or string has a truth, an array has one only if it has one element."""
    return category(node.args[0]) in (NUMBER, CONSTANT) and not isinstance(_type(node.args[0]), MaybeUnbound)


def _quiet_for(node: Node) -> bool:
    """Whether the iteration ends and does not raise."""
    if node.kwargs.get("target", 0) != 0:
        return False
    if node.kwargs.get("until") and category((node.blocks[0].results or (0,))[0]) != NUMBER:
        return False
    type = _type(node.args[0])
    if isinstance(type, TensorType):
        return _is_exact(type) and type.kind == "array" and bool(type.shape)
    return isinstance(type, ObjectType) and type.name in ("range", "str", "tuple")


_QUIET = {
    "if": _quiet_truth,
    "not": _quiet_truth,
    "for": _quiet_for,
    "while": lambda node: False,
    "build": lambda node: type(node.args[0]) in (tuple, list),      # the keys of dicts and sets may not be hashable
    "bound": _quiet_bound,
    "getitem": _quiet_getitem,
    "getattr": _quiet_getattr,
    "range": _quiet_range,
    "len": _quiet_len,
    "abs": _quiet_abs,
    **dict.fromkeys(_CASTS, _quiet_cast),
}
