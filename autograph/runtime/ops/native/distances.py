"""Lowerings of `math.hypot` and `math.dist`, to the last bit of CPython's `vector_norm` (`Modules/mathmodule.c`).

It scales the coordinates by a power of two, adds their squares to a sum of high and low parts, and corrects the root of
this sum by what is left of the sum without the square of that root.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from autograph.common.probes import agrees
from autograph.runtime.graph.operands import Emitter, NoLowering, Number
from autograph.runtime.graph.types import FLOAT
from autograph.runtime.ops.native.math_functions import finite_only, real
from autograph.runtime.ops.native.scalars import either, zero

SMALL, LARGE = 2.0**-1000, 2.0**1000      # between these, no scale is zero or infinite
Parts: TypeAlias = Sequence[Any]
_TRIES = 100


def hypot(emit: Emitter, *args: Any) -> Number:
    """`math.hypot(*args)`"""
    return _norm(emit, [real(emit, arg) for arg in args])


def dist(emit: Emitter, p: Any, q: Any) -> Number:
    """`math.dist(p, q)` of two tuples that the call makes."""
    if not (type(p) is type(q) is tuple and len(p) == len(q)):
        raise NoLowering
    return _norm(emit, [emit.floating("sub", real(emit, a), real(emit, b)) for a, b in zip(p, q)])


def _norm(emit: Emitter, coordinates: Sequence[Number]) -> Number:
    """Leaves machine code if a coordinate is not finite, or the largest one is very large, or very small but not 0."""
    if not coordinates or not is_pythons():
        raise NoLowering
    sizes = [emit.function("fabs", finite_only(emit, each)) for each in coordinates]
    largest = sizes[0]
    for each in sizes[1:]:
        largest = emit.select(emit.compare("gt", each, largest), each, largest)
    if len(sizes) == 1:
        return largest
    is_zero = zero(emit, largest)
    around = emit.select(is_zero, emit.constant(1.0, FLOAT), largest)
    is_small = emit.compare("lt", around, emit.constant(SMALL, FLOAT))
    emit.leave_if(either(emit, is_small, emit.compare("gt", around, emit.constant(LARGE, FLOAT))))
    unit = emit.function("power_of_two", around)
    unit = emit.floating("add", unit, unit)
    return emit.select(is_zero, largest, _scaled(emit, sizes, unit))


def _scaled(emit: Any, sizes: Sequence[Any], unit: Any) -> Any:
    """The norm of coordinates; in this unit, a power of two, the largest is at least 0.5 and less than 1."""
    scale, parts = emit.floating("div", emit.constant(1.0, FLOAT), unit), no_squares(emit)
    for size in sizes:
        scaled = emit.floating("mul", size, scale)
        parts = with_product(emit, parts, scaled, scaled)
    return root_of(emit, parts, unit)


def no_squares(emit: Any) -> Parts:
    """The sum of no squares, plus one, in three parts."""
    return emit.constant(1.0, FLOAT), emit.constant(0.0, FLOAT), emit.constant(0.0, FLOAT)


def with_product(emit: Any, parts: Parts, a: Any, b: Any) -> Parts:
    """A sum with another product."""
    high, low, rest = parts
    product = emit.floating("mul", a, b)
    total = emit.floating("add", high, product)
    low = emit.floating("add", low, emit.function("fma", a, b, emit.negative(product)))
    rest = emit.floating("add", rest, emit.floating("add", emit.floating("sub", high, total), product))
    return total, low, rest


def root_of(emit: Any, parts: Parts, unit: Any) -> Any:
    """The root of a sum, in a unit."""

    def total(parts: Parts) -> Any:
        high, low, rest = parts
        return emit.floating("add", emit.floating("sub", high, one), emit.floating("add", low, rest))

    one = emit.constant(1.0, FLOAT)
    root = emit.function("sqrt", total(parts))
    parts = with_product(emit, parts, emit.negative(root), root)
    correction = emit.floating("div", total(parts), emit.floating("add", root, root))
    return emit.floating("mul", emit.floating("add", root, correction), unit)


# Whether it is Python's algorithm -------------------------------------------------------------------------------------


class _OfFloats:
    """Computes with floats of Python what an emitter emits."""

    _OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
    constant = staticmethod(lambda value, type: value)
    negative = staticmethod(operator.neg)

    def floating(self, name: str, a: float, b: float) -> Any:
        return self._OPERATORS[name](a, b)

    def function(self, name: str, *args: float) -> float:
        if name == "sqrt":
            return math.sqrt(*args)
        a, b, c = map(Fraction, args)
        return float(a * b + c)


@cache
def is_pythons() -> bool:
    """Probe whether this Python computes `math.hypot` in this way."""
    draw = random.Random(1)

    def norm(*args: float) -> Any:
        return _scaled(_OfFloats(), [*map(abs, args)], math.ldexp(1.0, math.frexp(max(map(abs, args)))[1]))

    def sample() -> list[float]:
        return [draw.uniform(-1, 1) * 10 ** draw.uniform(-6, 6) for _ in range(draw.randint(2, 4))]

    return agrees(norm, math.hypot, (sample() for _ in range(_TRIES)))
