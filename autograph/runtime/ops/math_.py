"""Python's `math` and `cmath`: functions of numbers, which give Python's numbers whatever they are given."""

from __future__ import annotations

from typing import Any

from autograph.runtime.opdef import PURE
from autograph.runtime.ops.containers import iterated, tuple_of
from autograph.runtime.ops.declaring import always, functions
from autograph.runtime.ops.rules import Unknown, operand, rule
from autograph.runtime.types import BOOL, COMPLEX, FLOAT, INT, ObjectType, TensorType, Type


@rule
def rounded(x: Any) -> Type:
    """`math.floor` asks the number itself, by a method that is its class's own business."""
    x = operand(x)
    if x.weak or (x.shape == () and x.dtype.kind in "biuf"):
        return INT
    raise Unknown


@rule
def product(iterable: Any, /, *, start: Any = 1) -> Type:
    """`math.prod`: as multiplication has it, which for Python's numbers of one class leaves it."""
    item, first = iterated(iterable), operand(start)
    if not isinstance(item, TensorType) or not item.weak or not first.weak:
        raise Unknown
    if item.dtype.kind in "bi" and first.dtype.kind == "i":
        return INT
    if first.dtype.kind == item.dtype.kind == "f":
        return FLOAT
    raise Unknown


FLOATS = """
    acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs fma fmod
    fsum gamma hypot ldexp lgamma log log10 log1p log2 nextafter pow radians remainder sin sinh sqrt tan tanh ulp
"""
INTEGERS = "comb factorial gcd isqrt lcm perm"
BOOLS = "isclose isfinite isinf isnan"

functions(FLOATS, always(FLOAT), prefix="math.", effect=PURE)
functions(INTEGERS, always(INT), prefix="math.", effect=PURE)
functions(BOOLS, always(BOOL), prefix="math.", effect=PURE)
functions("ceil floor trunc", rounded, prefix="math.", effect=PURE)
functions("frexp", always(tuple_of(FLOAT, INT)), prefix="math.", effect=PURE)
functions("modf", always(tuple_of(FLOAT, FLOAT)), prefix="math.", effect=PURE)
functions("prod", product, prefix="math.", effect=PURE)
functions("sumprod", always(ObjectType()), prefix="math.", effect=PURE)

functions(
    "acos acosh asin asinh atan atanh cos cosh exp log log10 rect sin sinh sqrt tan tanh",
    always(COMPLEX), prefix="cmath.", effect=PURE,
)  # fmt: skip
functions("phase", always(FLOAT), prefix="cmath.", effect=PURE)
functions("polar", always(tuple_of(FLOAT, FLOAT)), prefix="cmath.", effect=PURE)
functions("isclose isfinite isinf isnan", always(BOOL), prefix="cmath.", effect=PURE)
