"""Builtin functions on staged values. Each returns NotImplemented where Python does as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax._src import core

from autograph.backends.jax import effects, iterables
from autograph.backends.jax.arrays import ArrayTrace, is_array
from autograph.backends.jax.bodies import is_staged, truth
from autograph.backends.jax.lines import here
from autograph.backends.jax.views import weak
from autograph.operators.conditionals import if_exp
from autograph.operators.logical import and_, or_


def print_(trace: ArrayTrace, *args: Any, **kwargs: Any) -> Any:
    if not (trace.path or effects.runs_later(trace) or effects.contains_staged([*args])):
        return NotImplemented
    return effects.print_(trace, args, kwargs)


def len_(trace: ArrayTrace, value: Any) -> Any:
    if isinstance(value, iterables.Source):
        return value.length if type(value.length) is int else trace.array(value.length)
    if is_array(value) and value.ndim and core.is_symbolic_dim(value.shape[0]):
        return value.shape[0]       # not an int, as `len` must return
    return NotImplemented


def int_(trace: ArrayTrace, value: Any = 0, *args: Any) -> Any:
    if not is_staged(value):
        return NotImplemented
    if jnp.issubdtype(value.dtype, jnp.floating):
        value = jnp.trunc(value)
    return weak(value, int)


def float_(trace: ArrayTrace, value: Any = 0.0) -> Any:
    return weak(value, float) if is_staged(value) else NotImplemented


def bool_(trace: ArrayTrace, value: Any = False) -> Any:
    if not is_staged(value):
        return NotImplemented
    return weak(trace.array(truth(trace, value)), bool)


def complex_(trace: ArrayTrace, *args: Any) -> Any:
    return weak(args[0], complex) if len(args) == 1 and is_staged(args[0]) else NotImplemented


def str_(trace: ArrayTrace, *args: Any) -> Any:
    return _text(trace, str, args)


def repr_(trace: ArrayTrace, *args: Any) -> Any:
    return _text(trace, repr, args)


def format_(trace: ArrayTrace, *args: Any) -> Any:
    return _text(trace, format, args)


def _text(trace: ArrayTrace, make: Callable[..., str], args: Sequence[Any]) -> Any:
    if not effects.contains_staged([*args]):
        return NotImplemented
    return effects.formatted(trace, lambda: make(*args))


def max_(trace: ArrayTrace, *args: Any, **kwargs: Any) -> Any:
    return _extreme(trace, args, kwargs, lambda new, best: new > best, jnp.maximum)


def min_(trace: ArrayTrace, *args: Any, **kwargs: Any) -> Any:
    return _extreme(trace, args, kwargs, lambda new, best: new < best, jnp.minimum)


def _extreme(
    trace: ArrayTrace, args: Sequence[Any], kwargs: Mapping[str, Any], wins: Callable[[Any, Any], Any],
    of_integers: Callable[[Any, Any], Any],
) -> Any:
    values: Any = args[0] if len(args) == 1 else args
    if is_array(values) or isinstance(values, iterables.Source):
        values = list(iterables.source_of(trace, values).items(trace))  # type: ignore[union-attr]
    if not isinstance(values, (list, tuple)) or not values or not effects.contains_staged([*values]):
        return NotImplemented
    key = kwargs.get("key") or (lambda value: value)
    best = values[0]
    for value in values[1:]:
        are_integers = "key" not in kwargs and _is_integer(value) and _is_integer(best)
        best = of_integers(best, value) if are_integers else _better(trace, value, best, key, wins)
    return best


def _is_integer(value: Any) -> bool:
    return type(value) is int or (is_array(value) and value.ndim == 0 and value.dtype.kind in "iu")


def _better(trace: ArrayTrace, value: Any, best: Any, key: Any, wins: Any) -> Any:
    won = wins(key(value), key(best))
    if not is_staged(won):
        return value if won else best
    return if_exp(won, lambda: value, lambda: best)


def any_(trace: ArrayTrace, values: Any) -> Any:
    return _decided(trace, values, True)


def all_(trace: ArrayTrace, values: Any) -> Any:
    return _decided(trace, values, False)


def _decided(trace: ArrayTrace, values: Any, decides: bool) -> Any:
    """`any` or `all`: whether the truth of one of the values is `decides`."""
    if is_array(values) or isinstance(values, iterables.Source):
        values = list(iterables.source_of(trace, values).items(trace))  # type: ignore[union-attr]
    if not isinstance(values, (list, tuple)) or not effects.contains_staged([*values]):
        return NotImplemented
    found: Any = not decides
    for value in values:
        operator = or_ if decides else and_
        found = operator(partial(_same, found), partial(_same, value), test=True)
    return found


def _same(value: Any) -> Any:
    return value


def sorted_(trace: ArrayTrace, values: Any, *, key: Any = None, reverse: bool = False) -> Any:
    items = list(values) if not isinstance(values, iterables.Source) else list(values.items(trace))
    if not effects.contains_staged(items):
        return NotImplemented
    if key is not None or not all(jnp.ndim(item) == 0 for item in items):
        raise here("JAX stages `sorted` of numbers, without a key; use jnp.argsort")
    ordered = jnp.sort(jnp.stack(items))
    return list(ordered[::-1] if reverse else ordered)
