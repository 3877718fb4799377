"""Loop nests: the description of what a kernel computes.

    for i in range(rows):               outer loops: one for each axis but the last
        for j in range(columns):        inner loop, over a row
            out[i, j] = sin(x[i, j] * 2) + 1

A nest is a plain value. `nest_builder` makes it of nodes of the graph; a schedule gives the order of its elements
(`schedule`); `loop_codegen` makes machine code of nest and schedule.

The code for an element is split into *stages*. A stage ends where an inner loop of NumPy's must compute a value (here
`sin`); it leaves the operand in a scratch buffer. The elements of arrays, outputs first, and of scratch buffers are
numbered together: these numbers are *places*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograph.runtime.engines.native.kernels.inner_loop import Stage
from autograph.runtime.engines.native.libmath.exponential import NAME as EXP
from autograph.runtime.engines.native.libmath.vectors import Loop
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.operands import NoLowering
from autograph.runtime.graph.types import TensorType


@dataclass(frozen=True, slots=True)
class Stream:
    """An array operand.

    Attributes:
        ndim: the number of its dimensions.
        steps: whether the inner loop moves along it; otherwise its element is the same for a whole row.
        strided: whether the elements of a row are not contiguous.
    """

    dtype: np.dtype[Any]
    ndim: int
    steps: bool
    strided: bool = False

    def merged(self, axes: int) -> Stream:
        """The array with its last axes as one."""
        return replace(self, ndim=self.ndim - axes + 1) if self.ndim else self


@dataclass(frozen=True, slots=True)
class Single:
    """An operand that is a Python number or NumPy scalar.

    Attributes:
        known: its value, if it is a constant.
    """

    type: TensorType
    known: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an inner loop of NumPy's, or of one with the same bits, after a stage.

    Attributes:
        places: of its operands and its result.
        steps: their strides, in bytes.
        origin: the place in the user's code.
    """

    loop: Loop
    places: tuple[int, ...]
    steps: tuple[int, ...]
    origin: Place


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction of all elements, or of the last of several axes.

    Attributes:
        how: `add`, `mean`, `max`, `min`, `or` or `and`.
    """

    how: str
    whole: bool
    keepdims: bool = False

    def dtype(self, of: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype of the accumulator."""
        if self.how in ("or", "and"):
            return np.dtype(bool)
        if self.how == "mean":
            return of if of.kind == "f" else np.dtype(float)
        return np.sum(np.zeros(1, of)).dtype if self.how == "add" else of

    def most(self, of: np.dtype[Any]) -> int:
        """The number of elements up to which the order of additions in NumPy's buffers makes no difference."""
        if self.how != "mean" or of.kind == "f":
            return 2**62
        if of.itemsize > 4:
            raise NoLowering
        return int(2 ** (53 - 8 * of.itemsize))     # partial sums are exact


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over axes other than the last, which NumPy adds up row by row.

    So the output begins with zeros and has strides of 0 along these axes, and each element is added to its sum so far.
    """

    axes: frozenset[int]
    keepdims: bool


@dataclass(frozen=True, slots=True)
class Update:
    """A write into an existing array, the *target*: `x += …`, `x[1:-1] = …`.

    Results are stored in the target at once, so no other operand may overlap it, which the C function checks. If NumPy
    must compute everything again, to warn, the target gets its old elements back from an undo log. If the nest uses
    other parts of the target (`u[1:-1] += u[:-2] + u[2:]`), results go into a copy-out buffer, which is copied into the
    target after everything has been computed. Then nothing needs to be checked or undone.

    Attributes:
        target: its place as an input.
        out: its place as an output. An output after it is the undo log.
        buffered: whether there is a copy-out buffer.
    """

    target: int
    out: int
    buffered: bool


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """The layout of a nest's part of the frame, in which the C function puts addresses, numbers, lengths and strides.

    Attributes:
        streams: the number of arrays, whose addresses come first.
        numbers: the slots that numbers take.
        depth: the number of outer loops.
    """

    streams: int
    numbers: int
    depth: int

    def single(self, number: int) -> int:
        """The slot of a number."""
        return self.streams + number

    def length(self, axis: int) -> int:
        """The slot of the length of an axis."""
        return self.streams + self.numbers + axis

    def stride(self, stream: int, axis: int) -> int:
        """The slot of the stride of an array along an outer axis."""
        return self.length(self.depth) + 1 + stream * self.depth + axis

    def step(self, stream: int) -> int:
        """The slot of the stride of an array within a row, which is read if the array is strided."""
        return self.stride(self.streams, 0) + stream

    @property
    def slots(self) -> int:
        """The number of slots."""
        return self.step(self.streams)


@dataclass(frozen=True)
class Nest:
    """A loop nest.

    Attributes:
        name: the prefix of its functions' names.
        streams: the arrays, outputs first.
        dtypes: of the outputs.
        stages: the code for an element.
        calls: for each stage, the inner loops of NumPy's that run after it.
        scratch: the dtypes of the scratch buffers.
        copy: the code that copies an element of carried inputs to outputs, or of a copy-out buffer to where it belongs.
        reduction: of the last output, if it is a reduction.
        sums: of the last output, if it is sums over other axes.
        direct: the place of the elements that it reduces, if they are in memory.
        update: the array that the nest writes into, if it does.
        idempotent: whether computing an element twice gives the same.
        iterations: the slot of the trip count, if the nest is the body of a loop that `schedule.interchange` moved.
        carried: for each input that such a loop carries, the output of the next iteration.
        whole: groups of inputs that must have the whole shape without the others, for NumPy's result to have it.
        operands: groups of inputs, for each operation those that its elements depend on.
        ordered: inputs whose order of axes `.astype` keeps, so that none may have a stride of 0.
        ranges: for numbers, the integer dtypes in which they must fit.
        least: the least number of elements; an array of one element may be computed otherwise by NumPy.
        most: the greatest number of elements.
        cost: of an element, roughly in tenths of nanoseconds.
        multiplies: whether it multiplies complex numbers.
        same_rows: inputs whose rows are those of another: its place, and how many bytes further on they begin.
        near_rows: inputs whose rows seem to be other rows of another: its place, and how many rows and bytes on.
    """

    name: str
    frame: FrameLayout
    streams: Sequence[Stream]
    dtypes: Sequence[np.dtype[Any]]
    stages: Sequence[Stage]
    calls: Sequence[Sequence[Call]]
    scratch: Sequence[np.dtype[Any]]
    copy: Stage | None
    reduction: Reduction | None
    sums: Sums | None
    direct: int | None
    update: Update | None
    idempotent: bool
    iterations: int | None
    carried: Mapping[int, int]
    whole: Sequence[frozenset[int]]
    operands: frozenset[frozenset[int]]
    ordered: frozenset[int]
    ranges: frozenset[tuple[int, np.dtype[Any]]]
    least: int
    most: int
    cost: int
    multiplies: bool
    same_rows: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    near_rows: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of outer loops."""
        return self.frame.depth

    @property
    def is_float(self) -> bool:
        """Whether the nest may raise floating-point flags."""
        of_floats = self.reduction is not None and self.dtypes[-1].kind == "f"
        return of_floats or len(self.stages) > 1 or self.stages[0].floats

    @property
    def is_directed(self) -> bool:
        """Whether NumPy may compute reversed rows by other instructions, with other results."""
        loops = [call.loop for calls in self.calls for call in calls]
        return self.multiplies or any(loop.costly or loop.name == EXP for loop in loops)

    @property
    def reduced(self) -> int | None:
        """The output that is a reduction, if there is one."""
        return None if self.reduction is None else len(self.dtypes) - 1

    @property
    def summed(self) -> int | None:
        """The output that is sums over other axes than the last, if there is one."""
        return None if self.sums is None else len(self.dtypes) - 1

    @property
    def written(self) -> int | None:
        """The output that is in the memory of the input that the nest updates, if there is one."""
        return None if self.update is None or self.update.buffered else self.update.out

    @property
    def only_writes(self) -> bool:
        """Whether the nest does nothing but write into an array, so that there is nothing to do if that is empty."""
        return self.update is not None and not self.update.out and self.iterations is None

    @property
    def by_vectors(self) -> bool:
        """Whether elements that are reduced are computed a vector at a time, and are never in memory."""
        return self.reduction is not None and self.direct is None and has_vectors(self.calls, self.streams)

    def neighbors(self, row: int) -> list[tuple[int, int, int]]:
        """The position of each array in a row, as slices tell: of which array, so many rows and bytes further on."""
        found = []
        for stream in range(len(self.streams)):
            leader, far = self.same_rows.get(stream, (stream, 0))
            leader, rows, by = self.near_rows.get(leader, (leader, 0, 0))
            found.append((leader, row + rows, by + far))
        return found

    def rows(self, count: int) -> list[tuple[int, int]]:
        """The distinct rows that so many neighboring rows read and write: the array, and how many rows further on."""
        return list(dict.fromkeys(place[:2] for row in range(count) for place in self.neighbors(row)))


def has_vectors(calls: Iterable[Iterable[Call]], streams: Iterable[Stream]) -> bool:
    """Whether all calls have a variant for vectors, and rows are contiguous."""
    known = all(call.loop.define and all(call.steps) for each in calls for call in each)
    return known and not any(stream.strided for stream in streams)


def slots_of(kinds: Iterable[Stream | Single]) -> int:
    """The slots that the numbers among some operands take; a complex number takes one for each part."""
    return sum(1 + (kind.type.dtype.kind == "c") for kind in kinds if isinstance(kind, Single))
