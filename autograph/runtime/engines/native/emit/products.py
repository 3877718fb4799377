"""Products of vectors in loops: calls of the inner loop of `np.matmul`, as NumPy calls it, so that each bit is NumPy's.

That loop chooses BLAS or a loop of its own, by lengths and strides. `np.dot` and its like call the same functions, but
some copy vectors with strides that are not positive, and multiply single elements without adding them to 0.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from autograph.common.numpy_internals import matmul_loop
from autograph.common.probes import agrees
from autograph.runtime.engines.native.emit.buffers import gathered
from autograph.runtime.engines.native.emit.emitter import Emitter, is_strange
from autograph.runtime.engines.native.emit.vector_stores import store
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type
from autograph.runtime.engines.native.llvm.memory import load_element, load_number, store_number
from autograph.runtime.graph.operands import Array, Complex, Computed, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL, INT

Product: TypeAlias = Callable[[Any, Any], Any]
_LOOP = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class Vectors:
    """See `operands.Vectors`."""

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit

    def whole(self, x: Array) -> View:
        emit = self._emit
        data = emit.b.cast("ptrtoint", emit.frame.fact(x, "data"), ir.I64)
        shape = tuple(emit.length(x, axis) for axis in range(x.ndim))
        strides = tuple(Number(INT, emit.frame.fact(x, "stride", axis)) for axis in range(x.ndim))
        return View(x.dtype, Number(INT, data), shape, strides, x.writeable)

    def store(self, target: View, value: View | Computed | Number) -> None:
        store(self._emit, target, value)

    def product(
        self,
        function: Product,
        x: View | Gathered,
        y: View | Gathered,
        copies: bool = False,
        warns: bool = True,
    ) -> Number | Complex:
        emit, dtype = self._emit, x.dtype
        if not is_known(dtype, function, copies):
            raise NoLowering
        buffers = [gathered(emit, place, each) for place, each in enumerate((x, y)) if isinstance(each, Gathered)]
        made = iter(buffers)
        views = [next(made).view if isinstance(each, Gathered) else each for each in (x, y)]
        checks = warns and dtype.kind in "fc" and not emit.fast
        found, raised = _multiplied(emit, views, copies and dtype.kind == "f", checks)    # integers are exact anyway
        for buffer in buffers:
            buffer.release()
        emit.leave_if(raised)
        return found


def _multiplied(emit: Emitter, views: list[View], copies: bool, checks: bool) -> tuple[Number | Complex, Number]:
    """The product of two vectors, and whether NumPy would warn, if that is to be checked."""
    if checks and not FLAGS:
        raise NoLowering
    b, dtype, count = emit.b, views[0].dtype, views[0].length.ref
    found, alone = emit.cells.place(("product", dtype), f"[2 x {ir.I64}]"), b.icmp("eq", count, 1)
    vectors = [_Vector(emit, place, each, copies) for place, each in enumerate(views)]
    if checks:
        emit.underflows = True
        clear_flags(b)
    if copies:
        b.if_else(alone, lambda: _multiply(b, vectors, found, dtype), lambda: _call(emit, vectors, found, dtype))
    else:
        _call(emit, vectors, found, dtype)
    for each in vectors:
        each.release()
    result = load_element(b, found, dtype)
    if not checks:
        return result, emit.constant(False, BOOL)
    raised = Number(BOOL, b.icmp("ne", raised_flags(b), 0))
    if copies and isinstance(result, Number):       # LLVM may multiply after the flags have been read
        raised = emit.integer("or", raised, emit.integer("and", Number(BOOL, alone), is_strange(emit, result)))
    return result, raised


def _multiply(b: Builder, vectors: list[_Vector], found: ir.Value, dtype: np.dtype[Any]) -> None:
    """Multiply single elements."""
    one, other = (load_number(b, each.data, dtype) for each in vectors)
    store_number(b, found, dtype, b.binary("fmul", one, other))


def _call(emit: Emitter, vectors: list[_Vector], found: ir.Value, dtype: np.dtype[Any]) -> None:
    """Call the loop: it multiplies a row by a column. An axis of one element has a stride of 0."""
    b, count = emit.b, vectors[0].count
    data = emit.cells.place("vectors", ir.array(3, ir.PTR))
    for place, pointer in enumerate([*(each.data for each in vectors), found]):
        b.store(pointer, b.gep(data, SLOT * place))
    sizes = emit.cells.place("sizes", ir.array(4, ir.I64))
    for place, size in enumerate([1, 1, count, 1]):
        b.store(size if isinstance(size, ir.Value) else ir.constant(ir.I64, size), b.gep(sizes, SLOT * place))
    steps = emit.cells.place("steps", ir.array(9, ir.I64))
    row, column = (b.select(b.icmp("eq", count, 1), 0, each.stride) for each in vectors)
    for place, step in enumerate([0, 0, 0, 0, row, column, 0, 0, 0]):
        b.store(step if isinstance(step, ir.Value) else ir.constant(ir.I64, step), b.gep(steps, SLOT * place))
    loop = b.function.module.declare(f"ag_matmul_{dtype.char}", ir.VOID, *[ir.PTR] * 4)
    b.call(loop, data, sizes, steps, ir.NULL)


class _Vector:
    """An operand of the loop.

    Args:
        copies: whether NumPy copies it unless its stride is positive.

    Attributes:
        data, stride, count: of the vector, or of the copy.
    """

    def __init__(self, emit: Emitter, place: int, x: View, copies: bool) -> None:
        self._b, self._copy = emit.b, emit.cells.place(("copy", place), ir.PTR)
        self.data: ir.Value = emit.b.cast("inttoptr", x.data.ref, ir.PTR)
        self.stride, self.count = x.strides[0].ref, x.shape[0].ref
        self._is_copied: ir.Value | None = None
        if copies:
            b, size = emit.b, x.dtype.itemsize
            self._is_copied = b.and_(b.icmp("slt", self.stride, 1), b.icmp("sgt", self.count, 1))
            b.store(self.data, self._copy)
            with b.if_then(self._is_copied, False):
                b.store(self._copied(emit, x.dtype), self._copy)
            self.data = b.load(ir.PTR, self._copy)
            self.stride = b.select(self._is_copied, size, self.stride)

    def _copied(self, emit: Emitter, dtype: np.dtype[Any]) -> ir.Value:
        """The address of a contiguous copy."""
        b, kind = emit.b, llvm_type(dtype)
        found = emit.objects.python("PyMem_RawMalloc", b.mul(self.count, dtype.itemsize))
        emit.leave_if(Number(BOOL, b.is_null(found)))
        with b.loop(0, self.count) as loop:
            element = load_number(b, b.gep(self.data, b.mul(loop.index, self.stride)), dtype)
            b.store(element, b.gep(found, loop.index, kind), dtype.itemsize)
        return found

    def release(self) -> None:
        """Free the copy."""
        if self._is_copied is not None:
            with self._b.if_then(self._is_copied, False):
                self._b.call(self._b.function.module.declare("PyMem_RawFree", ir.VOID, ir.PTR), self.data)


# Probe ----------------------------------------------------------------------------------------------------------------


@cache
def is_known(dtype: np.dtype[Any], function: Product, copies: bool) -> bool:
    """Whether the loop for a dtype can be called, and gives what a function of NumPy gives.

    Args:
        copies: whether the function copies vectors, and does not call the loop for single elements.
    """
    address, copies = matmul_loop(dtype.char) if dtype.kind in "iufc" else None, copies and dtype.kind == "f"

    def candidate(x: Any, y: Any) -> Any:
        if copies and len(x) == 1:
            return y[0] * x[0]
        return _run(address, *(each.copy() if copies and each.strides[0] <= 0 else each for each in (x, y)))

    return bool(address) and agrees(candidate, function, _samples(dtype))


def _run(address: Any, x: Any, y: Any) -> Any:
    """The product of two vectors by the loop."""
    found, count = np.empty(1, x.dtype), len(x)
    data = (ctypes.c_void_p * 3)(*(each.ctypes.data for each in (x, y, found)))
    sizes = (ctypes.c_ssize_t * 4)(1, 1, count, 1)
    row, column = (each.strides[0] if count != 1 else 0 for each in (x, y))
    steps = (ctypes.c_ssize_t * 9)(0, 0, 0, 0, row, column)
    _LOOP(address)(ctypes.addressof(data), ctypes.addressof(sizes), ctypes.addressof(steps), None)
    return found[0]


def _samples(dtype: np.dtype[Any]) -> Iterator[tuple[Any, Any]]:
    """Vectors of several lengths and strides."""
    for count in (0, 1, 2, 7, 33, 130):
        yield -np.ones(count, dtype), np.zeros(count, dtype)
        numbers = 100 * np.sin(np.arange(1.0, 8 * count + 1))
        numbers = (abs(numbers) if dtype.kind == "u" else numbers).astype(dtype)
        for steps in ((1, 1), (1, 4), (4, 1), (3, -1), (-1, 2), (-1, -1)):
            parts = numbers[: 4 * count], numbers[4 * count :]
            x, y = (part[: abs(step) * count][::step] for part, step in zip(parts, steps))
            yield x, y
