"""Schedules: the order in which the elements of a nest are computed.

A nest describes the computation of an element. A schedule is a tree of loops over elements, as in Halide (Ragan-Kelley
et al., 2013), TVM and Exo. `in_order` is the plain one. Each function below it transforms a schedule into another one
with the same results:

    for axis 0:                          for axis 0:
      for each of row: stage 0             for 512 of row:
      call sin                      ->       for each: stage 0
      for each of row: stage 1               call sin
                                             for each: stage 1

`schedule_rules` chooses the transformations, and `loop_codegen` makes machine code of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

ROW = "row"                     # the last axis, along which elements are contiguous, strided, or all the same
ITERATIONS = "iterations"       # of a loop of the user's program that is part of the nest
BLOCK = 0                       # the step of a loop that computes the size of its blocks from the shape


@dataclass(frozen=True, slots=True)
class Each:
    """The inner loop, over the elements that the loops around it leave to it; LLVM vectorizes it.

    Attributes:
        stage: the stage that it computes; None for the copy (`Nest.copy`).
        width: the number of elements, if it is known; then they are one vector.
        few: whether there are so few elements that vectors do not pay.
        rows: the number of rows that an iteration computes an element of.
    """

    stage: int | None = 0
    width: int = 0
    few: bool = False
    rows: int = 1

    def parts(self) -> Iterator[Part]:
        what = "copy" if self.stage is None else f"stage {self.stage}"
        what += f" of {self.rows} rows" * (self.rows > 1)
        yield f"for {self.width or 'each'}{' of few' * self.few}: {what}{' (vector)' * bool(self.width)}", ()


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of inner loops of NumPy's, or of ours with the same bits, after a stage.

    Attributes:
        width: the number of elements, if it is known; then ours take vectors.
    """

    stage: int
    width: int = 0

    def parts(self) -> Iterator[Part]:
        yield f"calls after stage {self.stage}{' (vector)' * bool(self.width)}", ()


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over an axis.

    Attributes:
        step: the number of elements or rows that an iteration takes.
        inwards: whether the last iteration begins so early that it is as long as the others, and computes some elements
            twice (Halide: `TailStrategy::ShiftInwards`); otherwise it is shorter.
    """

    axis: str
    body: Schedule
    step: int = 1
    inwards: bool = False

    def parts(self) -> Iterator[Part]:
        step = "" if self.step == 1 else "a block of " if self.step == BLOCK else f"{self.step} of "
        yield f"for {step}{self.axis}{', shifted inwards' * self.inwards}:", self.body


@dataclass(frozen=True, slots=True)
class If:
    """A schedule for arrays that meet conditions, and one for all others (Halide: `specialize`).

    Attributes:
        least: axes and their least lengths.
        neighbors: whether the rows that are read must also be where slices tell, and those written must not overlap.
    """

    least: tuple[tuple[str, int], ...]
    then: Schedule
    otherwise: Schedule
    neighbors: bool = False

    def parts(self) -> Iterator[Part]:
        holds = [f"{axis} >= {count}" for axis, count in self.least] + ["rows are neighbors"] * self.neighbors
        yield f"if {' and '.join(holds)}:", self.then
        yield "else:", self.otherwise


@dataclass(frozen=True, slots=True)
class Reduce:
    """The reduction of a row.

    Attributes:
        body: computes the elements; empty if they are in memory.
        lanes: the number of accumulators side by side.
        by_vectors: whether `body` computes a vector of so many elements at a time, which is never in memory.
        rest: computes the elements that are left over then.
        most: more elements than this are halved, and each half is reduced on its own; 0 for any number.
        part: more elements than this are reduced in such parts, one after the other; 0 for any number.
    """

    body: Schedule
    lanes: int
    by_vectors: bool = False
    rest: Schedule = ()
    most: int = 0
    part: int = 0

    def parts(self) -> Iterator[Part]:
        order = [f"in parts of {self.part}"] * bool(self.part) + [f"halved down to {self.most}"] * bool(self.most)
        yield f"reduce {ROW}, {', '.join([*order, f'{self.lanes} side by side'])}:", self.body
        if self.rest:
            yield "rest:", self.rest


@dataclass(frozen=True, slots=True)
class Nested:
    """The schedule of one of several nests, see `multi_nest`."""

    number: int
    body: Schedule

    def parts(self) -> Iterator[Part]:
        yield f"nest {self.number}:", self.body


@dataclass(frozen=True, slots=True)
class CopyOut:
    """Copies the copy-out buffer into the array that it is for, after all loops are done."""

    body: Schedule

    def parts(self) -> Iterator[Part]:
        yield "copy out:", self.body


Statement: TypeAlias = "Each | Calls | Loop | If | Reduce | Nested | CopyOut"
Schedule: TypeAlias = "tuple[Statement, ...]"
Part: TypeAlias = "tuple[str, Schedule]"       # a line, and the statements below it


def walk(schedule: Schedule) -> Iterator[Statement]:
    """All statements of a tree."""
    for statement in schedule:
        yield statement
        for _, body in statement.parts():
            yield from walk(body)


def shown(schedule: Schedule) -> str:
    """The text of a schedule, a line for each loop."""
    return "\n".join(_lines(schedule, ""))


def _lines(schedule: Schedule, indent: str) -> Iterator[str]:
    for statement in schedule:
        for line, body in statement.parts():
            yield indent + line
            yield from _lines(body, indent + "  ")


# Transformations ------------------------------------------------------------------------------------------------------


def in_order(depth: int, row: Schedule, iterations: bool = False) -> Schedule:
    """An outer loop for each axis around the statements of a row, and a loop over iterations around all of them."""
    for axis in reversed(range(depth)):
        row = (Loop(axis_name(axis), row),)
    return (Loop(ITERATIONS, row),) if iterations else row


def axis_name(axis: int) -> str:
    """The name of an outer axis."""
    return f"axis {axis}"


def fuse(schedules: Sequence[Schedule]) -> Schedule:
    """Producer/consumer fusion: compute a block of rows in all nests before the next block.

    So a block of intermediate results stays in the cache (Halide: `compute_at`).
    """
    nests = tuple(Nested(number, schedule) for number, schedule in enumerate(schedules, 1))
    return (Loop(axis_name(0), nests, BLOCK),)


def strip_mine(schedule: Schedule, step: int) -> Schedule:
    """Compute a row in strips, so that intermediate results of a strip stay in the cache."""
    return _at_row(schedule, lambda row: (Loop(ROW, row, step),))


def interchange(schedule: Schedule) -> Schedule:
    """Move the loop over iterations inside those over elements, which must be independent of each other.

    So a strip stays in the cache for all iterations (cache blocking).
    """
    (outermost,) = schedule
    assert isinstance(outermost, Loop) and outermost.axis == ITERATIONS
    return _at_row(outermost.body, lambda row: (Each(None), replace(outermost, body=row)))


def vectorize(schedule: Schedule, widths: Sequence[int]) -> Schedule:
    """Compute a row in vectors of the first of some widths that fits; the last vector is shifted inwards."""

    def vectorized(row: Schedule) -> Schedule:
        found = few(row)
        for width in reversed(widths):
            found = (If(((ROW, width),), (Loop(ROW, vectors(row, width), width, inwards=True),), found),)
        return found

    return _at_row(schedule, vectorized)


def unroll_and_jam(schedule: Schedule, axis: int, rows: int, width: int) -> Schedule:
    """Compute a vector of each of several rows at a time, so that values that they share are loaded once.

    (Carr and Kennedy, "Improving the ratio of memory operations to floating-point operations in loops", 1994.)
    """
    name = axis_name(axis)

    def jammed(loop: Loop) -> If:
        inner = Loop(ROW, (Each(width=width, rows=rows),), width, inwards=True)
        then = Loop(name, (inner,), rows, inwards=True)
        return If(((name, rows), (ROW, width)), (then,), (loop,), neighbors=True)

    def changed(each: Statement) -> Statement:
        if not isinstance(each, Loop):
            return each
        return jammed(each) if each.axis == name else replace(each, body=tuple(map(changed, each.body)))

    return tuple(map(changed, schedule))


def reduce_rows(schedule: Schedule, lanes: int, most: int = 0, part: int = 0, by_vectors: bool = False) -> Schedule:
    """Reduce the elements of each row; see `Reduce`."""

    def reduced(row: Schedule) -> Schedule:
        if by_vectors:
            return (Reduce(vectors(row, lanes), lanes, True, few(row), most, part),)
        return (Reduce(row, lanes, most=most, part=part),)

    return _at_row(schedule, reduced)


def vectors(row: Schedule, width: int) -> Schedule:
    """Compute so many elements as one vector."""
    return tuple(replace(each, width=width) if isinstance(each, (Each, Calls)) else each for each in row)


def few(row: Schedule) -> Schedule:
    """Expect too few elements for vectors."""
    return tuple(replace(each, few=True) if isinstance(each, Each) else each for each in row)


def _at_row(schedule: Schedule, change: Callable[[Schedule], Schedule]) -> Schedule:
    """Change the statements of a row."""
    if all(isinstance(each, (Each, Calls)) for each in schedule):
        return change(schedule)
    found: list[Statement] = []
    for each in schedule:
        assert isinstance(each, (Loop, Reduce))
        found.append(replace(each, body=_at_row(each.body, change)))
    return tuple(found)
