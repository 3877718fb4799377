"""Addresses and shapes of slices such as `x[1:-1]`, computed in machine code as NumPy computes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from autograph.common.numpy_internals import DATA, SHAPE, STRIDES
from autograph.runtime.engines.native.kernels.loop_nest import Stream
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, ObjectBuilder


class Part(NamedTuple):
    """An operand that is an argument, or a slice of a slice of one; see `views`."""

    place: int
    indices: tuple[Any, ...] = ()

    def of(self, args: Sequence[Any]) -> Any:
        return reduce(getitem, self.indices, args[self.place])

    def along(self, axis: int) -> list[tuple[int | None, int | None]]:
        """The bounds of an axis's slices, one after the other."""
        parts = [slices(index)[axis] for index in self.indices if axis < len(slices(index))]
        return [(part.start, part.stop) for part in parts if part != slice(None)]


def slices(index: Any) -> tuple[Any, ...]:
    """The items of an index."""
    return index if isinstance(index, tuple) else (index,)


def neighboring_rows(
    parts: Sequence[tuple[Part, Stream]], first: int
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int, int]]]:
    """The operands whose rows are, and seem to be, rows of the same array as those of an operand before them.

    They are if the slices of the outer axes are the same. Other slices may take fewer rows than they say. For the
    results see `Nest.same_rows` and `Nest.near_rows`.

    Args:
        first: the place of the first operand.
    """
    same, near, rows, arrays = {}, {}, dict[Any, tuple[int, int]](), dict[Any, tuple[int, int, int]]()
    for place, (part, kind) in enumerate(parts, first):
        cuts = [part.along(axis) for axis in range(kind.ndim)]
        starts = [sum(start or 0 for start, _ in cut) for cut in cuts]
        if not kind.steps or kind.strided or any((start or 0) < 0 for start, _ in cuts[-1]):
            continue
        leader, begin = rows.setdefault((part.place, repr(cuts[:-1])), (place, starts[-1]))
        if leader != place:
            same[place] = leader, kind.dtype.itemsize * (starts[-1] - begin)
        if kind.ndim >= 2 and min(starts) >= 0:
            *planes, row, column = starts
            leader, *at = arrays.setdefault((part.place, *planes), (place, row, column))
            if leader != place:
                near[place] = leader, row - at[0], kind.dtype.itemsize * (column - at[1])
    return same, near


class Layout(NamedTuple):
    """The address, shape and strides of an array; `data` is null for an array that a nest computes."""

    data: ir.Value
    shape: list[ir.Value]
    strides: list[ir.Value]


def layout_of(c: ObjectBuilder, thing: ir.Value, ndim: int, indices: Sequence[Any], strided: bool) -> Layout:
    """The layout of an array, or of a slice of a slice of it; strides only if they are needed."""
    data, found = c.load_at(ir.PTR, thing, DATA), list[list[ir.Value]]()
    for field in (SHAPE, STRIDES) if strided else (SHAPE,):
        pointer = c.load_at(ir.PTR, thing, field)
        found.append([c.load_at(ir.I64, pointer, SLOT * axis) for axis in range(ndim)])
    shape, strides = found if strided else (*found, [])
    for index in indices:
        for axis, part in enumerate(slices(index)):
            length, shape[axis] = shape[axis], _bound(c.b, part.stop, shape[axis])
            if part.start:
                begin = _bound(c.b, part.start, length)
                data = c.b.gep(data, c.b.mul(begin, strides[axis]))
                shape[axis] = _at_least_zero(c.b, c.b.sub(shape[axis], begin))
    return Layout(data, shape, strides)


def _bound(b: Builder, bound: int | None, length: ir.Value) -> ir.Value:
    """Where a slice of so many elements begins or ends: NumPy's rule for a constant bound."""
    if bound is None:
        return length
    if bound < 0:
        return _at_least_zero(b, b.add(length, bound))
    return b.select(b.icmp("slt", length, bound), length, bound)


def _at_least_zero(b: Builder, x: ir.Value) -> ir.Value:
    return b.select(b.icmp("slt", x, 0), 0, x)
