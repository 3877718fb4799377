"""Sums, means, extremes and so on along axes, and what runs along an axis, such as cumulative sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.opdef import Infer, declare, derive
from autograph.runtime.ops.binding import bind, method, signature
from autograph.runtime.ops.probing import castable, dtype_of, probe, shaped, shaped_all
from autograph.runtime.ops.reductions import (
    EXTREME,
    MOMENT,
    deviation,
    extent,
    extreme,
    extreme_of_initial,
    mean,
    product,
    product_of_initial,
    reducing,
    reductions,
    running,
    running_product,
    running_total,
    total,
    variance,
)
from autograph.runtime.ops.rules import (
    Unknown,
    add_dims,
    array_like,
    axis_arg,
    constant,
    given_output,
    int_arg,
    is_type,
    operand,
    reduced,
    result,
    rule,
    size,
)
from autograph.runtime.types import ObjectType, Shape, TensorType, Type, array

REDUCTIONS = """
    sum prod mean std var min max amin amax argmin argmax any all ptp median count_nonzero
    nansum nanprod nanmean nanstd nanvar nanmin nanmax nanargmin nanargmax nanmedian
"""
METHODS = "sum prod mean std var min max argmin argmax any all"
QUANTILES = "quantile percentile nanquantile nanpercentile"
CUMULATIVE = "cumsum cumprod nancumsum nancumprod"
# Those that raise for no elements, or where there are but nans.
RAISING = "min max amin amax argmin argmax ptp nanmin nanmax nanargmin nanargmax".split()
# What else decides about the dtype.
OPTIONS = ("dtype", "keepdims", "method", "interpolation")

Call = Callable[..., Any]


def _options(given: dict[str, Any]) -> dict[str, Any]:
    return {key: constant(given[key]) for key in OPTIONS if key in given}


def _sample_axis(axis: Any) -> Any:
    return 0 if is_type(axis) else axis


def reduction(function: Call, call: Call | None = None) -> Infer:
    """The rule of a function that reduces its first argument along `axis`; of the method `call`, if there is one."""
    first = next(iter(signature(function).parameters))

    @rule
    def infer(*args: Any, **kwargs: Any) -> Type:
        given = bind(function, args, kwargs)
        if out := given_output(given.get("out")):
            return out
        found, axis = castable(operand(given[first]), given.get("dtype")), given.get("axis")
        shape = reduced(found.shape, axis, given.get("keepdims", False))
        return shaped(probe(call or function, found, axis=_sample_axis(axis), **_options(given)), shape)

    return infer


def quantiles(function: Call) -> Infer:
    """The rule of a function that puts the shape of its second argument before what it reduces the first to."""

    @rule
    def infer(*args: Any, **kwargs: Any) -> Type:
        given = bind(function, args, kwargs)
        if out := given_output(given.get("out")):
            return out
        found, q, axis = operand(given["a"]), operand(given["q"]), given.get("axis")
        shape = q.shape + reduced(found.shape, axis, given.get("keepdims", False))
        return shaped(probe(function, found, q, axis=_sample_axis(axis), **_options(given)), shape)

    return infer


def cumulative(function: Call, call: Call | None = None) -> Infer:
    """The rule of `np.cumsum` and so on."""
    first = next(iter(signature(function).parameters))

    @rule
    def infer(*args: Any, **kwargs: Any) -> Type:
        given = bind(function, args, kwargs)
        if out := given_output(given.get("out")):
            return out
        found, axis = castable(operand(given[first]), given.get("dtype")), given.get("axis")
        shape = (size(found.shape),) if axis is None or not found.ndim else found.shape
        return shaped(probe(call or function, found, axis=_sample_axis(axis), **_options(given)), shape)

    return infer


@rule
def cumulative_from(x: Any, *, include_initial: Any = False, **kwargs: Any) -> Type:
    """The rule of `np.cumulative_sum` and `np.cumulative_prod`, which may put 0 or 1 before the others."""
    found, axis = array_like(x), kwargs.get("axis")
    if given := given_output(kwargs.get("out")):
        return given
    shape = found.shape or (1,)
    number = axis_arg(0 if axis is None and len(shape) == 1 else axis, len(shape))
    row, dtype = array(found.dtype, None), constant(kwargs.get("dtype"))
    dtype = dtype_of(probe(np.cumsum, castable(row, dtype), dtype=dtype))
    return TensorType(dtype, _lengthened(shape, number, 1 if constant(include_initial) else 0))


def _lengthened(shape: Shape, axis: int, by: int | None) -> Shape:
    return (*shape[:axis], add_dims(shape[axis], by), *shape[axis + 1 :])


@rule
def average(a: Any, axis: Any = None, weights: Any = None, *, returned: Any = False, keepdims: Any = False) -> Type:
    found, other = operand(a), None if weights is None else operand(weights)
    shape = reduced(found.shape, axis, keepdims)
    keep = {} if keepdims is np._NoValue else {"keepdims": constant(keepdims)}
    answer = probe(np.average, found, _sample_axis(axis), other, returned=constant(returned), **keep)
    return shaped_all(answer, shape, shape) if returned else shaped(answer, shape)


@rule
def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Type:
    if given := given_output(out):
        return given
    found = array_like(a)
    axes = axis_arg(axis1, found.ndim), axis_arg(axis2, found.ndim)
    dtype = dtype_of(probe(np.trace, castable(array(found.dtype, None, None), constant(dtype)), dtype=dtype))
    return result(dtype, reduced(found.shape, axes))


@rule
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Type:
    found = array_like(y)
    shape = reduced(found.shape, axis)
    steps = operand(dx) if x is None else operand(x)
    if steps.ndim > 1 and steps.ndim != found.ndim:
        raise Unknown
    answer = probe(np.trapezoid, found, **{"dx" if x is None else "x": steps}, axis=_sample_axis(axis))
    return shaped(answer, shape)


# ------------------------------------------------------------------------------------------------- differences


@rule
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Type:
    found, times = array_like(a), int_arg(n)
    if times == 0:
        return found
    number = axis_arg(axis, found.ndim)
    around = {"prepend": prepend, "append": append}
    others = {key: operand(arg) for key, arg in around.items() if arg is not np._NoValue}
    length = add_dims(found.shape[number], *(each.shape[number] if each.ndim else 1 for each in others.values()))
    if length is not None:
        length = None if times is None else max(length - times, 0)
    answer = probe(np.diff, found, axis=number, **others)
    return shaped(answer, (*found.shape[:number], length, *found.shape[number + 1 :]))


@rule
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Type:
    found = array_like(ary)
    count = size(found.shape)
    ends = [size(operand(end).shape) for end in (to_end, to_begin) if end is not None]
    length = add_dims(None if count is None else max(count - 1, 0), *ends)
    return array(dtype_of(probe(np.ediff1d, array(found.dtype, None))), length)


@rule
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Type:
    found = array_like(f)
    answer = probe(np.gradient, found, *map(operand, varargs), axis=constant(axis))
    if isinstance(answer, ObjectType):
        return shaped_all(answer, *(found.shape,) * len(answer.items)) if answer.items else answer
    return shaped(answer, found.shape)


# ------------------------------------------------------------------------------------------------ declarations

for _name in REDUCTIONS.split():
    _function = getattr(np, _name)
    declare(f"np.{_name}", reduction(_function), target=_function, raises=_name in RAISING)
for _name in METHODS.split():
    declare(f".{_name}", reduction(getattr(np, _name), method(_name)), raises=_name in RAISING)
for _name in QUANTILES.split():
    declare(f"np.{_name}", quantiles(getattr(np, _name)), target=getattr(np, _name), raises=True)
for _name in CUMULATIVE.split():
    declare(f"np.{_name}", cumulative(getattr(np, _name)), target=getattr(np, _name))
for _name in ("cumsum", "cumprod"):
    declare(f".{_name}", cumulative(getattr(np, _name), method(_name)))
for _name in ("cumulative_sum", "cumulative_prod"):
    if hasattr(np, _name):          # since NumPy 2.1
        declare(f"np.{_name}", cumulative_from, target=getattr(np, _name))

declare("np.average", average, target=np.average, raises=True)      # ZeroDivisionError for weights of sum 0
declare("np.trace", trace, target=np.trace)
declare(".trace", trace)
declare("np.trapezoid", trapezoid, target=np.trapezoid)
if hasattr(np, "trapz"):            # until NumPy 2.3
    declare("np.trapz", trapezoid, target=np.trapz)
declare("np.diff", diff, target=np.diff, raises=True)
declare("np.ediff1d", ediff1d, target=np.ediff1d)
declare("np.gradient", gradient, target=np.gradient)

derive("np.sum .sum", *reductions(total, total))
derive("np.nansum", *reductions(total, total, missing=0))
derive("np.prod .prod", *reductions(product, product_of_initial))
derive("np.nanprod", *reductions(product, product_of_initial, missing=1))
derive("np.max np.min np.amax np.amin .max .min", *reductions(extreme, extreme_of_initial, EXTREME))
derive("np.nanmax np.nanmin", *reductions(extreme, extreme_of_initial, EXTREME))
derive("np.ptp", reducing(extent, EXTREME))
derive("np.mean .mean", reducing(mean))
derive("np.nanmean", reducing(mean, missing=0))
derive("np.var .var", reducing(variance, MOMENT))
derive("np.nanvar", reducing(variance, MOMENT, missing=0))
derive("np.std .std", reducing(deviation, MOMENT))
derive("np.nanstd", reducing(deviation, MOMENT, missing=0))
derive("np.cumsum .cumsum np.cumulative_sum", running(running_total))
derive("np.cumprod .cumprod np.cumulative_prod", running(running_product))
derive("np.nancumsum", running(running_total, missing=0))
derive("np.nancumprod", running(running_product, missing=1))

