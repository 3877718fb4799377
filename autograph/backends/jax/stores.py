"""Stores into arrays of JAX, without two errors of XLA (of JAX 0.10.2, on CPUs).

XLA compiles `x[1:] = x[:-1]` to a loop that writes in place. It takes care of elements that the loop still has to read.
But if `x` was reshaped before, XLA moves the reading slice before the reshape, and then does not see that it reads what
it writes. So such a store writes into a new array, and selects.

`x.at[:].set(number)` becomes an operation that XLA cannot reverse: it ends the process. So it is a broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
from jax._src.interpreters.partial_eval import DynamicJaxprTracer

MANY = 200      # operations that are looked at
_RESHAPES = frozenset({"reshape", "squeeze", "expand_dims", "jit", "pjit"})    # the last two may hold one


def stored(old: Any, index: Any, new: Any) -> Any:
    """Return an array with `old[index] = new`."""
    parts = index if isinstance(index, tuple) else (index,)
    if all(part is ... or _is_whole(part) for part in parts):
        return jnp.broadcast_to(new, old.shape)
    if any(isinstance(part, slice) and not _is_whole(part) for part in parts) and _is_at_risk(old, new):
        places, alone = (jnp.zeros(old.shape, dtype).at[index] for dtype in (bool, old.dtype))
        return jnp.where(places.set(True), alone.set(new), old)
    return jnp.asarray(old).at[index].set(new)


def getter_and_putter(index: Any) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """Return the functions that read and replace what an index takes from an array."""
    return (lambda base: base[index]), (lambda base, new: stored(base, index, new))


def _is_whole(part: Any) -> bool:
    return isinstance(part, slice) and part.start is part.stop is part.step is None


def _is_at_risk(old: Any, new: Any) -> bool:
    """Whether an array was reshaped, and a value was computed from it, or from what it was computed from."""
    sources, is_reshaped = set(), False
    for tracer in _sources(old):
        sources.add(id(tracer))
        is_reshaped |= tracer.parent is not None and tracer.parent.primitive.name in _RESHAPES
    return is_reshaped and any(id(tracer) in sources for tracer in _sources(new))


def _sources(value: Any) -> Iterator[DynamicJaxprTracer]:
    """A value and those that it was computed from, in the innermost body that is being traced."""
    waiting: list[Any] = [value]
    visited: set[int] = set()
    while waiting and len(visited) < MANY:
        tracer = waiting.pop()
        while type(tracer) is not DynamicJaxprTracer:
            tracer = getattr(tracer, "val", getattr(tracer, "primal", None))    # of a tracer of vmap or of derivatives
            if tracer is None:
                break
        if tracer is None or id(tracer) in visited:
            continue
        visited.add(id(tracer))
        yield tracer
        if tracer.parent is not None:
            waiting += tracer.parent.in_tracers
