"""Assignments to vectors in loops, whose elements are computed one by one: `x[:k] += a * y[:k]`.

If the processor raises a flag, NumPy does it all again, and warns. So the elements that are overwritten first go into a
buffer, from which they are restored. If the operands overlap the target, the results go there instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograph.runtime.engines.native.emit.buffers import Buffer, pointer
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.vector_elements import Place, begin_checks, loops, reader, views_of
from autograph.runtime.engines.native.libmath.libm import raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.graph.operands import DTYPES, Computed, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL


def store(emit: Emitter, target: View, value: View | Computed | Number) -> None:
    """See `operands.Vectors`."""
    b, dtype, views = emit.b, target.dtype, views_of(value)
    if dtype.char not in DTYPES:
        raise NoLowering
    emit.settle()
    direct = _may_be_direct(emit, target, views)
    buffer = Buffer(emit, dtype, dtype, target.length)
    here, there = Place(emit, target), Place(emit, buffer.view)
    olds, news = there.if_else(direct, here), here.if_else(direct, there)
    checks, read = begin_checks(emit, value), reader(emit, value)
    for loop, several in loops(emit, target, [target, *views]):
        old, new = here.load(loop.index, several), read(loop.index, several)
        olds.store(old, loop.index, several)
        news.store(new, loop.index, several)
    raised: ir.Value = b.icmp("ne", raised_flags(b), 0) if checks else ir.FALSE
    with b.if_then(b.icmp("eq", raised, direct)):
        where = pointer(emit, target), target.strides[0].ref, pointer(emit, buffer.view), target.length.ref
        b.call(_copying(b.function.module, dtype.itemsize), *where)
    buffer.release()
    emit.leave_if(Number(BOOL, raised))


def _copying(module: ir.Module, size: int) -> ir.Callee:
    """A function that copies contiguous elements of some bytes into a vector of a stride."""
    name, kind = f"scatter_{size}", f"i{8 * size}"
    if name not in module.functions:
        target, source = (ir.Parameter(each, ir.PTR) for each in ("target", "source"))
        stride, count = (ir.Parameter(each, ir.I64) for each in ("stride", "count"))
        words = {"words": "internal", "attributes": "noinline"}
        b = Builder(module.define(name, ir.VOID, target, stride, source, count, **words))
        with b.loop(0, count) as loop:
            element = b.load(kind, b.gep(source, loop.index, kind), size)
            b.store(element, b.gep(target, b.mul(loop.index, stride)), size)
        b.ret()
    return module.functions[name]


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
        is_same: ir.Value = ir.FALSE
        if view.dtype.itemsize == size:
            is_at_target = b.icmp("eq", view.data.ref, target.data.ref)
            is_same = b.and_(is_at_target, b.icmp("eq", view.strides[0].ref, stride.ref))
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
