"""The C function of a kernel, which Python calls as a builtin.

It checks the kinds of the arguments, broadcasts their shapes, makes arrays for the results, runs the loops and returns
the results. In three cases it calls Python:

    other       the arguments have other kinds or layouts
    redo        a flag was raised, or memory is short: nothing has changed, or it has been undone
    parallel    there is enough work for several threads
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS, DATA, F_CONTIGUOUS, WRITEABLE
from autograph.runtime.engines.native.abi.c_entry import CFunction
from autograph.runtime.engines.native.kernels.loop_nest import Nest, Single, Stream, Update, slots_of
from autograph.runtime.engines.native.kernels.multi_nest import Member
from autograph.runtime.engines.native.kernels.views import Layout, Part, layout_of
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, class_of, llvm_type, memory_type
from autograph.runtime.engines.native.llvm.memory import load_number
from autograph.runtime.graph.types import INT, part_of, scalar

BLOCK = 1 << 13             # elements of a block of rows, unless a row is longer; 64 KB of floats
BUSY = 1 << 13              # elements from which on the GIL is released
PARALLEL = 3 << 20          # cost of all elements from which on several threads share it; see `Nest.cost`
COSTLY = PARALLEL // 48     # elements for which that is so if a function such as `sin` is called


class EntryPoint:
    """Builds the C function.

    Args:
        members: the nests.
        parts: for each input, the argument or part of an argument that it is.
        count: the number of arguments.
        order: that of the axes of all arrays, `C` or `F`. In Fortran's, the outermost loop is that of the last axis.
        flat: whether all arrays have one shape and are contiguous in that order, so that they are one row.
        merged: the number of last axes that are one axis of the nest.
        returns_target: whether an array that is written into is a result.
        other, redo, parallel: the Python functions that the C function calls, see above.

    Attributes:
        things: the objects in its table.
    """

    def __init__(
        self,
        module: ir.Module,
        members: Sequence[Member],
        parts: dict[Any, Part],
        count: int,
        ndim: int,
        order: str,
        flat: bool,
        merged: int,
        returns_target: bool,
        other: Callable[..., Any],
        redo: Callable[..., Any],
        parallel: Callable[..., Any],
    ) -> None:
        slots = sum(member.nest.frame.slots for member in members)
        self._c = c = CFunction(module, count, slots + (len(members) > 1), other)
        self._ndim, self._order, self._flat, self._returns_target = ndim, order, flat, returns_target
        self._merged = merged
        self._redo, self._parallel = redo, parallel
        self._lengths = c.b.room(ir.array(ndim + merged - 1, ir.I64))
        if any(member.nest.is_float for member in members):
            c.demand_silence()
        nests = self._take(members, parts)
        self._first, first, results = nests[0], members[0].nest, list[ir.Value]()
        if first.update is not None and first.only_writes:
            with c.b.if_then(c.b.icmp("eq", nests[0].size, 0)):
                c.b.ret(c.another(self._target(first.update)))
        if first.update is not None and not first.update.buffered:
            nests[0].demand_disjoint(first.update)
        for member, arguments in zip(members, nests):
            results = self._new_arrays(member, arguments, results)
        if len(members) > 1:
            c.b.store(self._rows_of_a_block(), c.b.gep(c.frame, SLOT * slots))
        self._run(max(1, PARALLEL // sum(member.nest.cost for member in members)), results)
        self.things = c.things

    def _take(self, members: Sequence[Member], parts: dict[Any, Part]) -> list[NestArguments]:
        """Put the arguments into the frame, of which each nest has a part."""
        c, base, found, known = self._c, 0, list[NestArguments](), dict[Any, Layout]()
        for member in members:
            frame = c.b.gep(c.frame, SLOT * base)
            arguments = NestArguments(c, member.nest, frame, self._ndim, self._order, self._flat, self._merged)
            found.append(arguments)
            for key, kind in member.inputs.items():
                if key in known:
                    arguments.arrays.append(known[key])
                else:
                    arguments.take(parts.get(key), kind)
            arguments.demand_shapes()
            for axis, (dim, other) in enumerate(zip(arguments.dims, found[0].dims), 1):
                if len(members) > 1:
                    whole = member.is_wide or axis < self._ndim
                    c.demand(c.b.icmp("eq", dim, other if whole else 1))
            known |= {value: arguments.layout(place) for place, value in enumerate(member.outputs)}
            base += member.nest.frame.slots
        return found

    def _rows_of_a_block(self) -> ir.Value:
        """The number of rows in a block of all nests."""
        b, rows = self._c.b, self._first.dims[0]
        wanted = b.binary("udiv", ir.constant(ir.I64, BLOCK), b.binary("udiv", self._first.size, rows))
        wanted = b.select(b.icmp("eq", wanted, 0), ir.constant(ir.I64, 1), wanted)
        return b.select(b.icmp("slt", wanted, rows), wanted, rows)

    # Results ----------------------------------------------------------------------------------------------------------

    def _new_arrays(self, member: Member, arguments: NestArguments, results: list[ir.Value]) -> list[ir.Value]:
        """Make the arrays for the results of a nest. Returns all arrays so far."""
        c, b, nest = self._c, self._c.b, member.nest
        for place, dtype in enumerate(nest.dtypes):
            if not member.new[place]:
                continue
            shape = arguments.shape(place)
            if nest.reduction is not None and place == nest.reduced and not nest.reduction.keepdims:
                shape = shape[:-1]
            for axis, dim in enumerate(shape if self._order == "C" else reversed(shape)):
                b.store(dim, b.gep(self._lengths, axis, ir.I64))
            if place == nest.summed:
                found = c.zeros(dtype, len(shape), self._lengths)
            else:
                found = c.new_array(dtype, len(shape), self._lengths, F_CONTIGUOUS if self._order == "F" else 0)
            with b.if_then(b.is_null(found)):
                c.python("PyErr_Clear")
                self._give_up(results)
            b.store(c.load_at(ir.PTR, found, DATA), arguments.at(place))
            results = [*results, found]
        return results

    def _give_up(self, results: Sequence[ir.Value]) -> None:
        for each in results:
            self._c.forget(each)
        self._c.hand_over(self._redo)

    def _run(self, far: int, results: list[ir.Value]) -> None:
        """Run the loops, from so many elements on in several threads, and return the results."""
        c, b, first, nest = self._c, self._c.b, self._first, self._first.nest
        size, whole = first.size, first.size if self._flat or not nest.depth else first.dims[0]
        is_number = nest.reduction is not None and nest.reduction.whole
        is_alone = is_number or nest.sums is not None       # one thread adds up all elements
        work = size if nest.iterations is None else b.mul(size, b.load(ir.I64, first.at(nest.iterations)))
        flags = b.if_else(
            b.icmp("slt", work, BUSY),
            lambda: self._loop(whole),
            lambda: b.if_else(
                b.icmp("slt", work, 2**62 if is_alone else far),
                lambda: self._unlocked(whole),
                lambda: self._in_parallel(whole, results),
            ),
        )
        assert flags is not None
        with b.if_then(b.icmp("ne", flags, 0)):
            if nest.update is not None and nest.update.out < len(nest.dtypes) - 1:
                c.forget(c.call(c.address(np.copyto), [first.things[nest.update.target], results[-1]]))    # undo
            self._give_up(results)
        if nest.update is not None and nest.update.buffered:
            self._loop(whole, "copy_out")
        if nest.update is not None:
            results = self._results(nest.update, results)
        if is_number:
            total = load_number(b, first.at(len(nest.dtypes) - 1), nest.dtypes[-1])
            results = [*results, c.number_object(total, scalar(nest.dtypes[-1]))]
        b.ret(results[0] if len(results) == 1 else c.tuple_object(results))

    def _results(self, update: Update, results: list[ir.Value]) -> list[ir.Value]:
        """The results, if an array has been written into."""
        outs, log = results[: update.out], results[update.out :]
        for each in log:
            self._c.forget(each)
        return [*outs, self._c.another(self._target(update))] if self._returns_target or not outs else outs

    def _target(self, update: Update) -> ir.Value:
        """The array that has been written into, if it is a result; else None."""
        return self._first.things[update.target] if self._returns_target else self._c.address(None)

    # Loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, whole: ir.Value, name: str = "loop") -> ir.Value:
        return self._c.b.call(self._c.b.function.module.functions[name], self._c.frame, 0, whole)

    def _unlocked(self, whole: ir.Value) -> ir.Value:
        """Run the loops without the GIL."""
        state = self._c.python("PyEval_SaveThread")
        flags = self._loop(whole)
        self._c.python("PyEval_RestoreThread", state)
        return flags

    def _in_parallel(self, whole: ir.Value, results: Sequence[ir.Value]) -> ir.Value:
        """Let Python run the loops in several threads."""
        c, b = self._c, self._c.b
        integers = [c.python("PyLong_FromLongLong", each) for each in (b.cast("ptrtoint", c.frame, ir.I64), whole)]
        found = c.call(c.address(self._parallel), integers)
        for each in integers:
            c.forget(each)
        with b.if_then(b.is_null(found)):
            for each in results:
                c.forget(each)
            b.ret(ir.NULL)
        flags = c.python("PyLong_AsLongLong", found)
        c.forget(found)
        return flags


# Arguments ------------------------------------------------------------------------------------------------------------


_CONTIGUOUS = {"C": (CONTIGUOUS, CONTIGUOUS), "F": (F_CONTIGUOUS, CONTIGUOUS | F_CONTIGUOUS)}


class NestArguments:
    """Builds this code for one nest.

    Args:
        frame: the address of the nest's part of the frame.
        order, flat, merged: see `EntryPoint`.

    Attributes:
        things: the objects of the inputs, by their places; null for outputs.
        arrays: the layouts of the inputs, with their axes in the order of the loops.
        dims: the lengths of the loops.
        size: the number of elements.
    """

    def __init__(
        self, c: CFunction, nest: Nest, frame: ir.Value, ndim: int, order: str, flat: bool, merged: int
    ) -> None:
        self._c, self.nest, self._frame, self._ndim, self._order, self._flat = c, nest, frame, ndim, order, flat
        self._merged = merged
        self._row: list[ir.Value] = []
        self._outs = len(nest.dtypes)
        self.things: list[ir.Value] = [ir.NULL] * self._outs
        self.arrays: list[Layout] = []
        self.dims: list[ir.Value] = []
        self.size: ir.Value = ir.constant(ir.I64, 1)
        self._singles = 0
        self._bounds: dict[int, tuple[ir.Value, ir.Value]] = {}
        self._strides: dict[tuple[int, int], ir.Value] = {}
        self._integers: dict[int, ir.Value] = {}

    def at(self, slot: int) -> ir.Value:
        """The address of a slot."""
        return self._c.b.gep(self._frame, SLOT * slot)

    def layout(self, place: int) -> Layout:
        """The layout of an output."""
        shape = [*self.dims[:-1], ir.constant(ir.I64, 1)] if place == self.nest.reduced else self.dims
        strides = [self._strides[place, axis] for axis in range(self.nest.depth)]
        return Layout(ir.NULL, shape, [*strides, ir.constant(ir.I64, self.nest.dtypes[place].itemsize)])

    def shape(self, place: int) -> list[ir.Value]:
        """The shape of the array of an output."""
        shape, sums = self.layout(place).shape, self.nest.sums
        if sums is not None and place == self.nest.summed:
            one = [ir.constant(ir.I64, 1)] * sums.keepdims
            return [dim for axis, each in enumerate(shape) for dim in (one if axis in sums.axes else [each])]
        return [*shape[:-1], *self._row] if self._row else shape

    # Arguments --------------------------------------------------------------------------------------------------------

    def take(self, part: Part | None, kind: Stream | Single) -> None:
        """Put an argument, a part of one, or a constant into the frame."""
        argument = ir.NULL if part is None else self._c.argument(part.place)
        if isinstance(kind, Stream):
            self._take_array(argument, kind, part)
        else:
            for place, value in enumerate(self._numbers(argument, kind), self.nest.frame.single(self._singles)):
                self._c.b.store(value, self.at(place))
            if kind.known is None:
                self._demand_range()
            self._singles += slots_of([kind])

    def _take_array(self, argument: ir.Value, stream: Stream, part: Part | None) -> None:
        place = self._outs + len(self.arrays)
        is_target = self.nest.update is not None and place == self.nest.update.target
        flags = _CONTIGUOUS[self._order] if self._flat and stream.ndim else (0, 0)
        wanted, mask = (ALIGNED | each | WRITEABLE * is_target for each in flags)
        ndim, parts = stream.ndim + (self._merged - 1) * bool(stream.ndim), part.indices if part is not None else ()
        ndim = part.ndim_before(ndim) if part is not None else ndim
        self._c.demand_array(argument, stream.dtype, ndim, wanted, mask)
        layout = self._merge(layout_of(self._c, argument, ndim, parts, not self._flat, self._given))
        layout = self._along_loops(layout)
        for each in self._places(place):
            self._c.b.store(layout.data, self.at(each))
        self.things.append(argument)
        self.arrays.append(layout)

    def _merge(self, layout: Layout) -> Layout:
        """A layout with its last axes as one; demands that they are, with the same lengths in all arrays."""
        if self._merged == 1 or not layout.shape:
            return layout
        b, outer = self._c.b, len(layout.shape) - self._merged
        row, strides = layout.shape[outer:], layout.strides[outer:]
        for dim, known in zip(row, self._row):
            self._c.demand(b.icmp("eq", dim, known))
        size = row[-1]
        for axis in range(self._merged - 1, 0, -1):
            self._c.demand(b.icmp("eq", strides[axis - 1], b.mul(strides[axis], row[axis])))
            size = b.mul(size, row[axis - 1])
        self._row = row
        return Layout(layout.data, [*layout.shape[:outer], size], [*layout.strides[:outer], strides[-1]])

    def _given(self, place: int) -> ir.Value:
        """An argument that is an integer of an index."""
        if place not in self._integers:
            self._integers[place] = self._c.number_in(self._c.argument(place), INT)
        return self._integers[place]

    def _along_loops(self, layout: Layout) -> Layout:
        """A layout with its axes in the order of the loops, of which the missing ones have a length of 1."""
        if self._order == "C":
            return layout               # whose first axes may be missing
        missing = 0 if self._flat else self._ndim - len(layout.shape)
        shape = [*reversed(layout.shape), *[ir.constant(ir.I64, 1)] * missing]
        return Layout(layout.data, shape, [*reversed(layout.strides), *[ir.constant(ir.I64, 0)] * missing])

    def _places(self, place: int) -> list[int]:
        """The places of an input, which is also an output if the nest writes into it at once."""
        update = self.nest.update
        return [place, update.out] if update and place == update.target and not update.buffered else [place]

    def _numbers(self, argument: ir.Value, kind: Single) -> list[ir.Value]:
        """A number as it is in memory, or the parts of a complex one."""
        dtype = kind.type.dtype
        if kind.known is None and dtype.kind == "c":
            self._c.demand_class(argument, class_of(kind.type))
            return self._c.parts_of(argument, kind.type)
        if kind.known is None:
            return [self._c.number_in(argument, kind.type)]
        if dtype.kind != "c":
            return [ir.constant(memory_type(dtype), kind.known)]
        return [ir.constant(llvm_type(part_of(dtype)), each) for each in (kind.known.real, kind.known.imag)]

    def _demand_range(self) -> None:
        """Demand that a Python integer fits into the dtypes that it is converted to."""
        b = self._c.b
        for place, dtype in sorted(self.nest.ranges, key=str):
            if place == self._singles and dtype != np.dtype("int64"):
                value, info = b.load(ir.I64, self.at(self.nest.frame.single(place))), np.iinfo(dtype)
                self._c.demand(b.icmp("sge", value, info.min))
                self._c.demand(b.icmp("sle", value, min(info.max, 2**63 - 1)))

    def demand_disjoint(self, update: Update) -> None:
        """Demand that no other operand overlaps the array that the nest writes into."""
        b, bounds = self._c.b, []
        for place, stream in enumerate(self.nest.streams[self._outs :], self._outs):
            data = b.load(ir.PTR, self.at(place))
            if place in self._bounds:
                first, last = self._bounds[place]
            else:
                size = stream.dtype.itemsize
                first = ir.constant(ir.I64, 0)
                last = b.mul(self.size, size) if self._flat and stream.ndim else ir.constant(ir.I64, size)
            bounds.append((b.gep(data, first), b.gep(data, last)))
        begin, end = bounds.pop(update.target - self._outs)
        for first, last in bounds:
            self._c.demand(b.or_(b.icmp("ule", end, first), b.icmp("ule", last, begin)))

    # Shapes -----------------------------------------------------------------------------------------------------------

    def demand_shapes(self) -> None:
        """Demand that the arrays can be broadcast, to a size that the nest is for."""
        b = self._c.b
        self.dims = self._same() if self._flat else self._broadcast_all()
        for dim in self.dims:
            self.size = b.mul(self.size, dim)
        fits = b.icmp("sgt", self.size, self.nest.least - 1)
        self._c.demand(b.or_(fits, b.icmp("eq", self.size, 0)) if self.nest.only_writes else fits)
        if self.nest.most < 2**62:
            self._c.demand(b.icmp("sle", self.size, self.nest.most))

    def _same(self) -> list[ir.Value]:
        """The shape that all arrays have."""
        first, *rest = (each.shape for each in self.arrays if each.shape)
        for shape in rest:
            for dim, other in zip(first, shape):
                self._c.demand(self._c.b.icmp("eq", dim, other))
        return first

    def _broadcast_all(self) -> list[ir.Value]:
        """The shape that arrays are broadcast to."""
        streams, nest, b = self.nest.streams[self._outs :], self.nest, self._c.b
        dims = self._broadcast([each.shape for each in self.arrays])
        if nest.sums is not None:
            self._c.demand(b.icmp("sgt", dims[-1], 1))       # otherwise NumPy adds along another axis
        for place, (layout, stream) in enumerate(zip(self.arrays, streams), self._outs):
            self._demand_layout(place, layout, stream, dims)
        self._lay_out(dims)
        for group in nest.whole:
            if len(group) < sum(stream.ndim > 0 for stream in streams):
                shapes = [each.shape for place, each in enumerate(self.arrays, self._outs) if place in group]
                for dim, whole in zip(self._broadcast(shapes), dims):
                    self._c.demand(b.icmp("eq", dim, whole))
        if self._order == "F":
            self._demand_order(dims)
        return dims

    def _demand_order(self, dims: list[ir.Value]) -> None:
        """Demand that NumPy gives each result in Fortran's order.

        It does so if an operand has all axes of the result, without strides of 0, since all operands with two axes or
        more are in Fortran's order. Otherwise it would give a result in C's, as for `row * column`, and then so on.
        """
        c, b = self._c, self._c.b
        for dim in dims:
            c.demand(b.icmp("ne", dim, 1))      # NumPy does not order axes of length 1
        for group in sorted(self.nest.operands, key=sorted):
            members = [each for place, each in enumerate(self.arrays, self._outs) if place in group]
            shape = self._broadcast([each.shape for each in members])
            c.demand(reduce(b.or_, (self._is_whole(each, shape) for each in members)))

    def _is_whole(self, layout: Layout, shape: Sequence[ir.Value]) -> ir.Value:
        """Whether an array has such a shape, and no strides of 0 along axes longer than 1."""
        b, found = self._c.b, list[ir.Value]()
        for dim, stride, wanted in zip(layout.shape, layout.strides, shape):
            found += b.icmp("eq", dim, wanted), b.or_(b.icmp("eq", dim, 1), b.icmp("ne", stride, 0))
        return reduce(b.and_, found)

    def _broadcast(self, shapes: Sequence[Sequence[ir.Value]]) -> list[ir.Value]:
        """The shape that arrays are broadcast to, if they can be."""
        b, dims = self._c.b, list[ir.Value]()
        for axis in range(self._ndim):
            found: ir.Value = ir.constant(ir.I64, 1)
            for shape in shapes:
                if len(shape) >= self._ndim - axis:
                    found = b.select(b.icmp("eq", found, 1), shape[axis - self._ndim], found)
            dims.append(found)
        return dims

    def _demand_layout(self, place: int, layout: Layout, stream: Stream, dims: list[ir.Value]) -> None:
        """Demand that an array can be broadcast, and that its axes are in the order of the result's."""
        c, b, nest, missing = self._c, self._c.b, self.nest, self._ndim - len(layout.shape)
        zero: ir.Value = ir.constant(ir.I64, 0)
        before: ir.Value = ir.constant(ir.I64, 2**62)
        first, last = zero, b.add(zero, stream.dtype.itemsize)
        for axis in range(min(missing, nest.depth)):
            self._set_stride(place, axis, zero)
        for axis, (dim, stride) in enumerate(zip(layout.shape, layout.strides), missing):
            single, whole = b.icmp("eq", dim, 1), b.icmp("eq", dim, dims[axis])
            c.demand(whole if place in nest.carried else b.or_(single, whole))
            step = b.select(single, 0, stride)
            is_reversed = b.icmp("slt", step, 0)
            if place in nest.ordered:
                c.demand(b.or_(single, b.icmp("ne", stride, 0)))
            if nest.reduction is not None or nest.sums is not None or nest.is_directed:
                c.demand(b.icmp("sge", step, 0))
            reach, size = b.mul(step, b.sub(dim, 1)), b.select(is_reversed, b.sub(0, step), step)
            first, last = b.add(first, b.select(is_reversed, reach, 0)), b.add(last, b.select(is_reversed, 0, reach))
            self._bounds[place] = first, last
            c.demand(b.icmp("sle" if self._order == "C" else "slt", size, before))
            before = b.select(b.icmp("eq", step, 0), before, size)
            if axis < nest.depth:
                self._set_stride(place, axis, step)
            elif stream.strided:
                c.demand(b.icmp("ne", step, stream.dtype.itemsize))
                for each in self._places(place):
                    b.store(step, self.at(nest.frame.step(each)))
            else:
                c.demand(b.icmp("eq", step, stream.dtype.itemsize if stream.steps else 0))

    def _set_stride(self, place: int, axis: int, value: ir.Value) -> None:
        self._strides[place, axis] = value
        self._c.b.store(value, self.at(self.nest.frame.stride(place, axis)))

    def _lay_out(self, dims: list[ir.Value]) -> None:
        """Put the lengths of the axes and the strides of the outputs into the frame."""
        b, nest = self._c.b, self.nest
        for axis, dim in enumerate(dims):
            b.store(dim, self.at(nest.frame.length(axis)))
        for place, dtype in enumerate(nest.dtypes):
            step: ir.Value = ir.constant(ir.I64, dtype.itemsize)
            summed = nest.sums.axes if nest.sums is not None and place == nest.summed else ()
            for axis in reversed(range(nest.depth)):
                if nest.update is not None and place == nest.written:
                    step = self._strides[nest.update.target, axis]
                elif not (place == nest.reduced and axis + 1 == nest.depth) and axis + 1 not in summed:
                    step = b.mul(step, dims[axis + 1])
                self._set_stride(place, axis, ir.constant(ir.I64, 0) if axis in summed else step)
