"""Polynomials given by their coefficients, the highest power's first."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.opdef import PURE, VIEW
from autograph.runtime.ops.declaring import always, functions
from autograph.runtime.ops.linalg import computed
from autograph.runtime.ops.products import common
from autograph.runtime.ops.rules import Unknown, array_like, constant, int_arg, operand, result, rule
from autograph.runtime.types import ANY, TensorType, Type, inexact


def _vector(arg: Any) -> TensorType:
    found = array_like(arg)
    if found.ndim > 1:
        raise Unknown
    return found if found.shape else TensorType(found.dtype, (1,))


@rule
def polyval(p: Any, x: Any) -> Type:
    coefficients, x = _vector(p), operand(x)
    if coefficients.shape[0] == 0:          # of no coefficients it makes zeros like `x`
        return TensorType(x.dtype, x.shape)
    if coefficients.shape[0] is None:
        return inexact(TensorType(common(coefficients, x), x.shape))
    return result(common(coefficients, x), x.shape)


@rule
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Type:
    x, y = array_like(x), array_like(y)
    if constant(full) or constant(cov) or w is not None:
        raise Unknown
    degree = int_arg(deg)
    count = None if degree is None else degree + 1
    return TensorType(computed(np.dtype(float), x.dtype, y.dtype), (count, *y.shape[1:]))


@rule
def sum_of_two(a1: Any, a2: Any) -> Type:
    first, second = _vector(a1), _vector(a2)
    lengths = first.shape[0], second.shape[0]
    longest = None if None in lengths else max(lengths)     # type: ignore[type-var]
    return TensorType(common(first, second), (longest,))


@rule
def polymul(a1: Any, a2: Any) -> Type:
    return TensorType(common(_vector(a1), _vector(a2)), (None,))


@rule
def roots(p: Any) -> Type:
    found = array_like(p)
    return inexact(TensorType(np.result_type(found.dtype, np.complex128), (None,)))


functions("polyval", polyval, effect=PURE)
functions("polyfit", polyfit, effect=PURE)
functions("polyadd polysub", sum_of_two, effect=PURE)
functions("polymul", polymul, effect=PURE)
functions("roots", roots, effect=PURE)
functions("polyder polyint polydiv poly", always(ANY), effect=VIEW)
