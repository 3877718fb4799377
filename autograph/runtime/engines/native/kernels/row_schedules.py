"""Several rows at once, of which neighbours have most in common: `x[:-2, 1:] + x[1:-1, 1:] + x[2:, 1:]`.

A *band* is some rows that are done together, so that each row of `x` is read once for all of them, not once for each.
Which inputs may be other rows of the same array is seen from slices (`slice_layout.below`); the code looks whether they
are, and there is enough to do. The last band ends where the rows do, as the last piece of a row does, see `pieces`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce

from autograph.runtime.engines.native.kernels.inner_loop import turns
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.pieces import by_pieces, cut, widest
from autograph.runtime.engines.native.llvm.hints import ONCE

Emit = Callable[[str], str]

_NAME = re.compile(r"%[\w.]+")

ROWS = 4        # of a band
SIZE = 32       # bytes of a piece of the widest, which are one vector


def by_bands(nest: Nest) -> bool:
    """Whether the rows of a band have rows in common."""
    alone = {place[:2] for place in _places(nest, 0)}
    return len(_rows(nest)) < ROWS * len(alone) and by_pieces(nest) and not nest.stages[0].pins


def _places(nest: Nest, row: int) -> list[tuple[int, int, int]]:
    """Where each stream is in a row of a band: so many rows and bytes behind the first one of another."""
    found = []
    for stream in range(len(nest.streams)):
        beside, far = nest.beside.get(stream, (stream, 0))
        leader, rows, by = nest.below.get(beside, (beside, 0, 0))
        found.append((leader, row + rows, by + far))
    return found


def _rows(nest: Nest) -> dict[tuple[int, int], str]:
    """The names of the rows that they are in."""
    every = dict.fromkeys(place[:2] for row in range(ROWS) for place in _places(nest, row))
    return {each: f"%b{number}" for number, each in enumerate(every)}


def band(nest: Nest) -> str:
    """The function `band`, for rows that are as long as a piece at least; and `band_piece`."""
    names, stage, lines = _rows(nest), nest.stages[0], _Lines()
    for row in range(ROWS):
        begins = [f"ptr {names[leader, each]}, i64 {by}" for leader, each, by in _places(nest, row)]
        entry = [f"  %s{stream} = getelementptr i8, {begin}" for stream, begin in enumerate(begins)]
        lines.add([*entry, *stage.parts[0]], stage.parts[1])
    stage.copies += ROWS
    outs = len(nest.dtypes)
    params = ", ".join(f"ptr {'noalias ' * (leader < outs)}{name}" for (leader, _), name in names.items())
    head = f"define internal i64 @{nest.name}band{{}}({params}, ptr %frame, i64 %n) alwaysinline {{{{"
    streams = {name: nest.streams[leader] for (leader, _), name in names.items()}
    pieces = cut(f"{nest.name}band_piece", streams, SIZE, widest(nest))
    piece = turns(head.format("_piece"), lines.entry, lines.turn, ONCE)
    return "\n".join([piece, head.format(""), pieces, "  ret i64 0", "}", ""])


class _Lines:
    """The text of several rows, in which each value is computed once; stores change nothing that is loaded.

    Attributes:
        entry: what is done before the first turn.
        turn: what is done in each.
    """

    def __init__(self) -> None:
        self.entry: list[str] = []
        self.turn: list[str] = []
        self._known: dict[str, str] = {}

    def add(self, entry: Sequence[str], turn: Sequence[str]) -> None:
        """Add what is done for one more row."""
        names: dict[str, str] = {}
        for lines, into in ((entry, self.entry), (turn, self.turn)):
            for line in lines:
                name, is_value, text = line.rpartition(" = ")
                text = _NAME.sub(lambda found: names.get(found[0], found[0]), text)
                if is_value and text not in self._known:
                    self._known[text] = f"%v{len(self._known)}"
                    into.append(f"  {self._known[text]} = {text}")
                if is_value:
                    names[name.strip()] = self._known[text]
                else:
                    into.append(text)


def fit(nest: Nest, emit: Emit, bases: Sequence[str], strides: Sequence[str], rows: str, n: str) -> str:
    """Whether so many rows can be done in bands: if no two lie in one place, and others are where they seem to be."""
    holds = [emit(f"icmp sge i64 {rows}, {ROWS}"), emit(f"icmp sge i64 {n}, {SIZE // widest(nest)}")]
    for place, dtype in enumerate(nest.dtypes):
        holds.append(emit(f"icmp sge i64 {strides[place]}, {emit(f'mul i64 {n}, {dtype.itemsize}')}"))
    for place, (leader, below, by) in nest.below.items():
        if place not in nest.beside:
            holds.append(emit(f"icmp eq i64 {strides[place]}, {strides[leader]}"))
            row = _moved(emit, bases[leader], strides[leader], str(below))
            there = emit(f"getelementptr i8, ptr {row}, i64 {by}")
            holds.append(emit(f"icmp eq ptr {bases[place]}, {there}"))
    return reduce(lambda all, each: emit(f"and i1 {all}, {each}"), holds)


def call(nest: Nest, emit: Emit, bases: Sequence[str], strides: Sequence[str], first: str, n: str) -> None:
    """Do a band, from such a row on."""
    given = []
    for leader, row in _rows(nest):
        at = emit(f"add i64 {first}, {row}")
        given.append(f"ptr {_moved(emit, bases[leader], strides[leader], at)}")
    emit(f"call i64 @{nest.name}band({', '.join(given)}, ptr %frame, i64 {n})")


def _moved(emit: Emit, base: str, stride: str, rows: str) -> str:
    return emit(f"getelementptr i8, ptr {base}, i64 {emit(f'mul i64 {stride}, {rows}')}")
