"""Checks the arguments of a nest, and puts addresses, numbers, lengths and strides into the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS, F_CONTIGUOUS, WRITEABLE
from autograph.runtime.engines.native.abi.c_entry import CFunction
from autograph.runtime.engines.native.kernels.loop_nest import Nest, Single, Stream, Update, slots_of
from autograph.runtime.engines.native.kernels.slice_layout import Layout, Part, layout_of
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type, memory_type
from autograph.runtime.graph.types import part_of

_ORDERS = {"C": (CONTIGUOUS, CONTIGUOUS), "F": (F_CONTIGUOUS, CONTIGUOUS | F_CONTIGUOUS), "": (0, 0)}


class NestArguments:
    """Builds this code for one nest.

    Args:
        frame: the address of the nest's part of the frame.
        flat: see `EntryPoint`.

    Attributes:
        things: the objects of the inputs, by their places; null for outputs.
        arrays: the layouts of the inputs.
        dims: the shape of the loops.
        size: the number of elements.
    """

    def __init__(self, c: CFunction, nest: Nest, frame: ir.Value, ndim: int, flat: str) -> None:
        self._c, self.nest, self._frame, self._ndim, self._flat = c, nest, frame, ndim, flat
        self._outs = len(nest.dtypes)
        self.things: list[ir.Value] = [ir.NULL] * self._outs
        self.arrays: list[Layout] = []
        self.dims: list[ir.Value] = []
        self.size: ir.Value = ir.constant(ir.I64, 1)
        self._singles = 0
        self._extents: dict[int, ir.Value] = {}
        self._strides: dict[tuple[int, int], ir.Value] = {}

    def at(self, slot: int) -> ir.Value:
        """The address of a slot."""
        return self._c.b.gep(self._frame, SLOT * slot)

    def layout(self, place: int) -> Layout:
        """The layout of an output."""
        shape = [*self.dims[:-1], ir.constant(ir.I64, 1)] if place == self.nest.reduced else self.dims
        strides = [self._strides[place, axis] for axis in range(self.nest.depth)]
        return Layout(ir.NULL, shape, [*strides, ir.constant(ir.I64, self.nest.dtypes[place].itemsize)])

    # Arguments --------------------------------------------------------------------------------------------------------

    def take(self, part: Part | None, kind: Stream | Single) -> None:
        """Put an argument, a part of one, or a constant into the frame."""
        thing = ir.NULL if part is None else self._c.argument(part.place)
        if isinstance(kind, Stream):
            self._take_array(thing, kind, part.indices if part is not None else ())
        else:
            for place, value in enumerate(self._numbers(thing, kind), self.nest.frame.single(self._singles)):
                self._c.b.store(value, self.at(place))
            if kind.known is None:
                self._demand_range()
            self._singles += slots_of([kind])

    def _take_array(self, thing: ir.Value, stream: Stream, indices: Sequence[Any]) -> None:
        place = self._outs + len(self.arrays)
        is_target = self.nest.update is not None and place == self.nest.update.target
        wanted, mask = (ALIGNED | each | WRITEABLE * is_target for each in _ORDERS[self._flat if stream.ndim else ""])
        self._c.demand_array(thing, stream.dtype, stream.ndim, wanted, mask)
        layout = layout_of(self._c, thing, stream.ndim, indices, not self._flat)
        for each in self._places(place):
            self._c.b.store(layout.data, self.at(each))
        self.things.append(thing)
        self.arrays.append(layout)

    def _places(self, place: int) -> list[int]:
        """The places of an input, which is also an output if the nest writes into it at once."""
        update = self.nest.update
        return [place, update.out] if update and place == update.target and not update.buffered else [place]

    def _numbers(self, thing: ir.Value, kind: Single) -> list[ir.Value]:
        """A number as it is in memory, or the parts of a complex one."""
        dtype = kind.type.dtype
        if kind.known is None:
            return self._c.parts_in(thing, kind.type) if dtype.kind == "c" else [self._c.number_in(thing, kind.type)]
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
            begin, extent = b.load(ir.PTR, self.at(place)), self._extents.get(place)
            if extent is None:
                extent = ir.constant(ir.I64, stream.dtype.itemsize)
                if self._flat and stream.ndim:
                    extent = b.mul(self.size, stream.dtype.itemsize)
            bounds.append((begin, b.gep(begin, extent)))
        begin, end = bounds.pop(update.target - self._outs)
        for other, behind in bounds:
            self._c.demand(b.or_(b.icmp("ule", end, other), b.icmp("ule", behind, begin)))

    # Shapes -----------------------------------------------------------------------------------------------------------

    def demand_shapes(self) -> None:
        """Demand that the arrays can be broadcast, to a size that the nest is for."""
        b = self._c.b
        self.dims = self._same() if self._flat else self._broadcast_all()
        for dim in self.dims:
            self.size = b.mul(self.size, dim)
        self._c.demand(b.icmp("sgt", self.size, self.nest.least - 1))
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
        streams, nest = self.nest.streams[self._outs :], self.nest
        dims = self._broadcast([each.shape for each in self.arrays])
        for place, (layout, stream) in enumerate(zip(self.arrays, streams), self._outs):
            self._demand_layout(place, layout, stream, dims)
        self._lay_out(dims)
        for sources in nest.whole:
            if len(sources) < sum(stream.ndim > 0 for stream in streams):
                own = [each.shape for place, each in enumerate(self.arrays, self._outs) if place in sources]
                for dim, whole in zip(self._broadcast(own), dims):
                    self._c.demand(self._c.b.icmp("eq", dim, whole))
        return dims

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
        c, b, nest, ahead = self._c, self._c.b, self.nest, self._ndim - stream.ndim
        before: ir.Value = ir.constant(ir.I64, 2**62)
        extent: ir.Value = ir.constant(ir.I64, stream.dtype.itemsize)
        for axis in range(min(ahead, nest.depth)):
            self._set_stride(place, axis, ir.constant(ir.I64, 0))
        for axis, (dim, stride) in enumerate(zip(layout.shape, layout.strides), ahead):
            single, whole = b.icmp("eq", dim, 1), b.icmp("eq", dim, dims[axis])
            c.demand(whole if place in nest.carried else b.or_(single, whole))
            step = b.select(single, 0, stride)
            if place in nest.ordered:
                c.demand(b.or_(single, b.icmp("ne", stride, 0)))
            c.demand(b.icmp("sge", step, 0))
            extent = self._extents[place] = b.add(extent, b.mul(step, b.sub(dim, 1)))
            c.demand(b.icmp("sle", step, before))
            before = b.select(b.icmp("eq", step, 0), before, step)
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
            for axis in reversed(range(nest.depth)):
                if nest.update is not None and place == nest.written:
                    step = self._strides[nest.update.target, axis]
                elif not (place == nest.reduced and axis + 1 == nest.depth):
                    step = b.mul(step, dims[axis + 1])
                self._set_stride(place, axis, step)
