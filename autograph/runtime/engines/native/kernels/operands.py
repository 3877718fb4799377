"""Operands of a nest of loops, and their places in the frame: addresses, numbers, lengths, strides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph.runtime.engines.native.libmath.ufunc_loops import Loop
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.operands import Complex, Number
from autograph.runtime.graph.types import TensorType


@dataclass(frozen=True, slots=True)
class Stream:
    """An array that is gone through.

    Attributes:
        ndim: its dimensions; of none, it is a number.
        steps: whether a row has more elements than one; else it is the same one each time.
        apart: whether the next one stands further away than next to the one before.
    """

    dtype: np.dtype[Any]
    ndim: int
    steps: bool
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Single:
    """A Python number or NumPy scalar.

    Attributes:
        known: its value, if it is a constant.
    """

    type: TensorType
    known: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a loop of NumPy's, or of one in its place, behind a stage.

    Attributes:
        streams: where its operands and its result are.
        steps: how far it is there from one element to the next.
        place: where it is in the user's code.
    """

    loop: Loop
    streams: tuple[int, ...]
    steps: tuple[int, ...]
    place: Place


@dataclass(slots=True)
class Element:
    """What a value is in one iteration.

    Attributes:
        streams: the arrays that it comes from.
        stage: the first stage that can use it.
        numbers: what it is in which stages.
        home: where its elements are kept for other stages, if they are: an array, or a block of the scratch.
        raises: whether computing it may raise flags.
    """

    type: TensorType
    known: Any
    streams: frozenset[int]
    stage: int = 0
    numbers: dict[int, Number | Complex] = field(default_factory=dict)
    home: int | None = None
    raises: bool = False


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
