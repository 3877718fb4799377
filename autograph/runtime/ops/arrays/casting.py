"""Conversions between dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph import types
from autograph.runtime.graph.opdef import VIEW, Infer
from autograph.runtime.graph.operands import DTYPES
from autograph.runtime.graph.traits import CASTS, COPIES_BY_DEFAULT, ELEMENTWISE, ENCODES_FLOATS, SHARES, VIEW_OR_COPY
from autograph.runtime.graph.types import BOOL, STR, Shape, TensorType, Type
from autograph.runtime.ops.gradients.toolkit import same
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.numpy_probe import sample
from autograph.runtime.ops.inference.shape_rules import (
    CODES,
    Unknown,
    Wrong,
    constant,
    dtype_arg,
    is_type,
    operand,
    result,
    size,
    type_of_arg,
)
from autograph.runtime.ops.native.numpy_scalars import constructor as lowering


def astype(x: Any, dtype: Any, *args: Any, **kwargs: Any) -> Type:
    """The rule of `.astype` and `np.astype`."""
    found = operand(x)
    if found.kind == "python":
        raise Wrong
    to = dtype_arg(dtype)
    return TensorType(to, found.shape) if found.kind == "array" else result(to, ())


def view(x: Any, dtype: Any = None, **rest: Any) -> Type:
    found = operand(x)
    if found.kind == "python":
        raise Wrong
    if rest or (isinstance(dtype, type) and issubclass(dtype, np.ndarray)):
        raise Unknown
    to = dtype_arg(dtype, found.dtype)
    if found.kind == "scalar":
        return result(to, ())
    return TensorType(to, _viewed(found.shape, found.dtype.itemsize, to.itemsize))


def _viewed(shape: Shape, old: int, new: int) -> Shape:
    """The shape of a view as another dtype: elements of another size change the length of the last axis."""
    if old == new:
        return shape
    if not shape:
        raise Wrong
    last = shape[-1]
    return (*shape[:-1], None if last is None else last * old // new)


def constructor(cls: type[np.generic]) -> Infer:
    """The rule of `np.float64(x)` and so on: a scalar, or an array for arrays and lists."""
    dtype = np.dtype(cls)

    def infer(*args: Any) -> Type:
        if not args:
            return result(dtype, ())
        (value,) = args
        if type_of_arg(value) == STR:
            return result(dtype, ())
        answer = result(dtype, operand(value).shape)
        if cls is np.float64 and not isinstance(value, (list, tuple)):
            return _float64(answer)
        return answer

    return infer


def _float64(answer: Type) -> Type:
    """`np.float64` is a Python float; before NumPy 2.3, it makes a number of an array of one element."""
    if isinstance(answer, TensorType) and answer.shape and size(answer.shape) in (1, None):
        of_one = types.type_of(np.float64(np.ones((1,) * answer.ndim)))
        if of_one == types.scalar(float):
            return of_one if size(answer.shape) == 1 else types.ANY
    return answer


def time_constructor(value: Any, unit: Any) -> Type:
    """The rule of `np.timedelta64(3, "s")`; without a unit, the value says which."""
    if operand(value).shape:
        raise Unknown
    return result(np.dtype(f"m8[{constant(unit)}]"), ())


def result_type(*args: Any) -> Type:
    found = [sample(operand(arg)) if is_type(arg) else arg for arg in args]
    return types.type_of(np.result_type(*found))


CLASSES = dict.fromkeys(np.dtype(code).type for code in CODES)

for _class in CLASSES:      # raise for texts, and for Python numbers that are too large
    _lower = lowering(_class) if np.dtype(_class).char in DTYPES else None
    functions(f"np.{_class.__name__}", constructor(_class), vjp=same, lower=_lower, traits=[ELEMENTWISE])
functions("np.timedelta64", time_constructor)
functions(      # without `copy=False` it is a new array
    ".astype np.astype", astype, effect=VIEW, raises=False, vjp=same,
    traits=[VIEW_OR_COPY, CASTS, (SHARES, sharing.cast)],
)  # fmt: skip
COPIES_BY_DEFAULT[".astype"] = True
functions(".view", view, effect=VIEW, raises=False, traits=[ENCODES_FLOATS])
functions("np.result_type", result_type, raises=False)
functions("np.can_cast np.issubdtype", BOOL, raises=False)
