"""Products of vectors in loops: calls of the inner loop of `np.matmul`, as NumPy calls it, so that each bit is NumPy's.

That loop chooses BLAS or a loop of its own, by lengths and strides. `np.dot` and its like call the same functions, but
some copy vectors with strides that are not positive, and multiply single elements without adding them to 0.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from autograph.common.numpy_internals import matmul_loop
from autograph.common.probes import agrees
from autograph.runtime.engines.native.emit.buffers import FEW, Buffer, listed, pointer
from autograph.runtime.engines.native.emit.emitter import Emitter, is_strange
from autograph.runtime.engines.native.emit.external_calls import make_array, places, sort_array, sorting_places
from autograph.runtime.engines.native.emit.vector_elements import array, checked, counted, in_memory, items, kept
from autograph.runtime.engines.native.emit.vector_masks import chosen, store_chosen
from autograph.runtime.engines.native.emit.vector_reductions import accumulated, median, ordered, reduced, reduced_rows
from autograph.runtime.engines.native.emit.vector_stores import store, store_rows
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raised_flags
from autograph.runtime.engines.native.libmath.ufunc_loops import loop_of_elements
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type
from autograph.runtime.engines.native.llvm.memory import load_element, load_number, store_number
from autograph.runtime.graph.operands import Array, Complex, Computed, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL, INT
from autograph.runtime.ops.native.complex_rules import Element

LARGE = 1 << 15     # multiplications, above which NumPy releases the GIL, too
Product: TypeAlias = Callable[[Any, Any], Any]
_LOOP = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class Vectors:
    """See `operands.Vectors`.

    Attributes:
        place: that of a node among those that are emitted at once, if only they read its result, without an object.
    """

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self.place: int | None = None
        self._listed = itertools.count()

    def whole(self, x: Array) -> View:
        emit = self._emit
        data = emit.b.cast("ptrtoint", emit.frame.fact(x, "data"), ir.I64)
        shape = tuple(emit.length(x, axis) for axis in range(x.ndim))
        strides = tuple(emit.frame.number(x, "stride", axis) for axis in range(x.ndim))
        return View(x.dtype, Number(INT, data), shape, strides, x.writeable, x.contiguous or x.ndim == 1)

    def computes(self, ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> bool:
        return loop_of_elements(ufunc, dtypes) is not None

    def listed(self, dtype: np.dtype[Any], items: Sequence[Number]) -> View:
        return listed(self._emit, ("listed", next(self._listed)), dtype, items)

    def items(self, x: View | Computed, count: int) -> list[Element]:
        return items(self._emit, x, count)

    def kept(self, x: Computed) -> View:
        return kept(self._emit, ("kept", next(self._listed)), x)

    def chosen(self, x: View, mask: View | Computed) -> View | Array:
        return chosen(self._emit, ("chosen", next(self._listed)), x, mask)

    def store_chosen(self, target: View, mask: View | Computed, value: View | Computed | Element) -> None:
        store_chosen(self._emit, target, mask, value)

    def store_rows(self, targets: Sequence[View], values: Sequence[View]) -> None:
        store_rows(self._emit, targets, values)

    def sorted(self, x: View | Computed) -> Array | View:
        if self.place is not None:
            return ordered(self._emit, ("sorted", self.place), x)
        made = array(self._emit, x)
        sort_array(self._emit, made)
        return made

    def sorting_places(self, x: Array | View | Computed) -> Array:
        is_object = isinstance(x, Array)
        return sorting_places(self._emit, x if isinstance(x, Array) else array(self._emit, x), release=not is_object)

    def places(self, x: Array | View | Computed) -> tuple[Array, ...]:
        is_object = isinstance(x, Array)
        given = x if isinstance(x, Array) else array(self._emit, x, is_kept=False)
        return places(self._emit, given, release=not is_object)

    def counted(self, start: Number, length: Number) -> Array:
        return counted(self._emit, start, length)

    def array(self, x: View | Gathered | Computed) -> Array:
        return array(self._emit, x)

    def store(self, target: View, value: View | Computed | Element, apart: bool = False) -> None:
        store(self._emit, target, value, apart)

    def reduction(self, how: str, x: View | Gathered | Computed) -> Number:
        return reduced(self._emit, how, x)

    def median(self, x: View | Computed) -> Number:
        return median(self._emit, x)

    def reduced_rows(self, how: str, x: View | Computed, root: bool = False) -> Array:
        return reduced_rows(self._emit, how, x, root)

    def accumulated(self, how: str, x: View | Computed) -> Array:
        return accumulated(self._emit, how, x)

    def matrix_product(self, x: View, y: View) -> Array | View:
        emit, dtype = self._emit, x.dtype
        checks = dtype.kind in "fc" and not emit.fast
        if (checks and not FLAGS) or not are_matrices_known(dtype):
            raise NoLowering
        first, second = _as_matrix(emit, x, 0), _as_matrix(emit, y, 1)
        lengths = [*x.shape[:-1], *y.shape[1:]]
        if self.place is not None and math.prod(each.known or LARGE for each in lengths) <= FEW:
            found = Buffer(emit, ("product", self.place), dtype, lengths).view
            if checks:
                emit.underflows = True
                clear_flags(emit.b)
            _call(emit, first, second, pointer(emit, found), dtype)
            if checks:
                emit.leave_if(Number(BOOL, emit.b.icmp("ne", raised_flags(emit.b), 0)))
            return found
        made = make_array(emit, dtype, lengths, False)
        with checked(emit, made, checks):
            _call(emit, first, second, emit.frame.fact(made, "data"), dtype)
        return made

    def product(
        self,
        function: Product,
        x: View | Gathered | Computed,
        y: View | Gathered | Computed,
        copies: bool = False,
        warns: bool = True,
    ) -> Number | Complex:
        emit, dtype = self._emit, x.dtype
        if not is_known(dtype, function, copies):
            raise NoLowering
        first = in_memory(emit, 0, x)
        operands = [first, first if y is x else in_memory(emit, 1, y)]
        checks = warns and dtype.kind in "fc" and not emit.fast
        found, raised = _multiplied(emit, [each[1] for each in operands], copies and dtype.kind == "f", checks)
        for buffer, _, doubt in operands[: 1 + (y is not x)]:
            if buffer is not None:
                buffer.release()
            raised = emit.integer("or", raised, Number(BOOL, doubt)) if doubt is not ir.FALSE else raised
        emit.leave_if(raised)
        return found


def _multiplied(emit: Emitter, views: list[View], copies: bool, checks: bool) -> tuple[Number | Complex, Number]:
    """The product of two vectors, and whether NumPy would warn, if the caller asks."""
    if checks and not FLAGS:
        raise NoLowering
    b, dtype, count = emit.b, views[0].dtype, views[0].length.ref
    found, alone = emit.cells.place(("product", dtype), f"[2 x {ir.I64}]"), b.icmp("eq", count, 1)
    vectors = [_Vector(emit, place, each, copies) for place, each in enumerate(views)]
    none, one = (ir.constant(ir.I64, each) for each in (0, 1))
    operands = (
        Matrix(vectors[0].data, one, count, none, vectors[0].stride),
        Matrix(vectors[1].data, count, one, vectors[1].stride, none),
    )
    if checks:
        emit.underflows = True
        clear_flags(b)
    if copies:
        b.if_else(alone, lambda: _multiply(b, vectors, found, dtype), lambda: _call(emit, *operands, found, dtype))
    else:
        _call(emit, *operands, found, dtype)
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


class Matrix(NamedTuple):
    """An operand of the loop. A vector is one row on the left, and one column on the right.

    Attributes:
        down, along: the strides from row to row, and from column to column.
    """

    data: ir.Value
    rows: ir.Value
    columns: ir.Value
    down: ir.Value
    along: ir.Value


def _as_matrix(emit: Emitter, x: View, place: int) -> Matrix:
    """A vector or matrix as the first or second operand."""
    shape, strides = [each.ref for each in x.shape], [each.ref for each in x.strides]
    if len(shape) == 1:
        shape.insert(place, ir.constant(ir.I64, 1))
        strides.insert(place, ir.constant(ir.I64, 0))
    return Matrix(pointer(emit, x), *shape, *strides)


def _call(emit: Emitter, first: Matrix, second: Matrix, found: ir.Value, dtype: np.dtype[Any]) -> None:
    """Call the loop. An axis of one element has a stride of 0; so have the loops around, of which there are none."""
    b, none, one, size = emit.b, *(ir.constant(ir.I64, each) for each in (0, 1, dtype.itemsize))
    lengths = first.rows, first.columns, second.columns
    result = (first.rows, b.mul(second.columns, size)), (second.columns, size)
    axes = [*zip(first[1:3], first[3:]), *zip(second[1:3], second[3:]), *result]
    steps = [none, none, none, *(b.select(b.icmp("eq", length, 1), none, stride) for length, stride in axes)]
    tables = []
    for name, values in (("operands", (first.data, second.data, found)), ("sizes", (one, *lengths)), ("steps", steps)):
        tables.append(emit.cells.place(name, ir.array(len(values), values[0].type)))
        for place, value in enumerate(values):
            b.store(value, b.gep(tables[-1], SLOT * place))
    loop = b.function.module.declare(f"ag_matmul_{dtype.char}", ir.VOID, *[ir.PTR] * 4)
    known = [int(each.value) for each in lengths if isinstance(each, ir.Constant)]
    is_vector = [each for each in (lengths[0], lengths[2]) if isinstance(each, ir.Constant) and each.value == 1]
    if len(is_vector) == 2 or (len(known) == 3 and math.prod(known) <= LARGE):
        b.call(loop, *tables, ir.NULL)
        return
    is_long = b.icmp("ugt", b.mul(b.mul(first.rows, first.columns), second.columns), LARGE)
    thread = emit.cells.place("thread", ir.PTR)
    with b.if_then(is_long, False):
        b.store(emit.objects.python("PyEval_SaveThread"), thread)
    b.call(loop, *tables, ir.NULL)
    with b.if_then(is_long, False):
        emit.objects.python("PyEval_RestoreThread", b.load(ir.PTR, thread))


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


@cache
def are_matrices_known(dtype: np.dtype[Any]) -> bool:
    """Whether the loop for a dtype can be called with matrices, and gives what NumPy gives."""
    address = matmul_loop(dtype.char) if dtype.kind in "iufc" else None
    return bool(address) and agrees(lambda x, y: _run_matrices(address, x, y), np.matmul, _matrices(dtype))


def _run_matrices(address: Any, x: Any, y: Any) -> Any:
    """The product of matrices or vectors by the loop."""
    found = np.empty((*x.shape[:-1], *y.shape[1:]), x.dtype)
    first, second = x.reshape(1, -1) if x.ndim == 1 else x, y.reshape(-1, 1) if y.ndim == 1 else y
    result = found.reshape(len(first), -1) if found.size else np.empty((len(first), second.shape[1]), x.dtype)
    data = (ctypes.c_void_p * 3)(*(each.ctypes.data for each in (first, second, result)))
    sizes = (ctypes.c_ssize_t * 4)(1, *first.shape, second.shape[1])
    strides = [
        stride if length != 1 else 0
        for each in (first, second, result)
        for length, stride in zip(each.shape, each.strides)
    ]
    steps = (ctypes.c_ssize_t * 9)(0, 0, 0, *strides)
    _LOOP(address)(ctypes.addressof(data), ctypes.addressof(sizes), ctypes.addressof(steps), None)
    return found


def _matrices(dtype: np.dtype[Any]) -> Iterator[tuple[Any, Any]]:
    """Matrices and vectors of several lengths and strides."""
    for rows, count, columns in ((1, 3, 1), (2, 2, 2), (3, 7, 5), (17, 9, 4), (0, 2, 3), (4, 0, 2)):
        numbers = 100 * np.sin(np.arange(1.0, 4 * 17 * 9 + 1))
        numbers = (abs(numbers) if dtype.kind == "u" else numbers).astype(dtype).reshape(34, 18)
        firsts = [numbers[:rows, :count], numbers[: 2 * rows : 2, : 2 * count : 2], numbers[:count, :rows].T]
        seconds = [numbers[-count - 1 : -1, :columns], numbers[:columns, 1 : 1 + count].T, numbers[:count, 1]]
        for x in (*(each.copy() for each in firsts[:1]), *firsts, firsts[0][-1:].reshape(-1)[:count]):
            for y in seconds:
                if x.ndim + y.ndim > 2 and x.shape[-1] == len(y):
                    yield x, y


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
