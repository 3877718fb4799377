"""Lowerings of `not`, `is` and builtins, for numbers, ranges and elements of arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from autograph.runtime.graph.operands import (
    Array,
    Boxed,
    Complex,
    Computed,
    Emitter,
    Fixed,
    Given,
    Mixed,
    NoLowering,
    Number,
    Operand,
    Range,
    View,
)
from autograph.runtime.graph.types import BOOL, INT, TensorType, scalar
from autograph.runtime.ops.native import vectors, views
from autograph.runtime.ops.native.complex_numbers import part
from autograph.runtime.ops.native.complex_rules import as_complex
from autograph.runtime.ops.native.number_rules import PYTHON, arithmetic, inverse
from autograph.runtime.ops.native.scalars import fitted, leave_if_large, number, range_length, truth, zero

OF_SHAPE = frozenset({"shape", "size", "ndim"})      # attributes of arrays


def negation(emit: Emitter, a: Any) -> Number:
    """`not a`."""
    return inverse(emit, truth(emit, a))


def identity(emit: Emitter, a: Any, b: Any) -> Number:
    """`a is b`, of objects that were not made anew; numbers and tuples are never identical to None or a bool."""
    operands = [Fixed(each) if each is None or type(each) is bool else each for each in (a, b)]
    constants = [each.value for each in operands if isinstance(each, Fixed)]
    if len(constants) == 2:
        return emit.constant(constants[0] is constants[1], BOOL)
    if constants and type(constants[0]) is not tuple:
        other = operands[isinstance(operands[0], Fixed)]
        if isinstance(other, Number) and other.type == BOOL and type(constants[0]) is bool:
            return other if constants[0] else inverse(emit, other)
        if isinstance(other, (Number, Complex, Mixed, Range, Array, tuple)):
            return emit.constant(False, BOOL)
    if not all(isinstance(each, (Fixed, Boxed, Given)) for each in operands):
        raise NoLowering
    return emit.objects.are_one(*operands)


def extreme(name: str) -> Callable[..., Number]:
    """`min` or `max` of numbers of one type; the first of equal ones wins."""
    better = "lt" if name == "min" else "gt"

    def rule(emit: Emitter, *args: Any, **kwargs: Any) -> Number:
        found, *rest = (number(emit, arg) for arg in args)
        if kwargs or not rest or any(each.type != found.type for each in rest):
            raise NoLowering
        for each in rest:
            found = emit.select(emit.compare(better, each, found), each, found)
        return found

    return rule


def total(emit: Emitter, items: Any) -> Number:
    """`sum([a, b])`, of integers."""
    if type(items) not in (list, tuple) or not items:
        raise NoLowering
    found, add = emit.constant(0, INT), arithmetic("add", PYTHON)
    for item in items:
        each = number(emit, item)
        if each.type not in (INT, BOOL):
            raise NoLowering
        found = add(emit, found, fitted(emit, each, INT))
    return found


def conversion(type: TensorType) -> Callable[..., Number]:
    """`int(a)` or `float(a)`."""
    return lambda emit, a: fitted(emit, number(emit, a), type)


def make_range(emit: Emitter, *args: Any) -> Range:
    """`range(…)`."""
    given = [number(emit, arg) for arg in args]
    if not 1 <= len(given) <= 3 or any(each.type.dtype.kind not in "iu" for each in given):
        raise NoLowering
    given = [fitted(emit, each, INT) for each in given]
    start, stop = (emit.constant(0, INT), given[0]) if len(given) == 1 else given[:2]
    step = given[2] if len(given) == 3 else emit.constant(1, INT)
    if step.known == 0:
        raise NoLowering
    if step.known is None:
        emit.leave_if(zero(emit, step))
    for each, bits in ((start, 53), (stop, 53), (step, 31)):
        leave_if_large(emit, each, 2**bits)
    known = None if step.known is None else int(step.known)
    return Range((start, stop), known, known < 0) if known is not None else Range((start, stop, step), None, None)


def length(emit: Emitter, a: Any) -> Number:
    """`len(a)`."""
    if isinstance(a, (Array, View)):
        return lengths(emit, a)[0]
    if isinstance(a, Range):
        return Number(INT, range_length(emit, a).ref)       # the bounds of a range are small
    raise NoLowering


# -------------------------------------------------------------------------------------------------------- elements


def place(emit: Emitter, x: Array, index: Any) -> list[Number]:
    """The indices of an element, counted from 0; leaves machine code if one is out of bounds."""
    entries = index if type(index) is tuple else (index,)
    if len(entries) != x.ndim:
        raise NoLowering
    found = []
    for axis, entry in enumerate(entries):
        each = number(emit, entry)
        if each.type.dtype.kind not in "iu":
            raise NoLowering
        found.append(emit.place(fitted(emit, each, INT), emit.length(x, axis)))
    return found


def is_element(entries: tuple[Any, ...], ndim: int) -> bool:
    """Whether an index of integers has one for each axis."""
    return len(entries) == ndim and not any(each is None or each is ... or isinstance(each, slice) for each in entries)


def attribute(emit: Emitter, x: Any, name: Any) -> Any:
    """`x.real` or `x.imag` of a complex number; `x.shape`, `x.size` or `x.ndim` of an array."""
    if isinstance(x, (Array, View)) and name in OF_SHAPE:
        shape = lengths(emit, x)
        if name == "size":
            return reduce(partial(emit.integer, "mul"), shape, emit.constant(1, INT))
        return shape if name == "shape" else emit.constant(len(shape), INT)
    return part(emit, x, name)


def lengths(emit: Emitter, x: Array | View) -> tuple[Number, ...]:
    """Those of the axes of an array."""
    return x.shape if isinstance(x, View) else tuple([emit.length(x, axis) for axis in range(x.ndim)])


def element(emit: Emitter, x: Any, index: Any) -> Operand:
    """`x[index]`: an element, or a view."""
    if type(x) is tuple and type(index) is int and -len(x) <= index < len(x):
        found: Operand = x[index]
        return found
    if isinstance(x, Computed):
        x = emit.vectors.kept(x)
    if not isinstance(x, (Array, View)):
        raise NoLowering
    if isinstance(index, vectors.VECTORS):
        return views.gathered(emit, x, index)
    if type(index) is list:
        return vectors.rows_of(emit, x, index)
    entries = index if type(index) is tuple else (index,)
    ndim = x.ndim if isinstance(x, Array) else len(x.shape)
    if not is_element(entries, ndim):
        return views.part(emit, x, entries)
    return views.item(emit, x, entries) if isinstance(x, View) else emit.load(x, place(emit, x, index))


def set_element(emit: Emitter, x: Any, index: Any, value: Any) -> None:
    """`x[index] = value`."""
    if not isinstance(x, (Array, View)) or not x.writeable:
        raise NoLowering
    if isinstance(index, vectors.VECTORS):
        vectors.set_chosen(emit, x, index, value)
        return
    if type(index) is list:
        vectors.set_rows(emit, x, index, value)
        return
    entries = index if type(index) is tuple else (index,)
    if not is_element(entries, x.ndim if isinstance(x, Array) else len(x.shape)):
        vectors.set_part(emit, x, entries, value)
        return
    dtype = scalar(x.dtype)
    found = as_complex(emit, value, dtype) if x.dtype.kind == "c" else fitted(emit, number(emit, value), dtype)
    if isinstance(x, View):
        emit.vectors.store(views.single(emit, x, entries), found)
    else:
        emit.store(x, place(emit, x, index), found)
