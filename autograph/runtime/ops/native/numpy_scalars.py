"""Lowerings of NumPy's functions of numbers.

A ufunc computes scalars by the same inner loops as arrays. So these lowerings use the rules for elements, in the dtypes
that NumPy chooses. Where only NumPy has the loop, they call it for one element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.operands import Emitter, NoLowering, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType, scalar
from autograph.runtime.ops.native import scalars
from autograph.runtime.ops.native.number_rules import RULES, Inner, between, converted, is_weak, known_dtype, promotes
from autograph.runtime.ops.native.scalars import fitted, number, result

# Operations that make no infinity of finite numbers, and no NaN of other numbers.
QUIET = frozenset(
    """negative positive absolute fabs sign floor ceil trunc rint copysign maximum minimum fmax fmin signbit""".split()
)
OF_NUMBERS = RULES | {"floor_divide": scalars.floor_division, "remainder": scalars.remainder}


def given(emit: Emitter, x: Number, dtype: np.dtype[Any]) -> Number:
    """A number converted to an operand of that dtype; a Python number must fit."""
    return fitted(emit, x, scalar(dtype)) if is_weak(x.type) else converted(emit, x, known_dtype(dtype))


def of_ufunc(ufunc: np.ufunc, name: str) -> Callable[..., Number]:
    """The lowering of a ufunc, whose op has that name."""
    inner = Inner(ufunc, OF_NUMBERS.get(ufunc.__name__))

    def rule(emit: Emitter, *args: Any) -> Number:
        if len(args) != ufunc.nin:
            raise NoLowering
        numbers = [number(emit, arg) for arg in args]
        *kinds, kind = inner.dtypes(*(promotes(each.type) for each in numbers))
        type = result(name, *numbers)
        if kind.char != type.dtype.char:
            raise NoLowering
        return applied(emit, inner, type, [given(emit, each, dtype) for each, dtype in zip(numbers, kinds)])

    return rule


def applied(emit: Emitter, inner: Inner, type: TensorType, operands: list[Number]) -> Number:
    """The result of an inner loop for operands of its dtypes; leaves machine code if NumPy would warn."""
    found = None
    if inner.rule is not None and all(each.type.dtype == operands[0].type.dtype for each in operands):
        try:
            found = inner.rule(emit, *operands)
        except NoLowering:
            pass
    if found is None:
        found = emit.ufunc(inner.ufunc, type, *operands)
    if type.dtype.kind == "f" and inner.ufunc.__name__ not in QUIET:
        emit.leave_if_warned(found, *operands)
    return Number(type, found.ref, found.known)


def constructor(cls: type[np.generic]) -> Callable[..., Number]:
    """`np.float64(a)` and so on."""
    return lambda emit, a: fitted(emit, number(emit, a), scalar(cls))


def method(rule: Callable[..., Number]) -> Callable[..., Number]:
    """The lowering of a method that NumPy's scalars have, and Python's numbers lack."""

    def of_scalars(emit: Emitter, a: Any, *args: Any) -> Number:
        x = number(emit, a)
        if x.type.kind == "python":
            raise NoLowering
        return rule(emit, x, *args)

    return of_scalars


def item(emit: Emitter, a: Any) -> Number:
    """`a.item()`."""
    x = number(emit, a)
    return fitted(emit, x, result(".item", x))


def clipped(emit: Emitter, a: Any, low: Any, high: Any) -> Number:
    """`np.clip(a, low, high)`."""
    numbers = [number(emit, arg) for arg in (a, low, high)]
    type = result("np.clip", *numbers)
    x, least, most = (given(emit, each, type.dtype) for each in numbers)
    for bound in (least, most):
        if type.dtype.kind == "f":
            emit.leave_if(emit.compare("ne", bound, bound))
    return between(emit, x, least, most)


def rounded(emit: Emitter, a: Any, digits: Any = 0) -> Number:
    """`np.round(a, digits)` as NumPy computes it: multiply, round, divide."""
    x = number(emit, a)
    type = result("np.round", x)
    if type.dtype.kind != "f" or not isinstance(digits, int) or not 0 <= digits <= 15:
        raise NoLowering
    x = given(emit, x, type.dtype)
    if not digits:
        return emit.function("rint", x)
    power = emit.constant(10.0**digits, type)
    product = emit.floating("mul", x, power)
    emit.leave_if_warned(product, x, power)
    return emit.floating("div", emit.function("rint", product), power)


def built_in_rounded(emit: Emitter, a: Any, digits: Any = None) -> Number:
    """`round(a)`: an integer; `round(a, digits)`, of NumPy's floats."""
    x = number(emit, a)
    if digits is not None:
        return method(rounded)(emit, x, digits)
    if x.type.dtype.kind == "b":
        if x.type != BOOL:
            raise NoLowering
        return fitted(emit, x, INT)
    return fitted(emit, emit.function("rint", x) if x.type.dtype.kind == "f" else x, INT)
