"""Finite differences, and derivatives and integrals that they approximate."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.types import ObjectType, Type, array
from autograph.runtime.ops.gradients.elementwise import fit_list
from autograph.runtime.ops.gradients.toolkit import as_array, ndim, shape
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.numpy_probe import dtype_of, probe, shaped, shaped_all
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    add_dims,
    array_like,
    axis_arg,
    constant,
    int_arg,
    operand,
    reduced,
    size,
)
from autograph.runtime.ops.mathematics.reductions import sample_axis


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Type:
    found = array_like(y)
    shape = reduced(found.shape, axis)
    steps = operand(dx) if x is None else operand(x)
    if steps.ndim > 1 and steps.ndim != found.ndim:
        raise Unknown
    answer = probe(np.trapezoid, found, **{"dx" if x is None else "x": steps}, axis=sample_axis(axis))
    return shaped(answer, shape)


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


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Type:
    found = array_like(ary)
    count = size(found.shape)
    ends = [size(operand(end).shape) for end in (to_end, to_begin) if end is not None]
    length = add_dims(None if count is None else max(count - 1, 0), *ends)
    return array(dtype_of(probe(np.ediff1d, array(found.dtype, None))), length)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Type:
    found = array_like(f)
    answer = probe(np.gradient, found, *map(operand, varargs), axis=constant(axis))
    if isinstance(answer, ObjectType):
        return shaped_all(answer, *(found.shape,) * len(answer.items)) if answer.items else answer
    return shaped(answer, found.shape)


# ------------------------------------------------------------------------------------------------- derivatives


def _rows(x: Any, axis: Any) -> Any:
    return np.moveaxis(as_array(x), axis, -1)


def _joined(*parts: Any) -> Any:
    return np.concatenate(parts, -1)


def _integrated(g: Any, times: int, zero: Any) -> Any:
    """The gradient of rows, from that of their repeated differences; `zero` is a column of zeros."""
    around = [zero] * times
    return (-1) ** times * np.diff(_joined(*around, g, *around), times) if times else g


def _of_diff(part: str) -> Any:
    """The derivative of `np.diff` in the array, or in `prepend` or `append`."""

    def vjp(
        g: Any, out: Any, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue
    ) -> Any:
        rows = _rows(a, axis)
        found = _integrated(_rows(g, axis), n, np.zeros_like(rows[..., :1]))
        before = 0 if prepend is np._NoValue else shape(prepend)[axis] if ndim(prepend) else 1
        after = before + shape(rows)[-1]
        found = {"a": found[..., before:after], "prepend": found[..., :before], "append": found[..., after:]}[part]
        return fit_list(np.moveaxis(found, -1, axis), {"a": a, "prepend": prepend, "append": append}[part])

    return vjp


def _of_ediff1d(part: str) -> Any:
    def vjp(g: Any, out: Any, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
        x = np.ravel(as_array(ary))
        first = 0 if to_begin is None else shape(np.ravel(as_array(to_begin)))[0]
        last = first + shape(x)[0] - 1
        if part == "ary":
            return np.reshape(_integrated(g[first:last], 1, np.zeros_like(x[:1])), shape(ary))
        return np.reshape(g[last:], shape(to_end)) if part == "to_end" else np.reshape(g[:first], shape(to_begin))

    return vjp


def _of_integrand(g: Any, out: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    rows = _rows(y, axis)
    steps = _steps(rows, x, dx, axis) * (np.expand_dims(g, -1) / 2)
    zero = np.zeros_like(rows[..., :1])
    return fit_list(np.moveaxis(_joined(zero, steps) + _joined(steps, zero), -1, axis), y)


def _steps(rows: Any, x: Any, dx: Any, axis: Any) -> Any:
    """The distances between the points, in the shape of the gaps between the values."""
    if x is None:
        return dx * np.ones_like(rows[..., 1:])
    x = as_array(x)
    return np.broadcast_to(np.diff(x if ndim(x) == 1 else _rows(x, axis)), shape(rows[..., 1:]))


def _means(g: Any, y: Any, axis: Any) -> Any:
    rows = _rows(y, axis)
    return (rows[..., 1:] + rows[..., :-1]) * (np.expand_dims(g, -1) / 2)


def _of_points(g: Any, out: Any, y: Any, x: Any, dx: Any = 1.0, axis: Any = -1) -> Any:
    means = _means(g, y, axis)
    zero = np.zeros_like(means[..., :1])
    found = _joined(zero, means) - _joined(means, zero)
    return fit_list(found if ndim(x) == 1 else np.moveaxis(found, -1, axis), x)


def _of_dx(g: Any, out: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    return _means(g, y, axis) if x is None else np.zeros_like(dx)


def _of_sampled(g: Any, out: Any, f: Any, *spacing: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """The derivative of `np.gradient` in the array."""
    axes = _gradient_axes(f, axis)
    if not spacing:
        spacing = (1.0,)
    steps = spacing * len(axes) if len(spacing) == 1 else spacing
    gradients = g if isinstance(g, (tuple, list)) else (g,)
    found = sum(
        np.moveaxis(_along_rows(_rows(part, at), step, edge_order), -1, at)
        for part, step, at in zip(gradients, steps, axes)
    )
    return fit_list(found, f)


def _gradient_axes(f: Any, axis: Any) -> Any:
    if axis is None:
        return range(ndim(f))
    return axis if isinstance(axis, tuple) else (axis,)


def _along_rows(g: Any, step: Any, edge_order: int) -> Any:
    """The gradient of rows, from that of their slopes at points `step` apart, or at the points `step`."""
    if ndim(step):
        gaps = np.diff(as_array(step))
        before, after = gaps[:-1], gaps[1:]
        ends = gaps[0], gaps[1] if edge_order > 1 else 0, gaps[-1], gaps[-2] if edge_order > 1 else 0
    else:
        before = after = step
        ends = step, step, step, step
    inner, both = g[..., 1:-1], before + after
    zero = np.zeros_like(g[..., :1])
    low = _joined(-after / (before * both) * inner, zero, zero)
    middle = _joined(zero, (after - before) / (before * after) * inner, zero)
    high = _joined(zero, zero, before / (after * both) * inner)
    first = _edge(g[..., :1], ends[0], ends[1], edge_order)
    last = [-part for part in _edge(g[..., -1:], ends[2], ends[3], edge_order)]
    gap = np.zeros_like(g[..., len(first) :])
    return low + middle + high + _joined(*first, gap) + _joined(gap, *reversed(last))


def _edge(g: Any, near: Any, far: Any, order: int) -> list[Any]:
    """The gradients of the first points, from that of the slope at the first one."""
    if order == 1:
        return [-g / near, g / near]
    both = near + far
    return [-g * (near + both) / (near * both), g * both / (near * far), -g * near / (far * both)]


def _of_spacing(number: int) -> Any:
    """The derivative of `np.gradient` in the distance of the points, to which the result is inversely proportional."""

    def vjp(g: Any, out: Any, f: Any, *spacing: Any, axis: Any = None, **_: Any) -> Any:
        step = spacing[number]
        if ndim(step):
            raise NotImplementedError("the derivative of np.gradient in the coordinates of the points")
        if not isinstance(out, (tuple, list)):
            return -g * out / step
        chosen = range(len(out)) if len(spacing) == 1 else (number,)
        return sum(np.sum(-g[at] * out[at] / step) for at in chosen)

    return vjp


# ------------------------------------------------------------------------------------------------ declarations

functions("np.trapezoid np.trapz", trapezoid, raises=False, vjp=(_of_integrand, _of_points, _of_dx))
functions("np.diff", diff, vjp=(_of_diff("a"), None, None, _of_diff("prepend"), _of_diff("append")))
functions("np.ediff1d", ediff1d, raises=False, vjp=tuple(map(_of_ediff1d, ("ary", "to_end", "to_begin"))))
functions("np.gradient", gradient, raises=False, vjp=(_of_sampled, *map(_of_spacing, range(8))))
