"""The functions of the module `math` on staged numbers.

They fail where Python's fail: a result that is not a number is an error of the program, raised when it runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax._src import core
from jax._src.lax import lax as lax_internal

from autograph.backends.jax import effects
from autograph.backends.jax.arrays import ArrayTrace

# By the names of `math`, the functions of `jax.numpy` or `jax.scipy.special`.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(jnp, name) for name in
    "sqrt cbrt exp exp2 expm1 log2 log10 log1p sin cos tan sinh cosh tanh hypot fmod copysign degrees radians "
    "nextafter isnan isinf isfinite gcd lcm floor ceil trunc fabs".split()
} | {
    "asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan, "atan2": jnp.arctan2, "asinh": jnp.arcsinh,
    "acosh": jnp.arccosh, "atanh": jnp.arctanh, "pow": jnp.power, "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc, "lgamma": jax.scipy.special.gammaln, "gamma": jax.scipy.special.gamma,
    "log": lambda x, base=None: jnp.log(x) if base is None else jnp.log(x) / jnp.log(base),
}  # fmt: skip
_TOTAL = frozenset(
    "cbrt tanh atan atan2 asinh hypot copysign degrees radians nextafter isnan isinf isfinite gcd lcm floor ceil trunc "
    "fabs erf erfc".split()
)
_INTEGRAL = frozenset({"floor", "ceil", "trunc"})
_OF_INTEGERS = frozenset({"gcd", "lcm"})
_POLES = frozenset({"log", "log2", "log10", "log1p", "atanh", "pow", "gamma", "lgamma"})  # where infinity is an error


def stages(name: str) -> bool:
    """Whether the function of `math` with a name is staged."""
    return name in _FUNCTIONS and hasattr(math, name)


def call(trace: ArrayTrace, name: str, args: tuple[Any, ...]) -> Any:
    """Call a function of `math` with numbers of which some are staged."""
    if name in _OF_INTEGERS:
        return _FUNCTIONS[name](*args)
    values = [trace.read(arg) for arg in args]
    with core.set_current_trace(trace.parent_trace):
        raw = [jnp.asarray(value, float) for value in values]
        result = _FUNCTIONS[name](*raw)
        if result.dtype == bool:
            return trace.array(result)
        kind = int if name in _INTEGRAL else float
        result = lax_internal._convert_element_type(result, jax.dtypes.canonicalize_dtype(kind), True)
        if name not in _TOTAL:
            finite = jnp.stack([jnp.isfinite(arg) for arg in raw]).all()
            nan = jnp.stack([jnp.isnan(arg) for arg in raw]).any()
            invalid, infinite = jnp.isnan(result) & ~nan, jnp.isinf(result) & finite
    if name not in _TOTAL:
        pole = name in _POLES
        with core.set_current_trace(trace.parent_trace):
            invalid = invalid | infinite if pole else invalid
        effects.fail(trace, ValueError("math domain error"), invalid)
        if not pole:
            effects.fail(trace, OverflowError("math range error"), infinite)
    return trace.array(result)
