"""Python's `math` and `cmath`, whose functions return Python numbers for all arguments."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT
from autograph.runtime.graph.traits import ON_CONTAINER
from autograph.runtime.graph.types import ANY, BOOL, COMPLEX, FLOAT, INT, TensorType, Type
from autograph.runtime.ops.gradients.elementwise import OF_TWO, absolute, angle, hypot_term, of_one, quotient
from autograph.runtime.ops.gradients.reductions import others
from autograph.runtime.ops.gradients.toolkit import as_array, on_proxies, shape
from autograph.runtime.ops.inference.containers import iterated, tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import Unknown, operand
from autograph.runtime.ops.mathematics.special import polygamma
from autograph.runtime.ops.native import distances, math_functions


def rounded(x: Any) -> Type:
    """The rule of `math.floor` and so on, which call a method of the number."""
    x = operand(x)
    if x.weak or (x.shape == () and x.dtype.kind in "biuf"):
        return INT
    raise Unknown


def product(iterable: Any, /, *, start: Any = 1) -> Type:
    """The rule of `math.prod`: Python numbers of one class give that class."""
    item, first = iterated(iterable), operand(start)
    if not isinstance(item, TensorType) or not item.weak or not first.weak:
        raise Unknown
    if item.dtype.kind in "bi" and first.dtype.kind == "i":
        return INT
    if first.dtype.kind == item.dtype.kind == "f":
        return FLOAT
    raise Unknown


# ------------------------------------------------------------------------------------------------- derivatives

# Functions for derivatives, which also take proxies.
M = SimpleNamespace(**{name: on_proxies(getattr(math, name)) for name in "cos sin cosh sinh hypot exp trunc".split()})
ARCS = "asin acos atan asinh acosh atanh".split()


def log(g: Any, out: Any, x: Any, base: Any = math.e) -> Any:
    return g / x if base is math.e else g / (x * np.log(base))


def erf(sign: float) -> Any:
    """The derivative of `erf`, or of `erfc` with the other sign."""
    return lambda g, out, x: g * M.exp(-x * x) * (sign * 2 / math.sqrt(math.pi))


def dist(sign: int) -> Any:
    return lambda g, out, p, q: hypot_term(g, out, sign * (as_array(p) - as_array(q)))


def product_of(g: Any, out: Any, iterable: Any, start: Any = 1) -> Any:
    return g * start * others(as_array(iterable), None)


def log_of_base(g: Any, out: Any, x: Any, base: Any) -> Any:
    return -g * out / (base * np.log(base))


# ------------------------------------------------------------------------------------------------ declarations
# Not `factorial`, `comb`, `perm` and `prod` are foldable: their results may be huge.

_OF_ONE = of_one(M)


def _float(name: str, **facts: Any) -> None:
    """Declare a function of `math` that returns floats, lowered to that of the C library, if there is one."""
    library = math_functions.of_library(name) if name in math_functions.LIBRARY else None
    functions(f"math.{name}", FLOAT, foldable=True, **{"lower": library, **facts})


for _name in "exp exp2 expm1 log2 log10 log1p cbrt sin cos tan sinh cosh tanh".split():
    _float(_name, vjp=_OF_ONE[_name])
for _name in ARCS:
    _float(_name, vjp=_OF_ONE[f"arc{_name[1:]}"])
_float("sqrt", vjp=_OF_ONE["sqrt"], lower=math_functions.square_root)
_float("fabs", vjp=_OF_ONE["fabs"], lower=math_functions.exact("fabs"))
_float("degrees", vjp=_OF_ONE["degrees"], lower=math_functions.DEGREES)
_float("radians", vjp=_OF_ONE["radians"], lower=math_functions.RADIANS)
_float("log", vjp=(log, log_of_base), lower=math_functions.logarithm)
_float("erf", vjp=erf(1))
_float("erfc", vjp=erf(-1))
_float("lgamma", vjp=lambda g, out, x: g * polygamma(0, x))
_float("gamma", vjp=lambda g, out, x: g * out * polygamma(0, x))
_float("atan2", vjp=OF_TWO["arctan2"])
_float("pow", vjp=OF_TWO["power"])
_float("copysign", vjp=OF_TWO["copysign"], lower=math_functions.exact("copysign"))
_float("fmod", vjp=quotient(lambda x, y: M.trunc(x / y)), lower=math_functions.remainder)
_float("remainder", vjp=(lambda g, out, x, y: g, lambda g, out, x, y: -g * np.rint((x - out) / y)))
_float("ldexp", vjp=OF_TWO["ldexp"])
_float("nextafter", vjp=OF_TWO["nextafter"])
_float("ulp", vjp=NO_GRADIENT)
_float("fma", vjp=(lambda g, out, x, y, z: g * y, lambda g, out, x, y, z: g * x, lambda g, out, *_: g))
_float("dist", vjp=(dist(1), dist(-1)), lower=distances.dist, traits=[(ON_CONTAINER, "distance")])
_float("fsum", vjp=lambda g, out, seq: np.broadcast_to(g, shape(seq)))
_float(
    "hypot", vjp=tuple(lambda g, out, *args, at=at: hypot_term(g, out, args[at]) for at in range(8)),
    lower=distances.hypot,
)  # fmt: skip
for _name in ("floor", "ceil", "trunc"):
    functions(f"math.{_name}", rounded, foldable=True, vjp=NO_GRADIENT, lower=math_functions.rounded(_name))
functions("math.gcd", INT, foldable=True, lower=math_functions.gcd)
functions("math.lcm", INT, foldable=True, lower=math_functions.lcm)
functions("math.isqrt", INT, foldable=True, lower=math_functions.integer_root)
functions("math.comb math.factorial math.perm", INT)
functions("math.isclose", BOOL, foldable=True, lower=math_functions.is_close)
functions("math.isinf", BOOL, foldable=True)
functions("math.isfinite", BOOL, foldable=True, lower=math_functions.is_finite)
functions("math.isnan", BOOL, foldable=True, lower=math_functions.is_nan)
functions("math.frexp", tuple_of(FLOAT, INT), foldable=True, vjp=lambda g, out, x: np.ldexp(g[0], -out[1]))
functions("math.modf", tuple_of(FLOAT, FLOAT), foldable=True, vjp=lambda g, out, x: g[0])
functions("math.prod", product, vjp=(product_of, lambda g, out, iterable, start: g * np.prod(as_array(iterable))))
functions(
    "math.sumprod", ANY, foldable=True,
    vjp=(lambda g, out, p, q: g * as_array(q), lambda g, out, p, q: g * as_array(p)),
)  # fmt: skip

_OF_COMPLEX = of_one(np)
for _name in "exp log10 sqrt sin cos tan sinh cosh tanh".split():
    functions(f"cmath.{_name}", COMPLEX, vjp=_OF_COMPLEX[_name])
for _name in ARCS:
    functions(f"cmath.{_name}", COMPLEX, vjp=_OF_COMPLEX[f"arc{_name[1:]}"])
functions("cmath.log", COMPLEX, vjp=(log, log_of_base))
functions("cmath.phase", FLOAT, vjp=lambda g, out, z: angle(g, z))
functions("cmath.polar", tuple_of(FLOAT, FLOAT), vjp=lambda g, out, z: absolute(g[0], out[0], z) + angle(g[1], z))
functions("cmath.rect", COMPLEX, vjp=(lambda g, out, r, phi: g * np.exp(1j * phi), lambda g, out, r, phi: g * 1j * out))
functions("cmath.isclose cmath.isfinite cmath.isinf cmath.isnan", BOOL)
