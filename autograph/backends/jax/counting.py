"""Finds out while tracing how often a `while` runs, where that depends on numbers that are known then.

    i = 0
    while i < len(x):       # `i` is staged in the body, so that there is one; but it takes known values
        total += x[i]
        i += 1

The part of the body that computes the condition is run on the known numbers. If it needs nothing else, the loop has a
known number of iterations, like a `for`: so it has derivatives in both modes, and the numbers are known after it, too.

Integers and bools are computed by NumPy, which takes a hundredth of the time that JAX takes. The results are those of
XLA: integers wrap, and division rounds toward zero. Floats are left to JAX, as XLA may flush the smallest ones to zero.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax
from jax._src import core

from autograph.backends.jax.bodies import Outcome, fitted, index_aval
from autograph.backends.jax.devices import without_casts
from autograph.backends.jax.structures import Slot

ONE_BY_ONE = 200    # iterations that are counted by JAX without compiling them
BY_NUMPY = 5000     # the same where NumPy counts


def is_known(value: Any) -> bool:
    """Whether a leaf is a number that is known while tracing."""
    return not isinstance(value, (core.Tracer, Slot)) and isinstance(value, (bool, int, float, complex))


def is_independent(outcome: Outcome, carries: list[Any]) -> bool:
    """Whether a body computes with known numbers only, so that Python can run the loop."""
    known = all(is_known(carry.init) for carry in carries)
    return known and not outcome.jaxpr.effects and not any(isinstance(const, core.Tracer) for const in outcome.consts)


def count(outcome: Outcome, carries: list[Any], ends: dict[Any, Any]) -> tuple[int, dict[Any, Any]] | None:
    """Return the number of iterations of a loop that begins, and the final values of the numbers that determine it.

    None if it depends on what is known only when the program runs.
    """
    if type(outcome.result) is not Slot:
        return None
    jaxpr = without_casts(outcome.jaxpr)
    shift = len(outcome.consts)
    needed: list[Any] = []
    while True:
        slots = [outcome.result, *(ends[carry] for carry in needed)]
        if not all(type(slot) is Slot for slot in slots):
            return None
        wanted = {slot.at for slot in slots}
        small, used = _part(jaxpr, sorted(wanted))
        more = [carry for carry in carries if used[shift + carry.at]]
        if small.effects or not all(carry.absent is None and is_known(carry.init) for carry in more):
            return None
        if len(more) == len(needed):
            break
        needed = more
    places = {shift + carry.at for carry in needed} | {shift + 1}
    if any(is_used for at, is_used in enumerate(used) if at >= shift and at not in places):
        return None
    consts = [const for const, is_used in zip(outcome.consts, used) if is_used]
    if any(isinstance(const, core.Tracer) for const in consts):
        return None
    order = sorted(wanted)
    return _run(small, consts, used[shift + 1], needed, [order.index(slot.at) for slot in slots])


def _part(jaxpr: Any, wanted: list[int]) -> tuple[Any, list[bool]]:
    """Return the part of a jaxpr that computes some of its results, and which inputs this takes."""
    outvars = [jaxpr.outvars[at] for at in wanted]
    needed = {var for var in outvars if not isinstance(var, core.Literal)}
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outvars):
            eqns.append(eqn)
            needed |= {var for var in eqn.invars if not isinstance(var, core.Literal)}
    effects = core.join_effects(*(eqn.effects for eqn in eqns))
    used = [var in needed for var in jaxpr.invars]
    invars = [var for var, is_used in zip(jaxpr.invars, used) if is_used]
    debug = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    return core.Jaxpr((), invars, outvars, eqns[::-1], effects, debug), used


def _run(
    jaxpr: Any, consts: list[Any], counts: bool, needed: list[Any], places: list[int]
) -> tuple[int, dict[Any, Any]]:
    """Run the iterations on known numbers."""
    avals = [core.ShapedArray((), carry.aval.dtype, weak_type=carry.aval.weak_type) for carry in needed]

    def step(compute: Any, state: Any, fit: Any) -> Any:
        index, _, values = state
        results = compute(*consts, *([index] if counts else []), *values)
        more, *new = (results[place] for place in places)
        return index + 1, more, list(map(fit, new, avals))

    def body(state: Any) -> Any:
        by_jax = functools.partial(core.eval_jaxpr, jaxpr, ())
        return step(by_jax, state, fitted)

    with core.eval_context():
        state: Any = index_aval().dtype.type(0), True, [fitted(carry.init, aval) for carry, aval in zip(needed, avals)]
        compute = computing(jaxpr)
        if compute is not None:
            state = *state[:2], [np.asarray(value)[()] for value in state[2]]
            consts = [np.asarray(const)[()] for const in consts]
            with np.errstate(all="ignore"):
                while state[1] and state[0] < BY_NUMPY:
                    state = step(compute, state, lambda value, aval: value.astype(aval.dtype))
            state = *state[:2], list(map(fitted, state[2], avals))
        while state[1] and state[0] < ONE_BY_ONE:
            state = body(state)
        index, _, final = lax.while_loop(lambda state: state[1], body, state) if state[1] else state
        return int(index), {carry: value.item() for carry, value in zip(needed, final)}


# Integers -------------------------------------------------------------------------------------------------------------

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
