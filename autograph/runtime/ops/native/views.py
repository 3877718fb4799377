"""Lowerings of views: `x[i, :j]` of integers and slices, for which machine code makes no object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograph.runtime.graph.operands import (
    DTYPES,
    Array,
    Complex,
    Computed,
    Emitter,
    Gathered,
    NoLowering,
    Number,
    View,
)
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.native.number_rules import known_dtype
from autograph.runtime.ops.native.scalars import fitted, number

Shape = tuple[Number, ...]


def part(emit: Emitter, x: Array | View, entries: tuple[Any, ...]) -> View:
    """`x[entries]`, with at least one dimension."""
    found = _part(emit, x, entries)
    if not found.shape:
        raise NoLowering
    return found


def item(emit: Emitter, x: View, entries: tuple[Any, ...]) -> Number | Complex:
    """An element."""
    return emit.vectors.items(single(emit, x, entries), 1)[0]


def single(emit: Emitter, x: View, entries: tuple[Any, ...]) -> View:
    """An element as a vector."""
    found, one = _part(emit, x, entries), emit.constant(1, INT)
    if found.shape:
        raise NoLowering
    return View(x.dtype, found.data, (one,), (emit.constant(x.dtype.itemsize, INT),), x.writeable)


def _part(emit: Emitter, x: Array | View, entries: tuple[Any, ...]) -> View:
    whole = whole_of(emit, x)
    data, shape, strides = whole.data, list[Number](), list[Number]()
    axes = zip(whole.shape, whole.strides)
    for entry in _completed(entries, len(whole.shape)):
        if entry is None:
            shape.append(emit.constant(1, INT))
            strides.append(emit.constant(0, INT))
            continue
        length, stride = next(axes)
        if isinstance(entry, slice):
            begin, count, step = _taken(emit, entry, length)
            shape.append(count)
            strides.append(emit.integer("mul", stride, step))
        else:
            begin = emit.place(_integer(emit, entry), length)
        data = emit.integer("add", data, emit.integer("mul", begin, stride))
    return View(whole.dtype, data, tuple(shape), tuple(strides), whole.writeable, whole.in_order or len(shape) == 1)


def _completed(entries: tuple[Any, ...], ndim: int) -> list[Any]:
    """The entries of an index, with slices for the axes that it leaves out."""
    found = list(entries)
    missing = ndim - sum(entry is not None and entry is not ... for entry in found)
    if missing < 0 or sum(entry is ... for entry in found) > 1:
        raise NoLowering
    at = next((at for at, entry in enumerate(found) if entry is ...), len(found))
    found[at : at + 1] = [slice(None)] * missing
    return found


def whole_of(emit: Emitter, x: Any) -> View:
    """An array, or a view, as a view."""
    if isinstance(x, Array):
        return emit.vectors.whole(x)
    if not isinstance(x, View):
        raise NoLowering
    return x


def gathered(emit: Emitter, x: Any, index: Any) -> Gathered | View | Array:
    """`x[index]` of two vectors, the second one of integers or booleans."""
    of = whole_of(emit, x)
    if index.dtype.kind == "b":
        return _chosen(emit, of, index if isinstance(index, Computed) else whole_of(emit, index))
    places = whole_of(emit, index)
    is_known = of.dtype.char in DTYPES and places.dtype.char in "bhilBHI"
    if len(of.shape) not in (1, 2) or len(places.shape) != 1 or not is_known:
        raise NoLowering
    found = Gathered(of, places)
    if len(of.shape) == 1:
        return found
    if not of.in_order:
        raise NoLowering        # the rows of NumPy's result may be in another order
    return emit.vectors.array(found)


def _chosen(emit: Emitter, x: View, mask: View | Computed) -> View | Array:
    if len(x.shape) > 2 or len(mask.shape) != 1:
        raise NoLowering
    known_dtype(x.dtype)
    emit.leave_if(emit.compare("ne", x.length, mask.shape[0]))
    return emit.vectors.chosen(x, mask)


def flipped(emit: Emitter, m: Any) -> View:
    """`np.flip(m)` of a vector."""
    x = whole_of(emit, m)
    if len(x.shape) != 1:
        raise NoLowering
    none, one = (emit.constant(each, INT) for each in (0, 1))
    last = emit.integer("mul", emit.integer("sub", x.length, one), x.strides[0])
    strides = (emit.integer("sub", none, x.strides[0]),)
    return View(x.dtype, emit.integer("add", x.data, last), x.shape, strides, x.writeable)


def common_shape(emit: Emitter, *shapes: Shape) -> Shape:
    """The shape to which NumPy broadcasts several; leaves machine code if they do not fit."""
    ndim, found = max(map(len, shapes)), list[Number]()
    for axis in range(-ndim, 0):
        first, *others = (shape[axis] for shape in shapes if len(shape) >= -axis)
        for each in others:
            first = _common_length(emit, first, each, ndim)
        found.append(first)
    return tuple(found)


def _common_length(emit: Emitter, one: Number, other: Number, ndim: int) -> Number:
    if one.ref == other.ref or other.known == 1:
        return one
    if one.known == 1:
        return other
    if ndim == 1:       # a vector of one element is seldom broadcast
        emit.leave_if(emit.compare("ne", one, other))
        return one
    single = emit.constant(1, INT)
    found = emit.select(emit.compare("eq", one, single), other, one)
    differs, repeats = emit.compare("ne", other, found), emit.compare("ne", other, single)
    emit.leave_if(emit.integer("and", differs, repeats))
    return found


def broadcast(emit: Emitter, x: View | Computed, shape: Shape) -> View | Computed:
    """A vector as one of a shape to which NumPy broadcasts it."""
    if _refs(x.shape) == _refs(shape):
        return x
    if isinstance(x, Computed):
        repeats = len(shape) > 1 or x.length.known == 1     # otherwise the lengths are equal, or the code has been left
        if repeats and (x.takes.kind in "fc" or x.singly):   # NumPy warns of an element that is repeated zero times
            for length in shape:
                emit.leave_if(emit.compare("eq", length, emit.constant(0, INT)))
        numbers = Number, Complex
        parts = tuple(each if isinstance(each, numbers) else broadcast(emit, each, shape) for each in x.parts)
        return replace(x, shape=shape, parts=parts)
    none, more = emit.constant(0, INT), len(shape) - len(x.shape)
    strides = [none] * more
    for length, stride, wanted in zip(x.shape, x.strides, shape[more:]):
        if length.known == 1:
            strides.append(none)
        elif length.ref == wanted.ref or len(shape) == 1:
            strides.append(stride)
        else:
            is_single = emit.compare("eq", length, emit.constant(1, INT))
            strides.append(emit.select(is_single, none, stride))
    return View(x.dtype, x.data, shape, tuple(strides), x.writeable, x.in_order)


def _refs(shape: Sequence[Number]) -> list[Any]:
    return [each.ref for each in shape]


def _taken(emit: Emitter, entry: slice, length: Number) -> tuple[Number, Number, Number]:
    """Where a slice of so many elements begins, how many it takes, and its step."""
    step = 1 if entry.step is None else entry.step
    if type(step) is not int or not 0 < abs(step) < 2**31:
        raise NoLowering
    none, by, one = emit.constant(0, INT), emit.constant(step, INT), emit.constant(1, INT)
    low, high = (none, length) if step > 0 else (emit.constant(-1, INT), emit.integer("sub", length, one))
    first, last = (low, high) if step > 0 else (high, low)
    begin = first if entry.start is None else _bound(emit, entry.start, length, low, high)
    end = last if entry.stop is None else _bound(emit, entry.stop, length, low, high)
    span = emit.integer("sub", end, begin) if step > 0 else emit.integer("sub", begin, end)
    if abs(step) > 1:
        more = emit.integer("add", span, emit.constant(abs(step) - 1, INT))
        span = emit.integer("div", more, emit.constant(abs(step), INT))
    return begin, emit.select(emit.compare("lt", span, none), none, span), by


def _bound(emit: Emitter, entry: Any, length: Number, low: Number, high: Number) -> Number:
    """A bound of a slice, between two places: one that is negative counts from the end."""
    given, none = _integer(emit, entry), emit.constant(0, INT)
    from_end = emit.integer("add", given, length)
    below = emit.select(emit.compare("lt", from_end, low), low, from_end)
    above = emit.select(emit.compare("gt", given, high), high, given)
    return emit.select(emit.compare("lt", given, none), below, above)


def _integer(emit: Emitter, entry: Any) -> Number:
    given = number(emit, entry)
    if given.type.dtype.kind not in "iu":
        raise NoLowering
    return fitted(emit, given, INT)
