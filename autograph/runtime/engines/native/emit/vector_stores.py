"""Assignments to vectors in loops, whose elements are computed one by one: `x[:k] += a * y[:k]`.

If the processor raises a flag, NumPy does it all again, and warns. So the elements that are overwritten first go into a
buffer, from which they are restored. If the operands overlap the target, the results go there instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.engines.native.emit.buffers import Buffer, pointer
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder, Loop
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.graph.operands import Computed, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL

SIMD = 32       # bytes of a register
Reader: TypeAlias = Callable[[ir.Value, int], ir.Value]


def store(emit: Emitter, target: View, value: View | Computed | Number) -> None:
    """See `operands.Vectors`."""
    b, dtype, checks = emit.b, target.dtype, isinstance(value, Computed) and not emit.fast
    if dtype.kind != "f" or (checks and not FLAGS):
        raise NoLowering
    emit.settle()
    direct = _may_be_direct(emit, target, _views(value))
    buffer = Buffer(emit, dtype, dtype, target.length)
    here, there = _Place(emit, target), _Place(emit, buffer.view)
    olds, news = there.if_else(direct, here), here.if_else(direct, there)
    if checks:
        emit.underflows = True
        clear_flags(b)
    read, end = _reader(emit, value), _end_of_vectors(emit, [target, *_views(value)])
    for loop, several in _loops(emit, target, end):
        old, new = here.load(loop.index, several), read(loop.index, several)
        olds.store(old, loop.index, several)
        news.store(new, loop.index, several)
    raised: ir.Value = b.icmp("ne", raised_flags(b), 0) if checks else ir.FALSE
    with b.if_then(b.icmp("eq", raised, direct)):
        where = pointer(emit, target), target.strides[0].ref, pointer(emit, buffer.view), target.length.ref
        b.call(_copying(b.function.module, dtype), *where)
    buffer.release()
    emit.leave_if(Number(BOOL, raised))


def evaluated(emit: Emitter, key: Any, value: Computed) -> Buffer:
    """The elements of a computed vector, in memory. Flags that are raised meanwhile are the caller's."""
    buffer = Buffer(emit, key, value.dtype, value.length)
    place, read = _Place(emit, buffer.view), _reader(emit, value)
    for loop, several in _loops(emit, buffer.view, _end_of_vectors(emit, [buffer.view, *_views(value)])):
        place.store(read(loop.index, several), loop.index, several)
    return buffer


class _Place:
    """Where elements are.

    Args:
        data, stride: other ones than those of the vector.
    """

    def __init__(self, emit: Emitter, x: View, data: ir.Value | None = None, stride: ir.Value | None = None) -> None:
        self._emit, self._view, self._kind = emit, x, llvm_type(x.dtype)
        self._data, self._stride = data or pointer(emit, x), stride or x.strides[0].ref

    def if_else(self, condition: ir.Value, other: _Place) -> _Place:
        """This place if a condition holds, and otherwise another one."""
        select = self._emit.b.select
        stride = select(condition, self._stride, other._stride)
        return _Place(self._emit, self._view, select(condition, self._data, other._data), stride)

    def load(self, index: ir.Value, several: int) -> ir.Value:
        kind = self._kind if several == 1 else ir.vector(several, self._kind)
        return self._emit.b.load(kind, self._at(index, several), self._view.dtype.itemsize)

    def store(self, value: ir.Value, index: ir.Value, several: int) -> None:
        self._emit.b.store(value, self._at(index, several), self._view.dtype.itemsize)

    def _at(self, index: ir.Value, several: int) -> ir.Value:
        b = self._emit.b
        return b.gep(self._data, index, self._kind) if several > 1 else b.gep(self._data, b.mul(index, self._stride))


def _loops(emit: Emitter, target: View, end: ir.Value) -> Iterator[tuple[Loop, int]]:
    """Loops over the elements of a vector: over those of a register at once up to an end, then one by one."""
    several = SIMD // target.dtype.itemsize
    with emit.b.loop(0, end, several) as loop:
        yield loop, several
    with emit.b.loop(end, target.length.ref) as loop:
        yield loop, 1


def _copying(module: ir.Module, dtype: np.dtype[Any]) -> ir.Callee:
    """A function that copies contiguous elements into a vector of a stride."""
    name, kind = f"scatter_{dtype.char}", llvm_type(dtype)
    if name not in module.functions:
        target, source = (ir.Parameter(each, ir.PTR) for each in ("target", "source"))
        stride, count = (ir.Parameter(each, ir.I64) for each in ("stride", "count"))
        words = {"words": "internal", "attributes": "noinline"}
        b = Builder(module.define(name, ir.VOID, target, stride, source, count, **words))
        with b.loop(0, count) as loop:
            element = b.load(kind, b.gep(source, loop.index, kind), dtype.itemsize)
            b.store(element, b.gep(target, b.mul(loop.index, stride)), dtype.itemsize)
        b.ret()
    return module.functions[name]


def _end_of_vectors(emit: Emitter, views: Sequence[View]) -> ir.Value:
    """Up to where elements can be loaded as vectors: 0 if not all are contiguous."""
    b, first = emit.b, views[0]
    end = b.and_(first.length.ref, -(SIMD // first.dtype.itemsize))
    for step in dict.fromkeys(view.strides[0].ref for view in views):
        end = b.select(b.icmp("eq", step, first.dtype.itemsize), end, 0)
    return end


def _may_be_direct(emit: Emitter, target: View, views: Sequence[View]) -> ir.Value:
    """Whether an element may be stored before the next ones are computed.

    It may if no operand has elements among those of the target, or if it is the target itself. A target whose elements
    lie in one place leaves machine code.
    """
    b, size, (stride,) = emit.b, target.dtype.itemsize, target.strides
    apart = b.or_(b.icmp("slt", stride.ref, 1 - size), b.icmp("sgt", stride.ref, size - 1))
    emit.leave_if(Number(BOOL, b.and_(b.xor(apart, ir.TRUE), b.icmp("sgt", target.length.ref, 1))))
    low, high = _span(emit, target)
    found: ir.Value = ir.TRUE
    for view in views:
        is_same = b.and_(b.icmp("eq", view.data.ref, target.data.ref), b.icmp("eq", view.strides[0].ref, stride.ref))
        first, last = _span(emit, view)
        is_apart = b.or_(b.icmp("slt", last, low), b.icmp("slt", high, first))
        found = b.and_(found, b.or_(is_same, is_apart))
    return found


def _span(emit: Emitter, x: View) -> tuple[ir.Value, ir.Value]:
    """The addresses of the first and the last byte that elements of a vector have."""
    b = emit.b
    extent = b.mul(b.sub(x.length.ref, 1), x.strides[0].ref)
    is_reversed, end = b.icmp("slt", extent, 0), b.add(x.data.ref, extent)
    low, high = b.select(is_reversed, end, x.data.ref), b.select(is_reversed, x.data.ref, end)
    return low, b.add(high, x.dtype.itemsize - 1)


def _views(value: View | Computed | Number) -> list[View]:
    """The views that a vector is computed from."""
    if isinstance(value, Computed):
        return [view for part in value.parts for view in _views(part)]
    return [value] if isinstance(value, View) else []


def _reader(emit: Emitter, value: View | Computed | Number) -> Reader:
    """A function that builds the element at an index; or several, as a vector, if all views are contiguous."""
    b = emit.b
    if isinstance(value, Number):
        return lambda index, several: value.ref if several == 1 else b.splat(value.ref, several)
    if isinstance(value, View):
        return _Place(emit, value).load
    (first, second), flags = (_reader(emit, each) for each in value.parts), ir.FAST if emit.fast else ""
    name = f"f{value.name}"
    return lambda index, several: b.binary(name, first(index, several), second(index, several), flags)

