"""Polynomials with coefficients in the order of falling powers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW, Vjp
from autograph.runtime.graph.types import ANY, TensorType, Type, inexact
from autograph.runtime.ops.arrays.creation import of_vander
from autograph.runtime.ops.gradients.data_movement import numbered
from autograph.runtime.ops.gradients.toolkit import as_array, ndim
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    add_dims,
    array_like,
    constant,
    int_arg,
    operand,
    result,
)
from autograph.runtime.ops.mathematics.linalg import computed
from autograph.runtime.ops.mathematics.products import common


def _vector(arg: Any) -> TensorType:
    found = array_like(arg)
    if found.ndim > 1:
        raise Unknown
    return found if found.shape else TensorType(found.dtype, (1,))


def polyval(p: Any, x: Any) -> Type:
    coefficients, x = _vector(p), operand(x)
    if coefficients.shape[0] == 0:          # of no coefficients it makes zeros like `x`
        return TensorType(x.dtype, x.shape)
    if coefficients.shape[0] is None:
        return inexact(TensorType(common(coefficients, x), x.shape))
    return result(common(coefficients, x), x.shape)


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Type:
    x, y = array_like(x), array_like(y)
    if constant(full) or constant(cov) or w is not None:
        raise Unknown
    degree = int_arg(deg)
    count = None if degree is None else degree + 1
    return TensorType(computed(np.dtype(float), x.dtype, y.dtype), (count, *y.shape[1:]))


def sum_of_two(a1: Any, a2: Any) -> Type:
    first, second = _vector(a1), _vector(a2)
    lengths = first.shape[0], second.shape[0]
    longest = None if None in lengths else max(lengths)     # type: ignore[type-var]
    return TensorType(common(first, second), (longest,))


def polymul(a1: Any, a2: Any) -> Type:
    return TensorType(common(_vector(a1), _vector(a2)), (None,))


def polyder(p: Any, m: Any = 1) -> Type:
    found, times = _vector(p), operator.index(m)
    dtype = np.result_type(found.dtype, np.intp) if times else found.dtype
    length = found.shape[0]
    return TensorType(dtype, (None if length is None else max(length - times, 0),))


def polyint(p: Any, m: Any = 1, k: Any = None) -> Type:
    found, times = _vector(p), operator.index(m)
    if not times:
        return found
    constants = np.dtype(float) if k is None else array_like(k).dtype
    return TensorType(np.result_type(found.dtype, np.intp, float, constants), (add_dims(found.shape[0], times),))


def roots(p: Any) -> Type:
    found = array_like(p)
    return inexact(TensorType(np.result_type(found.dtype, np.complex128), (None,)))


# --------------------------------------------------------------------------------------------------- derivatives


def of_coefficients(g: Any, out: Any, p: Any, x: Any) -> Any:
    return np.matmul(np.ravel(g), np.vander(np.ravel(x), sizes(p)[0]))


def of_polyder(g: Any, out: Any, p: Any, m: Any = 1) -> Any:
    return np.concatenate([g * _factors(g, m), np.zeros_like(as_array(p)[:m])])


def of_polyint(g: Any, out: Any, p: Any, m: Any = 1, k: Any = None) -> Any:
    found = g[: sizes(p)[0]]
    return found / _factors(found, m)


def of_constants(g: Any, out: Any, p: Any, m: Any = 1, k: Any = None) -> Any:
    """The derivative in the constants of integration."""
    each = [g[sizes(p)[0] + i] / math.factorial(m - 1 - i) for i in range(m)]
    if ndim(k) == 0 or sizes(k)[0] == 1 < m:
        return np.reshape(sum(each), sizes(k))
    return np.stack(each)


def _factors(p: Any, m: int) -> Any:
    """The factors of the coefficients after `m` derivatives: `(i + 1) … (i + m)` for the power `i`."""
    power = np.flip(numbered(p))
    return math.prod(power + i for i in range(1, m + 1))


def of_term(which: int, sign: int = 1) -> Vjp:
    """The derivative of a sum, whose terms are aligned at the last coefficient."""

    def vjp(g: Any, out: Any, *terms: Any) -> Any:
        return sign * np.reshape(g[sizes(g)[0] - _count(terms[which]) :], sizes(terms[which]))

    return vjp


def of_factor(which: int) -> Vjp:
    """The derivative of a product, which drops leading zeros."""

    def vjp(g: Any, out: Any, *factors: Any) -> Any:
        length = _count(factors[0]) + _count(factors[1]) - 1
        whole = np.pad(g, (length - sizes(g)[0], 0))
        other = np.ravel(as_array(factors[1 - which]))
        return np.reshape(np.convolve(whole, np.flip(other), "valid"), sizes(factors[which]))

    return vjp


def _count(p: Any) -> Any:
    return math.prod(sizes(p))


def of_roots(g: Any, out: Any, p: Any) -> Any:
    slopes = np.polyval(np.polyder(as_array(p)), out)
    return -np.matmul(g / slopes, np.vander(out, sizes(p)[0]))


def of_fit_in_y(g: Any, out: Any, x: Any, y: Any, deg: Any, *args: Any, **options: Any) -> Any:
    _refuse(args, options)
    return np.matmul(np.swapaxes(np.linalg.pinv(_powers(x, deg)), 0, 1), g)


def of_fit_in_x(g: Any, out: Any, x: Any, y: Any, deg: Any, *args: Any, **options: Any) -> Any:
    """The derivative in `x`, through the matrix of its powers."""
    _refuse(args, options)
    powers = _powers(x, deg)
    inverse = np.linalg.pinv(powers)
    of_values = np.matmul(np.swapaxes(inverse, 0, 1), g)
    rest = as_array(y) - np.matmul(powers, out)
    of_powers = np.matmul(_columns(rest), np.transpose(_columns(np.matmul(inverse, of_values))))
    of_powers = of_powers - np.matmul(_columns(of_values), np.transpose(_columns(out)))
    return of_vander(of_powers, powers, as_array(x), deg + 1)


def _powers(x: Any, deg: Any) -> Any:
    return np.vander(as_array(x) + 0.0, deg + 1)


def _columns(x: Any) -> Any:
    return np.reshape(x, (sizes(x)[0], -1))


def _refuse(args: tuple[Any, ...], options: dict[str, Any]) -> None:
    given = {**dict(zip(("rcond", "full", "w", "cov"), args)), **options}
    if any(given.get(name) not in (None, False) for name in ("full", "w", "cov")):
        raise NotImplementedError("the derivative of np.polyfit with weights, or of more than the coefficients")


functions("np.polyval", polyval, vjp=(of_coefficients, lambda g, out, p, x: g * np.polyval(np.polyder(as_array(p)), x)))
functions("np.polyfit", polyfit, vjp=(of_fit_in_x, of_fit_in_y))
functions("np.polyadd", sum_of_two, vjp=(of_term(0), of_term(1)))
functions("np.polysub", sum_of_two, vjp=(of_term(0), of_term(1, -1)))
functions("np.polymul", polymul, vjp=(of_factor(0), of_factor(1)))
functions("np.roots", roots, vjp=of_roots)
functions("np.polyder", polyder, effect=VIEW, vjp=of_polyder)        # the zeroth derivative is the array itself
functions("np.polyint", polyint, effect=VIEW, vjp=(of_polyint, None, of_constants))
functions("np.polydiv np.poly", ANY, effect=VIEW)
