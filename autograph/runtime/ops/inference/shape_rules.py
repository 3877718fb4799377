"""Tools of inference rules: operands, shapes and dtypes. `infer.py` says what a rule is.

One thing is taken for granted: a Python int that NumPy is to make an array element of, without being told of which
dtype, is an int64. (Larger ones give arrays of uint64 or of Python objects.) Constants are looked at.
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
ELEMENTARY = "biufcmM"          # of those whose scalars are all of that dtype
CODES = "?bBhHiIlLqQefdgFDG"    # of the dtypes of numbers


class Unknown(Exception):
    """Raised by a rule that does not know the answer."""


class Wrong(Unknown):
    """Raised by a rule if the operation itself will raise."""


# ---------------------------------------------------------------------------------------------------- arguments


def is_type(arg: Any) -> bool:
    """Whether an argument of a rule is the type of a value, rather than a constant or nested arguments."""
    return isinstance(arg, (TensorType, ObjectType, MaybeUnbound))


def is_constant(arg: Any) -> bool:
    """Whether there is no type in an argument, however deep."""
    if isinstance(arg, (tuple, list)):
        return all(map(is_constant, arg))
    if isinstance(arg, dict):
        return all(map(is_constant, arg.values()))
    if isinstance(arg, slice):
        return is_constant((arg.start, arg.stop, arg.step))
    return not is_type(arg)


def constant(arg: Any) -> Any:
    """The argument, if it is a constant."""
    if not is_constant(arg):
        raise Unknown
    return arg


def type_of_arg(arg: Any) -> TensorType | ObjectType:
    """The type of any argument: of a type itself, of a constant its own, of nested arguments that of the structure."""
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
    """The type that a ufunc takes an argument to be of: a number or array; a list is what `np.asarray` makes of it."""
    if isinstance(arg, TensorType):
        return arg
    if isinstance(arg, (list, tuple)):
        return _stacked(arg)
    found = type_of_arg(arg)
    if isinstance(found, TensorType):
        return found
    if found.name == "tuple" and found.items:       # without items it is one of which nothing is known
        return _stacked(found.items)
    if found.name == "list" and found.items:
        return _of_list(found.items[0])
    raise Unknown


def fits(number: int) -> bool:
    """Whether NumPy makes an int64 of it."""
    return -(2**63) <= number < 2**63


def _stacked(items: Sequence[Any]) -> TensorType:
    """An array with these items, if they are numbers or arrays that fit."""
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
    """An array of what is in a list of unknown length; an empty one gives `f64[0]`."""
    if isinstance(item, TensorType) and item.exact and not item.shape and item.dtype == float:
        return types.array(float, None)
    raise Unknown


def array_like(arg: Any) -> TensorType:
    """The array that `np.asarray` makes of an argument."""
    found = operand(arg)
    if type(arg) is int and not fits(arg):
        raise Unknown               # an unsigned integer, or an object
    return found if found.kind == "array" else TensorType(found.dtype, found.shape)


def like_first(first: Any, *args: Any, **kwargs: Any) -> TensorType:
    """The rule of a function whose result has the shape and dtype of its first argument, as an array."""
    return array_like(first)


def dtype_arg(arg: Any, default: DType | None = None) -> DType:
    """The dtype that an argument `dtype=` means; `default` for None."""
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


def int_arg(arg: Any) -> int | None:
    """The number that an argument is; None for that of a value, which only the run will tell."""
    if isinstance(arg, TensorType):
        if arg.shape:
            raise Unknown
        return None
    if is_type(arg):
        raise Unknown
    return operator.index(arg)


def shape_arg(arg: Any) -> Shape:
    """The shape that an argument means: a number, or some in a tuple, list or array."""
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


def given_outputs(out: Any) -> tuple[Type | None, ...]:
    """The types of the arrays that an argument `out=` names; None for one that is to be computed."""
    if out is None:
        return ()
    if out is Ellipsis:         # like None, but 0-d arrays stay arrays
        raise Unknown
    items = out if isinstance(out, tuple) else out.items if isinstance(out, ObjectType) else (out,)
    return tuple(None if item is None or item == types.NONE else type_of_arg(item) for item in items)


def given_output(out: Any) -> Type | None:
    """The same for what has one output."""
    given = given_outputs(out)
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
    """The dimension that two of them are broadcast to."""
    if first == second or second == 1:
        return first
    if first == 1:
        return second
    return merge_dims(first, second)


def broadcast(*shapes: Shape) -> Shape:
    """The shape that arrays are broadcast to."""
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
    """The sum of dimensions, as of arrays that are put one after the other."""
    return None if None in dims else sum(dims)      # type: ignore[arg-type]


def axis_arg(axis: Any, ndim: int) -> int:
    """The axis that an argument means, counted from the first."""
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
    """The axes that an argument means: a number or a tuple of them; None means all."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(axis_arg(each, ndim) for each in axes)
    if len(set(found)) < len(found):
        raise Unknown
    return found


def reduced(shape: Shape, axis: Any, keepdims: Any = False) -> Shape:
    """The shape of what is left when an array has been reduced along an axis or axes."""
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
    """The type that NumPy returns for a computed array: the scalar for a 0-d one."""
    dtype = np.dtype(dtype)
    if shape:
        return TensorType(dtype, shape)
    # The scalars of others are any Python objects, or, as those of strings, of dtypes of their own
    return TensorType(dtype, (), "scalar") if dtype.kind in ELEMENTARY else ANY


def weak_dtype(type: TensorType) -> Any:
    """The dtype for promotion: for a Python number (but a bool) its class, as `ufunc.resolve_dtypes` has it."""
    if type.kind == "python" and type.dtype.kind != "b":
        return types.PYTHON_TYPES[type.dtype]
    return type.dtype


_WEAK = {int: 0, float: 0.0, complex: 0j}


def promote(*operands: TensorType) -> DType:
    """The dtype that operands are brought to, as NEP 50 says: Python numbers adopt the dtype of the others."""
    dtype: DType = np.result_type(*(_WEAK.get(dtype, dtype) for dtype in map(weak_dtype, operands)))
    return dtype
