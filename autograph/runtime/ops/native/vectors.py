"""Lowerings of operations on vectors element by element: `x[:k] += a * y[:k]`, of arrays and views of them.

The result is no array, but a description of its elements (`Computed`), which are computed where they are stored. So
such operations and the one that stores the result must be emitted together, as views must. If the result is needed
later on, it becomes an array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autograph.runtime.graph.operands import Array, Computed, Emitter, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import scalar
from autograph.runtime.ops.native.number_rules import RULES, Inner, converted, is_weak, known_dtype, promotes
from autograph.runtime.ops.native.scalars import fitted, number
from autograph.runtime.ops.native.views import part, whole_of

Rule = Callable[..., Any]
VECTORS = (Array, View, Computed)
# Whose rules LLVM never drops: an operation that raises a flag must be computed, even if its result is not used.
ELEMENTWISE = frozenset(
    "add subtract multiply divide negative positive absolute fabs square sqrt reciprocal maximum minimum".split()
)
_SQUARE = Inner(np.square, RULES["square"])


def or_vectors(ufunc: np.ufunc, rule: Rule) -> Rule:
    """The lowering of a ufunc: that of numbers, or of vectors."""
    inner = Inner(ufunc, RULES.get(ufunc.__name__))

    @wraps(rule)
    def lowering(emit: Emitter, *args: Any) -> Any:
        return _computed(emit, inner, *args) if any(isinstance(arg, VECTORS) for arg in args) else rule(emit, *args)

    return lowering


def or_squares(rule: Rule) -> Rule:
    """The lowering of a power: that of numbers, or of vectors of floats if the exponent is 2."""

    @wraps(rule)
    def lowering(emit: Emitter, x: Any, exponent: Any) -> Any:
        if not isinstance(x, VECTORS):
            return rule(emit, x, exponent)
        if x.dtype.kind != "f" or type(exponent) not in (int, float) or exponent != 2:
            raise NoLowering
        return _computed(emit, _SQUARE, x)

    return lowering


def or_view(ufunc: np.ufunc, rule: Rule) -> Rule:
    """The lowering of an in-place operator: that of numbers, or of an array or view that is changed."""
    inner = Inner(ufunc, RULES.get(ufunc.__name__))

    @wraps(rule)
    def lowering(emit: Emitter, *args: Any) -> Any:
        target, *others = args
        if not isinstance(target, (Array, View)):
            return rule(emit, *args)
        view = whole_of(emit, target)
        stored(emit, view, _computed(emit, inner, view, *others))
        return target

    return lowering


def reduction(how: str) -> Rule:
    """The lowering of a function or method that reduces a vector, see `Vectors.reduction`."""

    def rule(emit: Emitter, a: Any, axis: Any = None) -> Number:
        x = a if isinstance(a, (Computed, Gathered)) else whole_of(emit, a)
        is_vector = not isinstance(x, View) or len(x.shape) == 1
        if not is_vector or type(axis) not in (int, type(None)) or axis not in (None, 0, -1):
            raise NoLowering
        return emit.vectors.reduction(how, x)

    return rule


def set_part(emit: Emitter, x: Array, entries: tuple[Any, ...], value: Any) -> None:
    """`x[entries] = value`, with at least one slice."""
    target = part(emit, x, entries)
    if isinstance(value, VECTORS):
        stored(emit, target, _operand(emit, value))
        return
    given, type = number(emit, value), scalar(target.dtype)
    if given.type.dtype != target.dtype and not (is_weak(given.type) and target.dtype.kind == "f"):
        raise NoLowering
    stored(emit, target, fitted(emit, given, type))


def stored(emit: Emitter, target: View, value: Any) -> None:
    """Store a vector, or a number in all elements."""
    if not target.writeable or len(target.shape) != 1:
        raise NoLowering
    if not isinstance(value, Number):
        if not np.can_cast(value.dtype, target.dtype):
            raise NoLowering
        emit.leave_if(emit.compare("ne", target.length, value.length))
        if value.dtype != target.dtype:
            value = Computed(target.dtype, value.length, target.dtype, RULES["positive"], (value,))
    emit.vectors.store(target, value)


def _computed(emit: Emitter, inner: Inner, *args: Any) -> Computed:
    """A vector that a ufunc computes."""
    operands = [_operand(emit, arg) for arg in args]
    given = [promotes(each.type) if isinstance(each, Number) else each.dtype for each in operands]
    rule = inner.rule_of(operand.type.dtype if isinstance(operand, Number) else operand.dtype for operand in operands)
    if rule is None or len(operands) != inner.ufunc.nin:
        raise NoLowering
    *takes, dtype = map(known_dtype, inner.dtypes(*given))
    if any(each != takes[0] for each in takes):
        raise NoLowering
    parts = tuple(_fitted(emit, each, takes[0]) if isinstance(each, Number) else each for each in operands)
    first, *others = (each for each in parts if not isinstance(each, Number))
    for each in others:
        emit.leave_if(emit.compare("ne", first.length, each.length))
    return Computed(dtype, first.length, takes[0], rule, parts)


def _operand(emit: Emitter, arg: Any) -> View | Computed | Number:
    """A vector, or a number."""
    if not isinstance(arg, VECTORS):
        return number(emit, arg)
    found = arg if isinstance(arg, Computed) else whole_of(emit, arg)
    if isinstance(found, View) and len(found.shape) != 1:
        raise NoLowering
    known_dtype(found.dtype)
    return found


def _fitted(emit: Emitter, x: Number, dtype: np.dtype[Any]) -> Number:
    return fitted(emit, x, scalar(dtype)) if is_weak(x.type) else converted(emit, x, dtype)
