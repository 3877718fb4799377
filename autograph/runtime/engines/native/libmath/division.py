"""Elements of a row, each divided by the same float, without dividing.

A product with the reciprocal, rounded, comes near the quotient; what is missing, times the divisor, a fused product and
sum tells exactly; and that, times the reciprocal, is added to it, again fused. So each quotient is rounded as it should
be (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor"; for a first guess that is
such a product, Brisebarre, Muller and Raina, "Accelerating correctly rounded floating-point division when the divisor
is known in advance"). This takes a third of the time, but for numbers so large or small that something on the way might
be no normal number, and what is none at all, or zero: where one of those comes up, a vector is divided.
"""

from __future__ import annotations

import math

from autograph.runtime.engines.native.libmath.vectors import (
    ALONE,
    FLOATS,
    WIDTH,
    all_of,
    elementwise,
    inner_loop,
    map_row,
)
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    I64,
    PTR,
    Function,
    Module,
    Parameter,
    Value,
    constant,
)
from autograph.runtime.engines.native.llvm.target import has_feature

NAME = "ag_quotient"
LEAST, MOST = 2.0**-400, 2.0**400


def is_supported() -> bool:
    """Whether this processor has fused multiply-add, as far as is known."""
    return has_feature("fma")


def define(module: Module) -> None:
    """Define a function like a loop of NumPy's, for a divisor that is the same for all."""
    quotient = _quotient(module)
    b, (_, arrays, size, _, _) = inner_loop(module, NAME)
    source, by, target = (b.load(PTR, b.gep(arrays, place, of=PTR)) for place in range(3))
    count, divisor = b.load(I64, size), b.load(DOUBLE, by)
    is_normal = _is_normal(b, divisor, LEAST)
    reciprocal = b.binary("fdiv", 1.0, b.select(is_normal, divisor, 1.0))
    least = b.select(is_normal, constant(DOUBLE, LEAST), constant(DOUBLE, math.inf))
    same = [b.splat(each, WIDTH) for each in (divisor, reciprocal, least)]
    map_row(b, lambda x: b.call(quotient, x, *same), source, target, count, constant(FLOATS, 1.0), ALONE)
    b.ret(0)


def _quotient(module: Module) -> Function:
    """The function for a vector."""
    b, function = elementwise(module, f"{NAME}_of", *(Parameter(each, FLOATS) for each in _PARAMETERS))
    x, divisor, reciprocal, least = function.parameters

    def near() -> Value:
        guess = b.binary("fmul", x, reciprocal)
        missing = b.intrinsic("fma", b.fneg(guess), divisor, x)
        return b.intrinsic("fma", missing, reciprocal, guess)

    found = b.if_else(all_of(b, _is_normal(b, x, least)), near, lambda: b.binary("fdiv", x, divisor))
    b.ret(found)
    return function


_PARAMETERS = "x divisor reciprocal least".split()


def _is_normal(b: Builder, x: Value, least: Value | float) -> Value:
    """Whether nothing on the way will be no normal number."""
    size = b.intrinsic("fabs", x)
    return b.and_(b.fcmp("oge", size, least), b.fcmp("olt", size, MOST))
