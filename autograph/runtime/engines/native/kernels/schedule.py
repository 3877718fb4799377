"""Schedules: the order in which the elements of a nest are computed.

A nest says what is computed for an element. A schedule says which elements come first, and how many at once: a tree of
loops, as in Halide, TVM and Exo. `in_order` goes through one axis after the other; each function below it takes a
schedule, and gives one that computes the same:

    for axis 0:                          for axis 0:
      for each of row: stage 0             for 512 of row:
      call sin                      ->       for each: stage 0
      for each of row: stage 1               call sin
                                             for each: stage 1

`schedule_rules` chooses among them, and `loop_codegen` makes machine code of what it has chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

ROW = "row"                     # the last axis, along which elements lie side by side, or are all the same one
ITERATIONS = "iterations"       # of a loop of the user's program that is part of the nest
BLOCK = 0                       # the step of a loop of which it depends on the arrays how much is a block


@dataclass(frozen=True, slots=True)
class Each:
    """The innermost loop, over the elements that the loops around it leave: of this LLVM makes vectors.

    Attributes:
        stage: what it computes; None to copy what the first iteration begins with.
        width: how many elements there are, if that is known; then they are one vector.
        few: whether there are so few that vectors do not pay.
        rows: of how many rows each computes its element.
    """

    stage: int | None = 0
    width: int = 0
    few: bool = False
    rows: int = 1

    def lines(self) -> Iterator[str]:
        what = "copy" if self.stage is None else f"stage {self.stage}"
        what += f" of {self.rows} rows" * (self.rows > 1)
        yield f"for {self.width or 'each'}{' of few' * self.few}: {what}{' (vector)' * bool(self.width)}"


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of functions that compute elements behind a stage: NumPy's inner loops, or ours in their place.

    Attributes:
        width: how many elements there are, if that is known; then ours take vectors.
    """

    stage: int
    width: int = 0

    def lines(self) -> Iterator[str]:
        yield f"call what is behind stage {self.stage}{' (vector)' * bool(self.width)}"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over an axis.

    Attributes:
        step: how much of the axis one iteration takes.
        inwards: whether the last iteration begins early enough to be as long as the others, so that some elements are
            computed twice (Halide: `TailStrategy::ShiftInwards`); else it is shorter.
    """

    axis: str
    body: tuple[Statement, ...]
    step: int = 1
    inwards: bool = False

    def lines(self) -> Iterator[str]:
        step = "" if self.step == 1 else "a block of " if self.step == BLOCK else f"{self.step} of "
        yield f"for {step}{self.axis}{', shifted inwards' * self.inwards}:"
        yield from _indented(self.body)


@dataclass(frozen=True, slots=True)
class If:
    """A schedule for arrays of some kind, and one for all others (Halide: `specialize`).

    Attributes:
        least: how long some axes are at least.
        neighbors: whether rows also must lie where slices tell, and those written must not overlap.
    """

    least: tuple[tuple[str, int], ...]
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    neighbors: bool = False

    def lines(self) -> Iterator[str]:
        holds = [f"{axis} >= {count}" for axis, count in self.least] + ["rows are neighbors"] * self.neighbors
        yield f"if {' and '.join(holds)}:"
        yield from _indented(self.then)
        yield "else:"
        yield from _indented(self.otherwise)


@dataclass(frozen=True, slots=True)
class Reduce:
    """What the elements of a row are combined to.

    Attributes:
        body: computes them; nothing if they lie in memory already.
        lanes: how many are combined side by side.
        by_vectors: whether `body` computes just as many at a time, so that they never lie in memory.
        rest: computes those that are left over then.
        most: more are halved until there are no more than this, each half combined by itself; 0 for any number.
        part: more than this are combined in such parts; 0 for any number.
    """

    body: tuple[Statement, ...]
    lanes: int
    by_vectors: bool = False
    rest: tuple[Statement, ...] = ()
    most: int = 0
    part: int = 0

    def lines(self) -> Iterator[str]:
        parts = [f"in parts of {self.part}"] * bool(self.part) + [f"halved down to {self.most}"] * bool(self.most)
        yield f"reduce {ROW}, {', '.join([*parts, f'{self.lanes} side by side'])}:"
        yield from _indented(self.body)
        if self.rest:
            yield "rest:"
            yield from _indented(self.rest)


@dataclass(frozen=True, slots=True)
class Phase:
    """One of several nests."""

    number: int
    body: tuple[Statement, ...]

    def lines(self) -> Iterator[str]:
        yield f"phase {self.number}:"
        yield from _indented(self.body)


@dataclass(frozen=True, slots=True)
class CopyOut:
    """When all loops are done, puts what they have left in a buffer into the array that it is for."""

    def lines(self) -> Iterator[str]:
        yield "copy out"


Statement = Each | Calls | Loop | If | Reduce | Phase | CopyOut
Schedule = tuple[Statement, ...]


def shown(schedule: Sequence[Statement]) -> str:
    """The text of a schedule, a line for each loop."""
    return "\n".join(line for each in schedule for line in each.lines())


def _indented(body: Sequence[Statement]) -> Iterator[str]:
    return (f"  {line}" for each in body for line in each.lines())


# Transformations ------------------------------------------------------------------------------------------------------


def in_order(depth: int, row: Schedule, iterations: bool = False) -> Schedule:
    """One loop for each axis, around what goes through a row; around all of them, if so, one over iterations."""
    for axis in reversed(range(depth)):
        row = (Loop(axis_name(axis), row),)
    return (Loop(ITERATIONS, row),) if iterations else row


def axis_name(axis: int) -> str:
    """What an axis around the rows is called."""
    return f"axis {axis}"


def fuse(schedules: Sequence[Schedule]) -> Schedule:
    """Let several nests go through a block of rows, one after the other, before any goes on to the next rows.

    So what one leaves to the next stays in the cache (Halide: `compute_at`).
    """
    phases = tuple(Phase(number, schedule) for number, schedule in enumerate(schedules, 1))
    return (Loop(axis_name(0), phases, BLOCK),)


def strip_mine(schedule: Schedule, step: int) -> Schedule:
    """Take so many elements of a row at a time, so that what one statement leaves to the next stays in the cache."""
    return _at_row(schedule, lambda row: (Loop(ROW, row, step),))


def interchange(schedule: Schedule) -> Schedule:
    """Go through all iterations with some elements before going on to the next ones, which must not depend on them."""
    (around,) = schedule
    assert isinstance(around, Loop) and around.axis == ITERATIONS
    return _at_row(around.body, lambda row: (Each(None), replace(around, body=row)))


def vectorize(schedule: Schedule, widths: Sequence[int]) -> Schedule:
    """Take vectors of a row, of the first of some widths that it has; none is left over, as the last shifts inwards."""

    def vectorized(row: Schedule) -> Schedule:
        found = few(row)
        for width in reversed(widths):
            found = (If(((ROW, width),), (Loop(ROW, vectors(row, width), width, inwards=True),), found),)
        return found

    return _at_row(schedule, vectorized)


def unroll_and_jam(schedule: Schedule, axis: int, rows: int, width: int) -> Schedule:
    """Take several rows at a time, a vector of each, so that what they have in common is read once."""
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
    """Combine the elements of each row; see `Reduce`."""

    def reduced(row: Schedule) -> Schedule:
        if by_vectors:
            return (Reduce(vectors(row, lanes), lanes, True, few(row), most, part),)
        return (Reduce(row, lanes, most=most, part=part),)

    return _at_row(schedule, reduced)


def vectors(row: Schedule, width: int) -> Schedule:
    """Take so many elements at once."""
    return tuple(replace(each, width=width) if isinstance(each, (Each, Calls)) else each for each in row)


def few(row: Schedule) -> Schedule:
    """Expect hardly any elements."""
    return tuple(replace(each, few=True) if isinstance(each, Each) else each for each in row)


def _at_row(schedule: Schedule, change: Callable[[Schedule], Schedule]) -> Schedule:
    """Change what goes through a row."""
    if all(isinstance(each, (Each, Calls)) for each in schedule):
        return change(schedule)
    found: list[Statement] = []
    for each in schedule:
        assert isinstance(each, (Loop, Reduce))
        found.append(replace(each, body=_at_row(each.body, change)))
    return tuple(found)
