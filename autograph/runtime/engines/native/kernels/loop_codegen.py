"""From a nest and its schedule to machine code: goes through the tree of loops, and writes each.

There are these functions:

    loop        all loops of a nest, over a part of the first axis; it gives the flags that the processor has raised
    row0 …      the innermost loop of a stage, see `inner_loop`; a function, as LLVM takes from its parameters which
                arrays do not overlap
    leaf …      what reduces a row, see `reduction`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, reduce

from autograph.runtime.engines.native.kernels.inner_loop import ONCE_OR_MORE
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.nest_writer import NestWriter, Place
from autograph.runtime.engines.native.kernels.operands import Call
from autograph.runtime.engines.native.kernels.reduction import RowReduction
from autograph.runtime.engines.native.kernels.schedule import (
    ITERATIONS,
    ROW,
    Calls,
    CopyOut,
    Each,
    If,
    Loop,
    Phase,
    Reduce,
    Schedule,
    Statement,
    axis_name,
)
from autograph.runtime.engines.native.kernels.schedule_rules import is_narrow
from autograph.runtime.engines.native.kernels.stage_functions import FEW, stage_function
from autograph.runtime.engines.native.libmath.vectors import WIDTH
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    I32,
    I64,
    NULL,
    PTR,
    VOID,
    Callee,
    Function,
    Module,
    Parameter,
    Value,
    array,
    constant,
    vector,
)

# Where rows begin anywhere, each vector of 64 bytes lies in two lines of the cache; of 32 bytes, each other one.
NARROWER = '"prefer-vector-width"="256"'


class LoopCode:
    """Writes the functions of a nest.

    Args:
        module: where they come to.
    """

    def __init__(self, module: Module, nest: Nest) -> None:
        self._module, self._nest = module, nest
        self._to = NestWriter(module, nest)
        self._bounds: dict[str, tuple[Value, Value]] = {}       # of the axes
        self._strides: dict[str, list[Value]] = {}              # along them, of the streams

    def write(self, schedule: Schedule) -> None:
        """The function `loop`, and those that it calls."""
        nest = self._nest
        frame, begin, end = Parameter("frame", PTR), Parameter("begin", I64), Parameter("end", I64)
        with self._to.function("loop", I64, [frame, begin, end], words="", attributes=NARROWER * is_narrow(nest)):
            pointers: list[Value] = [self._to.slot(place, PTR) for place in range(len(nest.streams))]
            if nest.is_float:
                self._to.clear_flags()
            if nest.depth:
                self._read_axes(begin, end)
                self.build(schedule, Place(nest.streams, pointers, self._to.slot(nest.length(nest.depth))))
            else:
                if nest.reduced is not None:
                    pointers[nest.reduced] = self._to.b.gep(frame, SLOT * nest.reduced)
                whole = Place(nest.streams, pointers, end)
                self.build(schedule, self._to.moved(whole, begin, self._to.b.sub(end, begin)))
            self._to.b.ret(self._to.b.cast("zext", self._to.flags(), I64) if nest.is_float else 0)

    def _copy_out(self) -> None:
        """The function `copy_out`, for rows of `n` elements: copies the buffer to where its elements belong."""
        nest, frame, n = self._nest, Parameter("frame", PTR), Parameter("n", I64)
        with self._to.function("copy_out", VOID, [frame, n], attributes="noinline"):
            b, slot, dtype = self._to.b, self._to.slot, nest.dtypes[nest.written]
            step: Value | int = slot(nest.step(nest.target)) if nest.streams[nest.target].apart else dtype.itemsize
            with ExitStack() as loops:
                target, source = slot(nest.target, PTR), slot(nest.written, PTR)
                for axis in range(nest.depth):
                    iteration = loops.enter_context(b.loop(0, slot(nest.length(axis)), hints=FEW))
                    target = b.gep(target, b.mul(iteration.index, slot(nest.stride(nest.target, axis))))
                    source = b.gep(source, b.mul(iteration.index, slot(nest.stride(nest.written, axis))))
                b.call(self._copy_row(f"i{8 * dtype.itemsize}", dtype.itemsize), target, source, step, n)
            b.ret()

    def _copy_row(self, kind: str, size: int) -> Function:
        """The function that copies a row, between places that do not overlap."""
        places = Parameter("to", PTR, "noalias"), Parameter("from", PTR, "noalias")
        given = *places, Parameter("step", I64), Parameter("n", I64)
        with self._to.function("copy_row", VOID, given) as function:
            b, (target, source, step, n) = self._to.b, given
            with b.loop(0, n, **ONCE_OR_MORE) as iteration:
                element = b.load(kind, b.gep(source, iteration.index, of=kind), align=size)
                b.store(element, b.gep(target, b.mul(iteration.index, step)), align=size)
            b.ret()
        return function

    # Statements -------------------------------------------------------------------------------------------------------

    def build(self, schedule: Schedule, at: Place) -> None:
        """Write some statements, one after the other."""
        at = replace(at, pointers=list(at.pointers))
        for each in schedule:
            self._statement(each, at)

    def _statement(self, each: Statement, at: Place) -> None:
        if isinstance(each, Each):
            self._each(each, at)
        elif isinstance(each, Calls):
            for call in self._nest.calls[each.stage]:
                self._call_vectors(call, each.width, at) if each.width else self._call(call, at)
        elif isinstance(each, Reduce):
            RowReduction(self._to, each, self.build).write(at)
        elif isinstance(each, If):
            self._if(each, at)
        elif isinstance(each, CopyOut):
            self._copy_out()
        elif isinstance(each, Phase):
            raise TypeError("each phase has code of its own, see `multi_nest.write_fused`")
        elif each.axis == ITERATIONS:
            with self._to.b.loop(0, self._to.slot(self._nest.iterations), at_least_once=True):
                self.build(each.body, at)
        elif each.axis == ROW:
            self._strips(each, at)
        else:
            self._axis(each, at)

    def _axis(self, loop: Loop, at: Place) -> None:
        """A loop around the rows."""
        b, (begin, end), strides = self._to.b, self._bounds[loop.axis], self._strides[loop.axis]
        with b.loop(begin, end, loop.step, at_least_once=loop.inwards) as iteration:
            if loop.step > 1:
                first = self._inwards(iteration.index, end, loop.step)
                self.build(loop.body, self._rows(at, strides, first, loop.step))
                return
            pointers = list(at.pointers)
            for place, stride in enumerate(strides):
                pointers[place] = b.gep(pointers[place], b.mul(iteration.index, stride))
            if loop.axis == axis_name(self._nest.depth - 1):
                for place, (leader, by) in self._nest.beside.items():
                    pointers[place] = b.gep(pointers[leader], by)
            self.build(loop.body, replace(at, pointers=pointers))

    def _strips(self, loop: Loop, at: Place) -> None:
        """A loop over parts of a row."""
        b, step = self._to.b, loop.step
        at = self._to.with_scratch(at, step)
        with b.loop(0, at.size, step, at_least_once=True) as iteration:
            if loop.inwards:
                inwards = self._inwards(iteration.index, at.size, step)
                self.build(loop.body, self._to.moved(at, inwards, constant(I64, step)))
            else:
                left = b.sub(at.size, iteration.index)
                size = b.select(b.icmp("slt", left, step), left, step)
                self.build(loop.body, self._to.moved(at, iteration.index, size))

    def _inwards(self, index: Value, end: Value, step: int) -> Value:
        """Where an iteration begins that must not go beyond the end."""
        last = self._to.b.sub(end, step)
        return self._to.b.select(self._to.b.icmp("sgt", index, last), last, index)

    def _if(self, each: If, at: Place) -> None:
        b, holds = self._to.b, list[Value]()
        for axis, least in each.least:
            begin, end = (constant(I64, 0), at.size) if axis == ROW else self._bounds[axis]
            holds.append(b.icmp("sge", b.sub(end, begin), least))
        if each.neighbors:
            holds += self._neighbors(at)
        b.if_else(reduce(b.and_, holds), lambda: self.build(each.then, at), lambda: self.build(each.otherwise, at))

    # Addresses --------------------------------------------------------------------------------------------------------

    def _read_axes(self, begin: Value, end: Value) -> None:
        """Read the lengths of the axes, and the strides along them."""
        nest = self._nest
        for axis in range(nest.depth):
            bounds = (begin, end) if axis == 0 else (constant(I64, 0), self._to.slot(nest.length(axis)))
            self._bounds[axis_name(axis)] = bounds
            strides = [self._to.slot(nest.stride(place, axis)) for place in range(len(nest.streams))]
            self._strides[axis_name(axis)] = strides

    def _rows(self, at: Place, strides: Sequence[Value], first: Value, count: int) -> Place:
        """Several rows, from the first one on, each of them once."""
        every = self._nest.rows(count)
        streams, pointers, b = [at.streams[leader] for leader, _ in every], list[Value](), self._to.b
        for leader, row in every:
            pointers.append(b.gep(at.pointers[leader], b.mul(strides[leader], b.add(first, row))))
        return Place(streams, pointers, at.size)

    def _neighbors(self, at: Place) -> list[Value]:
        """Whether no two rows that are written lie in one place, and others are where they seem to be."""
        b, nest, strides = self._to.b, self._nest, self._strides[axis_name(self._nest.depth - 1)]
        holds: list[Value] = []
        for place, dtype in enumerate(nest.dtypes):
            holds.append(b.icmp("sge", strides[place], b.mul(at.size, dtype.itemsize)))
        for place, (leader, below, by) in nest.below.items():
            if place not in nest.beside:
                holds.append(b.icmp("eq", strides[place], strides[leader]))
                there = b.gep(b.gep(at.pointers[leader], b.mul(strides[leader], below)), by)
                holds.append(b.icmp("eq", at.pointers[place], there))
        return holds

    # Innermost loops and calls ----------------------------------------------------------------------------------------

    def _each(self, each: Each, at: Place) -> None:
        """Call the innermost loop of a stage."""
        function = stage_function(self._module, self._nest, each)
        found = self._to.b.call(function, *at.pointers, *at.scratch, self._to.frame, at.size)
        if each.stage is not None and self._nest.stages[each.stage].emit.pinned:
            self._to.b.store(found, self._to.room(1, I64), volatile=True)

    def _define(self, call: Call) -> None:
        """Define one of ours, unless it is part of the code already."""
        if call.loop.define is not None and call.loop.name not in self._module.functions:
            self._module.include(_defined(call.loop.define))

    def _call(self, call: Call, at: Place) -> None:
        """Let NumPy do its part. Some of its loops take flags down, so what has been raised is raised again."""
        b, places = self._to.b, [*at.pointers, *at.scratch]
        arrays, size = self._to.room(8, PTR), self._to.room(1, I64)
        for place, stream in enumerate(call.streams):
            b.store(places[stream], b.gep(arrays, SLOT * place))
        b.store(at.size, size)
        name = f"steps_{'_'.join(map(str, call.steps))}"
        steps = self._module.constant(name, constant(array(len(call.steps), I64), call.steps))
        handed = [self._module.outside(f"{call.loop.name}_{part}") for part in call.loop.handed]
        context, more = (*handed, NULL, NULL)[:2]
        b.place = call.place
        if call.loop.define:
            self._define(call)
            b.call(Callee(call.loop.name, I32, [PTR] * 5), context, arrays, size, steps, more)
        else:
            function = self._module.declare(call.loop.name, I32, *[PTR] * 5)
            raised = self._to.flags()
            b.call(function, context, arrays, size, steps, more)
            with b.if_then(b.icmp("ne", raised, 0), likely=False):
                self._to.raise_flags(raised)
        b.place = ()

    def _call_vectors(self, call: Call, count: int, at: Place) -> None:
        """Let one of ours do its part of a vector.

        What comes of it is also left in room of its own, if it goes into an array: LLVM does not know that nothing
        else writes there.
        """
        b, (source, result), kind = self._to.b, call.streams, vector(WIDTH, DOUBLE)
        places = [*at.pointers, *at.scratch]
        own = self._to.room(count, DOUBLE) if result < len(at.pointers) else places[result]
        function = Callee(f"{call.loop.name}_of", kind, [kind])
        self._define(call)
        for begin in range(0, count, WIDTH):
            x = b.load(kind, b.gep(places[source], begin, of=DOUBLE), align=8)
            found = b.call(function, x)
            for place in {places[result]: None, own: None}:
                b.store(found, b.gep(place, begin, of=DOUBLE), align=8)
        if result < len(at.pointers):
            at.pointers[result] = own


@cache
def _defined(define: Callable[[Module], None]) -> Module:
    """What one of our functions needs, built once."""
    module = Module()
    define(module)
    return module
