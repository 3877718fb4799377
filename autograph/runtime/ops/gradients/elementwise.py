"""Derivatives of elementary functions, for NumPy's ufuncs, `math`, `cmath` and the operators alike.

They use `out` where that saves work. Where the derivative is finite they neither overflow nor divide by zero. At a
kink they return the mean of both slopes: `abs` has the derivative 0 at 0. Among equal arguments of `maximum`, the first
gets the gradient. Functions that are constant between jumps, such as `floor`, have the derivative 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import Vjp
from autograph.runtime.ops.gradients.adjoint_ops import as_result, fit, masked
from autograph.runtime.ops.gradients.toolkit import as_array, conj, is_list, is_real, ndim, on_proxies

Rules = tuple["Vjp | None", ...]
LN2, LN10 = math.log(2), math.log(10)
DEGREE = math.pi / 180

# ---------------------------------------------------------------------------------------------------- one argument


def of_one(m: Any) -> dict[str, Vjp | None]:
    """The derivatives of functions of one number, written with the functions of `m`: NumPy or `math`."""
    return {
        "exp": lambda g, out, x: g * out,
        "exp2": lambda g, out, x: g * out * LN2,
        "expm1": lambda g, out, x: g * (out + 1),
        "log": lambda g, out, x: g / x,
        "log2": lambda g, out, x: g / (x * LN2),
        "log10": lambda g, out, x: g / (x * LN10),
        "log1p": lambda g, out, x: g / (1 + x),
        "sqrt": lambda g, out, x: np.divide(g, 2 * out),
        "cbrt": lambda g, out, x: np.divide(g, 3 * out * out),
        "sin": lambda g, out, x: g * m.cos(x),
        "cos": lambda g, out, x: -g * m.sin(x),
        "tan": lambda g, out, x: g * (1 + out * out),
        "arcsin": lambda g, out, x: np.divide(g, np.sqrt((1 - x) * (1 + x))),
        "arccos": lambda g, out, x: np.divide(-g, np.sqrt((1 - x) * (1 + x))),
        "arctan": lambda g, out, x: _divided_twice(g, _hypot1(m, x)),
        "sinh": lambda g, out, x: g * m.cosh(x),
        "cosh": lambda g, out, x: g * m.sinh(x),
        "tanh": lambda g, out, x: g * ((1 - out) * (1 + out)),
        "arcsinh": lambda g, out, x: g / _hypot1(m, x),
        "arccosh": lambda g, out, x: np.divide(g, np.sqrt(x - 1) * np.sqrt(x + 1)),
        "arctanh": lambda g, out, x: g / ((1 - x) * (1 + x)),
        "degrees": lambda g, out, x: g / DEGREE,
        "radians": lambda g, out, x: g * DEGREE,
        "fabs": lambda g, out, x: g * np.sign(x),
        "floor": None,
        "ceil": None,
        "trunc": None,
    }  # fmt: skip


def _hypot1(m: Any, x: Any) -> Any:
    """`sqrt(1 + x**2)` without overflow."""
    return m.hypot(1, x) if is_real(x) or m is not np else np.sqrt(1 + x * x)


def _divided_twice(g: Any, by: Any) -> Any:
    """`g / by**2` without overflow."""
    return g / by / by


def absolute(g: Any, out: Any, x: Any) -> Any:
    return g * np.sign(x) if is_real(x) else g * np.conj(x) / nonzero(out)


def sign(g: Any, out: Any, x: Any) -> Any:
    """The derivative of `np.sign`: a complex number divided by its absolute value; it is constant between
    real numbers.
    """
    if is_real(x):
        return np.zeros_like(x)
    r = nonzero(np.abs(x))
    return (g - np.real(g * out) * np.conj(out)) / r


def angle(g: Any, z: Any) -> Any:
    """The derivative of the angle of a complex number in radians; it is constant for real ones."""
    return np.zeros_like(z) if is_real(z) else -1j * g / nonzero(z)


def nonzero(x: Any) -> Any:
    """`x` with 1 in place of 0, as a safe divisor."""
    return np.where(x == 0, 1, x)


# --------------------------------------------------------------------------------------------------- two arguments


def _like(x: Any, out: Any) -> Any:
    """The base of a power, as a complex number if the power is complex."""
    return x if is_real(out) or not is_real(x) else on_proxies(as_result)(x, out)


def power_of_base(g: Any, out: Any, x: Any, y: Any) -> Any:
    x = _like(x, out)
    if type(y) not in (int, float):
        return g * y * np.power(x, np.where(y == 0, 1, y - 1))
    if y == 0:
        return np.zeros_like(x)
    if y == 1:
        return g
    return g * y * (x if y == 2 else x ** (y - 1) if y > 1 else np.power(x, y - 1.0))


def power_of_exponent(g: Any, out: Any, x: Any, y: Any) -> Any:
    constant = type(x) in (int, float) and x > 0
    return g * out * (math.log(x) if constant else np.log(nonzero(_like(x, out))))


def quotient(divide: Callable[..., Any]) -> Rules:
    """The derivatives of a remainder; `divide(x, y)` is the integer quotient."""
    return lambda g, out, x, y: g, lambda g, out, x, y: -g * divide(x, y)


def extreme(g: Any, out: Any, x: Any, y: Any) -> Any:
    """The derivative of clipping, in the array or in the bound: equal values share the gradient."""
    return np.where(x == out, np.where(y == out, 0.5 * g, g), 0)


# Of `maximum` and so on, which are in too many inner loops to share: where the arguments are equal, it is the first's.
_MASKED = on_proxies(masked)
OF_EXTREME: Rules = (lambda g, out, x, y: _MASKED(g, x == out), lambda g, out, x, y: _MASKED(g, x != out))


def hypot_term(g: Any, out: Any, x: Any, *_: Any) -> Any:
    """The derivative of a root of a sum of squares, in one of the terms."""
    return g * x / nonzero(out)


def _angle_of(g: Any, out: Any, y: Any, x: Any) -> Any:
    """The derivative of `arctan2` in its first argument."""
    r = np.hypot(x, y)
    return g * (x / r) / r


def log_sum(exp: Callable[..., Any]) -> Vjp:
    """The derivative of `logaddexp`: the share of each term in the sum."""
    return lambda g, out, x, *_: g * exp(x - np.where(out == -np.inf, 0, out))


def swapped(rule: Vjp) -> Vjp:
    """The derivative in the second argument of a symmetric function, from that in the first."""
    return lambda g, out, x, y: rule(g, out, y, x)


def symmetric(rule: Vjp) -> Rules:
    return rule, swapped(rule)


OF_TWO: dict[str, Rules] = {
    "add": (lambda g, out, x, y: g, lambda g, out, x, y: g),
    "subtract": (lambda g, out, x, y: g, lambda g, out, x, y: -g),
    "multiply": symmetric(lambda g, out, x, y: g * y),
    "divide": (lambda g, out, x, y: g / y, lambda g, out, x, y: -g * out / y),
    "floor_divide": (None, None),
    "remainder": quotient(np.floor_divide),
    "fmod": quotient(lambda x, y: np.trunc(x / y)),
    "power": (power_of_base, power_of_exponent),
    "maximum": OF_EXTREME,
    "minimum": OF_EXTREME,
    "hypot": symmetric(hypot_term),
    "arctan2": (_angle_of, lambda g, out, y, x: -_angle_of(g, out, x, y)),
    "copysign": (lambda g, out, x, y: np.where(np.signbit(y), -g, g) * np.sign(x), None),
    "logaddexp": symmetric(log_sum(np.exp)),
    "logaddexp2": symmetric(log_sum(np.exp2)),
    "ldexp": (lambda g, out, x, i: np.ldexp(g, i), None),
    "nextafter": (lambda g, out, x, y: g, None),
    "heaviside": (None, lambda g, out, x, y: np.where(x == 0, g, 0)),
}

# `divmod`, whose first output is constant between its jumps.
OF_DIVMOD: Rules = (lambda g, out, x, y: g[1], lambda g, out, x, y: -g[1] * out[0])

# ------------------------------------------------------------------------------------------------------- matrices


def column(x: Any) -> Any:
    return np.expand_dims(x, -1)


def row(x: Any) -> Any:
    return np.expand_dims(x, -2)


def transposed(x: Any) -> Any:
    dims = ndim(x)
    return x.T if type(dims) is int and dims == 2 and hasattr(x, "T") else np.swapaxes(x, -1, -2)


def matmul_of_first(g: Any, out: Any, x: Any, y: Any) -> Any:
    if ndim(y) == 1:
        return (g if ndim(x) == 1 else column(g)) * y
    if ndim(x) == 1:
        return np.matmul(y, column(g))[..., 0]
    return np.matmul(g, transposed(y))


def matmul_of_second(g: Any, out: Any, x: Any, y: Any) -> Any:
    if ndim(x) == 1:
        return g * x if ndim(y) == 1 else column(x) * row(g)
    if ndim(y) == 1:
        return np.matmul(transposed(x), column(g))[..., 0]
    return np.matmul(transposed(x), g)


OF_MATMUL: Rules = (matmul_of_first, matmul_of_second)


# Those of a vector that `np.vecdot` and `np.vecmat` conjugate are conjugate.
OF_VECDOT: Rules = (lambda g, out, x, y: conj(column(g) * y), lambda g, out, x, y: column(g) * conj(x))
OF_MATVEC: Rules = (
    lambda g, out, a, x: column(g) * row(x),
    lambda g, out, a, x: np.matmul(transposed(a), column(g))[..., 0],
)
OF_VECMAT: Rules = (
    lambda g, out, x, a: conj(np.matmul(a, column(g))[..., 0]),
    lambda g, out, x, a: column(conj(x)) * row(g),
)


# --------------------------------------------------------------------------------------------- calls of ufuncs


def pointwise(*rules: Vjp | None, safe: float = 0.5) -> Rules:
    """The derivatives of a ufunc, from those of its function on numbers; where `where` is false, they are zero.

    Args:
        safe: a number where the function and its derivatives are finite.
    """
    return tuple(None if rule is None else _masked(rule, at, len(rules), safe) for at, rule in enumerate(rules))


def _masked(rule: Vjp, at: int, count: int, safe: float) -> Vjp:
    def vjp(g: Any, out: Any, /, *args: Any, where: Any = True, **_: Any) -> Any:
        operands = list(map(as_array, args[:count]))
        if where is not True:
            g, out = np.where(where, g, 0), np.where(where, out, safe)
            operands = [np.where(where, operand, safe) for operand in operands]
        return fit_list(rule(g, out, *operands), args[at])

    return vjp


def fit_list(gradient: Any, x: Any) -> Any:
    """The gradient of a list, in the shape of the array that NumPy makes of it; any other gradient as it is."""
    return on_proxies(fit)(gradient, as_array(x)) if is_list(x) else gradient


def of_cores(*rules: Vjp | None) -> Rules:
    """The derivatives of a ufunc of vectors and matrices, for the default axes."""
    return tuple(None if rule is None else _of_cores(rule) for rule in rules)


def _of_cores(rule: Vjp) -> Vjp:
    def vjp(g: Any, out: Any, x: Any, y: Any, /, *_: Any, **options: Any) -> Any:
        if options.keys() & {"axes", "axis", "keepdims"}:
            raise NotImplementedError("the derivative of a product of vectors or matrices along other axes than usual")
        return rule(g, out, as_array(x), as_array(y))

    return vjp
