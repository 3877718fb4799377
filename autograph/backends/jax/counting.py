"""Finds out while tracing how often a `while` runs, where that depends on numbers that are known then.

    i = 0
    while i < len(x):       # `i` is staged in the body, so that there is one; but it takes known values
        total += x[i]
        i += 1

The part of the body that computes the condition is run on the known numbers. If it needs nothing else, the loop has a
known number of iterations, like a `for`: so it has derivatives in both modes, and the numbers are known after it, too.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from jax import lax
from jax._src import core
from jax._src.interpreters import partial_eval as pe

from autograph.backends.jax.bodies import Outcome, fitted, index_aval
from autograph.backends.jax.integers import computing
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
    jaxpr = pe.convert_constvars_jaxpr(outcome.jaxpr)
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
    def step(compute: Any, state: Any, fit: Any) -> Any:
        index, _, values = state
        results = compute(*consts, *([index] if counts else []), *values)
        more, *new = (results[place] for place in places)
        return index + 1, more, list(map(fit, new, needed))

    def body(state: Any) -> Any:
        by_jax = functools.partial(core.eval_jaxpr, jaxpr, ())
        return step(by_jax, state, lambda value, carry: fitted(value, carry.aval))

    with jax.ensure_compile_time_eval():
        state: Any = index_aval().dtype.type(0), True, [fitted(carry.init, carry.aval) for carry in needed]
        compute = computing(jaxpr)
        if compute is not None:
            state = *state[:2], [np.asarray(value)[()] for value in state[2]]
            consts = [np.asarray(const)[()] for const in consts]
            with np.errstate(all="ignore"):
                while state[1] and state[0] < BY_NUMPY:
                    state = step(compute, state, lambda value, carry: value.astype(carry.aval.dtype))
            state = *state[:2], [fitted(value, carry.aval) for value, carry in zip(state[2], needed)]
        while state[1] and state[0] < ONE_BY_ONE:
            state = body(state)
        index, _, final = lax.while_loop(lambda state: state[1], body, state) if state[1] else state
        return int(index), {carry: value.item() for carry, value in zip(needed, final)}
