"""NumPy's elementwise functions that are not ufuncs, and their methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT, ORDERED, VIEW, WRITE, Infer, Vjp
from autograph.runtime.graph.traits import (
    ATTRIBUTE,
    CHOOSES,
    ELEMENTWISE,
    MAKES_VIEWS,
    MOVES,
    READS_VIEWS,
    SELECTS,
    SLOW_IN_NUMPY,
    UFUNC_IF_COMPLEX,
    WITH_ONE_ARGUMENT,
)
from autograph.runtime.graph.types import BOOL, ObjectType, TensorType, Type, array
from autograph.runtime.ops.gradients.data_movement import scatter_add
from autograph.runtime.ops.gradients.elementwise import DEGREE, angle, extreme, fit_list, nonzero
from autograph.runtime.ops.gradients.toolkit import as_array, conj, same, shape
from autograph.runtime.ops.inference.bind_arguments import bind, method, signature
from autograph.runtime.ops.inference.declare import each_function, functions
from autograph.runtime.ops.inference.numpy_probe import probe, real, shaped
from autograph.runtime.ops.inference.shape_rules import Unknown, broadcast, is_constant, operand, out_type
from autograph.runtime.ops.mathematics.special import bessel_i
from autograph.runtime.ops.mathematics.ufuncs import operands
from autograph.runtime.ops.native import complex_numbers, numpy_scalars, vectors


def option(arg: Any) -> Any:
    """An argument that is not an operand: the type of a number, or a constant."""
    if is_constant(arg):
        return arg
    found = operand(arg)
    if found.shape:
        raise Unknown
    return found


def pointwise(function: Callable[..., Any], call: Callable[..., Any] | None = None, count: int = 1) -> Infer:
    """The rule of a function whose first `count` parameters are operands, or of its method `call`."""
    names = list(signature(function).parameters)[:count]

    def infer(*args: Any, **kwargs: Any) -> Type:
        given = bind(function, args, kwargs)
        if out := out_type(given.pop("out", None)):
            return out
        found = operands([given.pop(name) for name in names])
        options = {key: option(arg) for key, arg in given.items()}
        return shaped(probe(call or function, *found, **options), broadcast(*(each.shape for each in found)))

    return infer


def clip_rule(call: Callable[..., Any]) -> Infer:
    """The rule of `np.clip` and `.clip`, whose bounds have several names."""

    def infer(a: Any, low: Any = None, high: Any = None, out: Any = None, **kwargs: Any) -> Type:
        if kwargs.keys() - {"a_min", "a_max", "min", "max"}:
            raise Unknown
        bounds = [bound for bound in (low, high, *kwargs.values()) if bound is not None]
        found = operands([a, *bounds])
        if len(found) == 1:
            raise Unknown
        return shaped(probe(call, *found, *[None] * (3 - len(found))), broadcast(*(each.shape for each in found)))

    return infer


def where(condition: Any, *branches: Any) -> Type:
    test = operand(condition)
    if not branches:
        return ObjectType("tuple", (array(np.intp, None),) * test.ndim)
    found = [test, *operands(branches)]
    return shaped(probe(np.where, *found), broadcast(*(each.shape for each in found)))


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Type:
    found = operand(x)
    return shaped(probe(np.interp, real(found), [0.0, 1.0], TensorType(operand(fp).dtype, (None,))), found.shape)


def real_if_close(a: Any, tol: Any = 100) -> Type:
    """Whether it is real depends on the values."""
    found = operand(a)
    answer = shaped(probe(np.real_if_close, found), found.shape)
    if found.dtype.kind != "c":
        return answer
    return TensorType(found.dtype, found.shape, answer.kind, exact=False)


def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Type:
    found = operand(x)
    return shaped(probe(np.nan_to_num, found), found.shape)


# ------------------------------------------------------------------------------------------------- derivatives


def of_clipped(part: str) -> Vjp:
    """The derivative of clipping in the array or a bound; equal elements and bounds share the gradient."""

    def vjp(
        g: Any, clipped: Any, a: Any, /, a_min: Any = None, a_max: Any = None, out: Any = None,
        min: Any = np._NoValue, max: Any = np._NoValue, **_: Any
    ) -> Any:  # fmt: skip
        low, high = a_min if min is np._NoValue else min, a_max if max is np._NoValue else max
        raised = np.maximum(a, low) if is_given(low) else a
        if part == "high":
            return extreme(g, clipped, high, raised)
        if is_given(high):
            g = extreme(g, clipped, raised, high)
        if part == "low":
            return extreme(g, raised, low, a)
        return extreme(g, raised, a, low) if is_given(low) else g

    return vjp


def is_given(bound: Any) -> bool:
    return bound is not None and bound is not np._NoValue


def of_sinc(g: Any, out: Any, x: Any) -> Any:
    """Uses a power series near 0, where the difference of the formula cancels."""
    near, square = np.abs(x) < 0.1, (np.pi * x) ** 2
    series = np.pi**2 * x * (-1 / 3 + square * (1 / 30 + square * (-1 / 840 + square / 45360)))
    return g * np.where(near, series, (np.cos(np.pi * x) - out) / np.where(near, 1, x))


def of_interpolated(part: str) -> Vjp:
    """The derivative of `np.interp` in the place, or in the points or values to interpolate."""

    def vjp(
        g: Any, out: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
    ) -> Any:
        if period is not None:
            raise NotImplementedError("the derivative of np.interp with a period")
        x, points, values = map(as_array, (x, xp, fp))
        low = np.clip(np.searchsorted(points, x, "right") - 1, 0, shape(points)[0] - 2)
        first, second = np.take(points, low), np.take(points, low + 1)  # which may be constants, and `low` a proxy
        width = nonzero(second - first)
        weight, slope = (x - first) / width, (np.take(values, low + 1) - np.take(values, low)) / width
        before, after = x < points[0], x > points[-1]
        outside = np.logical_or(before, after)
        if part in ("left", "right"):
            return np.where(before if part == "left" else after, g, 0)
        if part == "x":
            return fit_list(np.where(outside, 0, g * slope), x)
        if part == "xp":
            inside = np.where(outside, 0, -g * slope)
            return _shared(points, low, inside * (1 - weight), inside * weight)
        g = np.where(before, 0, g) if left is not None else g
        g = np.where(after, 0, g) if right is not None else g
        weight = np.clip(weight, 0, 1)
        return _shared(values, low, g * (1 - weight), g * weight)

    return vjp


def _shared(points: Any, low: Any, first: Any, second: Any) -> Any:
    """The gradients of points, from those of the values between two of them."""
    return scatter_add(points, low, first) + scatter_add(points, low + 1, second)


def masked(test: Any) -> Vjp:
    """The derivative of a function that returns elements for which a test of the first argument holds."""
    return lambda g, out, x, *_, **__: np.where(test(x), g, 0)


_ELEMENTWISE = [ELEMENTWISE]
_BOUNDS = tuple(map(of_clipped, ("array", "low", "high")))

_ROUNDING: dict[str, Any] = {"raises": False, "vjp": NO_GRADIENT, "traits": _ELEMENTWISE}
each_function("np.round np.around", pointwise, lower=numpy_scalars.rounded, **_ROUNDING)
each_function(".round", pointwise, lower=numpy_scalars.method(numpy_scalars.rounded), **_ROUNDING)
each_function("np.fix", pointwise, **_ROUNDING)
each_function(
    "np.angle", pointwise, raises=False, traits=_ELEMENTWISE,
    vjp=lambda g, out, z, deg=False: angle(g / DEGREE if deg else g, z),
)  # fmt: skip
each_function("np.i0", pointwise, raises=False, vjp=lambda g, out, x: g * bessel_i(1, x), traits=_ELEMENTWISE)
each_function("np.sinc", pointwise, raises=False, vjp=of_sinc, traits=_ELEMENTWISE)
each_function("np.unwrap", pointwise, raises=False, vjp=same, traits=_ELEMENTWISE)
each_function("np.iscomplex np.isreal np.isneginf np.isposinf", pointwise, raises=False, traits=_ELEMENTWISE)
functions("np.isclose", pointwise(np.isclose, count=2), raises=False, traits=_ELEMENTWISE)
functions(
    "np.real", pointwise(np.real), effect=VIEW, raises=False, vjp=same,
    traits=[ELEMENTWISE, MOVES, (ATTRIBUTE, "real")],
)  # fmt: skip
functions(
    "np.imag", pointwise(np.imag), effect=VIEW, raises=False, vjp=lambda g, out, x: -1j * g,
    traits=[ELEMENTWISE, (ATTRIBUTE, "imag")],
)  # fmt: skip
for _name, _lower in (("conj", None), ("conjugate", complex_numbers.conjugate)):
    functions(
        f".{_name}", pointwise(np.real, method(_name)), effect=VIEW, raises=False, vjp=lambda g, out, x: conj(g),
        lower=_lower, traits=[ELEMENTWISE, (UFUNC_IF_COMPLEX, "np.conjugate")],
    )  # fmt: skip
_CLIPPING: dict[str, Any] = {"raises": False, "vjp": (*_BOUNDS, None, *_BOUNDS[1:]), "traits": _ELEMENTWISE}
functions("np.clip", clip_rule(np.clip), lower=numpy_scalars.clipped, **_CLIPPING)
functions(".clip", clip_rule(method("clip")), lower=numpy_scalars.method(numpy_scalars.clipped), **_CLIPPING)
functions(
    "np.where", where, raises=False, lower=vectors.chosen,
    traits=[CHOOSES, MOVES, SELECTS, SLOW_IN_NUMPY, READS_VIEWS, MAKES_VIEWS, (WITH_ONE_ARGUMENT, "np.nonzero")],
    vjp=(None, lambda g, out, c, x, y: np.where(c, g, 0), lambda g, out, c, x, y: np.where(c, 0, g)),
)  # fmt: skip
functions("np.interp", interp, vjp=tuple(map(of_interpolated, ("x", "xp", "fp", "left", "right"))))
functions("np.piecewise", effect=ORDERED)       # it calls functions of the user's
functions("np.real_if_close", real_if_close, effect=VIEW, raises=False, vjp=same)
functions(      # with `copy=False`, it changes the array
    "np.nan_to_num", nan_to_num, effect=WRITE, raises=False,
    vjp=(masked(np.isfinite), None, masked(np.isnan), masked(np.isposinf), masked(np.isneginf)),
)  # fmt: skip
functions("np.allclose np.array_equal np.array_equiv np.iscomplexobj np.isrealobj", BOOL, raises=False)
functions("np.isscalar np.isfortran", BOOL, raises=False)
