"""Python's `math` and `cmath`: functions of numbers, which give Python's numbers whatever they are given."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import PURE, derive, foldable, lower
from autograph.runtime.graph.types import BOOL, COMPLEX, FLOAT, INT, ObjectType, TensorType, Type
from autograph.runtime.ops.gradients.elementwise import OF_TWO, absolute, angle, legs, of_one
from autograph.runtime.ops.gradients.reductions import others
from autograph.runtime.ops.gradients.toolkit import as_array, on_proxies, shape
from autograph.runtime.ops.inference.containers import iterated, tuple_of
from autograph.runtime.ops.inference.declare import always, functions
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import Unknown, operand
from autograph.runtime.ops.mathematics.special import polygamma
from autograph.runtime.ops.native import math_functions


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

# not `factorial`, `comb`, `perm` and `prod`, of which the results may be huge
for _name in f"{FLOATS} {BOOLS} gcd isqrt lcm ceil floor trunc frexp modf sumprod".split():
    foldable(f"math.{_name}")

functions(
    "acos acosh asin asinh atan atanh cos cosh exp log log10 rect sin sinh sqrt tan tanh",
    always(COMPLEX), prefix="cmath.", effect=PURE,
)  # fmt: skip
functions("phase", always(FLOAT), prefix="cmath.", effect=PURE)
functions("polar", always(tuple_of(FLOAT, FLOAT)), prefix="cmath.", effect=PURE)
functions("isclose isfinite isinf isnan", always(BOOL), prefix="cmath.", effect=PURE)

# ------------------------------------------------------------------------------------------------- derivatives

# Functions for derivatives, which also take proxies.
M = SimpleNamespace(**{name: on_proxies(getattr(math, name)) for name in "cos sin cosh sinh hypot exp trunc".split()})
SAME = "exp exp2 expm1 log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh degrees radians fabs floor ceil trunc"
ARCS = "asin acos atan asinh acosh atanh"


def log(g: Any, out: Any, x: Any, base: Any = math.e) -> Any:
    return g / x if base is math.e else g / (x * np.log(base))


def erf(sign: float) -> Any:
    """Of `erf`, or, with the other sign, of `erfc`."""
    return lambda g, out, x: g * M.exp(-x * x) * (sign * 2 / math.sqrt(math.pi))


def dist(sign: int) -> Any:
    return lambda g, out, p, q: legs(g, out, sign * (as_array(p) - as_array(q)))


def product_of(g: Any, out: Any, iterable: Any, start: Any = 1) -> Any:
    return g * start * others(as_array(iterable), None)


_of_one = of_one(M)
for _name in SAME.split():
    derive(f"math.{_name}", _of_one[_name])
for _name in ARCS.split():
    derive(f"math.{_name}", _of_one[f"arc{_name[1:]}"])
derive("math.log", log, lambda g, out, x, base: -g * out / (base * np.log(base)))
derive("math.erf", erf(1))
derive("math.erfc", erf(-1))
derive("math.lgamma", lambda g, out, x: g * polygamma(0, x))
derive("math.gamma", lambda g, out, x: g * out * polygamma(0, x))
derive("math.atan2", *OF_TWO["arctan2"])
derive("math.pow", *OF_TWO["power"])
derive("math.copysign", *OF_TWO["copysign"])
derive("math.fmod", lambda g, out, x, y: g, lambda g, out, x, y: -g * M.trunc(x / y))
derive("math.remainder", lambda g, out, x, y: g, lambda g, out, x, y: -g * np.rint((x - out) / y))
derive("math.ldexp", *OF_TWO["ldexp"])
derive("math.nextafter", *OF_TWO["nextafter"])
derive("math.fma", lambda g, out, x, y, z: g * y, lambda g, out, x, y, z: g * x, lambda g, out, *_: g)
derive("math.modf", lambda g, out, x: g[0])
derive("math.frexp", lambda g, out, x: np.ldexp(g[0], -out[1]))
derive("math.ulp", None)
derive("math.dist", dist(1), dist(-1))
derive("math.fsum", lambda g, out, seq: np.broadcast_to(g, shape(seq)))
derive("math.prod", product_of, lambda g, out, iterable, start: g * np.prod(as_array(iterable)))
derive("math.sumprod", lambda g, out, p, q: g * as_array(q), lambda g, out, p, q: g * as_array(p))
derive("math.hypot", *(lambda g, out, *args, at=at: legs(g, out, args[at]) for at in range(8)))

_of_one = of_one(np)
for _name in "exp log10 sqrt sin cos tan sinh cosh tanh".split():
    derive(f"cmath.{_name}", _of_one[_name])
for _name in ARCS.split():
    derive(f"cmath.{_name}", _of_one[f"arc{_name[1:]}"])
derive("cmath.log", log, lambda g, out, x, base: -g * out / (base * np.log(base)))
derive("cmath.phase", lambda g, out, z: angle(g, z))
derive("cmath.polar", lambda g, out, z: absolute(g[0], out[0], z) + angle(g[1], z))
derive("cmath.rect", lambda g, out, r, phi: g * np.exp(1j * phi), lambda g, out, r, phi: g * 1j * out)

for _name in (*math_functions.OF_ONE, *math_functions.OF_TWO):
    lower(f"math.{_name}", math_functions.of_library(_name))
for _name in ("floor", "ceil", "trunc"):
    lower(f"math.{_name}", math_functions.rounded(_name))
lower("math.sqrt", math_functions.square_root)
lower("math.fabs", math_functions.absolute)
lower("math.copysign", math_functions.with_sign)
lower("math.fmod", math_functions.remainder)
lower("math.degrees", math_functions.DEGREES)
lower("math.radians", math_functions.RADIANS)
lower("math.isnan", math_functions.is_nan)
lower("math.isfinite", math_functions.is_finite)
