"""The elements of vectors in loops: read and written in memory, and computed by the rules of `number_rules`.

A register has several elements at once if all vectors are contiguous. The rules then get numbers that are LLVM's
vectors, and an emitter whose instructions have as many elements as their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from autograph.runtime.engines.native.emit.buffers import Buffer, gathered, pointer
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.external_calls import make_array
from autograph.runtime.engines.native.emit.value_ranges import Ranges
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder, Loop
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type, memory_type
from autograph.runtime.graph.operands import Array, Computed, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL, INT, TensorType, scalar
from autograph.runtime.ops.native.number_rules import converted

SIMD = 32       # bytes of a register
Reader: TypeAlias = Callable[[ir.Value, int], ir.Value]


def array(emit: Emitter, x: Computed) -> Array:
    """See `operands.Vectors`."""
    made = make_array(emit, x.dtype, [x.length], False)
    data = Number(INT, emit.b.cast("ptrtoint", emit.frame.fact(made, "data"), ir.I64))
    stride = emit.constant(x.dtype.itemsize, INT)
    raised = _fill(emit, View(x.dtype, data, (x.length,), (stride,), True), x)
    if raised is not ir.FALSE:
        with emit.b.if_then(raised, False):
            emit.objects.forget(made.ref)
        emit.leave_if(Number(BOOL, raised))
    return made


def in_memory(emit: Emitter, key: Any, x: View | Gathered | Computed) -> tuple[Buffer | None, View, ir.Value]:
    """The elements of a vector in memory, maybe in a buffer; and whether NumPy would warn.

    Args:
        key: of the buffer, see `Buffer`.
    """
    if isinstance(x, View):
        return None, x, ir.FALSE
    if isinstance(x, Gathered):
        buffer = gathered(emit, key, x)
        return buffer, buffer.view, ir.FALSE
    buffer = Buffer(emit, key, x.dtype, x.length)
    return buffer, buffer.view, _fill(emit, buffer.view, x)


def _fill(emit: Emitter, target: View, x: Computed) -> ir.Value:
    """Store elements in a vector that is no operand. Returns whether NumPy would warn."""
    checks = begin_checks(emit, x)
    place, read = Place(emit, target), reader(emit, x)
    for loop, several in loops(emit, target, [target, *views_of(x)]):
        place.store(read(loop.index, several), loop.index, several)
    return emit.b.icmp("ne", raised_flags(emit.b), 0) if checks else ir.FALSE


def begin_checks(emit: Emitter, value: View | Computed | Number) -> bool:
    """Clear the flags if computing elements may raise some. Returns whether it may."""
    if emit.fast or not _raises(value):
        return False
    if not FLAGS:
        raise NoLowering
    emit.underflows = True
    clear_flags(emit.b)
    return True


def _raises(value: View | Computed | Number) -> bool:
    return isinstance(value, Computed) and (value.takes.kind == "f" or any(map(_raises, value.parts)))


class Place:
    """Where elements are.

    Args:
        data, stride: other ones than those of the vector.
    """

    def __init__(self, emit: Emitter, x: View, data: ir.Value | None = None, stride: ir.Value | None = None) -> None:
        self._emit, self._view, self._kind = emit, x, memory_type(x.dtype)
        self._data, self._stride = data or pointer(emit, x), stride or x.strides[0].ref

    def if_else(self, condition: ir.Value, other: Place) -> Place:
        """This place if a condition holds, and otherwise another one."""
        select = self._emit.b.select
        stride = select(condition, self._stride, other._stride)
        return Place(self._emit, self._view, select(condition, self._data, other._data), stride)

    def load(self, index: ir.Value, several: int) -> ir.Value:
        kind = self._kind if several == 1 else ir.vector(several, self._kind)
        found = self._emit.b.load(kind, self._at(index, several), self._view.dtype.itemsize)
        return self._emit.b.icmp("ne", found, 0) if self._view.dtype.kind == "b" else found

    def store(self, value: ir.Value, index: ir.Value, several: int) -> None:
        b = self._emit.b
        if self._view.dtype.kind == "b":
            value = b.cast("zext", value, ir.like(value.type, ir.I8))
        b.store(value, self._at(index, several), self._view.dtype.itemsize)

    def _at(self, index: ir.Value, several: int) -> ir.Value:
        b = self._emit.b
        return b.gep(self._data, index, self._kind) if several > 1 else b.gep(self._data, b.mul(index, self._stride))


def loops(emit: Emitter, target: View, views: Sequence[View]) -> Iterator[tuple[Loop, int]]:
    """Loops over the elements of a vector: over those of a register at once if all are contiguous, then one by one."""
    b, length = emit.b, target.length.ref
    several = SIMD // max(view.dtype.itemsize for view in views)
    end: ir.Value = b.and_(length, -several)
    for step, size in dict.fromkeys((view.strides[0].ref, view.dtype.itemsize) for view in views):
        end = b.select(b.icmp("eq", step, size), end, 0)
    with b.loop(0, end, several) as loop:
        yield loop, several
    with b.loop(end, length) as loop:
        yield loop, 1


def views_of(value: View | Computed | Number) -> list[View]:
    """The views that a vector is computed from."""
    if isinstance(value, Computed):
        return [view for part in value.parts for view in views_of(part)]
    return [value] if isinstance(value, View) else []


def reader(emit: Emitter, value: View | Computed | Number) -> Reader:
    """A function that builds the element at an index; or several, as a vector, if all views are contiguous."""
    if isinstance(value, Number):
        return lambda index, several: value.ref if several == 1 else emit.b.splat(value.ref, several)
    if isinstance(value, View):
        return Place(emit, value).load
    elements, readers = _Elements(emit.b, emit.fast), [(each, _operand(emit, each)) for each in value.parts]

    def read(index: ir.Value, several: int) -> ir.Value:
        operands = (converted(elements, build(index, several), value.takes) for _, build in readers)
        found: ir.Value = value.rule(elements, *operands).ref
        return found

    return read


def _operand(emit: Emitter, part: View | Computed | Number) -> Callable[[ir.Value, int], Number]:
    """The same for an operand of a rule."""
    if isinstance(part, Number):
        return lambda index, several: part
    build, type = reader(emit, part), scalar(part.dtype)
    return lambda index, several: Number(type, build(index, several))


class _Elements(Emitter):
    """Emits operations on elements, one or several at once. Nothing leaves the code."""

    def __init__(self, b: Builder, fast: bool) -> None:
        self.b, self.fast, self.underflows, self.ranges = b, fast, False, Ranges()

    def emit(self, type: TensorType, opcode: str, *args: Number, detail: str = "") -> Number:
        operands = self._alike(args)
        kind = ir.like(operands[0].type, llvm_type(type.dtype))
        return Number(type, self.b.emit(kind, opcode, operands, detail))

    def intrinsic(self, name: str, result: str, *args: Number) -> ir.Value:
        operands = self._alike(args)
        return self.b.intrinsic(name, *operands, result=ir.like(operands[0].type, result))

    def leave_if(self, condition: Number) -> None:
        raise NoLowering

    def _alike(self, args: Sequence[Number]) -> tuple[ir.Value, ...]:
        """Operands of which all are vectors if one is."""
        refs: list[ir.Value] = [each.ref for each in args]
        count = max(ir.count_of(each.type) for each in refs)
        return tuple([each if ir.count_of(each.type) == count else self.b.splat(each, count) for each in refs])
