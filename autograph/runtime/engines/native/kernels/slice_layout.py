"""Where parts of arrays lie that are taken by machine code: what NumPy does for `x[1:-1]`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from autograph.common.numpy_internals import DATA, SHAPE, STRIDES
from autograph.runtime.engines.native.abi.c_entry import Builtin
from autograph.runtime.engines.native.kernels.operands import Stream
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT


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
    """Where an array lies, and how."""

    data: str
    shape: list[str]
    strides: list[str]


class Parts(Builtin):
    """Writes what finds them."""

    def facts(self, thing: str | Layout, field: int, ndim: int) -> list[str]:
        """The lengths or strides of an array."""
        if isinstance(thing, Layout):
            return thing.shape if field == SHAPE else thing.strides
        pointer = self._load("ptr", thing, field)
        return [self._load("i64", pointer, SLOT * axis) for axis in range(ndim)]

    def layout(self, thing: str, ndim: int, indices: tuple[Any, ...]) -> Layout:
        """Where a part of a part of an array lies."""
        if not indices:
            shape, strides = (self.facts(thing, field, ndim) for field in (SHAPE, STRIDES))
            return Layout(self._load("ptr", thing, DATA), shape, strides)
        *before, index = indices
        data, shape, strides = self.layout(thing, ndim, tuple(before))
        found = list(shape)
        for axis, part in enumerate(slices(index)):
            found[axis] = self._bound(part.stop, shape[axis])
            if part.start:
                begin = self._bound(part.start, shape[axis])
                by = self._emit(f"mul i64 {begin}, {strides[axis]}")
                data = self._emit(f"getelementptr i8, ptr {data}, i64 {by}")
                found[axis] = self._at_least_zero(self._emit(f"sub i64 {found[axis]}, {begin}"))
        return Layout(data, found, strides)

    def _bound(self, bound: int | None, length: str) -> str:
        """Where a slice of so many elements begins or ends."""
        if bound is None:
            return length
        if bound < 0:
            return self._at_least_zero(self._emit(f"add i64 {length}, {bound}"))
        return self._emit(f"select i1 {self._emit(f'icmp slt i64 {length}, {bound}')}, i64 {length}, i64 {bound}")

    def _at_least_zero(self, ref: str) -> str:
        return self._emit(f"select i1 {self._emit(f'icmp slt i64 {ref}, 0')}, i64 0, i64 {ref}")
