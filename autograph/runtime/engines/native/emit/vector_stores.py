"""Assignments to vectors in loops, whose elements are computed one by one: `x[:k] += a * y[:k]`.

The results first go into a buffer: the operands may overlap the target, and if the processor raises a flag, NumPy does
it all again, and warns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from autograph.runtime.engines.native.emit.buffers import Buffer, pointer
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raised_flags
from autograph.runtime.engines.native.llvm import ir
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
    buffer = Buffer(emit, dtype, dtype, target.length)
    if checks:
        emit.underflows = True
        clear_flags(b)
    _copy(emit, buffer.view, value)
    if checks:
        raised = b.icmp("ne", raised_flags(b), 0)
        buffer.release(raised)
        emit.leave_if(Number(BOOL, raised))
    _copy(emit, target, buffer.view)
    buffer.release()


def _copy(emit: Emitter, target: View, value: View | Computed | Number) -> None:
    """Store elements, which lie elsewhere: those of a register at once if all are contiguous, then one by one."""
    b, dtype, count = emit.b, target.dtype, target.length.ref
    several, data, kind = SIMD // dtype.itemsize, pointer(emit, target), llvm_type(dtype)
    read, end = _reader(emit, value), b.and_(count, -several)
    for step in dict.fromkeys(each.strides[0].ref for each in (target, *_views(value))):
        end = b.select(b.icmp("eq", step, dtype.itemsize), end, 0)
    with b.loop(0, end, several) as loop:
        b.store(read(loop.index, several), b.gep(data, loop.index, kind), dtype.itemsize)
    with b.loop(end, count) as loop:
        b.store(read(loop.index, 1), b.gep(data, b.mul(loop.index, target.strides[0].ref)), dtype.itemsize)


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
        data, stride = pointer(emit, value), value.strides[0].ref
        kind, size = llvm_type(value.dtype), value.dtype.itemsize
        return lambda index, several: (
            b.load(kind, b.gep(data, b.mul(index, stride)), size)
            if several == 1
            else b.load(ir.vector(several, kind), b.gep(data, index, kind), size)
        )
    (first, second), flags = (_reader(emit, each) for each in value.parts), ir.FAST if emit.fast else ""
    name = f"f{value.name}"
    return lambda index, several: b.binary(name, first(index, several), second(index, several), flags)

