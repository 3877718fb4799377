"""The elements of vectors in loops: read and written in memory, and computed by the rules of `number_rules`.

A register has several elements at once if all vectors are contiguous. The rules then get numbers that are LLVM's
vectors, and an emitter whose instructions have as many elements as their operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.engines.native.emit.buffers import (
    MANY,
    Buffer,
    contiguous,
    copy_gathered,
    gathered,
    leave_unless_within,
    pointer,
)
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.external_calls import element, make_array
from autograph.runtime.engines.native.emit.value_ranges import Ranges
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raise_flags, raised_flags
from autograph.runtime.engines.native.libmath.ufunc_loops import loop_of_elements
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type, memory_type
from autograph.runtime.engines.native.llvm.memory import load_element, store_element
from autograph.runtime.graph.operands import Array, Complex, Computed, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL, INT, TensorType, scalar
from autograph.runtime.ops.native.complex_rules import Element, converted, parts_of
from autograph.runtime.ops.native.number_rules import RULES, known_dtype, where_true

SIMD = 32       # bytes of a register
Index: TypeAlias = Sequence[ir.Value]       # of an element, or of the first of several along the last axis
# Rules that raise no flags of which NumPy warns; and those after which LLVM may drop what has computed an operand.
_QUIET = frozenset(
    RULES[name]
    for name in """less less_equal equal not_equal greater greater_equal logical_and logical_or logical_xor logical_not
    isnan isinf isfinite copysign floor ceil trunc rint fabs absolute negative positive""".split()
)
_QUIET |= {where_true}
_DROPS = _QUIET | {RULES["sign"], RULES["maximum"], RULES["minimum"]}
Reader: TypeAlias = Callable[[Index, int], Element]


def array(emit: Emitter, x: View | Gathered | Computed, is_kept: bool = True) -> Array:
    """See `operands.Vectors`.

    Args:
        is_kept: whether the program can see the order of its axes.
    """
    if isinstance(x, Gathered):
        leave_unless_within(emit, x)
        found = make_array(emit, x.dtype, x.shape, False)
        copy_gathered(emit, x, emit.frame.fact(found, "data"))
        return found
    if is_kept:
        demand_order(emit, x)
    made = make_array(emit, x.dtype, x.shape, False)
    data = Number(INT, emit.b.cast("ptrtoint", emit.frame.fact(made, "data"), ir.I64))
    raised = _fill(emit, contiguous(emit, x.dtype, data, x.shape), x)
    if raised is not ir.FALSE:
        with emit.b.if_then(raised, False):
            emit.objects.forget(made.ref)
        emit.leave_if(Number(BOOL, raised))
    return made


def counted(emit: Emitter, start: Number, length: Number) -> Array:
    """See `operands.Vectors`."""
    made = make_array(emit, INT.dtype, (length,), False)
    b, data = emit.b, emit.frame.fact(made, "data")
    with b.loop(0, length.ref) as loop:
        b.store(b.add(start.ref, loop.index), b.gep(data, loop.index, ir.I64))
    return made


def demand_order(emit: Emitter, x: View | Computed) -> None:
    """Refuse what NumPy may give another order than C's: that of the result follows the strides of operands.

    If these differ, C's order prevails: one operand in that order suffices that repeats no elements.
    """
    views = views_of(x)
    if all(view.in_order for view in views):
        return
    whole = next((view for view in views if view.in_order and not any(each.known == 0 for each in view.strides)), None)
    if whole is None:
        raise NoLowering
    for stride in whole.strides:
        emit.leave_if(emit.compare("eq", stride, emit.constant(0, INT)))


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
    demand_order(emit, x)
    buffer = Buffer(emit, key, x.dtype, x.shape)
    return buffer, buffer.view, _fill(emit, buffer.view, x)


def items(emit: Emitter, x: View | Computed, count: int) -> list[Element]:
    """See `operands.Vectors`."""
    known_dtype(x.dtype)
    emit.leave_if(emit.compare("ne", x.length, emit.constant(count, INT)))
    buffer, view, raised = in_memory(emit, "items", x)
    place = Place(emit, view)
    found = [place.load([ir.constant(ir.I64, at)], 1) for at in range(count)]
    if buffer is not None:
        buffer.release()
    if raised is not ir.FALSE:
        emit.leave_if(Number(BOOL, raised))
    return found


def kept(emit: Emitter, key: Any, x: Computed) -> View:
    """See `operands.Vectors`."""
    demand_order(emit, x)
    buffer = _known_room(emit, key, x)
    raised = _fill(emit, buffer, x)
    if raised is not ir.FALSE:
        emit.leave_if(Number(BOOL, raised))
    return buffer


def _known_room(emit: Emitter, key: Any, x: View | Computed) -> View:
    """Memory for as many elements on the stack, which need not be released."""
    counts = [each.known for each in x.shape if each.known is not None]
    if len(counts) < len(x.shape) or not math.prod(counts) <= MANY:
        raise NoLowering
    return Buffer(emit, key, x.dtype, x.shape).view


def _fill(emit: Emitter, target: View, x: View | Computed) -> ir.Value:
    """Store elements in a vector that is no operand. Returns whether NumPy would warn."""
    checks = begin_checks(emit, x)
    place, read = Place(emit, target), reader(emit, x)
    for index, several in loops(emit, target, [target, *views_of(x)], is_single(x)):
        place.store(read(index, several), index, several)
    return emit.b.icmp("ne", raised_flags(emit.b), 0) if checks else ir.FALSE


@contextmanager
def checked(emit: Emitter, made: Array, checks: bool) -> Iterator[None]:
    """Within it, the elements of a new array are computed; the code is left without it if NumPy would warn."""
    if checks:
        emit.underflows = True
        clear_flags(emit.b)
    yield
    if checks:
        raised = emit.b.icmp("ne", raised_flags(emit.b), 0)
        with emit.b.if_then(raised, False):
            emit.objects.forget(made.ref)
        emit.leave_if(Number(BOOL, raised))


def begin_checks(emit: Emitter, value: View | Computed | Element) -> bool:
    """Clear the flags if computing elements may raise some. Returns whether it may."""
    if emit.fast or not _raises(value):
        return False
    if not FLAGS:
        raise NoLowering
    emit.underflows = True
    clear_flags(emit.b)
    return True


def _raises(value: View | Computed | Element) -> bool:
    """Whether computing elements may raise a flag, for which NumPy warns."""
    if not isinstance(value, Computed):
        return False
    return value.singly or (value.takes.kind in "fc" and value.rule not in _QUIET) or any(map(_raises, value.parts))


def is_single(value: View | Computed | Element) -> bool:
    """Whether only one element can be computed at a time, such as a complex number."""
    if isinstance(value, (Number, Complex)):
        return isinstance(value, Complex)
    if isinstance(value, Computed) and (value.singly or any(map(is_single, value.parts))):
        return True
    return value.dtype.kind == "c"


def ref_of(x: Element) -> ir.Value:
    """The instruction of an element that is no complex number."""
    assert isinstance(x, Number)
    ref: ir.Value = x.ref
    return ref


class Place:
    """Where elements are.

    Args:
        data, strides: other ones than those of the vector.
    """

    def __init__(self, emit: Emitter, x: View, data: ir.Value | None = None, strides: Index | None = None) -> None:
        self._emit, self._view, self._kind = emit, x, memory_type(x.dtype)
        self._data, self._strides = data or pointer(emit, x), strides or [each.ref for each in x.strides]

    def if_else(self, condition: ir.Value, other: Place) -> Place:
        """This place if a condition holds, and otherwise another one."""
        select = self._emit.b.select
        strides = [select(condition, *each) for each in zip(self._strides, other._strides)]
        return Place(self._emit, self._view, select(condition, self._data, other._data), strides)

    def load(self, index: Index, several: int) -> Element:
        b, dtype = self._emit.b, self._view.dtype
        if several == 1:
            return load_element(b, self.at(index), dtype)
        found = b.load(ir.vector(several, self._kind), self.at(index, several), dtype.itemsize)
        return Number(scalar(dtype), b.icmp("ne", found, 0) if dtype.kind == "b" else found)

    def store(self, value: Element, index: Index, several: int) -> None:
        b, dtype = self._emit.b, self._view.dtype
        if isinstance(value, Complex):
            store_element(b, self.at(index), dtype, value)
            return
        ref = b.cast("zext", value.ref, ir.like(value.ref.type, ir.I8)) if dtype.kind == "b" else value.ref
        b.store(ref, self.at(index, several), dtype.itemsize)

    def at(self, index: Index, several: int = 1) -> ir.Value:
        """The address of an element; of the first one of a row if the last index is left out."""
        b, data = self._emit.b, self._data
        for each, stride in zip(index[: len(index) - (several > 1)], self._strides):
            data = b.gep(data, b.mul(each, stride))
        return b.gep(data, index[-1], self._kind) if several > 1 else data


def loops(
    emit: Emitter, target: View, views: Sequence[View], singly: bool = False
) -> Iterator[tuple[Index, int]]:
    """Loops over the elements of a vector: over those of a register at once if all are contiguous, then one by one."""
    along = loops_along(emit, target.shape[-1], views, singly)
    with rows(emit, target) as outer:
        for index, several in along():
            yield [*outer, index], several


def loops_along(
    emit: Emitter, length: Number, views: Sequence[View], singly: bool = False
) -> Callable[[], Iterator[tuple[ir.Value, int]]]:
    """The same over the elements of a row, for many rows."""
    b = emit.b
    several = SIMD // max(view.dtype.itemsize for view in views)
    end: ir.Value = b.and_(length.ref, -several)
    for step, size in dict.fromkeys((view.strides[-1].ref, view.dtype.itemsize) for view in views):
        end = b.select(b.icmp("eq", step, size), end, 0)

    def along() -> Iterator[tuple[ir.Value, int]]:
        if not singly:
            with b.loop(0, end, several) as loop:
                yield loop.index, several
        with b.loop(ir.constant(ir.I64, 0) if singly else end, length.ref) as loop:
            yield loop.index, 1

    return along


@contextmanager
def rows(emit: Emitter, x: View) -> Iterator[list[ir.Value]]:
    """Loops over all axes but the last."""
    with ExitStack() as stack:
        yield [stack.enter_context(emit.b.loop(0, each.ref)).index for each in x.shape[:-1]]


def views_of(value: View | Computed | Element) -> list[View]:
    """The views that a vector is computed from."""
    if isinstance(value, Computed):
        return [view for part in value.parts for view in views_of(part)]
    return [value] if isinstance(value, View) else []


def reader(emit: Emitter, value: View | Computed | Element, known: dict[int, Reader] | None = None) -> Reader:
    """A function that builds the element at an index; or several, as a vector, if all views are contiguous.

    Args:
        known: the readers of parts, by id, for parts that occur twice.
    """
    if isinstance(value, Complex):
        return lambda index, several: value
    if isinstance(value, Number):
        return lambda index, several: value if several == 1 else replace(value, ref=emit.b.splat(value.ref, several))
    if isinstance(value, View):
        return Place(emit, value).load
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)]
    elements, readers = _Elements(emit), [_operand(emit, each, known) for each in value.parts]
    pinned = [value.rule in _DROPS and _raises(each) for each in value.parts]

    def build_at(index: Index, several: int) -> Element:
        given = [build(index, several) for build in readers]
        for each, is_pinned in zip(given, pinned):
            if is_pinned:
                elements.pin(each)
        return value.rule(elements, *(converted(elements, each, value.takes) for each in given))

    known[id(value)] = _once(build_at)
    return known[id(value)]


def _once(build: Reader) -> Reader:
    """A reader that builds an element once for each index."""
    last: list[Any] = [None, None]

    def read(index: Index, several: int) -> Element:
        if last[0] is not index:
            last[:] = index, build(index, several)
        found: Element = last[1]
        return found

    return read


def _operand(emit: Emitter, part: View | Computed | Element, known: dict[int, Reader]) -> Reader:
    """The same for an operand of a rule."""
    if isinstance(part, Number):
        return lambda index, several: part
    return reader(emit, part, known)


class _Elements(Emitter):
    """Emits operations on elements, one or several at once. Nothing leaves the code."""

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self.b, self.fast, self.underflows, self.ranges = emit.b, emit.fast, False, Ranges()

    def ufunc(self, ufunc: np.ufunc, type: TensorType, *args: Element) -> Element:
        loop = loop_of_elements(ufunc, (*(arg.type.dtype for arg in args), type.dtype))
        if loop is None:
            raise NoLowering
        raised = None if self.fast or loop.body is not None else raised_flags(self.b)
        found = element(self._emit, loop, type, *args)
        if raised is not None:      # some of NumPy's loops clear the flags of what was computed before
            with self.b.if_then(self.b.icmp("ne", raised, 0), likely=False):
                raise_flags(self.b, raised)
        return found

    def pin(self, x: Element) -> None:
        """Compute a number even if nothing uses it."""
        for part in parts_of(x):
            kind = part.ref.type
            self.b.store(part.ref, self._emit.cells.place(("pinned", kind), kind, SIMD), volatile=True)

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
