"""Contiguous memory for vectors that are needed only for a moment; and elements gathered into it: `x[[2, 0, 1]]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.memory import store_number
from autograph.runtime.graph.operands import Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL, INT

FEW = 64        # elements that have room on the stack
MANY = 512      # the same if the code is for a vector of known length
ALIGNMENT = 32  # of these


class Buffer:
    """Memory for a vector; leaves machine code if there is none.

    Args:
        key: of its cells: it must differ from those of other buffers at the same time.

    Attributes:
        view: the vector.
    """

    def __init__(self, emit: Emitter, key: Any, dtype: np.dtype[Any], shape: Sequence[Number]) -> None:
        self._emit, count = emit, reduce(partial(emit.integer, "mul"), shape)
        self._is_large: ir.Value = ir.FALSE
        if count.known is not None and count.known <= MANY:
            self._data = _room(emit, key, dtype, FEW if count.known <= FEW else MANY)
        else:
            self._data = self._room_for(key, dtype, count)
        data = Number(INT, emit.b.cast("ptrtoint", self._data, ir.I64))
        self.view = contiguous(emit, dtype, data, shape)

    def _room_for(self, key: Any, dtype: np.dtype[Any], count: Number) -> ir.Value:
        emit, b = self._emit, self._emit.b
        place = emit.cells.place(("buffer", key), ir.PTR)
        self._is_large = b.icmp("sgt", count.ref, FEW)
        b.store(_room(emit, key, dtype, FEW), place)
        with b.if_then(self._is_large, False):
            found = emit.objects.python("PyMem_RawMalloc", b.mul(count.ref, dtype.itemsize))
            emit.leave_if(Number(BOOL, b.is_null(found)))
            b.store(found, place)
        return b.load(ir.PTR, place)

    def release(self, condition: ir.Value | None = None) -> None:
        """Free it, if a condition holds."""
        b = self._emit.b
        if self._is_large is ir.FALSE:
            return
        with b.if_then(self._is_large if condition is None else b.and_(self._is_large, condition), False):
            self._emit.objects.python("PyMem_RawFree", self._data)


def releasing(*buffers: Buffer | None) -> Callable[[], None]:
    """A function that releases buffers."""

    def release() -> None:
        for each in buffers:
            if each is not None:
                each.release()

    return release


def _room(emit: Emitter, key: Any, dtype: np.dtype[Any], count: int) -> ir.Value:
    """Memory on the stack."""
    return emit.cells.place(("elements", key), ir.array(count * dtype.itemsize // 4, ir.I32), ALIGNMENT)


def contiguous(emit: Emitter, dtype: np.dtype[Any], data: Number, shape: Sequence[Number]) -> View:
    """The elements at an address, in C's order."""
    strides = [emit.constant(dtype.itemsize, INT)]
    for length in shape[:0:-1]:
        strides.append(emit.integer("mul", strides[-1], length))
    return View(dtype, data, tuple(shape), tuple(strides[::-1]), True)


def listed(emit: Emitter, key: Any, dtype: np.dtype[Any], items: Sequence[Number]) -> View:
    """A few numbers, on the stack."""
    if len(items) > FEW:
        raise NoLowering
    b, size = emit.b, dtype.itemsize
    place = emit.cells.place(key, ir.array(FEW * size // 4, ir.I32), ALIGNMENT)
    for at, each in enumerate(items):
        store_number(b, b.gep(place, at * size), dtype, each.ref)
    data = Number(INT, b.cast("ptrtoint", place, ir.I64))
    return contiguous(emit, dtype, data, [emit.constant(len(items), INT)])


def gathered(emit: Emitter, key: Any, x: Gathered) -> Buffer:
    """The elements of a vector at some places; leaves machine code if one is out of bounds."""
    leave_unless_within(emit, x)
    buffer = Buffer(emit, key, x.dtype, x.shape)
    copy_gathered(emit, x, pointer(emit, buffer.view))
    return buffer


def leave_unless_within(emit: Emitter, x: Gathered) -> None:
    """Leave machine code if a place is out of bounds."""
    b, length = emit.b, x.of.length.ref
    with b.loop(0, x.length.ref, carried=[ir.FALSE]) as loop:
        place = _place(emit, x.places, loop.index, length)
        loop.carry(b.or_(loop.carried[0], b.icmp("uge", place, length)))
    emit.leave_if(Number(BOOL, loop.results[0]))


def copy_gathered(emit: Emitter, x: Gathered, target: ir.Value) -> None:
    """Copy the elements or rows at some places, which are within bounds, to memory."""
    b, length, size, kind = emit.b, x.of.length.ref, x.dtype.itemsize, f"i{8 * x.dtype.itemsize}"
    data, (step, *steps) = pointer(emit, x.of), [each.ref for each in x.of.strides]
    with b.loop(0, x.length.ref) as loop:
        begin = b.gep(data, b.mul(_place(emit, x.places, loop.index, length), step))
        if not steps:
            b.store(b.load(kind, begin, size), b.gep(target, loop.index, kind), x.dtype.alignment)
        else:
            width = x.of.shape[1].ref
            row = b.gep(target, b.mul(loop.index, width), kind)
            with b.loop(0, width) as columns:
                element = b.load(kind, b.gep(begin, b.mul(columns.index, steps[0])), x.dtype.alignment)
                b.store(element, b.gep(row, columns.index, kind), x.dtype.alignment)


def _place(emit: Emitter, places: View, index: ir.Value, length: ir.Value) -> ir.Value:
    """The place of an element, counted from 0; one that is out of bounds is not below the length, as unsigned."""
    b, dtype = emit.b, places.dtype
    where = b.gep(pointer(emit, places), b.mul(index, places.strides[0].ref))
    found: ir.Value = b.load(f"i{8 * dtype.itemsize}", where, dtype.itemsize)
    if dtype.itemsize < 8:
        found = b.cast("sext" if dtype.kind == "i" else "zext", found, ir.I64)
    return b.select(b.icmp("slt", found, 0), b.add(found, length), found)


def pointer(emit: Emitter, x: View) -> ir.Value:
    """The address of the first element."""
    return emit.b.cast("inttoptr", x.data.ref, ir.PTR)
