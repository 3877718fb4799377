"""Lowerings of views: `x[i, :j]` of integers and slices, for which machine code makes no object."""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.operands import Array, Emitter, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.native.scalars import fitted, number


def part(emit: Emitter, x: Array | View, entries: tuple[Any, ...]) -> View:
    """`x[entries]`, with at least one dimension."""
    whole = whole_of(emit, x)
    entries = (*entries, *[slice(None)] * (len(whole.shape) - len(entries)))
    if len(entries) > len(whole.shape) or not any(isinstance(entry, slice) for entry in entries):
        raise NoLowering
    data, shape, strides = whole.data, list[Number](), list[Number]()
    for entry, length, stride in zip(entries, whole.shape, whole.strides):
        if isinstance(entry, slice):
            begin, count, step = _taken(emit, entry, length)
            shape.append(count)
            strides.append(emit.integer("mul", stride, step))
        else:
            begin = emit.place(_integer(emit, entry), length)
        data = emit.integer("add", data, emit.integer("mul", begin, stride))
    return View(whole.dtype, data, tuple(shape), tuple(strides), whole.writeable)


def whole_of(emit: Emitter, x: Any) -> View:
    """An array, or a view, as a view."""
    if isinstance(x, Array):
        return emit.vectors.whole(x)
    if not isinstance(x, View):
        raise NoLowering
    return x


def gathered(emit: Emitter, x: Any, index: Any) -> Gathered:
    """`x[index]` of two vectors, the second one of integers."""
    of, places = whole_of(emit, x), whole_of(emit, index)
    if len(of.shape) != 1 or len(places.shape) != 1 or places.dtype.char not in "bhilBHI":
        raise NoLowering
    return Gathered(of, places)


def flipped(emit: Emitter, m: Any) -> View:
    """`np.flip(m)` of a vector."""
    x = whole_of(emit, m)
    if len(x.shape) != 1:
        raise NoLowering
    none, one = (emit.constant(each, INT) for each in (0, 1))
    last = emit.integer("mul", emit.integer("sub", x.length, one), x.strides[0])
    strides = (emit.integer("sub", none, x.strides[0]),)
    return View(x.dtype, emit.integer("add", x.data, last), x.shape, strides, x.writeable)


def _taken(emit: Emitter, entry: slice, length: Number) -> tuple[Number, Number, Number]:
    """Where a slice of so many elements begins, how many it takes, and its step."""
    step = 1 if entry.step is None else entry.step
    if type(step) is not int or not 0 < step < 2**31:
        raise NoLowering
    none, by = emit.constant(0, INT), emit.constant(step, INT)
    begin = none if entry.start is None else _bound(emit, entry.start, length)
    end = length if entry.stop is None else _bound(emit, entry.stop, length)
    span = emit.integer("sub", end, begin)
    if step > 1:
        span = emit.integer("div", emit.integer("add", span, emit.constant(step - 1, INT)), by)
    return begin, emit.select(emit.compare("lt", span, none), none, span), by


def _bound(emit: Emitter, entry: Any, length: Number) -> Number:
    """A bound of a slice, from 0 to the length: one that is negative counts from the end."""
    given, none = _integer(emit, entry), emit.constant(0, INT)
    from_end = emit.integer("add", given, length)
    below = emit.select(emit.compare("lt", from_end, none), none, from_end)
    above = emit.select(emit.compare("gt", given, length), length, given)
    return emit.select(emit.compare("lt", given, none), below, above)


def _integer(emit: Emitter, entry: Any) -> Number:
    given = number(emit, entry)
    if given.type.dtype.kind not in "iu":
        raise NoLowering
    return fitted(emit, given, INT)
