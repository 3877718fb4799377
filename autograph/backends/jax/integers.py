"""Computes jaxprs of integers and bools on scalars of NumPy, which takes a hundredth of the time that JAX takes.

The results are those of XLA: integers wrap, and division rounds toward zero. Floats are left to JAX, as XLA may flush
the smallest ones to zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from jax._src import core

_SAME = frozenset({"broadcast_in_dim", "copy", "reshape", "squeeze", "stop_gradient"})     # on scalars
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg, "abs": np.abs, "sign": np.sign,
    "max": np.maximum, "min": np.minimum, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "not": operator.invert, "select_n": lambda which, *cases: cases[int(which)],
}  # fmt: skip


def computing(jaxpr: Any) -> Callable[..., list[Any]] | None:
    """Return a function that computes a jaxpr; None if it needs JAX."""
    if not all(_is_scalar(var.aval) for var in (*jaxpr.invars, *jaxpr.outvars)) or jaxpr.constvars:
        return None
    steps = []
    for eqn in jaxpr.eqns:
        step = _step(eqn)
        if step is None or not all(_is_scalar(var.aval) for var in (*eqn.invars, *eqn.outvars)):
            return None
        steps.append((step, list(map(_source, eqn.invars)), eqn.outvars))
    if not all(_is_scalar(var.aval) for var in (*jaxpr.invars, *jaxpr.outvars)) or jaxpr.constvars:
        return None

    results = list(map(_source, jaxpr.outvars))

    def run(*values: Any) -> list[Any]:
        known = dict(zip(jaxpr.invars, values))
        for step, sources, outvars in steps:
            known.update(zip(outvars, step(*[known[var] if var else constant for var, constant in sources])))
        return [known[var] if var else constant for var, constant in results]

    return run


def _source(var: Any) -> tuple[Any, Any]:
    """A variable of a jaxpr, or a constant."""
    return (None, var.aval.dtype.type(var.val)) if isinstance(var, core.Literal) else (var, None)


def _is_scalar(aval: Any) -> bool:
    return getattr(aval, "shape", None) == () and aval.dtype.kind in "biu"


def _step(eqn: Any) -> Callable[..., Any] | None:
    """Return a function that computes the results of an operation."""
    name = eqn.primitive.name
    if name in ("jit", "pjit"):
        return computing(eqn.params["jaxpr"].jaxpr)
    if name == "convert_element_type":
        dtype = eqn.params["new_dtype"]
        return lambda value: (value.astype(dtype),)
    if name in _SAME:
        return lambda value: (value,)
    if name in ("div", "rem"):
        return lambda a, b: (_divided(a, b)[name == "rem"],)
    operation = _OPERATIONS.get(name)
    return None if operation is None else lambda *values: (operation(*values),)


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """The quotient, rounded toward zero, and the remainder; by zero, as XLA has them, -1 and the dividend."""
    if b == 0:
        return a.dtype.type(0) - a.dtype.type(1), a
    quotient = abs(int(a)) // abs(int(b))
    signed = np.array(quotient if (a < 0) == (b < 0) else -quotient).astype(a.dtype)[()]
    return signed, a - signed * b
