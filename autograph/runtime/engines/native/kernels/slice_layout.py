"""Addresses of parts of arrays in machine code: as NumPy computes them for `x[1:-1]`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from autograph.common.numpy_internals import DATA, SHAPE, STRIDES
from autograph.runtime.engines.native.kernels.operands import Stream
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, ObjectBuilder
from autograph.runtime.engines.native.llvm.ir import I64, PTR, Value


class Part(NamedTuple):
    """What of an argument goes into the loops of a kernel: all of it, or a part of a part; see `views`."""

    place: int
    indices: tuple[Any, ...] = ()

    def of(self, args: Sequence[Any]) -> Any:
        return reduce(getitem, self.indices, args[self.place])

    def along(self, axis: int) -> list[tuple[int | None, int | None]]:
        """The slices of an axis, one after the other."""
        parts = [slices(index)[axis] for index in self.indices if axis < len(slices(index))]
        return [(part.start, part.stop) for part in parts if part != slice(None)]


def slices(index: Any) -> tuple[Any, ...]:
    """The parts of an index."""
    return index if isinstance(index, tuple) else (index,)


def beside(parts: Sequence[tuple[Part, Stream]], first: int) -> dict[int, tuple[int, int]]:
    """Which parts are of the same rows as one in front of them: of which, and how many bytes further on they begin.

    Args:
        first: the number of the first one.
    """
    found, known = {}, dict[Any, tuple[int, int]]()
    for number, (part, kind) in enumerate(parts, first):
        if not kind.steps or kind.apart:
            continue
        starts = [start or 0 for start, _ in part.along(kind.ndim - 1)]
        if all(start >= 0 for start in starts):
            rows = part.place, repr([part.along(axis) for axis in range(kind.ndim - 1)])
            leader, begin = known.setdefault(rows, (number, sum(starts)))
            if leader != number:
                found[number] = leader, kind.dtype.itemsize * (sum(starts) - begin)
    return found


def below(parts: Sequence[tuple[Part, Stream]], first: int) -> dict[int, tuple[int, int, int]]:
    """Which parts seem to be of the same array as one in front of them: of which, how many rows and bytes further on.

    An array may have fewer rows than the slices take.
    """
    found, known = {}, dict[Any, tuple[int, int, int]]()
    for number, (part, kind) in enumerate(parts, first):
        starts = [sum(start or 0 for start, _ in part.along(axis)) for axis in range(kind.ndim)]
        if not kind.steps or kind.apart or kind.ndim < 2 or min(starts) < 0:
            continue
        *planes, row, begin = starts
        leader, *at = known.setdefault((part.place, *planes), (number, row, begin))
        if leader != number:
            found[number] = leader, row - at[0], kind.dtype.itemsize * (begin - at[1])
    return found


class Layout(NamedTuple):
    """Where an array lies, and how; `data` is null for what phases leave to each other, of which nobody asks it."""

    data: Value
    shape: list[Value]
    strides: list[Value]


def layout_of(c: ObjectBuilder, thing: Value, ndim: int, indices: Sequence[Any], strided: bool) -> Layout:
    """Where an array lies, or a part of a part of it; without strides unless they are asked for."""
    data, found = c.load_at(PTR, thing, DATA), list[list[Value]]()
    for field in (SHAPE, STRIDES) if strided else (SHAPE,):
        pointer = c.load_at(PTR, thing, field)
        found.append([c.load_at(I64, pointer, SLOT * axis) for axis in range(ndim)])
    shape, strides = found if strided else (*found, [])
    for index in indices:
        for axis, part in enumerate(slices(index)):
            length, shape[axis] = shape[axis], _bound(c.b, part.stop, shape[axis])
            if part.start:
                begin = _bound(c.b, part.start, length)
                data = c.b.gep(data, c.b.mul(begin, strides[axis]))
                shape[axis] = _at_least_zero(c.b, c.b.sub(shape[axis], begin))
    return Layout(data, shape, strides)


def _bound(b: Builder, bound: int | None, length: Value) -> Value:
    """Where a slice of so many elements begins or ends."""
    if bound is None:
        return length
    if bound < 0:
        return _at_least_zero(b, b.add(length, bound))
    return b.select(b.icmp("slt", length, bound), length, bound)


def _at_least_zero(b: Builder, x: Value) -> Value:
    return b.select(b.icmp("slt", x, 0), 0, x)
