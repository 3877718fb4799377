"""Lowerings of the functions of `math`, and of powers of floats.

Python calls the C library for them, and so does machine code. Where Python raises an exception, the library returns an
infinity or NaN; there, and where Python decides before it calls the library, these lowerings leave machine code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.operands import Emitter, NoLowering, Number
from autograph.runtime.graph.types import BOOL, FLOAT, INT
from autograph.runtime.ops.native.number_rules import PYTHON, absolute, arithmetic, inverse
from autograph.runtime.ops.native.scalars import EXACT, both, either, finite, fitted, number, result, zero


def real(emit: Emitter, a: Any) -> Number:
    """An argument converted to float, as `math` converts it."""
    x = number(emit, a)
    if x.known is not None and x.type == INT and abs(x.known) < EXACT:
        return emit.constant(float(x.known), FLOAT)
    return fitted(emit, x, FLOAT)


def finite_only(emit: Emitter, x: Number) -> Number:
    """`x`; leaves machine code if it is not finite."""
    emit.leave_if(inverse(emit, finite(emit, x)))
    return x


def of_library(name: str) -> Callable[..., Number]:
    """A function of the C library, for finite arguments and results."""

    def rule(emit: Emitter, *args: Any) -> Number:
        if len(args) != (2 if name in OF_TWO else 1):
            raise NoLowering
        given = [real(emit, arg) for arg in args]
        if name == "atan2":
            emit.leave_if(zero(emit, given[0]))
        found: Number = emit.library(name, *given, finite=True)
        return found

    return rule


def rounded(name: str) -> Callable[..., Number]:
    """`math.floor`, `ceil` or `trunc`, which return integers."""

    def rule(emit: Emitter, a: Any) -> Number:
        x = number(emit, a)
        if x.type.dtype.kind in "biu":
            return fitted(emit, x, INT)
        return fitted(emit, emit.function(name, fitted(emit, x, FLOAT)), INT)

    return rule


def square_root(emit: Emitter, a: Any) -> Number:
    """`math.sqrt(a)`."""
    x = real(emit, a)
    emit.doubt_if(emit.compare("lt", x, emit.constant(0.0, FLOAT)))
    return emit.function("sqrt", x)


def exact(name: str) -> Callable[..., Number]:
    """`math.fabs` or `copysign`."""
    return lambda emit, *args: emit.function(name, *(real(emit, arg) for arg in args))


def remainder(emit: Emitter, a: Any, b: Any) -> Number:
    """`math.fmod(a, b)`."""
    x, y = finite_only(emit, real(emit, a)), finite_only(emit, real(emit, b))
    emit.leave_if(zero(emit, y))
    return emit.floating("rem", x, y)


def scaled(factor: float) -> Callable[..., Number]:
    """`math.degrees` or `radians`."""
    return lambda emit, a: emit.floating("mul", real(emit, a), emit.constant(factor, FLOAT))


def is_nan(emit: Emitter, a: Any) -> Number:
    """`math.isnan(a)`."""
    x = real(emit, a)
    return Number(BOOL, emit.compare("ne", x, x).ref)


def is_finite(emit: Emitter, a: Any) -> Number:
    """`math.isfinite(a)`."""
    return finite(emit, real(emit, a))


def is_integer(emit: Emitter, a: Any) -> Number:
    """`a.is_integer()` of a float."""
    x = number(emit, a)
    if x.type != FLOAT:
        raise NoLowering
    return both(emit, finite(emit, x), emit.compare("eq", emit.function("floor", x), x))


def is_close(emit: Emitter, a: Any, b: Any) -> Number:
    """`math.isclose(a, b)`, with the tolerances that Python has by default."""
    x, y = real(emit, a), real(emit, b)
    sizes = [emit.function("fabs", each) for each in (x, y)]
    distance = emit.function("fabs", emit.floating("sub", y, x))
    bounds = [emit.floating("mul", emit.constant(1e-9, FLOAT), each) for each in sizes]
    within = either(emit, *(emit.compare("le", distance, each) for each in bounds))
    close = both(emit, within, both(emit, *(finite(emit, each) for each in (x, y))))
    return either(emit, emit.compare("eq", x, y), close)


def logarithm(emit: Emitter, a: Any, *base: Any) -> Number:
    """`math.log(a)` or `math.log(a, base)`."""
    log = of_library("log")
    if not base:
        return log(emit, a)
    found, divisor = log(emit, a), log(emit, *base)
    emit.leave_if(zero(emit, divisor))
    return emit.floating("div", found, divisor)


# Integers -------------------------------------------------------------------------------------------------------------


def integer(emit: Emitter, a: Any) -> Number:
    """An argument that must be an integer."""
    x = number(emit, a)
    if x.type.kind != "python" or x.type.dtype.kind not in "bi":
        raise NoLowering
    return fitted(emit, x, INT)


def size(emit: Emitter, a: Any) -> Number:
    """The absolute value of an integer."""
    return absolute(PYTHON)(emit, integer(emit, a))


def gcd(emit: Emitter, a: Any, b: Any) -> Number:
    """`math.gcd(a, b)`."""
    return emit.integer("gcd", size(emit, a), size(emit, b))


def lcm(emit: Emitter, a: Any, b: Any) -> Number:
    """`math.lcm(a, b)`."""
    x, y = size(emit, a), size(emit, b)
    common, one = emit.integer("gcd", x, y), emit.constant(1, INT)
    divisor = emit.select(zero(emit, common), one, common)
    return arithmetic("mul", PYTHON)(emit, emit.integer("div", x, divisor), y)


def integer_root(emit: Emitter, a: Any) -> Number:
    """`math.isqrt(a)`: the root as a float is off by one at most."""
    x, one = integer(emit, a), emit.constant(1, INT)
    outside = emit.compare("lt", x, emit.constant(0, INT)), emit.compare("gt", x, emit.constant(2**62, INT))
    emit.leave_if(either(emit, *outside))
    found = emit.convert(emit.function("sqrt", emit.convert(x, FLOAT)), INT)
    above, next = emit.compare("gt", emit.integer("mul", found, found), x), emit.integer("add", found, one)
    below = emit.compare("le", emit.integer("mul", next, next), x)
    return emit.select(above, emit.integer("sub", found, one), emit.select(below, next, found))


def bit_length(emit: Emitter, a: Any) -> Number:
    """`a.bit_length()`"""
    zeros = emit.function("ctlz", size(emit, a), emit.constant(False, BOOL))
    return emit.integer("sub", emit.constant(64, INT), zeros)


def bit_count(emit: Emitter, a: Any) -> Number:
    """`a.bit_count()`"""
    return emit.function("ctpop", size(emit, a))


# Powers ---------------------------------------------------------------------------------------------------------------


def float_power(emit: Emitter, x: Number, y: Number) -> Number:
    """`x ** y` of floats, by the C library; Python's must be finite, and the result real."""
    if x.type.kind == y.type.kind == "python":
        base, exponent = real(emit, x), real(emit, y)
        if exponent.known is None or exponent.known % 1:
            emit.doubt_if(emit.compare("lt", base, emit.constant(0.0, FLOAT)))
        return of_library("pow")(emit, base, exponent)
    type = result("pow", x, y)
    if type.dtype not in (FLOAT.dtype, np.float32):
        raise NoLowering
    is_double, y = type.dtype == FLOAT.dtype, _exponent(emit, y)
    base, exponent = fitted(emit, x, type), fitted(emit, y, type)
    found = Number(type, emit.library("pow" if is_double else "powf", base, exponent).ref)
    emit.leave_if_warned(found, base, exponent)
    return found


def _exponent(emit: Emitter, y: Number) -> Number:
    """An exponent; a constant is converted to float."""
    return y if y.known is None or abs(y.known) >= EXACT else emit.constant(float(y.known), FLOAT)


def power(emit: Emitter, a: Any, b: Any) -> Number:
    """`a ** b` of floats, or of integers for a small constant `b`."""
    x, y = number(emit, a), number(emit, b)
    if "f" in (x.type.dtype.kind, y.type.dtype.kind):
        return float_power(emit, x, y)
    if x.type.dtype.kind not in "iu" or y.type != INT or y.known is None or not 1 <= y.known <= 8:
        raise NoLowering
    found = x
    for _ in range(int(y.known) - 1):
        found = arithmetic("mul", PYTHON)(emit, found, x)
    return found


DEGREES, RADIANS = scaled(180.0 / math.pi), scaled(math.pi / 180.0)
OF_TWO = frozenset({"atan2", "pow"})
# The functions of `math` that call the function of that name of the C library.
LIBRARY = OF_TWO | frozenset(
    "acos asin atan acosh asinh atanh cbrt cos cosh exp exp2 expm1 log log10 log1p log2 sin sinh tan tanh".split()
)
