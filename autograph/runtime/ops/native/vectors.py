"""Lowerings of arithmetic on vectors of floats: `x[:k] += a * y[:k]`, of arrays and views of them.

The result of an operator is no array, but a description of its elements (`Computed`), which are computed where they are
stored. So operators and the assignment that stores the result must be emitted together, as views must.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autograph.runtime.graph.operands import Array, Computed, Emitter, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import FLOAT, INT, scalar
from autograph.runtime.ops.native.scalars import fitted, number
from autograph.runtime.ops.native.views import part, whole_of

Rule = Callable[..., Any]
VECTORS = (Array, View, Computed)


def or_vectors(name: str, rule: Rule) -> Rule:
    """The lowering of an operator: that of numbers, or of vectors by an operation of `Emitter.floating`."""

    @wraps(rule)
    def lowering(emit: Emitter, *args: Any) -> Any:
        return _computed(emit, name, *args) if any(isinstance(arg, VECTORS) for arg in args) else rule(emit, *args)

    return lowering


def or_view(name: str, rule: Rule) -> Rule:
    """The lowering of an in-place operator: that of numbers, or of a view that is changed."""

    @wraps(rule)
    def lowering(emit: Emitter, *args: Any) -> Any:
        target, *others = args
        if not isinstance(target, View):
            return rule(emit, *args)
        return stored(emit, target, _computed(emit, name, target, *others))

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
    stored(emit, target, _operand(emit, value, target))


def stored(emit: Emitter, target: View, value: Any) -> View:
    """Store a vector, or a number in all elements."""
    if not target.writeable or len(target.shape) != 1:
        raise NoLowering
    if not isinstance(value, Number):
        emit.leave_if(emit.compare("ne", target.length, value.length))
    emit.vectors.store(target, value)
    return target


def _computed(emit: Emitter, name: str, *args: Any) -> Computed:
    first = next(each for each in args if isinstance(each, VECTORS))
    vector = first if isinstance(first, Computed) else _vector(emit, first)
    parts = tuple(vector if each is first else _operand(emit, each, vector) for each in args)
    for each in parts:
        if not isinstance(each, Number) and each is not vector:
            emit.leave_if(emit.compare("ne", vector.length, each.length))
    return Computed(vector.dtype, vector.length, name, parts)


def _operand(emit: Emitter, arg: Any, other: View | Computed) -> View | Computed | Number:
    """A vector of the dtype of another one; or a number that becomes one of that dtype, as NumPy converts it."""
    if isinstance(arg, VECTORS):
        found = arg if isinstance(arg, Computed) else _vector(emit, arg)
        if found.dtype != other.dtype:
            raise NoLowering
        return found
    given, type = number(emit, arg), scalar(other.dtype)
    if given.type != type and not (given.type in (INT, FLOAT) and other.dtype == FLOAT.dtype):
        raise NoLowering
    return fitted(emit, given, type)


def _vector(emit: Emitter, x: Any) -> View:
    found = whole_of(emit, x)
    if len(found.shape) != 1 or found.dtype.kind != "f":
        raise NoLowering
    return found
