"""Tools of inference rules: arguments, shapes and dtypes. `infer.py` defines rules.

Rules assume that NumPy converts a Python int to int64 where no dtype is given; larger integers give uint64 or objects.
They check constants.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from autograph.runtime.graph import types
from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.types import ANY, MaybeUnbound, ObjectType, Shape, TensorType, Type

DType: TypeAlias = np.dtype[Any]

NUMERIC = "biufc"               # the kinds of dtypes of numbers
ELEMENTARY = "biufcmM"          # the kinds of dtypes whose scalars have the same dtype
CODES = "?bBhHiIlLqQefdgFDG"    # of the dtypes of numbers


class Unknown(Exception):
    """Raised by a rule that does not know the answer."""


class Wrong(Unknown):
    """Raised by a rule if the operation is sure to raise."""


# ---------------------------------------------------------------------------------------------------- arguments


def is_type(arg: Any) -> bool:
    """Whether an argument of a rule is a type, which stands for a value, and not a constant or a structure."""
    return isinstance(arg, (TensorType, ObjectType, MaybeUnbound))


def is_constant(arg: Any) -> bool:
    """Whether an argument contains no types, at any depth."""
    if isinstance(arg, (tuple, list)):
        return all(map(is_constant, arg))
    if isinstance(arg, dict):
        return all(map(is_constant, arg.values()))
    if isinstance(arg, slice):
        return is_constant((arg.start, arg.stop, arg.step))
    return not is_type(arg)


def constant(arg: Any) -> Any:
    """The argument, which must be a constant."""
    if not is_constant(arg):
        raise Unknown
    return arg


def type_of_arg(arg: Any) -> TensorType | ObjectType:
    """The type of an argument: a type itself, the type of a constant, or that of a structure."""
    if isinstance(arg, (TensorType, ObjectType)):
        return arg
    if isinstance(arg, MaybeUnbound):
        return arg.inner            # to use the value when it is unbound raises
    if type(arg) is tuple:
        return ObjectType("tuple", tuple(map(type_of_arg, arg)))
    return cast("TensorType | ObjectType", types.type_of(arg.value if type(arg) is Constant else arg))


def tensor_arg(arg: Any) -> TensorType:
    """The type of an argument that is a number or array."""
    found = type_of_arg(arg)
    if not isinstance(found, TensorType):
        raise Unknown
    return found


def operand(arg: Any) -> TensorType:
    """The type of an operand of a ufunc: a number or array, or the array that NumPy makes of a list."""
    if isinstance(arg, TensorType):
        return arg
    if isinstance(arg, (list, tuple)):
        return _stacked(arg)
    found = type_of_arg(arg)
    if isinstance(found, TensorType):
        return found
    if found.name == "tuple" and found.items:       # without items, nothing is known of it
        return _stacked(found.items)
    if found.name == "list" and found.items:
        return _of_list(found.items[0])
    raise Unknown


def fits_int64(number: int) -> bool:
    """Whether NumPy converts an integer to int64."""
    return -(2**63) <= number < 2**63


def _stacked(items: Sequence[Any]) -> TensorType:
    """The type of an array of these items, which must be numbers or arrays of one shape."""
    if not items:
        return types.array(float, 0)
    parts = [array_like(item) for item in items]
    shape = parts[0].shape
    for part in parts[1:]:
        if part.ndim != len(shape):
            raise Unknown
        shape = tuple(merge_dims(a, b) for a, b in zip(shape, part.shape))
    return TensorType(np.result_type(*(part.dtype for part in parts)), (len(items), *shape))


def _of_list(item: Type) -> TensorType:
    """The type of an array made of a list of unknown length; an empty list gives `f64[0]`."""
    if isinstance(item, TensorType) and item.exact and not item.shape and item.dtype == float:
        return types.array(float, None)
    raise Unknown


def array_like(arg: Any) -> TensorType:
    """The type of the array that `np.asarray` makes of an argument."""
    found = operand(arg)
    if type(arg) is int and not fits_int64(arg):
        raise Unknown               # an unsigned integer, or an object
    return found if found.kind == "array" else TensorType(found.dtype, found.shape)


def like_first(first: Any, *args: Any, **kwargs: Any) -> TensorType:
    """The rule of a function whose result has the shape and dtype of its first argument, as an array."""
    return array_like(first)


def dtype_arg(arg: Any, default: DType | None = None) -> DType:
    """The dtype of an argument `dtype=`; `default` for None."""
    if arg is None:
        if default is None:
            raise Unknown
        return default
    if is_type(arg):
        raise Unknown
    dtype: DType = np.dtype(arg)
    if dtype.itemsize == 0 or (dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"):
        raise Unknown               # such as `str`: the data say how long
    return dtype


def inexact_dtype(dtype: DType) -> DType:
    """The dtype that NumPy computes with where it needs floats or complex numbers."""
    return dtype if dtype.kind in "fc" else np.dtype(float)


def int_arg(arg: Any) -> int | None:
    """The integer of an argument; None for a value, which is known at run time only."""
    if isinstance(arg, TensorType):
        if arg.shape:
            raise Unknown
        return None
    if is_type(arg):
        raise Unknown
    return operator.index(arg)


def shape_arg(arg: Any) -> Shape:
    """The shape of an argument: an integer, or several in a tuple, list or array."""
    if isinstance(arg, TensorType) and arg.shape:
        if arg.ndim > 1 or arg.shape[0] is None:
            raise Unknown
        return (None,) * arg.shape[0]
    if isinstance(arg, ObjectType):
        if arg.name != "tuple" or not arg.items:
            raise Unknown
        arg = arg.items
    parts = arg if isinstance(arg, (tuple, list)) else arg.tolist() if isinstance(arg, np.ndarray) else [arg]
    shape = tuple(map(int_arg, parts if isinstance(parts, (tuple, list)) else [parts]))
    if any(dim is not None and dim < 0 for dim in shape):
        raise Unknown
    return shape


def out_types(out: Any) -> tuple[Type | None, ...]:
    """The types of the arrays in an argument `out=`; None for each output to be allocated."""
    if out is None:
        return ()
    if out is Ellipsis:         # like None, but 0-d arrays stay arrays
        raise Unknown
    items = out if isinstance(out, tuple) else out.items if isinstance(out, ObjectType) else (out,)
    return tuple(None if item is None or item == types.NONE else type_of_arg(item) for item in items)


def out_type(out: Any) -> Type | None:
    """The type of the array in an argument `out=` of a function with one output."""
    given = out_types(out)
    return given[0] if given else None


# ------------------------------------------------------------------------------------------------------- shapes


def merge_dims(first: int | None, second: int | None) -> int | None:
    """The length of two dimensions that must be equal."""
    if first is None:
        return second
    if second is not None and first != second:
        raise Unknown
    return first


def broadcast_dims(first: int | None, second: int | None) -> int | None:
    """The length of two dimensions after broadcasting."""
    if first == second or second == 1:
        return first
    if first == 1:
        return second
    return merge_dims(first, second)


def broadcast(*shapes: Shape) -> Shape:
    """The shape of arrays after broadcasting."""
    result = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        if shape != result:
            longer, shorter = (result, shape) if len(result) >= len(shape) else (shape, result)
            head = len(longer) - len(shorter)
            result = (*longer[:head], *(broadcast_dims(a, b) for a, b in zip(longer[head:], shorter)))
    return result


def size(shape: Shape) -> int | None:
    """The number of elements."""
    if 0 in shape:
        return 0
    return None if None in shape else math.prod(shape)      # type: ignore[arg-type]


def add_dims(*dims: int | None) -> int | None:
    """The sum of dimensions; None if one is unknown."""
    return None if None in dims else sum(dims)      # type: ignore[arg-type]


def axis_arg(axis: Any, ndim: int) -> int:
    """The axis of an argument, counted from the front."""
    number = operator.index(constant(axis))
    if not -ndim <= number < ndim:
        raise Unknown
    return number % ndim


def axis_or_flat(a: TensorType, axis: Any) -> tuple[Shape, int]:
    """The shape and axis that a function works along; without an axis, it takes the array as one row."""
    if axis is None:
        return (size(a.shape),), 0
    return a.shape, axis_arg(axis, a.ndim)


def axes_arg(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes of an argument: an integer or a tuple of them; None means all."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(axis_arg(each, ndim) for each in axes)
    if len(set(found)) < len(found):
        raise Unknown
    return found


def reduced(shape: Shape, axis: Any, keepdims: Any = False) -> Shape:
    """The shape of an array after a reduction along an axis or axes."""
    keep = bool(constant(keepdims)) if keepdims is not np._NoValue else False
    if isinstance(axis, TensorType) and not axis.shape and shape:       # one axis, but which?
        return (None,) * (len(shape) if keep else len(shape) - 1)
    if axis in (0, -1) and shape == ():     # NumPy lets these pass for 0-d arrays
        return ()
    axes = axes_arg(axis, len(shape))
    if keep:
        return tuple(1 if i in axes else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in axes)


# ------------------------------------------------------------------------------------------------------ results


def result(dtype: Any, shape: Shape) -> Type:
    """The type of an array that NumPy computed: a scalar if it has no dimensions."""
    dtype = np.dtype(dtype)
    if shape:
        return TensorType(dtype, shape)
    # The scalars of others are any Python objects, or, as those of strings, of dtypes of their own
    return TensorType(dtype, (), "scalar") if dtype.kind in ELEMENTARY else ANY


def weak_dtype(type: TensorType) -> Any:
    """The dtype for promotion, or the class of a Python number, as `ufunc.resolve_dtypes` takes it."""
    if type.kind == "python" and type.dtype.kind != "b":
        return types.PYTHON_TYPES[type.dtype]
    return type.dtype


_WEAK = {int: 0, float: 0.0, complex: 0j}


def promote(*operands: TensorType) -> DType:
    """The common dtype of operands by NEP 50: Python numbers adopt the dtype of the others."""
    dtype: DType = np.result_type(*(_WEAK.get(dtype, dtype) for dtype in map(weak_dtype, operands)))
    return dtype
