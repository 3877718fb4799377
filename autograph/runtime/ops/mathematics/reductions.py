"""Reductions along axes, such as sums, means and extremes, and cumulative sums and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT, Infer
from autograph.runtime.graph.traits import (
    MAKES_ARRAYS,
    MEAN,
    MOVES,
    READS_VIEWS,
    REDUCES,
    SILENT_METHOD,
    SLOW_IN_NUMPY,
    SUMMATION,
)
from autograph.runtime.graph.types import Shape, TensorType, Type, array
from autograph.runtime.ops.gradients import reductions as rules
from autograph.runtime.ops.gradients.elementwise import fit_list
from autograph.runtime.ops.gradients.toolkit import as_array, is_true, ndim, shape
from autograph.runtime.ops.inference.bind_arguments import bind, signature
from autograph.runtime.ops.inference.declare import each_function, functions
from autograph.runtime.ops.inference.numpy_probe import castable, dtype_of, probe, shaped, shaped_all
from autograph.runtime.ops.inference.shape_rules import (
    add_dims,
    array_like,
    axis_arg,
    constant,
    is_type,
    operand,
    out_type,
    reduced,
    result,
    size,
)
from autograph.runtime.ops.native import vectors

# Other parameters that determine the dtype.
OPTIONS = ("dtype", "keepdims", "method", "interpolation")

Call = Callable[..., Any]


def options(given: dict[str, Any]) -> dict[str, Any]:
    return {key: constant(given[key]) for key in OPTIONS if key in given}


def sample_axis(axis: Any) -> Any:
    return 0 if is_type(axis) else axis


def along(function: Call, call: Call | None, shape_of: Callable[[Shape, Any, dict[str, Any]], Shape]) -> Infer:
    """The rule of a function along `axis` of its first argument, or of its method `call`.

    Args:
        shape_of: gives the shape of the result for that of the array, the axis, and all arguments by name.
    """
    first = next(iter(signature(function).parameters))

    def infer(*args: Any, **kwargs: Any) -> Type:
        given = bind(function, args, kwargs)
        if out := out_type(given.get("out")):
            return out
        found, axis = castable(operand(given[first]), given.get("dtype")), given.get("axis")
        shape = shape_of(found.shape, axis, given)
        return shaped(probe(call or function, found, axis=sample_axis(axis), **options(given)), shape)

    return infer


def reduction(function: Call, call: Call | None = None) -> Infer:
    """The rule of `np.sum` and so on."""
    return along(function, call, lambda shape, axis, given: reduced(shape, axis, given.get("keepdims", False)))


def cumulative(function: Call, call: Call | None = None) -> Infer:
    """The rule of `np.cumsum` and so on."""
    return along(function, call, lambda shape, axis, _: (size(shape),) if axis is None or not shape else shape)


def cumulative_from(
    x: Any, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> Type:
    """The rule of `np.cumulative_sum` and `np.cumulative_prod`, which may put 0 or 1 before the others."""
    found = array_like(x)
    shape = found.shape or (1,)
    number = axis_arg(0 if axis is None and len(shape) == 1 else axis, len(shape))
    dtype = dtype_of(probe(np.cumsum, castable(array(found.dtype, None), constant(dtype)), dtype=dtype))
    length = add_dims(shape[number], 1 if constant(include_initial) else 0)
    return TensorType(dtype, (*shape[:number], length, *shape[number + 1 :]))


def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Type:
    found, other = operand(a), None if weights is None else operand(weights)
    shape = reduced(found.shape, axis, keepdims)
    keep = {} if keepdims is np._NoValue else {"keepdims": constant(keepdims)}
    answer = probe(np.average, found, sample_axis(axis), other, returned=constant(returned), **keep)
    return shaped_all(answer, shape, shape) if returned else shaped(answer, shape)


def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Type:
    found = array_like(a)
    axes = axis_arg(axis1, found.ndim), axis_arg(axis2, found.ndim)
    dtype = dtype_of(probe(np.trace, castable(array(found.dtype, None, None), constant(dtype)), dtype=dtype))
    return result(dtype, reduced(found.shape, axes))


# ------------------------------------------------------------------------------------------------- derivatives


def _of_averaged(
    g: Any, out: Any, a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False
) -> Any:
    g = _spread(g[0] if returned else g, axis, keepdims)
    if weights is None:
        return fit_list(g / rules.how_many(as_array(a), axis, True), a)
    w = _along(weights, a, axis)
    return fit_list(g * w / np.sum(np.broadcast_to(w, shape(a)), axis, keepdims=True), a)


def _of_weights(
    g: Any, out: Any, a: Any, axis: Any, weights: Any, returned: Any = False, *, keepdims: Any = False
) -> Any:
    average, a = _spread(out[0] if returned else out, axis, keepdims), as_array(a)
    total = np.sum(np.broadcast_to(_along(weights, a, axis), shape(a)), axis, keepdims=True)
    found = _spread(g[0] if returned else g, axis, keepdims) * (a - average) / total
    if returned:
        found = found + _spread(g[1], axis, keepdims)
    if ndim(weights) == ndim(a):
        return fit_list(found, weights)
    axes = _axes(a, axis)
    summed = np.sum(found, tuple(i for i in range(ndim(a)) if i not in axes))
    return np.transpose(summed, [sorted(axes).index(i) for i in axes])


def _spread(g: Any, axis: Any, keepdims: Any) -> Any:
    return g if axis is None or is_true(keepdims) else np.expand_dims(g, axis)


def _axes(a: Any, axis: Any) -> list[int]:
    return [i % ndim(a) for i in (axis if isinstance(axis, tuple) else (axis,))]


def _along(weights: Any, a: Any, axis: Any) -> Any:
    """Weights along some axes, in a shape that broadcasts to the array."""
    weights = as_array(weights)
    if ndim(weights) == ndim(a):
        return weights
    axes = _axes(a, axis)
    ordered = np.transpose(weights, sorted(range(len(axes)), key=axes.__getitem__))
    return np.expand_dims(ordered, tuple(i for i in range(ndim(a)) if i not in axes))


def _of_diagonal(
    g: Any, _: Any, a: Any, /, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    ones = np.moveaxis(np.ones_like(as_array(a)), (axis1, axis2), (-2, -1))
    mask = np.tril(np.triu(ones, offset), offset)
    return np.moveaxis(np.expand_dims(g, (-2, -1)) * mask, (-2, -1), (axis1, axis2))


# ------------------------------------------------------------------------------------------------ declarations

_SUM = rules.reductions(rules.total, rules.total)
_EXTREMES = rules.reductions(rules.extreme, rules.extreme_of_initial, rules.EXTREME)
_PRODUCT = rules.product, rules.product_of_initial

each_function(
    "np.sum .sum", reduction, raises=False, vjp=_SUM, lower=vectors.reduction("add"),
    traits=[MOVES, SUMMATION, READS_VIEWS, MAKES_ARRAYS, (REDUCES, np.add)],
)  # fmt: skip
each_function("np.nansum", reduction, raises=False, vjp=rules.reductions(rules.total, rules.total, missing=0))
each_function(
    "np.prod .prod", reduction, raises=False, vjp=rules.reductions(*_PRODUCT), traits=[(REDUCES, np.multiply)]
)
each_function("np.nanprod", reduction, raises=False, vjp=rules.reductions(*_PRODUCT, missing=1))
each_function(
    "np.mean .mean", reduction, raises=False, vjp=rules.reducing(rules.mean), lower=vectors.reduction("mean"),
    traits=[SUMMATION, MEAN, SLOW_IN_NUMPY, READS_VIEWS, MAKES_ARRAYS],
)  # fmt: skip
each_function("np.nanmean", reduction, raises=False, vjp=rules.reducing(rules.mean, missing=0))
each_function(
    "np.var .var", reduction, raises=False, vjp=rules.reducing(rules.variance, rules.MOMENT),
    lower=vectors.deviation(False), traits=[READS_VIEWS],
)  # fmt: skip
each_function("np.nanvar", reduction, raises=False, vjp=rules.reducing(rules.variance, rules.MOMENT, missing=0))
each_function(
    "np.std .std", reduction, raises=False, vjp=rules.reducing(rules.deviation, rules.MOMENT),
    lower=vectors.deviation(True), traits=[READS_VIEWS],
)  # fmt: skip
each_function("np.nanstd", reduction, raises=False, vjp=rules.reducing(rules.deviation, rules.MOMENT, missing=0))
# Extremes raise for no elements, or where all elements are nans.
for _how, _ufunc in (("max", np.maximum), ("min", np.minimum)):
    each_function(
        f"np.{_how} np.a{_how} .{_how}", reduction, vjp=_EXTREMES, lower=vectors.reduction(_how),
        traits=[READS_VIEWS, MAKES_ARRAYS, (REDUCES, _ufunc)],
    )  # fmt: skip
    _name = f"arg{_how}"
    each_function(
        f"np.{_name} .{_name}", reduction, vjp=NO_GRADIENT, lower=vectors.reduction(_name), traits=[READS_VIEWS]
    )
each_function("np.nanmax np.nanmin", reduction, vjp=_EXTREMES)
each_function("np.ptp", reduction, vjp=rules.reducing(rules.extent, rules.EXTREME))
each_function("np.nanargmin np.nanargmax", reduction, vjp=NO_GRADIENT)
for _name, _how, _test in (("any", "or", np.logical_or), ("all", "and", np.logical_and)):
    each_function(
        f"np.{_name} .{_name}", reduction, raises=False, vjp=NO_GRADIENT, lower=vectors.reduction(_how),
        traits=[READS_VIEWS, MAKES_ARRAYS, (REDUCES, _test)],
    )  # fmt: skip
each_function("np.count_nonzero", reduction, raises=False, vjp=NO_GRADIENT)

for _name, _how, _derivative in (("sum", "add", rules.running_total), ("prod", "mul", rules.running_product)):
    each_function(
        f"np.cum{_name} .cum{_name}", cumulative, raises=False, vjp=rules.running(_derivative),
        lower=vectors.accumulation(_how), traits=[READS_VIEWS, MAKES_ARRAYS, SLOW_IN_NUMPY],
    )  # fmt: skip
each_function("np.nancumsum", cumulative, raises=False, vjp=rules.running(rules.running_total, missing=0))
each_function("np.nancumprod", cumulative, raises=False, vjp=rules.running(rules.running_product, missing=1))
functions("np.cumulative_sum", cumulative_from, raises=False, vjp=rules.running(rules.running_total))
functions("np.cumulative_prod", cumulative_from, raises=False, vjp=rules.running(rules.running_product))

functions("np.average", average, vjp=(_of_averaged, None, _of_weights))     # ZeroDivisionError for weights of sum 0
functions("np.trace .trace", trace, raises=False, vjp=_of_diagonal)

SILENT_METHOD.update({f"np.{name}": f".{name}" for name in ("max", "min", "any", "all")})
SILENT_METHOD.update({"np.amax": ".max", "np.amin": ".min"})
