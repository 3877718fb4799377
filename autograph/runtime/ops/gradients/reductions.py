"""Derivatives of sums, products, extremes and moments, for functions, methods and ufuncs alike.

Elements that equal the maximum or minimum share the gradient equally. The derivative of a product is the product of the
other elements, also if some of them are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import Vjp, declare
from autograph.runtime.graph.types import TensorType, Type
from autograph.runtime.ops.gradients.data_movement import numbered, scatter_add
from autograph.runtime.ops.gradients.elementwise import fit_list, hypot_term, log_sum, nonzero
from autograph.runtime.ops.gradients.toolkit import as_array, conj, on_proxies, shape
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import array_like, broadcast

# The parameters after the array in NumPy's functions, methods and `ufunc.reduce`.
ORDINARY = "axis dtype out keepdims initial where"
EXTREME = "axis out keepdims initial where"
MOMENT = "axis dtype out ddof keepdims"


def reducing(
    rule: Vjp, names: str = ORDINARY, *, axis: int | None = None, missing: float | None = None, masked: bool = True
) -> Vjp:
    """The derivative of a function that reduces an array, from a rule that gets everything broadcast to the array.

    Args:
        rule: called with the gradient, the output, the array, the axis, the mask of the elements that count (or True),
            and all arguments by name.
        names: those of the parameters after the array.
        axis: the default.
        missing: replaces nan, for functions that ignore it.
        masked: whether to set the gradient of elements that do not count to zero.
    """
    order = names.split()

    def vjp(g: Any, out: Any, x: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = {"axis": axis, **dict(zip(order, args)), **kwargs}
        along = given["axis"]
        given = {key: arg for key, arg in given.items() if arg is not None and arg is not np._NoValue}
        a, mask = as_array(x), given.get("where", True)
        if along is not None and not given.get("keepdims", False):
            g, out = np.expand_dims(g, along), np.expand_dims(out, along)
        if missing is not None:
            there = np.logical_not(np.isnan(a))
            a, mask = np.where(there, a, missing), there if mask is True else np.logical_and(there, mask)
        found = rule(g, out, a, along, mask, given)
        if not masked:
            return found
        return fit_list(found if mask is True else np.where(mask, found, 0), x)

    return vjp


def reductions(rule: Vjp, of_initial: Vjp, names: str = ORDINARY, **options: Any) -> tuple[Vjp | None, ...]:
    """The derivatives of a reduction that has a parameter `initial`."""
    position = names.split().index("initial")
    initial = reducing(of_initial, names, masked=False, **options)
    return reducing(rule, names, **options), *[None] * position, initial


# ------------------------------------------------------------------------------------------------------ the rules


def total(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    return g


def mean(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    return g / how_many(a, axis, mask)


def how_many(a: Any, axis: Any, mask: Any) -> Any:
    """The number of elements that are reduced to one."""
    sizes, found = shape(a), 1
    if mask is not True:
        return np.sum(np.broadcast_to(mask, sizes), axis, keepdims=True, dtype=getattr(a, "dtype", None))
    for each in range(len(sizes)) if axis is None else axis if isinstance(axis, tuple) else (axis,):
        found = found * sizes[each]
    return found


def variance(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    about = given.get("mean")
    if about is None:
        about = np.mean(a, axis, keepdims=True, **({} if mask is True else {"where": mask}))
    return g * 2 * conj(a - about) / (how_many(a, axis, mask) - given.get("correction", given.get("ddof", 0)))


def deviation(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    """The derivative of the standard deviation; zero where all elements are equal, at the kink."""
    return variance(g / (2 * nonzero(out)), out, a, axis, mask, given)


def extreme(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    same = np.equal(a, out)
    ties = _ties(same, a, axis, mask)
    if "initial" in given:
        ties = ties + np.equal(out, given["initial"])
    return np.where(same, g / np.maximum(ties, 1), 0)


def _ties(same: Any, a: Any, axis: Any, mask: Any) -> Any:
    """How many elements that count are the extreme."""
    counted = same if mask is True else np.logical_and(same, mask)
    return np.sum(counted, axis, keepdims=True, dtype=getattr(a, "dtype", None))


def extreme_of_initial(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    ties = _ties(np.equal(a, out), a, axis, mask)
    return np.where(np.equal(out, given["initial"]), g / (1 + ties), 0)


def extent(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    """The derivative of `ptp`, the maximum minus the minimum."""
    high, low = np.max(a, axis, keepdims=True), np.min(a, axis, keepdims=True)
    return extreme(g, high, a, axis, True, {}) - extreme(g, low, a, axis, True, {})


def product(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    found = g * others(a if mask is True else np.where(mask, a, 1), axis)
    return found * given["initial"] if "initial" in given else found


def product_of_initial(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    return g * np.prod(a, axis, keepdims=True, where=mask)


def log_sum_of(exp: Callable[..., Any]) -> Vjp:
    """The derivative of `logaddexp.reduce` or `logaddexp2.reduce`."""
    return lambda g, out, a, axis, mask, given: log_sum(exp)(g, out, a)


def root_of_squares(g: Any, out: Any, a: Any, axis: Any, mask: Any, given: Any) -> Any:
    """The derivative of `hypot.reduce`."""
    return hypot_term(g, out, a)


def others(x: Any, axis: Any) -> Any:
    """For each element the product of the others, along an axis, several axes, or all."""
    return in_rows(x, axis, lambda row: before(row) * np.flip(before(np.flip(row, -1)), -1))


def before(row: Any) -> Any:
    """The product of the elements before each, along the last axis."""
    return np.concatenate([np.ones_like(row[..., :1]), np.cumprod(row[..., :-1], -1)], -1)


def in_rows(x: Any, axis: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function of the last axis along another axis, several axes as one, or all."""
    if axis is None:
        return np.reshape(function(np.ravel(x)), shape(x))
    if not isinstance(axis, tuple):
        return np.moveaxis(function(np.moveaxis(x, axis, -1)), -1, axis)
    last = tuple(range(-len(axis), 0))
    moved = np.moveaxis(x, axis, last)
    sizes = shape(moved)
    rows = function(np.reshape(moved, (*sizes[: len(sizes) - len(axis)], -1)))
    return np.moveaxis(np.reshape(rows, sizes), last, axis)


# ------------------------------------------------------------------------------------------------------ running


def running(rule: Vjp, *, axis: int | None = None, missing: float | None = None) -> Vjp:
    """The derivative along any axis, from a rule for the last one."""

    def vjp(g: Any, out: Any, a: Any, /, axis: Any = axis, *_: Any, include_initial: Any = False, **kwargs: Any) -> Any:
        a = as_array(a)
        if axis is None:
            return np.reshape(vjp(g, out, np.ravel(a), 0, include_initial=include_initial), shape(a))
        g, out, rows = (np.moveaxis(each, axis, -1) for each in (g, out, a))
        if include_initial:
            g, out = g[..., 1:], out[..., 1:]
        if missing is None:
            found = rule(g, out, rows)
        else:
            found = np.where(np.isnan(rows), 0, rule(g, out, np.where(np.isnan(rows), missing, rows)))
        return np.moveaxis(found, -1, axis)

    return vjp


def running_total(g: Any, out: Any, a: Any) -> Any:
    return np.flip(np.cumsum(np.flip(g, -1), -1), -1)


def running_product(g: Any, out: Any, a: Any) -> Any:
    return before(a) * reverse_recurrence(a, g)


def running_log_sum(g: Any, out: Any, a: Any) -> Any:
    level = np.where(out == -np.inf, 0, out)
    factor = np.concatenate([level[..., :1], np.exp(level[..., :-1] - level[..., 1:])], -1)
    return np.exp(a - level) * reverse_recurrence(factor, g)


def running_extreme(g: Any, out: Any, a: Any) -> Any:
    """The derivative of a running extreme: among equal elements, the last one so far gets the gradient."""
    number = numbered(a)
    leader = np.maximum.accumulate(np.where(a == out, number, number[..., :1]), -1)
    return np.reshape(scatter_add(np.ravel(a), np.ravel(leader), np.ravel(g)), shape(a))


def segments(g: Any, out: Any, a: Any, indices: Any, axis: Any = 0, *_: Any, **__: Any) -> Any:
    """Of `add.reduceat`: each sum goes to all from where it begins to where the next does, or to one if that is not
    after it."""
    rows, first = np.moveaxis(a, axis, -1), as_array(indices)
    following = np.append(first[1:], shape(rows)[-1])
    last = np.where(following > first, following, first + 1)
    ends, sums = np.zeros_like(np.concatenate([rows, rows[..., :1]], -1)), np.moveaxis(g, axis, -1)
    steps = scatter_add(ends, (..., first), sums) - scatter_add(ends, (..., last), sums)
    return np.moveaxis(np.cumsum(steps, -1)[..., :-1], -1, axis)


@on_proxies
def recurrence(factor: Any, term: Any) -> Any:
    """`h[j] = term[j] + factor[j] * h[j - 1]` along the last axis; the first factor does not matter.

    Made in as many steps as the length has binary digits: each doubles the number of terms that are summed up.
    """
    sum = np.array(np.broadcast_arrays(factor, term)[1], np.result_type(factor, term))
    factor = np.array(np.broadcast_to(factor, sum.shape))
    step = 1
    while step < sum.shape[-1]:
        sum[..., step:] += factor[..., step:] * sum[..., :-step]
        factor[..., step:] = factor[..., step:] * factor[..., :-step]
        step *= 2
    return sum


def reverse_recurrence(factor: Any, term: Any) -> Any:
    """`h[j] = term[j] + factor[j + 1] * h[j + 1]`, the transpose of `recurrence`."""
    backwards = np.concatenate([np.ones_like(factor[..., :1]), np.flip(factor[..., 1:], -1)], -1)
    return np.flip(recurrence(backwards, np.flip(term, -1)), -1)


def _recurrence_of_factor(g: Any, out: Any, factor: Any, term: Any) -> Any:
    earlier = np.concatenate([np.zeros_like(out[..., :1]), out[..., :-1]], -1)
    return reverse_recurrence(factor, g) * earlier


def _recurring(factor: Any, term: Any) -> Type:
    a, b = array_like(factor), array_like(term)
    return TensorType(np.result_type(a.dtype, b.dtype), broadcast(a.shape, b.shape))


declare(
    "recurrence", rule(_recurring), target=recurrence,
    vjp=(_recurrence_of_factor, lambda g, out, factor, term: reverse_recurrence(factor, g)),
)  # fmt: skip
