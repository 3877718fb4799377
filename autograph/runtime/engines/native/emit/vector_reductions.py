"""Reductions of vectors in loops: `a[i].sum()`, `np.max(x[:k])`, `np.abs(a[k:, k]).argmax()`.

Each is a function in the module of the loop, which gets the address, the stride and the length of the vector. It
combines elements in NumPy's order, see `combiner`. A computed vector is in a buffer first, as NumPy has it in an array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, reduce
from typing import Any, TypeAlias

import numpy as np

from autograph.common.numpy_internals import BUFFER_SIZE, sums_are_known, sums_of_parts_are_known
from autograph.common.probes import agrees
from autograph.runtime.engines.native.emit.buffers import FEW, Buffer, contiguous, pointer, releasing
from autograph.runtime.engines.native.emit.combiner import Combiner
from autograph.runtime.engines.native.emit.emitter import Emitter, is_strange
from autograph.runtime.engines.native.emit.external_calls import make_array
from autograph.runtime.engines.native.emit.vector_elements import (
    Place,
    checked,
    demand_order,
    in_memory,
    is_single,
    loops_along,
    reader,
    ref_of,
    views_of,
)
from autograph.runtime.engines.native.libmath.libm import FLAGS, clear_flags, raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type, memory_type
from autograph.runtime.engines.native.llvm.memory import load_element
from autograph.runtime.graph.operands import DTYPES, Array, Computed, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import BOOL, INT, scalar
from autograph.runtime.ops.native.number_rules import RULES

Elements: TypeAlias = "View | Gathered | Computed"
MOST_OF_MEDIANS = 128   # elements; NumPy is faster for many, so nodes that may have more are not emitted (`QUADRATIC`)
PLACES = {"argmax": "max", "argmin": "min"}     # reductions that give the place of an extreme
_WIDE = {"b": np.dtype("int64"), "i": np.dtype("int64"), "u": np.dtype("uint64")}       # the dtypes of sums


def reduced(emit: Emitter, how: str, x: Elements) -> Number:
    """See `operands.Vectors`."""
    b, dtype, in_order = emit.b, x.dtype, x.dtype.kind == "f" and how in ("add", "mean")
    checks = not emit.fast and in_order
    _demand_known(emit, how, dtype)
    _leave_early(emit, how, x, in_order)
    if isinstance(x, View) and len(x.shape) > 1:
        x = _as_vector(emit, x, in_order)
    buffer, view, raised = in_memory(emit, "reduced", x)
    if checks:
        emit.underflows = True
        clear_flags(b)
    made = _dtype_of(how, dtype)
    found = emit.cells.place(("reduced", made), memory_type(made))
    function = _place(b.function.module, how, dtype) if how in PLACES else _total(b.function.module, how, dtype)
    stride, count = view.strides[-1].ref, _count(emit, view).ref     # of several axes they are contiguous
    b.store(b.call(function, pointer(emit, view), stride, count), found, volatile=checks)
    if checks:
        raised = b.or_(raised, b.icmp("ne", raised_flags(b), 0))
    if buffer is not None:
        buffer.release()
    if raised is not ir.FALSE:
        emit.leave_if(Number(BOOL, raised))
    result = load_element(b, found, made)
    assert isinstance(result, Number)
    if how in PLACES:
        emit.leave_if(emit.compare("lt", result, emit.constant(0, result.type)))
    elif how in ("max", "min") and dtype.kind == "f":
        emit.leave_if(emit.compare("ne", result, result))
    return result


def reduced_rows(emit: Emitter, how: str, x: View | Computed, root: bool = False) -> Array:
    """See `operands.Vectors`."""
    b, dtype, in_order = emit.b, x.dtype, x.dtype.kind == "f" and how in ("add", "mean")
    _demand_known(emit, how, dtype)
    if len(x.shape) != 2 or how in PLACES:
        raise NoLowering
    demand_order(emit, x)
    _leave_for_rows(emit, how, x, in_order)
    emit.settle()
    count, length = x.shape
    buffer = Buffer(emit, "row", dtype, (length,)) if isinstance(x, Computed) else None
    made = make_array(emit, _dtype_of(how, dtype), (count,), False, releasing(buffer))
    checks = not emit.fast and dtype.kind == "f"
    if checks:
        emit.underflows = True
        clear_flags(b)
    doubt = _each_row(emit, how, x, buffer, emit.frame.fact(made, "data"), root)
    releasing(buffer)()
    if checks:
        doubt = b.or_(doubt, b.icmp("ne", raised_flags(b), 0))
    with b.if_then(doubt, False):
        emit.objects.forget(made.ref)
    emit.leave_if(Number(BOOL, doubt))
    return made


def _each_row(
    emit: Emitter, how: str, x: View | Computed, buffer: Buffer | None, target: ir.Value, root: bool
) -> ir.Value:
    """Reduce each row; computed ones are in a buffer first. Returns whether one has a NaN that matters."""
    b, dtype, (count, length) = emit.b, x.dtype, x.shape
    function, kind = _total(b.function.module, how, dtype), memory_type(_dtype_of(how, dtype))
    read, views = reader(emit, x), [*views_of(x), *([] if buffer is None else [buffer.view])]
    along = loops_along(emit, length, views, is_single(x))
    with b.loop(0, count.ref, 1, [ir.FALSE]) as loop:
        if isinstance(x, View):
            total = b.call(function, Place(emit, x).at([loop.index]), x.strides[1].ref, length.ref)
        else:
            assert buffer is not None
            for index, several in along():
                Place(emit, buffer.view).store(read([loop.index, index], several), [index], several)
            total = b.call(function, pointer(emit, buffer.view), dtype.itemsize, length.ref)
        picks = dtype.kind == "f" and how in ("max", "min")
        doubt = b.or_(loop.carried[0], b.fcmp("une", total, total)) if picks else loop.carried[0]
        found = b.intrinsic("sqrt", total) if root else total
        b.store(found, b.gep(target, loop.index, kind))
        loop.carry(doubt)
    return loop.results[0]


def _demand_known(emit: Emitter, how: str, dtype: np.dtype[Any]) -> None:
    """Refuse reductions whose order of additions, or whose warnings, are not known."""
    in_order = dtype.kind == "f" and how in ("add", "mean")
    if dtype.char not in DTYPES or (how == "mean" and not in_order) or (in_order and not emit.fast and not FLAGS):
        raise NoLowering
    if in_order and not sums_are_known(dtype):
        raise NoLowering


def _leave_for_rows(emit: Emitter, how: str, x: View | Computed, in_order: bool) -> None:
    """Leave for rows of which NumPy raises or warns, or which it may add up in another order."""
    none, one, length = emit.constant(0, INT), emit.constant(1, INT), x.shape[1]
    if how not in ("add", "or", "and"):
        emit.leave_if(emit.compare("eq", length, none))
    for count, stride in zip(x.shape, x.strides) if in_order and isinstance(x, View) else ():
        is_odd = emit.compare("le", stride, none)
        emit.leave_if(emit.integer("and", emit.compare("gt", count, one), is_odd))
    if in_order and (most := Combiner(how, x.dtype).part):
        emit.leave_if(emit.compare("gt", length, emit.constant(most, INT)))


def _leave_early(emit: Emitter, how: str, x: Elements, in_order: bool) -> None:
    """Leave for vectors of which NumPy raises or warns, or which it may add up in another order."""
    none, count = emit.constant(0, INT), _count(emit, x)
    if how not in ("add", "or", "and"):
        emit.leave_if(emit.compare("eq", count, none))
    for stride in x.strides if in_order and isinstance(x, View) else ():        # an empty one may have strides of 0
        several = emit.compare("gt", count, emit.constant(1, INT))
        emit.leave_if(emit.integer("and", several, emit.compare("le", stride, none)))
    if in_order and (most := Combiner(how, x.dtype).part):
        emit.leave_if(emit.compare("gt", count, emit.constant(most, INT)))


def _as_vector(emit: Emitter, x: View, in_order: bool) -> Computed:
    """The elements of a part of an array, which NumPy copies into its buffer before it adds up floats."""
    if in_order:
        if not x.in_order or not sums_of_parts_are_known(x.dtype):
            raise NoLowering
        emit.underflows = True      # the buffer must be of the usual size
        emit.leave_if(emit.compare("gt", _count(emit, x), emit.constant(BUFFER_SIZE, INT)))
    return Computed(x.dtype, x.shape, x.dtype, RULES["positive"], (x,))


def _count(emit: Emitter, x: Elements) -> Number:
    """The number of elements."""
    return reduce(partial(emit.integer, "mul"), x.shape)


def _dtype_of(how: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the result."""
    if how in PLACES:
        return np.dtype(np.intp)
    if how in ("or", "and"):
        return np.dtype(bool)
    return _WIDE.get(dtype.kind, dtype) if how == "add" else dtype


def accumulated(emit: Emitter, how: str, x: View | Computed) -> Array:
    """See `operands.Vectors`."""
    b, dtype = emit.b, _WIDE.get(x.dtype.kind, x.dtype)
    checks = dtype.kind == "f" and not emit.fast
    if x.dtype.char not in DTYPES or (checks and not FLAGS):
        raise NoLowering
    made = make_array(emit, dtype, x.shape, False)
    data = Number(INT, b.cast("ptrtoint", emit.frame.fact(made, "data"), ir.I64))
    place = Place(emit, contiguous(emit, dtype, data, x.shape))
    wide = x if x.dtype == dtype else Computed(dtype, x.shape, dtype, RULES["positive"], (x,))
    read, opcode = reader(emit, wide), f"f{how}" if dtype.kind == "f" else how
    with checked(emit, made, checks), b.if_then(b.icmp("sgt", x.length.ref, 0)):
        index: list[ir.Value] = [ir.constant(ir.I64, 0)]
        first = read(index, 1)
        place.store(first, index, 1)
        with b.loop(1, x.length.ref, carried=[ref_of(first)]) as loop:
            total = b.binary(opcode, loop.carried[0], ref_of(read([loop.index], 1)))
            place.store(Number(scalar(dtype), total), [loop.index], 1)
            loop.carry(total)
    return made


# Functions ------------------------------------------------------------------------------------------------------------


class _Elements:
    """The elements of a vector in such a function, as the reduction combines them."""

    def __init__(self, b: Builder, how: str, dtype: np.dtype[Any]) -> None:
        self._b, self._dtype, self._kind = b, dtype, memory_type(dtype)
        self._data, self._stride, self.count = b.function.parameters
        self.combiner = Combiner(how, _dtype_of(how, dtype))
        self._tests = how in ("or", "and") and dtype.kind != "b"

    def one(self, index: ir.Value) -> ir.Value:
        """An element."""
        return self._as_operand(self.loaded(index))

    def loaded(self, index: ir.Value) -> ir.Value:
        """An element as it is in memory."""
        b = self._b
        return b.load(self._kind, b.gep(self._data, b.mul(index, self._stride)), self._dtype.itemsize)

    def several(self, index: ir.Value, contiguous: bool) -> ir.Value:
        """As many elements as there are accumulators."""
        b, lanes = self._b, self.combiner.lanes
        kind = ir.vector(lanes, self._kind)
        if contiguous:
            where = b.gep(self._data, index, self._kind)
            return self._as_operand(b.load(kind, where, self._dtype.itemsize))
        found: ir.Value = ir.poison(kind)
        for lane in range(lanes):
            found = b.insert_element(found, self.loaded(b.add(index, lane)), lane)
        return self._as_operand(found)

    def _as_operand(self, x: ir.Value) -> ir.Value:
        """Elements in the dtype in which they are combined."""
        b, kind = self._b, ir.like(x.type, self.combiner.kind)
        if self._tests:
            zero = ir.zero(x.type)
            x = b.fcmp("une", x, zero) if self._dtype.kind == "f" else b.icmp("ne", x, zero)
        if x.type == kind:
            return x
        return b.cast("sext" if self._dtype.kind == "i" and not self._tests else "zext", x, kind)


def _function(module: ir.Module, how: str, dtype: np.dtype[Any], result: str) -> tuple[ir.Function, Builder | None]:
    """The function of a reduction, and the builder of its code if it has none."""
    name = f"{how}_of_{dtype.char if dtype.kind != 'b' else 'bool'}"
    if name in module.functions:
        return module.functions[name], None
    parameters = ir.Parameter("x", ir.PTR), ir.Parameter("stride", ir.I64), ir.Parameter("n", ir.I64)
    function = module.define(name, result, *parameters, words="internal", attributes="noinline")
    return function, Builder(function)


def _total(module: ir.Module, how: str, dtype: np.dtype[Any]) -> ir.Function:
    """The function that combines all elements."""
    function, b = _function(module, how, dtype, memory_type(_dtype_of(how, dtype)))
    if b is not None:
        x, stride, n = function.parameters
        elements = _Elements(b, how, dtype)
        if elements.combiner.in_order:
            total: ir.Value = b.call(_tree(module, how, dtype), x, stride, n)
            b.ret(elements.combiner.ended(b, total, n))
        else:
            total = _leaf(b, elements, dtype)
            b.ret(_of_zeros(b, elements, total) if elements.combiner.picks else total)
    return function


def _tree(module: ir.Module, how: str, dtype: np.dtype[Any]) -> ir.Function:
    """The function that adds up floats in NumPy's order, see `kernels/reduction.py`."""
    function, b = _function(module, f"{how}_tree", dtype, llvm_type(dtype))
    if b is not None:
        (x, stride, n), elements = function.parameters, _Elements(b, how, dtype)
        with b.if_then(b.icmp("ule", n, elements.combiner.most)):
            b.ret(_leaf(b, elements, dtype))
        half = b.and_(b.binary("lshr", n, 1), -8)
        first = b.call(function, x, stride, half)
        second = b.call(function, b.gep(x, b.mul(half, stride)), stride, b.sub(n, half))
        b.ret(elements.combiner.of(b, first, second))
    return function


def _leaf(b: Builder, elements: _Elements, dtype: np.dtype[Any]) -> ir.Value:
    """The total of the elements, of which several are combined at a time."""
    combiner, lanes = elements.combiner, elements.combiner.lanes
    whole = b.and_(elements.count, -lanes)
    first = ir.constant(ir.vector(lanes, combiner.kind), combiner.identity)

    def several(contiguous: bool) -> Callable[[], ir.Value]:
        def build() -> ir.Value:
            with b.loop(0, whole, lanes, [first]) as loop:
                loop.carry(combiner.of(b, loop.carried[0], elements.several(loop.index, contiguous)))
            return loop.results[0]

        return build

    is_contiguous = b.icmp("eq", b.function.parameters[1], dtype.itemsize)
    found = b.if_else(is_contiguous, several(True), several(False))
    assert found is not None
    with b.loop(whole, elements.count, 1, [combiner.across(b, found)]) as loop:
        loop.carry(combiner.of(b, loop.carried[0], elements.one(loop.index)))
    return loop.results[0]


def _of_zeros(b: Builder, elements: _Elements, total: ir.Value) -> ir.Value:
    """The extreme of floats; if that is zero, the zero that the vector has; NaN if it has zeros of both signs."""
    bits = f"i{ir.bits_of(total.type)}"

    def looked_up() -> ir.Value:
        with b.loop(0, elements.count, 1, [ir.FALSE, ir.FALSE]) as loop:
            element = elements.one(loop.index)
            zero, minus = b.fcmp("oeq", element, 0.0), b.icmp("slt", b.cast("bitcast", element, bits), 0)
            signs = b.xor(minus, ir.TRUE), minus
            loop.carry(*(b.or_(known, b.and_(zero, sign)) for known, sign in zip(loop.carried, signs)))
        pluses, minuses = loop.results
        found = b.select(minuses, ir.constant(total.type, -0.0), 0.0)
        return b.select(b.and_(pluses, minuses), ir.constant(total.type, np.nan), found)

    found = b.if_else(b.fcmp("oeq", total, 0.0), looked_up, lambda: total, likely=False)
    assert found is not None
    return found


def _place(module: ir.Module, how: str, dtype: np.dtype[Any]) -> ir.Function:
    """The function that finds the first place of an extreme; it returns -1 if there is a NaN."""
    function, b = _function(module, how, dtype, ir.I64)
    if b is not None:
        extreme = b.call(_total(module, PLACES[how], dtype), *function.parameters)
        elements, is_float = _Elements(b, PLACES[how], dtype), dtype.kind == "f"
        with b.loop(0, elements.count) as loop:
            element = elements.one(loop.index)
            is_found = b.fcmp("oeq", element, extreme) if is_float else b.icmp("eq", element, extreme)
            with b.if_then(is_found, likely=False):
                b.ret(loop.index)
        b.ret(-1)
    return function


# Medians --------------------------------------------------------------------------------------------------------------
# The function finds the elements of middle rank by counting for each how many are less, or equal and before it. That
# takes a hundredth of NumPy's time for nine elements, and needs no sorted copy.


def median(emit: Emitter, x: View | Computed) -> Number:
    """See `operands.Vectors`."""
    dtype = x.dtype
    if dtype.char not in DTYPES or dtype.kind not in "iuf" or not medians_are_known(dtype):
        raise NoLowering
    count = _count(emit, x)
    emit.leave_if(emit.compare("eq", count, emit.constant(0, INT)))
    emit.leave_if(emit.compare("gt", count, emit.constant(MOST_OF_MEDIANS, INT)))
    if isinstance(x, View) and len(x.shape) > 1:
        x = Computed(dtype, x.shape, dtype, RULES["positive"], (x,))
    buffer, view, raised = in_memory(emit, "median", x)
    function = _median(emit.b.function.module, dtype)
    found = emit.b.call(function, pointer(emit, view), view.strides[-1].ref, count.ref)
    if buffer is not None:
        buffer.release()
    if raised is not ir.FALSE:
        emit.leave_if(Number(BOOL, raised))
    emit.underflows |= dtype.kind == "f"
    result = Number(scalar(_median_dtype(dtype)), found)
    emit.leave_if(is_strange(emit, result))     # NumPy may warn
    return result


def _median_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the mean of such elements."""
    return dtype if dtype.kind == "f" else np.dtype(float)


def _median(module: ir.Module, dtype: np.dtype[Any]) -> ir.Function:
    """The function of an address, a stride and a length; it gives NaN if there is one."""
    name, result = f"median_of_{dtype.char}", memory_type(_median_dtype(dtype))
    if name in module.functions:
        return module.functions[name]
    x, stride, n = (ir.Parameter(*each) for each in (("x", ir.PTR), ("stride", ir.I64), ("n", ir.I64)))
    b = Builder(module.define(name, result, x, stride, n, words="internal", attributes="noinline"))
    kind, is_float, none = memory_type(dtype), dtype.kind == "f", ir.constant(ir.I64, 0)
    low, high = b.binary("lshr", b.sub(n, 1), 1), b.binary("lshr", n, 1)

    def element(index: ir.Value) -> ir.Value:
        return b.load(kind, b.gep(x, b.mul(index, stride)), dtype.itemsize)

    with b.loop(0, n, 1, [ir.zero(kind), ir.zero(kind), ir.FALSE]) as loop:
        one = element(loop.index)
        with b.loop(0, n, 1, [none]) as ranks:
            other = element(ranks.index)
            less = _is_less(b, dtype, other, one)
            same = b.fcmp("oeq", other, one) if is_float else b.icmp("eq", other, one)
            counts = b.or_(less, b.and_(same, b.icmp("slt", ranks.index, loop.index)))
            ranks.carry(b.add(ranks.carried[0], b.cast("zext", counts, ir.I64)))
        rank, (lower, upper, has_nan) = ranks.results[0], loop.carried
        lower = b.select(b.icmp("eq", rank, low), one, lower)
        upper = b.select(b.icmp("eq", rank, high), one, upper)
        loop.carry(lower, upper, b.or_(has_nan, b.fcmp("uno", one, 0.0) if is_float else ir.FALSE))
    middle: list[ir.Value] = [*loop.results[:2]]
    if not is_float:
        middle = [b.cast("sitofp" if dtype.kind == "i" else "uitofp", each, result) for each in middle]
    first = b.binary("fadd", 0.0, middle[0])    # the mean of one element, or of two, as NumPy computes it
    both = b.binary("fdiv", b.binary("fadd", first, middle[1]), 2.0)
    mean = b.select(b.icmp("eq", low, high), first, both)
    b.ret(b.select(loop.results[2], ir.constant(result, np.nan), mean))
    return module.functions[name]


# Sorted copies --------------------------------------------------------------------------------------------------------


def ordered(emit: Emitter, key: Any, x: View | Computed) -> View:
    """The elements of a short vector in ascending order, on the stack.

    Leaves machine code if there are NaNs, or zeros of both signs, since NumPy's order of these is its own.

    Args:
        key: see `Buffer`.
    """
    dtype = x.dtype
    emit.leave_if(emit.compare("gt", x.length, emit.constant(FEW, INT)))
    buffer, view, raised = in_memory(emit, "unordered", x)
    target = Buffer(emit, key, dtype, [emit.constant(FEW, INT)]).view
    function = _ordered(emit.b.function.module, dtype)
    failed = emit.b.call(function, pointer(emit, view), view.strides[0].ref, x.length.ref, pointer(emit, target))
    if buffer is not None:
        buffer.release()
    emit.leave_if(Number(BOOL, emit.b.or_(raised, failed)))
    return View(dtype, target.data, x.shape, target.strides, True)


def _ordered(module: ir.Module, dtype: np.dtype[Any]) -> ir.Function:
    """The function that sorts elements of a stride into contiguous memory. Returns whether it could not."""
    name, kind = f"ordered_{dtype.name}", memory_type(dtype)
    if name in module.functions:
        return module.functions[name]
    parameters = ("x", ir.PTR), ("stride", ir.I64), ("n", ir.I64), ("target", ir.PTR)
    x, stride, n, target = (ir.Parameter(*each) for each in parameters)
    b = Builder(module.define(name, ir.I1, x, stride, n, target, words="internal", attributes="noinline"))
    keys, ranks = b.room(ir.array(FEW, kind)), b.room(ir.array(FEW, ir.I64))
    with b.loop(0, n, 1, [ir.FALSE] * 3) as loop:
        one = b.load(kind, b.gep(x, b.mul(loop.index, stride)), dtype.itemsize)
        b.store(one, b.gep(keys, loop.index, kind))
        add_rank(b, keys, ranks, loop.index, kind, partial(_is_less, b, dtype))
        loop.carry(*map(b.or_, loop.carried, _kinds(b, dtype, one)))
    has_nan, plus, minus = loop.results
    with b.loop(0, n) as loop:
        place = b.load(ir.I64, b.gep(ranks, loop.index, ir.I64))
        b.store(b.load(kind, b.gep(keys, loop.index, kind)), b.gep(target, place, kind))
    b.ret(b.or_(has_nan, b.and_(plus, minus)))
    return module.functions[name]


def add_rank(
    b: Builder, keys: ir.Value, ranks: ir.Value, last: ir.Value, kind: str,
    is_less: Callable[[ir.Value, ir.Value], ir.Value],
) -> None:
    """Store the rank of a number among those up to it, and correct the ranks of those.

    The rank is the number of those that come before, so that no branch is mispredicted.
    """
    number = b.load(kind, b.gep(keys, last, kind))
    with b.loop(0, last, carried=[ir.constant(ir.I64, 0)]) as others:
        place = b.gep(ranks, others.index, ir.I64)
        is_after = is_less(number, b.load(kind, b.gep(keys, others.index, kind)))
        b.store(b.add(b.load(ir.I64, place), b.cast("zext", is_after, ir.I64)), place)
        others.carry(b.add(others.carried[0], b.cast("zext", b.xor(is_after, ir.TRUE), ir.I64)))
    b.store(others.results[0], b.gep(ranks, last, ir.I64))


def _is_less(b: Builder, dtype: np.dtype[Any], one: ir.Value, other: ir.Value) -> ir.Value:
    if dtype.kind == "f":
        return b.fcmp("olt", one, other)
    return b.icmp("slt" if dtype.kind == "i" else "ult", one, other)


def _kinds(b: Builder, dtype: np.dtype[Any], number: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Whether a number is a NaN, 0.0, -0.0."""
    if dtype.kind != "f":
        return ir.FALSE, ir.FALSE, ir.FALSE
    is_zero, bits = b.fcmp("oeq", number, 0.0), b.cast("bitcast", number, f"i{8 * dtype.itemsize}")
    minus = b.icmp("slt", bits, 0)
    return b.fcmp("uno", number, 0.0), b.and_(is_zero, b.xor(minus, ir.TRUE)), b.and_(is_zero, minus)


@cache
def medians_are_known(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's median is the mean of the elements in the middle."""
    numbers = np.random.default_rng(0).normal(size=40) * 40
    zeros = np.zeros(12, dtype)
    several = [(abs(numbers) if dtype.kind == "u" else numbers).astype(dtype), zeros, -zeros]
    samples = [(each[:size],) for each in several for size in (1, 2, 3, 8, 9, 12)]
    return agrees(lambda x: np.mean(np.sort(x)[(len(x) - 1) // 2 : len(x) // 2 + 1]), np.median, samples)
