"""JAX as an oracle: the functions of JAX that ops are, and both libraries' derivatives of a call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.graph.opdef import lookup
from tests.runtime.derivatives import calling

jax.config.update("jax_enable_x64", True)

_MATH = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan"}
_MATH |= {"atanh": "arctanh", "atan2": "arctan2", "pow": "power", "phase": "angle"}
_SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln", "polygamma": "polygamma"}
_OPERATORS = frozenset("add sub mul truediv mod pow neg pos abs matmul".split())
_SYNTAX = {"getitem": lambda x, at: x[at], "getattr": lambda x, name: getattr(x, name)}


def of_jax(op: str) -> Callable[..., Any] | None:
    """JAX's function for an op; None if it has none."""
    if op.startswith("."):
        name = op[1:]
        return (lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)) if hasattr(jnp.ones(1), name) else None
    library, _, name = op.rpartition(".")
    if library.startswith("np"):
        found: Any = jnp
        for part in op.split(".")[1:]:
            found = getattr(found, part, None)
        return found
    if library in ("math", "cmath"):
        if name in _SPECIAL:
            return getattr(jax.scipy.special, _SPECIAL[name])
        return getattr(jnp, _MATH.get(name, name), None)
    if op in _SPECIAL:
        return getattr(jax.scipy.special, op)
    return getattr(operator, op, None) if op in _OPERATORS else {**_SYNTAX, "float": jnp.float64}.get(op)


class Call:
    """A call of an op, as a function of those of its arguments that are differentiated.

    Args:
        op: the name of the op.
        args, kwargs: what it is called with.

    Attributes:
        floats: the arguments that are floats, arrays of these, or lists.
    """

    def __init__(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.op = op
        self.args, self.kwargs = args, kwargs
        rules = lookup(op).vjp or ()
        self.places = [at for at, (rule, arg) in enumerate(zip(rules, args)) if rule is not None and _is_float(arg)]
        self.floats = [args[at] for at in self.places]

    def ours(self) -> Callable[..., Any]:
        return self._calling(_SYNTAX.get(self.op) or calling(self.op))

    def jaxs(self) -> Callable[..., Any]:
        function = of_jax(self.op)
        assert function is not None
        return self._calling(function)

    def _calling(self, function: Callable[..., Any]) -> Callable[..., Any]:
        places, constants, kwargs = self.places, list(self.args), self.kwargs

        def call(*floats):
            args = constants.copy()
            for place, value in zip(places, floats):
                args[place] = value
            return function(*args, **kwargs)

        return call


def _is_float(arg: Any) -> bool:
    if isinstance(arg, (list, tuple)):
        return bool(arg) and all(map(_is_float, arg))
    return isinstance(arg, (np.ndarray, np.generic, float, complex)) and np.asarray(arg).dtype.kind in "fc"
