"""Assignments to vectors in loops, whose elements are computed one by one: `x[:k] += a * y[:k]`.

If the processor raises a flag, NumPy does it all again, and warns. So the elements that are overwritten first go into a
buffer, from which they are restored. If the operands overlap the target, the results go there instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.buffers import Buffer
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.vector_elements import (
    Place,
    begin_checks,
    is_single,
    loops,
    reader,
    rows,
    views_of,
)
from autograph.runtime.engines.native.libmath.libm import raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.graph.operands import Computed, Number, View
from autograph.runtime.graph.types import BOOL, INT
from autograph.runtime.ops.native.complex_rules import Element
from autograph.runtime.ops.native.number_rules import known_dtype
from autograph.runtime.ops.native.views import part


def store(emit: Emitter, target: View, value: View | Computed | Element, apart: bool) -> None:
    """See `operands.Vectors`."""
    b, dtype, views = emit.b, known_dtype(target.dtype), views_of(value)
    emit.settle()
    direct = _may_be_direct(emit, target, views)
    if apart:
        emit.leave_if(Number(BOOL, b.xor(direct, ir.TRUE)))
    buffer = Buffer(emit, dtype, dtype, target.shape)
    here, there = Place(emit, target), Place(emit, buffer.view)
    olds, news = there.if_else(direct, here), here.if_else(direct, there)
    checks, read = begin_checks(emit, value), reader(emit, value)
    for index, several in loops(emit, target, [target, *views], is_single(value)):
        old, new = here.load(index, several), read(index, several)
        olds.store(old, index, several)
        news.store(new, index, several)
    raised: ir.Value = b.icmp("ne", raised_flags(b), 0) if checks else ir.FALSE
    with b.if_then(b.icmp("eq", raised, direct)), rows(emit, target) as row:
        to, stride, length = here.at(row), target.strides[-1].ref, target.shape[-1].ref
        b.call(_copying(b.function.module, dtype), to, stride, there.at(row), length)
    buffer.release()
    emit.leave_if(Number(BOOL, raised))


def store_rows(emit: Emitter, targets: Sequence[View], values: Sequence[View]) -> None:
    """See `operands.Vectors`."""
    emit.settle()
    for one, other in zip(targets, values):
        emit.leave_if(Number(BOOL, emit.b.xor(are_apart(emit, one), ir.TRUE)))
        for length, wanted in zip(other.shape, one.shape, strict=True):
            emit.leave_if(emit.compare("ne", length, wanted))
    shape = emit.constant(len(values), INT), *targets[0].shape
    buffer = Buffer(emit, "rows", targets[0].dtype, shape)
    copies = [part(emit, buffer.view, (at,)) for at in range(len(values))]
    for to, source in (*zip(copies, values), *zip(targets, copies)):
        for index, several in loops(emit, to, [to, source]):
            Place(emit, to).store(Place(emit, source).load(index, several), index, several)
    buffer.release()


def _copying(module: ir.Module, dtype: np.dtype[Any]) -> ir.Callee:
    """A function that copies contiguous elements like those of a dtype into a vector of a stride."""
    size, align = dtype.itemsize, dtype.alignment
    name, kind = f"scatter_{size}_{align}", f"i{8 * size}"
    if name not in module.functions:
        target, source = (ir.Parameter(each, ir.PTR) for each in ("target", "source"))
        stride, count = (ir.Parameter(each, ir.I64) for each in ("stride", "count"))
        words = {"words": "internal", "attributes": "noinline"}
        b = Builder(module.define(name, ir.VOID, target, stride, source, count, **words))
        with b.loop(0, count) as loop:
            element = b.load(kind, b.gep(source, loop.index, kind), align)
            b.store(element, b.gep(target, b.mul(loop.index, stride)), align)
        b.ret()
    return module.functions[name]


def _may_be_direct(emit: Emitter, target: View, views: Sequence[View]) -> ir.Value:
    """Whether an element may be stored before the next ones are computed.

    It may if no operand has elements among those of the target, or if it is the target itself. A target whose elements
    lie in one place leaves machine code.
    """
    b, size = emit.b, target.dtype.itemsize
    emit.leave_if(Number(BOOL, b.xor(are_apart(emit, target), ir.TRUE)))
    low, high = span(emit, target)
    found: ir.Value = ir.TRUE
    for view in views:
        is_same: ir.Value = ir.FALSE
        if view.dtype.itemsize == size:
            is_same = b.icmp("eq", view.data.ref, target.data.ref)
            for one, other in zip(view.strides, target.strides):
                is_same = b.and_(is_same, b.icmp("eq", one.ref, other.ref))
        found = b.and_(found, b.or_(is_same, lies_apart(emit, view, low, high)))
    return found


def lies_apart(emit: Emitter, x: View, low: ir.Value, high: ir.Value) -> ir.Value:
    """Whether no byte of the elements of a vector lies from one address to another one."""
    first, last = span(emit, x)
    return emit.b.or_(emit.b.icmp("slt", last, low), emit.b.icmp("slt", high, first))


def are_apart(emit: Emitter, x: View) -> ir.Value:
    """Whether no two elements share memory, as far as is known: each row lies apart from the next one."""
    b = emit.b
    axes = [(b.icmp("sle", each.ref, 1), b.intrinsic("abs", stride.ref, ir.FALSE), b.sub(each.ref, 1))
            for each, stride in zip(x.shape, x.strides)]
    known: list[ir.Value] = []
    for order in (axes[::-1], axes)[: len(axes)]:       # C's, or Fortran's
        found: ir.Value = ir.TRUE
        extent: ir.Value = ir.constant(ir.I64, x.dtype.itemsize - 1)
        for is_short, stride, steps in order:
            found = b.and_(found, b.or_(is_short, b.icmp("sgt", stride, extent)))
            extent = b.add(extent, b.mul(stride, steps))
        known.append(found)
    return known[0] if len(known) == 1 else b.or_(*known)


def span(emit: Emitter, x: View) -> tuple[ir.Value, ir.Value]:
    """The addresses of the first and the last byte that elements of a vector have."""
    b, low, high = emit.b, x.data.ref, x.data.ref
    for length, stride in zip(x.shape, x.strides):
        extent = b.mul(b.sub(length.ref, 1), stride.ref)
        is_reversed = b.icmp("slt", extent, 0)
        low, high = b.add(low, b.select(is_reversed, extent, 0)), b.add(high, b.select(is_reversed, 0, extent))
    return low, b.add(high, x.dtype.itemsize - 1)
