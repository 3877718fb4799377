"""Machine code of a nest and its schedule: walks the tree of loops, and writes each.

It writes these functions:

    loop        all loops of a nest, over a part of the first axis; returns the floating-point flags that were raised
    copy_out    copies the copy-out buffer into the array that it is for, see `loop_nest.Update`
    row0 …      the inner loop of a stage, see `inner_loop`; a function, since LLVM learns from the attributes of its
                parameters which arrays do not overlap
    leaf …      the reduction of a row, see `reduction`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, reduce
from itertools import accumulate

from autograph.runtime.engines.native.kernels import schedule
from autograph.runtime.engines.native.kernels.inner_loop import Stage, define
from autograph.runtime.engines.native.kernels.loop_nest import Call, Nest
from autograph.runtime.engines.native.kernels.multi_nest import Buffer
from autograph.runtime.engines.native.kernels.nest_writer import NestWriter, Position
from autograph.runtime.engines.native.kernels.reduction import RowReduction
from autograph.runtime.engines.native.libmath.libm import clear_flags, raise_flags, raised_flags
from autograph.runtime.engines.native.libmath.vectors import NO_VECTORS, WIDTH
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT

# Where rows begin at any address, each vector of 64 bytes crosses a cache line, but only every other one of 32 bytes.
_NARROWER = '"prefer-vector-width"="256"'
_ONCE = ir.loop_hints(unroll_disable=True)     # as many iterations as a vector has elements, which are not unrolled


def write_fused(module: ir.Module, nests: Sequence[Nest], buffers: Sequence[Buffer], tree: schedule.Schedule) -> None:
    """Write the loops of several nests, see `schedule.fuse`; each nest has a part of the frame.

    The function `loop` works on a copy of the frame, since several threads may run it. It allocates a block of each
    intermediate array, and gives nests addresses at which the array would begin if all of it existed.
    """
    (blocks,) = tree
    assert isinstance(blocks, schedule.Loop) and blocks.step == schedule.BLOCK
    for nest, each in zip(nests, blocks.body):
        assert isinstance(each, schedule.Nested)
        LoopCode(module, nest).write(each.body)
    bases = [0, *accumulate(nest.frame.slots for nest in nests)]
    slots = bases[-1] + 1
    frame, begin, end = ir.Parameter("frame", ir.PTR), ir.Parameter("begin", ir.I64), ir.Parameter("end", ir.I64)
    b = Builder(module.define("loop", ir.I64, frame, begin, end))
    copy = b.alloca(ir.array(slots, ir.I64))
    size, types = ir.constant(ir.I64, SLOT * slots), [ir.PTR, ir.PTR, ir.I64]
    b.intrinsic("memcpy", copy, frame, size, ir.FALSE, result=ir.VOID, overload=types)
    at = [b.gep(copy, SLOT * slot) for slot in range(slots)]
    rows, strides, sizes = b.load(ir.I64, at[-1]), list[ir.Value](), list[ir.Value]([ir.constant(ir.I64, 0)])
    partial = [buffer for buffer in buffers if buffer.stride is not None]
    for buffer in buffers:
        if buffer.stride is None:
            whole = b.load(ir.PTR, at[buffer.slots[0]])
            for slot in buffer.slots[1:]:
                b.store(whole, at[slot])
        else:
            strides.append(b.load(ir.I64, at[buffer.stride]))
            sizes.append(b.add(sizes[-1], b.mul(strides[-1], rows)))
    memory = b.call(module.declare("PyMem_RawMalloc", ir.PTR, ir.I64), sizes[-1])
    with b.if_then(b.is_null(memory)):
        b.ret(1)
    with b.loop(begin, end, rows, [ir.zero(ir.I64)], at_least_once=True) as iteration:
        after = b.add(iteration.index, rows)
        stop, flags = b.select(b.icmp("sgt", after, end), end, after), iteration.carried[0]
        for buffer, stride, offset in zip(partial, strides, sizes):
            start = b.gep(memory, b.sub(offset, b.mul(iteration.index, stride)))
            for slot in buffer.slots:
                b.store(start, at[slot])
        for nest, base in zip(nests, bases):
            flags = b.or_(flags, b.call(module.functions[f"{nest.name}loop"], at[base], iteration.index, stop))
        iteration.carry(flags)
    b.call(module.declare("PyMem_RawFree", ir.VOID, ir.PTR), memory)
    b.ret(iteration.results[0])


class LoopCode:
    """Writes the functions of a nest into a module."""

    def __init__(self, module: ir.Module, nest: Nest) -> None:
        self._module, self._nest = module, nest
        self._writer = NestWriter(module, nest)
        self._bounds: dict[str, tuple[ir.Value, ir.Value]] = {}       # of the axes
        self._strides: dict[str, list[ir.Value]] = {}              # along them, of the streams

    def write(self, tree: schedule.Schedule) -> None:
        """Write the function `loop`, and those that it calls; and `copy_out`, if the schedule has it."""
        nest = self._nest
        loops = tuple(each for each in tree if not isinstance(each, schedule.CopyOut))
        has_vectors = any(isinstance(each, schedule.If) for each in schedule.walk(tree))
        self._function("loop", loops, nest.is_float, _NARROWER * has_vectors)
        for each in tree:
            if isinstance(each, schedule.CopyOut):
                self._function("copy_out", each.body, False, "")

    def _function(self, name: str, body: schedule.Schedule, is_float: bool, attributes: str) -> None:
        """A function of the frame and of a part of the first axis, or of all elements if they are one row."""
        nest, writer = self._nest, self._writer
        frame, begin, end = ir.Parameter("frame", ir.PTR), ir.Parameter("begin", ir.I64), ir.Parameter("end", ir.I64)
        with writer.function(name, ir.I64, [frame, begin, end], words="", attributes=attributes):
            pointers: list[ir.Value] = [writer.slot(place, ir.PTR) for place in range(len(nest.streams))]
            if is_float:
                clear_flags(writer.b)
            if nest.depth:
                self._read_axes(begin, end)
                self.build(body, Position(nest.streams, pointers, writer.slot(nest.frame.length(nest.depth))))
            else:
                if nest.reduced is not None:
                    pointers[nest.reduced] = writer.b.gep(frame, SLOT * nest.reduced)
                self.build(body, writer.moved(Position(nest.streams, pointers, end), begin, writer.b.sub(end, begin)))
            writer.b.ret(writer.b.cast("zext", raised_flags(writer.b), ir.I64) if is_float else 0)

    # Statements -------------------------------------------------------------------------------------------------------

    def build(self, tree: schedule.Schedule, at: Position) -> None:
        """Write statements, one after the other."""
        at = replace(at, pointers=list(at.pointers))
        for each in tree:
            self._statement(each, at)

    def _statement(self, each: schedule.Statement, at: Position) -> None:
        if isinstance(each, schedule.Each):
            self._each(each, at)
        elif isinstance(each, schedule.Calls):
            for call in self._nest.calls[each.stage]:
                self._call_vectors(call, each.width, at) if each.width else self._call(call, at)
        elif isinstance(each, schedule.Reduce):
            RowReduction(self._writer, each, self.build).write(at)
        elif isinstance(each, schedule.If):
            self._if(each, at)
        elif isinstance(each, (schedule.CopyOut, schedule.Nested)):
            raise TypeError(f"{each.__class__.__name__} is no statement of a nest's loops")
        elif each.axis == schedule.ITERATIONS:
            assert self._nest.iterations is not None
            with self._writer.b.loop(0, self._writer.slot(self._nest.iterations), at_least_once=True):
                self.build(each.body, at)
        elif each.axis == schedule.ROW:
            self._strips(each, at)
        else:
            self._axis(each, at)

    def _axis(self, loop: schedule.Loop, at: Position) -> None:
        """An outer loop."""
        b, (begin, end), strides = self._writer.b, self._bounds[loop.axis], self._strides[loop.axis]
        with b.loop(begin, end, loop.step, at_least_once=loop.inwards) as iteration:
            if loop.step > 1:
                first = self._inwards(iteration.index, end, loop.step)
                self.build(loop.body, self._rows(at, strides, first, loop.step))
                return
            pointers = list(at.pointers)
            for place, stride in enumerate(strides):
                pointers[place] = b.gep(pointers[place], b.mul(iteration.index, stride))
            if loop.axis == schedule.axis_name(self._nest.depth - 1):
                for place, (leader, by) in self._nest.same_rows.items():
                    pointers[place] = b.gep(pointers[leader], by)
            self.build(loop.body, replace(at, pointers=pointers))

    def _strips(self, loop: schedule.Loop, at: Position) -> None:
        """A loop over strips or vectors of a row."""
        b, step = self._writer.b, loop.step
        at = self._writer.with_scratch(at, step)
        with b.loop(0, at.size, step, at_least_once=True) as iteration:
            if loop.inwards:
                inwards = self._inwards(iteration.index, at.size, step)
                self.build(loop.body, self._writer.moved(at, inwards, ir.constant(ir.I64, step)))
            else:
                left = b.sub(at.size, iteration.index)
                size = b.select(b.icmp("slt", left, step), left, step)
                self.build(loop.body, self._writer.moved(at, iteration.index, size))

    def _inwards(self, index: ir.Value, end: ir.Value, step: int) -> ir.Value:
        """The index, or an earlier one if the iteration would go beyond the end."""
        last = self._writer.b.sub(end, step)
        return self._writer.b.select(self._writer.b.icmp("sgt", index, last), last, index)

    def _if(self, each: schedule.If, at: Position) -> None:
        b, holds = self._writer.b, list[ir.Value]()
        for axis, least in each.least:
            begin, end = (ir.constant(ir.I64, 0), at.size) if axis == schedule.ROW else self._bounds[axis]
            holds.append(b.icmp("sge", b.sub(end, begin), least))
        if each.neighbors:
            holds += self._neighbors(at)
        b.if_else(reduce(b.and_, holds), lambda: self.build(each.then, at), lambda: self.build(each.otherwise, at))

    # Addresses --------------------------------------------------------------------------------------------------------

    def _read_axes(self, begin: ir.Value, end: ir.Value) -> None:
        """Read the lengths of the axes and the strides of the arrays from the frame."""
        nest = self._nest
        for axis in range(nest.depth):
            bounds = (begin, end) if axis == 0 else (ir.constant(ir.I64, 0), self._writer.slot(nest.frame.length(axis)))
            self._bounds[schedule.axis_name(axis)] = bounds
            strides = [self._writer.slot(nest.frame.stride(place, axis)) for place in range(len(nest.streams))]
            self._strides[schedule.axis_name(axis)] = strides

    def _rows(self, at: Position, strides: Sequence[ir.Value], first: ir.Value, count: int) -> Position:
        """The distinct rows that several neighboring rows read and write."""
        every = self._nest.rows(count)
        streams, pointers, b = [at.streams[leader] for leader, _ in every], list[ir.Value](), self._writer.b
        for leader, row in every:
            pointers.append(b.gep(at.pointers[leader], b.mul(strides[leader], b.add(first, row))))
        return Position(streams, pointers, at.size)

    def _neighbors(self, at: Position) -> list[ir.Value]:
        """Conditions: rows that are written do not overlap, and those that are read are where slices tell."""
        b, nest, strides = self._writer.b, self._nest, self._strides[schedule.axis_name(self._nest.depth - 1)]
        holds: list[ir.Value] = []
        for place, dtype in enumerate(nest.dtypes):
            holds.append(b.icmp("sge", strides[place], b.mul(at.size, dtype.itemsize)))
        for place, (leader, rows, by) in nest.near_rows.items():
            if place not in nest.same_rows:
                holds.append(b.icmp("eq", strides[place], strides[leader]))
                address = b.gep(b.gep(at.pointers[leader], b.mul(strides[leader], rows)), by)
                holds.append(b.icmp("eq", at.pointers[place], address))
        return holds

    # Inner loops and calls --------------------------------------------------------------------------------------------

    def _each(self, each: schedule.Each, at: Position) -> None:
        """Call the inner loop of a stage."""
        stage = self._nest.copy if each.stage is None else self._nest.stages[each.stage]
        assert stage is not None
        found = self._writer.b.call(self._row(each, stage, at), *at.pointers, *at.scratch, self._writer.frame, at.size)
        if stage.pinned:
            self._writer.b.store(found, self._writer.room(1, ir.I64), volatile=True)

    def _row(self, each: schedule.Each, stage: Stage, at: Position) -> ir.Function:
        """The function of an inner loop."""
        nest, module, outs, count = self._nest, self._module, len(self._nest.dtypes), len(self._nest.streams)
        kind = "_jammed" * (each.rows > 1) + "_vector" * bool(each.width) + "_few" * each.few
        name = f"{nest.name}{'copy' if each.stage is None else f'row{each.stage}'}{kind}"
        if name in module.functions:
            return module.functions[name]
        if each.rows > 1:
            every = {row: _pointer(f"b{number}", row[0] < outs) for number, row in enumerate(nest.rows(each.rows))}
            rows = [[(every[leader, at], by) for leader, at, by in nest.neighbors(row)] for row in range(each.rows)]
            return define(module, stage, name, list(every.values()), "alwaysinline", _ONCE, rows)
        hints = NO_VECTORS if each.few else None
        if each.width and not each.few:
            whole = nest.reduction is None
            hints = _ONCE if whole else ir.loop_hints(unroll_disable=True, vectorize_width=each.width)
        exclusive = [place < outs or place >= count for place in range(count + len(at.scratch))]
        pointers = [_pointer(f"s{place}", each) for place, each in enumerate(exclusive)]
        return define(module, stage, name, pointers, "noinline" if hints is None else "alwaysinline", hints)

    def _define(self, call: Call) -> None:
        """Define a function of ours, unless the module has it."""
        if call.loop.define is not None and call.loop.name not in self._module.functions:
            self._module.include(_defined(call.loop.define))

    def _call(self, call: Call, at: Position) -> None:
        """Call an inner loop. Some of NumPy's clear flags, so those that were raised are raised again."""
        b, places = self._writer.b, [*at.pointers, *at.scratch]
        arrays, size = self._writer.room(8, ir.PTR), self._writer.room(1, ir.I64)
        for slot, place in enumerate(call.places):
            b.store(places[place], b.gep(arrays, SLOT * slot))
        b.store(at.size, size)
        b.place = call.origin
        self._define(call)
        raised = None if call.loop.define else raised_flags(b)
        call.loop.call(b, arrays, size, call.steps)
        if raised is not None:
            with b.if_then(b.icmp("ne", raised, 0), likely=False):
                raise_flags(b, raised)
        b.place = ()

    def _call_vectors(self, call: Call, count: int, at: Position) -> None:
        """Call a function of ours for a vector.

        A result that is stored in an array is also stored on the stack, and read from there: LLVM does not know that
        nothing else writes into the array.
        """
        b, (source, result), kind = self._writer.b, call.places, ir.vector(WIDTH, ir.DOUBLE)
        places = [*at.pointers, *at.scratch]
        copy = self._writer.room(count, ir.DOUBLE) if result < len(at.pointers) else places[result]
        function = ir.Callee(f"{call.loop.name}_of", kind, [kind])
        self._define(call)
        for begin in range(0, count, WIDTH):
            x = b.load(kind, b.gep(places[source], begin, of=ir.DOUBLE), align=8)
            found = b.call(function, x)
            for place in {places[result]: None, copy: None}:
                b.store(found, b.gep(place, begin, of=ir.DOUBLE), align=8)
        if result < len(at.pointers):
            at.pointers[result] = copy


def _pointer(name: str, is_exclusive: bool) -> ir.Parameter:
    return ir.Parameter(name, ir.PTR, "noalias" * is_exclusive)


@cache
def _defined(define: Callable[[ir.Module], None]) -> ir.Module:
    """The module of a function of ours."""
    module = ir.Module()
    define(module)
    return module
