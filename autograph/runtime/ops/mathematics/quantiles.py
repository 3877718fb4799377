"""Quantiles and medians.

They are weighted means of the sorted elements, mostly of two. The derivative in an element is the weight of its rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import Infer, Vjp
from autograph.runtime.graph.traits import QUADRATIC, READS_VIEWS
from autograph.runtime.graph.types import Type
from autograph.runtime.ops.gradients.elementwise import fit_list
from autograph.runtime.ops.gradients.reductions import in_rows
from autograph.runtime.ops.gradients.toolkit import as_array, is_true, ndim, shape
from autograph.runtime.ops.inference.bind_arguments import bind
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.numpy_probe import probe, shaped
from autograph.runtime.ops.inference.shape_rules import operand, out_type, reduced
from autograph.runtime.ops.mathematics.reductions import options, reduction, sample_axis
from autograph.runtime.ops.native import vectors

Call = Callable[..., Any]


def quantiles(function: Call) -> Infer:
    """The rule of a function whose result has the shape of `q` before that of the reduced array."""

    def infer(*args: Any, **kwargs: Any) -> Type:
        given = bind(function, args, kwargs)
        if out := out_type(given.get("out")):
            return out
        found, q, axis = operand(given["a"]), operand(given["q"]), given.get("axis")
        shape = q.shape + reduced(found.shape, axis, given.get("keepdims", False))
        return shaped(probe(function, found, q, axis=sample_axis(axis), **options(given)), shape)

    return infer


# ------------------------------------------------------------------------------------------------- derivatives

# Of the methods that interpolate: from where to where the ranks lie between which they do.
ENDS = {
    "linear": (1, 1),
    "weibull": (0, 0),
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
# For the other methods: the weight of the element of rank `r` in a quantile at the fractional rank `v`.
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "lower": lambda r, v: r == np.floor(v),
    "higher": lambda r, v: r == np.ceil(v),
    "nearest": lambda r, v: r == np.rint(v),
    "midpoint": lambda r, v: ((r == np.floor(v)) + 1.0 * (r == np.ceil(v))) / 2,
}


def _place(q: Any, rows: Any, method: str, skipping: bool) -> tuple[Any, Any]:
    """The fractional rank of a quantile among the elements of each row, and its derivative in `q`."""
    if method not in ENDS and method not in STEPS:
        raise NotImplementedError(f"the derivative of a quantile by method={method!r}")
    if skipping and ndim(q) > 1:
        raise NotImplementedError("the derivative of nanquantile for q of several dimensions, which NumPy mixes up")
    count = np.sum(np.logical_not(np.isnan(rows)), -1, keepdims=True) if skipping else shape(rows)[-1]
    first, last = ENDS.get(method, (1, 1))
    q = np.expand_dims(q, tuple(range(-ndim(rows), 0)))
    speed = count + 1 - first - last
    return np.clip(q * speed + (first - 1), 0, np.maximum(count - 1, 0)), speed


def _ranks(rows: Any) -> Any:
    return np.argsort(np.argsort(rows, -1), -1)


def _by_rows(g: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    """An array in the form of the output: first the dimensions of `q`, then those that remain."""
    if not is_true(keepdims):
        return g
    leading = ndim(q)
    if axis is None:
        return np.reshape(g, shape(q))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return np.squeeze(g, tuple(i if i < 0 else leading + i for i in axes))


def _of_elements(g: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: str, skipping: bool) -> Any:
    g = np.expand_dims(_by_rows(g, q, axis, keepdims), -1)

    def of_rows(rows: Any) -> Any:
        place, _ = _place(q, rows, method, skipping)
        ranks = _ranks(rows)
        weights = STEPS[method](ranks, place) if method in STEPS else np.maximum(0, 1 - np.abs(ranks - place))
        found = np.sum(g * weights.astype(rows.dtype), tuple(range(ndim(q))))
        return np.where(np.isnan(rows), 0, found) if skipping else found

    return fit_list(in_rows(as_array(a), axis, of_rows), a)


def _of_q(g: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: str, skipping: bool) -> Any:
    """The derivative in `q`, from the gap between the two elements around the quantile."""
    if method in STEPS:
        return np.zeros_like(q)
    found: list[Any] = []

    def note(rows: Any) -> Any:
        place, speed = _place(q, rows, method, skipping)
        ranks, low = _ranks(rows), np.floor(place)
        rows = np.where(np.isnan(rows), 0, rows) if skipping else rows
        low = np.where(low < place, low, np.maximum(low - 1, 0))
        steps = np.where(ranks == low + 1, rows, 0) - np.where(ranks == low, rows, 0)
        slope = np.sum(steps * speed, -1) * _by_rows(g, q, axis, keepdims)
        found.append(np.sum(slope, tuple(range(ndim(q) - ndim(slope), 0))))
        return rows

    in_rows(as_array(a), axis, note)
    return found[0]


def quantile_vjp(of: Call, scale: float, skipping: bool) -> Vjp:
    """The derivative of `np.quantile` and so on, in the array or in `q`, which `scale` makes a fraction."""

    def vjp(
        g: Any, _: Any, a: Any, q: Any, /, axis: Any = None, out: Any = None, overwrite_input: Any = False,
        method: str = "linear", keepdims: Any = False, *, weights: Any = None, interpolation: Any = None
    ) -> Any:  # fmt: skip
        if overwrite_input or weights is not None or interpolation is not None:
            raise NotImplementedError("the derivative of a quantile with overwrite_input, weights or interpolation")
        found = of(g, a, scale * as_array(q), axis, keepdims, method, skipping)
        return found if of is _of_elements else scale * found

    return vjp


def median_vjp(skipping: bool) -> Vjp:
    def vjp(
        g: Any, _: Any, a: Any, /, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = 0
    ) -> Any:
        if overwrite_input:
            raise NotImplementedError("the derivative of a median with overwrite_input")
        return _of_elements(g, a, 0.5, axis, keepdims, "linear", skipping)

    return vjp


# ------------------------------------------------------------------------------------------------ declarations

functions(
    "np.median", reduction(np.median), raises=False, vjp=median_vjp(False), lower=vectors.median,
    traits=[READS_VIEWS, QUADRATIC],
)  # fmt: skip
functions("np.nanmedian", reduction(np.nanmedian), raises=False, vjp=median_vjp(True))
for _name in "quantile percentile nanquantile nanpercentile".split():
    _options = 0.01 if "percentile" in _name else 1.0, "nan" in _name
    _vjp = quantile_vjp(_of_elements, *_options), quantile_vjp(_of_q, *_options)
    functions(f"np.{_name}", quantiles(getattr(np, _name)), vjp=_vjp)
