"""Ranges of numbers: `np.arange`, `np.linspace` and so on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import Infer, Vjp
from autograph.runtime.graph.traits import IN_C_ORDER, MAKES_ARRAYS
from autograph.runtime.graph.types import ObjectType, TensorType, Type, array
from autograph.runtime.ops.gradients.data_movement import numbered
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.numpy_probe import castable, dtype_of, probe
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    Wrong,
    axis_arg,
    broadcast,
    constant,
    dtype_arg,
    is_constant,
    is_type,
    operand,
    shape_arg,
)
from autograph.runtime.ops.native import array_creation


def arange(*args: Any, start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, **rest: Any) -> Type:
    named = (start, stop, step)
    given = [*args[:3], *named[len(args) :]]
    if len(args) == 1 and stop is None:
        given = [None, args[0], step]
    if len(args) > 3:
        dtype = args[3]
    numbers = [operand(arg) for arg in given if arg is not None]
    if any(number.shape for number in numbers):
        raise Unknown
    found = dtype_arg(dtype) if dtype is not None else dtype_of(probe(np.arange, *numbers))
    return array(found, arange_length(*given))


def arange_length(start: Any, stop: Any, step: Any) -> int | None:
    """The length of `np.arange` for constants, as NumPy computes it."""
    start, step = 0 if start is None else start, 1 if step is None else step
    if not is_constant((start, stop, step)):
        return None
    try:
        if all(isinstance(number, int) for number in (start, stop, step)):
            return len(range(start, stop, step))
        length: int = math.ceil((stop - start) / step)
    except (OverflowError, ZeroDivisionError, TypeError) as error:
        raise Wrong from error
    return max(0, length)


def spaced(function: Callable[..., Any]) -> Infer:
    """The rule of `np.linspace`, `np.logspace` and `np.geomspace`."""

    def infer(
        start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *args: Any, axis: Any = 0, **kwargs: Any
    ) -> Type:
        names = {np.linspace: ("retstep", "dtype"), np.logspace: ("base", "dtype")}.get(function, ("dtype",))
        kwargs.update(zip((*names, "axis"), args))
        number = kwargs.pop("axis", axis)
        between = [operand(start), operand(stop)]
        base = operand(kwargs.pop("base", 10.0))
        if base.shape or is_type(endpoint):
            raise Unknown
        options = {**constant(kwargs), "num": 2, "endpoint": endpoint}
        if function is np.logspace:
            options["base"] = base
        shape = broadcast(*(each.shape for each in between))
        place = axis_arg(number, len(shape) + 1)
        whole = (*shape[:place], *shape_arg(num), *shape[place:])
        ends = [TensorType(each.dtype, (), each.kind) for each in between]
        retstep = options.pop("retstep", False)
        numbers = probe(function, *(castable(end, options.get("dtype")) for end in ends), **options)
        found = TensorType(dtype_of(numbers), whole)
        if not retstep:
            return found
        step = probe(_step, *ends)
        return ObjectType("tuple", (found, TensorType(dtype_of(step), shape) if shape else step))

    return infer


def _step(start: Any, stop: Any) -> Any:
    return np.linspace(start, stop, 2, retstep=True)[1]


# ------------------------------------------------------------------------------------------------- derivatives


def of_linspace(at_end: bool) -> Vjp:
    def vjp(
        g: Any, out: Any, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False,
        dtype: Any = None, axis: Any = 0, **_: Any
    ) -> Any:  # fmt: skip
        g, of_step = g if retstep else (g, 0)
        steps = np.maximum(num - 1 if endpoint else num, 1)
        return of_end(g, at_end, num, endpoint, axis) + (of_step if at_end else -of_step) / steps

    return vjp


def of_end(g: Any, at_end: bool, num: Any, endpoint: Any, axis: Any) -> Any:
    """The gradient of an end of a range, from that of its numbers."""
    moved = np.moveaxis(g, axis, -1)
    fractions = numbered(moved) % num / np.maximum(num - 1 if endpoint else num, 1)
    return np.sum(moved * (fractions if at_end else 1 - fractions), -1)


def of_logspace(at_end: bool) -> Vjp:
    return lambda g, out, start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0: of_end(
        g * out * np.log(base), at_end, num, endpoint, axis
    )


def of_geomspace(at_end: bool) -> Vjp:
    return lambda g, out, start, stop, num=50, endpoint=True, dtype=None, axis=0: of_end(
        g * out, at_end, num, endpoint, axis
    ) / (stop if at_end else start)


def of_start(g: Any, out: Any, *args: Any, **_: Any) -> Any:
    """The derivative of `np.arange` in its start; the length counts as constant."""
    return g if len(args) > 1 else np.zeros_like(g)


functions(
    "np.arange", arange, raises=False, vjp=(of_start, None, lambda g, out, *_, **__: g * numbered(out)),
    lower=array_creation.counted, traits=[IN_C_ORDER, MAKES_ARRAYS],
)  # fmt: skip
for _function, _vjp, _traits in (
    (np.linspace, of_linspace, [IN_C_ORDER]), (np.logspace, of_logspace, []), (np.geomspace, of_geomspace, [])
):  # fmt: skip
    functions(
        f"np.{_function.__name__}", spaced(_function), raises=False, vjp=(_vjp(False), _vjp(True)), traits=_traits
    )
