"""The loop of JAX that runs the iterations of a loop of the program: a `scan`, or a `while_loop`.

It carries what an iteration needs only: the number of the iteration, and whether there is another one, are left out
where nothing depends on them. The results of a `while_loop` pass through a primitive that does nothing, but to say
which loop has no derivatives in reverse mode, where JAX only says that some loop has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax._src import core
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from autograph.backends.jax import effects
from autograph.backends.jax.bodies import index_aval
from autograph.backends.jax.branches import is_cheap
from autograph.backends.jax.devices import varying
from autograph.backends.jax.structures import Slot
from autograph.errors import StagingError

LONG = 256      # bounded loops of more iterations compute some of them again for derivatives
Iterate = Callable[[Any, Any, Any, Any], tuple[Any, list[Any], list[Any]]]


def lowered(
    loop: Any, first: Any, init: list[Any], iterate: Iterate, sources: tuple[list[Any], list[tuple[Any, Any]]] | None
) -> list[Any]:
    """Run a loop in the trace below.

    Args:
        loop: the `Loop`, whose body is traced.
        first: whether there is a first iteration, if it is known only when the program runs.
        init: what it carries, before it.
        iterate: runs an iteration. Gets whether it runs, its number, its parts of the arrays, and what is carried.
            Returns whether there is another one, or None, what is carried then, and what is appended to lists.
        sources: for each value that is carried, the variable of the body's jaxpr with it, or None; and the variables
            of that jaxpr that are the same in all iterations, with their values. None if whether there is another
            iteration cannot be computed of these.

    Returns:
        what is carried after it, and what is appended in all iterations.
    """
    lowering = _Lowering(loop, iterate, first)
    if type(loop.length) is int and not lowering.may_end:
        return lowering.scan(init)
    if loop.growing:
        raise StagingError(
            f"{loop.construct}: a list grows by a number of items that is known only when the program runs. Make "
            "an array for the largest number of items before the loop, and count how many there are", *loop.where)
    if type(loop.length) is int:
        loop.trace.note(loop.construct, "scan and cond", f"at most {loop.length} iterations: it may end before")
        return list(lowering.bounded(loop.length, init)[2])
    if loop.bound is not None:
        loop.trace.note(loop.construct, "scan and cond", f"at most {loop.bound} iterations, as max_trips says")
        index, go, final = lowering.bounded(loop.bound, init)
        error = StagingError(f"this {loop.construct} runs more often than max_trips={loop.bound} says", *loop.where)
        effects.fail(loop.trace, error, lowering.runs(index, go))
        return list(final)
    return lowering.while_loop(init, sources)


class _Lowering:
    """The common parts of the loops of JAX. They carry the number of the iteration, whether it runs, and values.

    Attributes:
        may_end: whether an iteration decides if there is another one.
        asks: whether the body needs to know that it runs: it may be computed in vain under `vmap`.
        counts: whether the number of the iteration is carried.
        by_index: whether an iteration takes its parts of the arrays itself.
    """

    def __init__(self, loop: Any, iterate: Iterate, first: Any) -> None:
        self.loop = loop
        self.iterate = iterate
        self.first = first
        self.may_end = first is not None or loop.outcome.result is not None
        jaxpr = loop.outcome.jaxpr
        is_staged = loop.length is not None and type(loop.length) is not int
        runs, index, *_ = loop.outcome.inputs
        self.asks = _uses(jaxpr, runs)
        self.counts = is_staged or _uses(jaxpr, index)
        self.by_index = is_staged and bool(loop.arrays)

    def start(self, init: list[Any]) -> tuple[Any, Any, list[Any]]:
        """Return the values to carry before the first iteration."""
        index = varying(lax.full((), 0, index_aval().dtype), self.loop.axes) if self.counts else None
        return index, self.decided(lax.full((), True) if self.first is None else self.first), init

    def decided(self, more: Any) -> Any:
        """Whether there is another iteration, as far as the last one decides; None if it does not."""
        return varying(jax.numpy.asarray(more), self.loop.axes) if self.may_end else None

    def runs(self, index: Any, go: Any) -> Any:
        """Whether an iteration runs."""
        if index is None or type(self.loop.length) is int or self.loop.length is None:
            return lax.full((), True) if go is None else go
        inside = index < self.loop.length
        return inside if go is None else inside & go

    def body(self, carried: Any, parts: Any) -> tuple[tuple[Any, Any, list[Any]], list[Any]]:
        """Run an iteration."""
        index, go, values = carried
        if self.by_index:
            parts = [lax.dynamic_index_in_dim(array, index, keepdims=False) for array in self.loop.arrays]
        runs = self.runs(index, go) if self.asks else None
        more, new, appended = self.iterate(runs, index, parts or (), values)
        return (None if index is None else index + 1, self.decided(more), new), appended

    def scan(self, init: list[Any]) -> list[Any]:
        loop = self.loop
        loop.trace.note(loop.construct, "scan", f"{loop.length} iterations")
        (_, _, final), appended = lax.scan(self.body, self.start(init), loop.arrays, length=loop.length)
        return [*final, *appended]

    def while_loop(self, init: list[Any], sources: tuple[list[Any], list[tuple[Any, Any]]] | None) -> list[Any]:
        loop = self.loop
        loop.trace.note(loop.construct, "while_loop", "the number of iterations is known only when it runs")
        condition = None
        if sources is not None and not self.asks and loop.length is None:
            condition = _condition(loop.outcome, *sources)
        if condition is not None:
            self.may_end = False    # as far as it is carried

        def test(state: Any) -> Any:
            if condition is None:
                return self.runs(*state[:2])
            more = condition(state[2])
            return more if self.first is None else self.first & more

        _, _, final = lax.while_loop(test, lambda state: self.body(state, [])[0], self.start(init))
        return results_of_loop(final, loop.construct, loop.where)

    def bounded(self, length: int, init: list[Any]) -> Any:
        """Return the values carried after a loop of at most `length` iterations, with derivatives in both modes."""
        arrays = None if self.by_index else self.loop.arrays

        def step(carried: Any, parts: Any) -> Any:
            return lax.cond(self.runs(*carried[:2]), lambda: self.body(carried, parts)[0], lambda: carried), None

        state = self.start(init)
        if length <= LONG or type(self.loop.length) is int:
            return lax.scan(step, state, arrays, length=length)[0]
        inner = math.isqrt(length - 1) + 1     # only the state before each of so many iterations is kept

        def several(carried: Any, _: Any) -> Any:
            return lax.scan(step, carried, None, length=inner)[0], None

        state, _ = lax.scan(jax.checkpoint(several), state, None, length=length // inner)
        return lax.scan(step, state, None, length=length % inner)[0]


def _condition(
    outcome: Any, carried: list[Any], known: list[tuple[Any, Any]]
) -> Callable[[list[Any]], Any] | None:
    """Return a function that computes from what is carried whether there is another iteration.

    XLA runs it faster than a loop that carries the answer. None if the answer depends on more, or takes long.
    """
    more = outcome.jaxpr.outvars[outcome.result.at] if type(outcome.result) is Slot else None
    if not isinstance(more, core.Var):
        return None
    inputs = [var for var in carried if var is not None] + [var for var, _ in known]
    needed, eqns = {more}, []
    for eqn in reversed(outcome.jaxpr.eqns):
        if not needed.isdisjoint(set(eqn.outvars).difference(inputs)):
            eqns.append(eqn)
            needed |= {var for var in eqn.invars if not isinstance(var, core.Literal)}
    if not needed <= {var for eqn in eqns for var in eqn.outvars}.union(inputs):
        return None
    debug = outcome.jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    effects_of = core.join_effects(*(eqn.effects for eqn in eqns))
    part = core.Jaxpr((), inputs, [more], eqns[::-1], effects_of, debug)
    if not is_cheap(part):
        return None

    def condition(values: list[Any]) -> Any:
        now = [value for var, value in zip(carried, values) if var is not None]
        return core.eval_jaxpr(part, (), *now, *(value for _, value in known))[0]

    return condition


def _uses(jaxpr: Any, var: Any) -> bool:
    """Whether a jaxpr needs one of its inputs."""
    return any(each is var for eqn in jaxpr.eqns for each in eqn.invars) or any(each is var for each in jaxpr.outvars)


# Derivatives ----------------------------------------------------------------------------------------------------------

_result = Primitive("loop_result")
_tangent = Primitive("loop_tangent")


def results_of_loop(values: list[Any], construct: str, where: tuple[Any, ...]) -> list[Any]:
    """Return the values of a loop's variables after it, with the guard around floats."""
    message = (
        f"this {construct} has no derivatives in reverse mode, as JAX does not know how often it runs. Set a bound, in "
        "its body: ag.set_loop_options(max_trips=n); or use forward mode (jax.jvp, jax.jacfwd)"
    )
    guard = {"message": message, "where": tuple(where)}
    return [_result.bind(value, **guard) if value.dtype.kind in "fcV" else value for value in values]


def _jvp(primals: Any, tangents: Any, **guard: Any) -> Any:
    tangent = tangents[0]
    is_zero = type(tangent) is ad.Zero
    return _result.bind(*primals, **guard), tangent if is_zero else _tangent.bind(tangent, **guard)


def _transpose(cotangent: Any, value: Any, *, message: str, where: tuple[Any, ...]) -> Any:
    if type(cotangent) is ad.Zero:
        return [cotangent]
    raise StagingError(message, *where)


def _define(primitive: Primitive) -> None:
    primitive.def_impl(lambda value, **_: value)
    primitive.def_abstract_eval(lambda aval, **_: aval)
    batching.primitive_batchers[primitive] = lambda args, dims, **guard: (primitive.bind(*args, **guard), dims[0])
    mlir.register_lowering(primitive, lambda context, value, **_: [value])


_define(_result)
_define(_tangent)
ad.primitive_jvps[_result] = _jvp
ad.primitive_jvps[_tangent] = lambda primals, tangents, **guard: (
    _tangent.bind(*primals, **guard),
    tangents[0] if type(tangents[0]) is ad.Zero else _tangent.bind(tangents[0], **guard),
)
ad.primitive_transposes[_tangent] = _transpose
