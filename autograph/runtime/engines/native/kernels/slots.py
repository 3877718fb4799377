"""Where in the frame a nest of loops finds what it is given: addresses, numbers, lengths, strides."""

from __future__ import annotations

from collections.abc import Iterable

from autograph.runtime.engines.native.kernels.operands import Single, Stream


class Slots:
    """The places of a frame.

    Attributes:
        streams: the arrays.
        depth: how many loops there are around a row.
        numbers: the places of numbers.
    """

    streams: list[Stream]
    depth: int
    numbers: int

    def single(self, place: int) -> int:
        """A number, by how many places are before it."""
        return len(self.streams) + place

    def length(self, axis: int) -> int:
        """Of an axis but the last."""
        return len(self.streams) + self.numbers + axis

    def stride(self, stream: int, axis: int) -> int:
        """Of an array, along an axis but the last."""
        return self.length(self.depth) + 1 + stream * self.depth + axis

    def step(self, stream: int) -> int:
        """How far it is from one element of a row to the next, if they stand apart."""
        return self.stride(len(self.streams), 0) + stream

    @property
    def slots(self) -> int:
        """How many places there are."""
        return self.step(len(self.streams))


def places(kinds: Iterable[Stream | Single]) -> int:
    """How many places the numbers among some inputs take: complex ones two, for each part one."""
    return sum(1 + (kind.type.dtype.kind == "c") for kind in kinds if isinstance(kind, Single))
