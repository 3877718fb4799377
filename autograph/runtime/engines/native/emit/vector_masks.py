"""The elements of a vector, or the rows of a matrix, that a mask chooses: `x[mask]`, and `x[mask] = y`.

A mask is read eight elements at a time, so that long runs of False cost little. What it chooses becomes a new array; a
few elements of a vector of known length are copied to the stack.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.engines.native.emit.buffers import MANY, Buffer, pointer, releasing
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.external_calls import make_array
from autograph.runtime.engines.native.emit.vector_elements import Place, begin_checks, in_memory, reader, ref_of
from autograph.runtime.engines.native.emit.vector_stores import are_apart, lies_apart, span
from autograph.runtime.engines.native.libmath.libm import raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.memory import store_element
from autograph.runtime.graph.operands import Array, Complex, Computed, Number, View
from autograph.runtime.graph.types import BOOL, INT
from autograph.runtime.ops.native.complex_rules import Element

Mask: TypeAlias = "View | Computed"
_WORD = 8           # elements of a mask that are read at once
_LOW, _HIGH = 0x7F7F7F7F7F7F7F7F, -0x7F7F7F7F7F7F7F80      # all bits of each byte but the highest; the highest ones


def chosen(emit: Emitter, key: Any, x: View, mask: Mask) -> View | Array:
    """See `operands.Vectors`."""
    counts = [each.known for each in x.shape]
    if len(x.shape) == 1 and counts[0] is not None and counts[0] <= MANY:
        return _on_stack(emit, key, x, mask, int(counts[0]))
    return _array(emit, x, mask)


def _on_stack(emit: Emitter, key: Any, x: View, mask: Mask, length: int) -> View:
    buffer, b = Buffer(emit, key, x.dtype, x.shape).view, emit.b
    checks = begin_checks(emit, mask)
    source, target, read = Place(emit, x), Place(emit, buffer), reader(emit, mask)
    with b.loop(0, x.length.ref, 1, [ir.constant(ir.I64, 0)]) as loop:
        index = [loop.index]
        target.store(source.load(index, 1), [loop.carried[0]], 1)
        loop.carry(b.add(loop.carried[0], b.cast("zext", ref_of(read(index, 1)), ir.I64)))
    if checks:
        emit.leave_if(Number(BOOL, b.icmp("ne", raised_flags(b), 0)))
    count = Number(INT, loop.results[0])
    emit.ranges.bound(count.ref, 0, length)
    return View(x.dtype, buffer.data, (count,), buffer.strides, True)


def _array(emit: Emitter, x: View, mask: Mask) -> Array:
    """A new array of the chosen elements or rows."""
    b, module = emit.b, emit.b.function.module
    if len(x.shape) > 1:
        _leave_unless_contiguous(emit, x, 1)
    emit.settle()
    buffer, bits = _read(emit, "mask", mask)
    count = Number(INT, b.call(_counting(module), pointer(emit, bits), bits.length.ref))
    release = releasing(buffer)
    made = make_array(emit, x.dtype, [count, *x.shape[1:]], False, release)
    width = x.shape[1].ref if len(x.shape) > 1 else ir.constant(ir.I64, 1)
    function = _choosing(module, x.dtype, len(x.shape) > 1)
    where = pointer(emit, bits), bits.length.ref
    b.call(function, emit.frame.fact(made, "data"), pointer(emit, x), x.strides[0].ref, *where, width)
    release()
    return made


def store_chosen(emit: Emitter, target: View, mask: Mask, value: View | Computed | Element) -> None:
    """See `operands.Vectors`."""
    b, module = emit.b, emit.b.function.module
    emit.settle()
    emit.leave_if(Number(BOOL, b.xor(are_apart(emit, target), ir.TRUE)))
    low, high = span(emit, target)
    for each in (mask, value):
        if isinstance(each, View):
            emit.leave_if(Number(BOOL, b.xor(lies_apart(emit, each, low, high), ir.TRUE)))
    buffer, bits = _read(emit, "mask", mask)
    where = pointer(emit, bits), bits.length.ref
    if isinstance(value, (Number, Complex)):
        place = emit.cells.place(("chosen", target.dtype), ir.array(2, ir.I64), 8)
        store_element(b, place, target.dtype, value)
        source: tuple[ir.Value, ir.Value] = place, ir.constant(ir.I64, 0)
        release = releasing(buffer)
    else:
        other, given, raised = in_memory(emit, "values", value)
        release = releasing(buffer, other)
        count, one = b.call(_counting(module), *where), ir.constant(ir.I64, 1)
        length = given.length.ref
        differs = b.and_(b.icmp("ne", length, count), b.icmp("ne", length, one))
        _leave(emit, b.or_(raised, differs), release)
        source = pointer(emit, given), b.select(b.icmp("eq", length, one), 0, given.strides[0].ref)
    b.call(_scattering(module, target.dtype), pointer(emit, target), target.strides[0].ref, *where, *source)
    release()


def _read(emit: Emitter, key: Any, mask: Mask) -> tuple[Buffer | None, View]:
    """The elements of a mask in contiguous memory, maybe in a buffer."""
    if isinstance(mask, View):
        _leave_unless_contiguous(emit, mask, 0)
    buffer, view, raised = in_memory(emit, key, mask)
    if raised is not ir.FALSE:
        _leave(emit, raised, releasing(buffer))
    return buffer, view


def _leave(emit: Emitter, condition: ir.Value, before: Callable[[], None]) -> None:
    """Leave machine code if a condition holds, after something else."""
    with emit.b.if_then(condition, False):
        before()
    emit.leave_if(Number(BOOL, condition))


def _leave_unless_contiguous(emit: Emitter, x: View, axis: int) -> None:
    b = emit.b
    differs = b.icmp("ne", x.strides[axis].ref, x.dtype.itemsize)
    emit.leave_if(Number(BOOL, b.and_(differs, b.icmp("sgt", x.shape[axis].ref, 1))))


# Functions ------------------------------------------------------------------------------------------------------------


def _function(module: ir.Module, name: str, result: str, parameters: str) -> tuple[ir.Function, Builder | None]:
    """A function of some addresses and integers, and the builder of its code if it has none."""
    if name in module.functions:
        return module.functions[name], None
    pointers = "target", "source", "mask"
    made = [ir.Parameter(each, ir.PTR if each in pointers else ir.I64) for each in parameters.split()]
    function = module.define(name, result, *made, words="internal", attributes="noinline")
    return function, Builder(function)


def _counting(module: ir.Module) -> ir.Function:
    """The function that counts what a mask chooses."""
    function, b = _function(module, "count_mask", ir.I64, "mask n")
    if b is not None:
        mask, n = function.parameters
        end = b.and_(n, -_WORD)
        with b.loop(0, end, _WORD, [ir.constant(ir.I64, 0)]) as loop:
            bits = b.intrinsic("ctpop", _marks(b, b.load(ir.I64, b.gep(mask, loop.index), 1)))
            loop.carry(b.add(loop.carried[0], bits))
        with b.loop(end, n, 1, [loop.results[0]]) as rest:
            rest.carry(b.add(rest.carried[0], b.cast("zext", _is_true(b, mask, rest.index), ir.I64)))
        b.ret(rest.results[0])
    return function


def _choosing(module: ir.Module, dtype: np.dtype[Any], of_rows: bool) -> ir.Function:
    """The function that copies the chosen elements like those of a dtype, or rows of some width."""
    size, align = dtype.itemsize, dtype.alignment
    name, kind = f"choose{'_rows' * of_rows}_{size}_{align}", f"i{8 * size}"
    function, b = _function(module, name, ir.VOID, "target source stride mask n width")
    if b is not None:
        target, source, stride, mask, n, width = function.parameters

        def copy(place: ir.Value, number: ir.Value) -> None:
            begin, to = b.gep(source, b.mul(place, stride)), b.gep(target, b.mul(number, width), kind)
            if not of_rows:
                b.store(b.load(kind, begin, align), to, align)
                return
            with b.loop(0, width) as loop:
                b.store(b.load(kind, b.gep(begin, loop.index, kind), align), b.gep(to, loop.index, kind), align)

        _for_each(b, mask, n, copy)
        b.ret()
    return function


def _scattering(module: ir.Module, dtype: np.dtype[Any]) -> ir.Function:
    """The function that stores elements of a stride, like those of a dtype, in those that are chosen."""
    size, align = dtype.itemsize, dtype.alignment
    function, b = _function(module, f"store_chosen_{size}_{align}", ir.VOID, "target stride mask n source step")
    if b is not None:
        target, stride, mask, n, source, step = function.parameters
        kind = f"i{8 * size}"

        def copy(place: ir.Value, number: ir.Value) -> None:
            element = b.load(kind, b.gep(source, b.mul(number, step)), align)
            b.store(element, b.gep(target, b.mul(place, stride)), align)

        _for_each(b, mask, n, copy)
        b.ret()
    return function


def _for_each(b: Builder, mask: ir.Value, n: ir.Value, body: Callable[[ir.Value, ir.Value], None]) -> None:
    """Build `body(place, number)` for each place at which a mask is true."""
    end = b.and_(n, -_WORD)
    with b.loop(0, end, _WORD, [ir.constant(ir.I64, 0)]) as words:
        marks = _marks(b, b.load(ir.I64, b.gep(mask, words.index), 1))
        before, (head, inside, after) = b.block, map(b.new_block, ("marks", "mark", "after"))
        b.br(head)
        b.begin(head)
        left, number = b.phi(ir.I64, (marks, before)), b.phi(ir.I64, (words.carried[0], before))
        b.cond_br(b.icmp("ne", left, 0), inside, after)
        b.begin(inside)
        place = b.binary("lshr", b.intrinsic("cttz", left, ir.TRUE), math.frexp(_WORD)[1] - 1)
        body(b.add(words.index, place), number)
        following = b.and_(left, b.sub(left, 1)), b.add(number, 1)
        for phi, value in zip((left, number), following):
            phi.add_incoming(value, b.block)
        b.br(head)
        b.begin(after)
        words.carry(number)
    with b.loop(end, n, 1, [words.results[0]]) as rest:
        holds = _is_true(b, mask, rest.index)
        with b.if_then(holds):
            body(rest.index, rest.carried[0])
        rest.carry(b.add(rest.carried[0], b.cast("zext", holds, ir.I64)))


def _marks(b: Builder, word: ir.Value) -> ir.Value:
    """The highest bit of each byte that is not 0."""
    low = b.add(b.and_(word, _LOW), _LOW)
    return b.and_(b.or_(low, word), _HIGH)


def _is_true(b: Builder, mask: ir.Value, index: ir.Value) -> ir.Value:
    return b.icmp("ne", b.load(ir.I8, b.gep(mask, index), 1), 0)
