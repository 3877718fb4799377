"""Rows of a nest, in other orders than one after the other, element by element.

*Bands* (unroll and jam): several rows at once, of which neighbors have most in common, as in
`x[:-2, 1:] + x[1:-1, 1:] + x[2:, 1:]`. Each row of `x` is read once for all rows of a band, not once for each. Which
inputs may be other rows of the same array is seen from slices (`slice_layout.below`); the code looks whether they are,
and there is enough to do. The last band ends where the rows do, as the last piece of a row does.

*Pieces*: rows of narrow numbers, cut into pieces that are done at once. A vector holds 64 bytes, so much of a row of
them may be left over; what is left over is done as one more piece that ends where the row does. It does no harm to
compute elements twice, unless they are read again where they are written.

*Blocks* (cache blocking): parts of rows that stay in the processor's cache for all iterations of a loop; see
`loop_interchange`. The first iteration begins with what came in, which is copied to where the results will be; all
iterations go on there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from autograph.runtime.engines.native.kernels.inner_loop import Rows, iterations
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Stream
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.syntax import ONCE

Emit = Callable[[str], str]

_NAME = re.compile(r"%[\w.]+")

ROWS = 4        # of a band
SIZE = 32       # bytes of a piece of its widest number, which are one vector

SIZES = 64, 16      # bytes of a piece of the widest; what is shorter is done one by one
NARROW = 2          # bytes of a number; of wider ones there are few left over
# Where rows begin anywhere, each vector of 64 bytes lies in two lines of the cache; of 32 bytes, each other one.
WIDTH = '"prefer-vector-width"="256"'

CACHE = 20 << 10        # bytes of all arrays that are a block
LEAST = 64              # elements of it


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
    piece = iterations(head.format("_piece"), lines.entry, lines.iteration, ONCE)
    return "\n".join([piece, head.format(""), pieces, "  ret i64 0", "}", ""])


class _Lines:
    """The text of several rows, in which each value is computed once; stores change nothing that is loaded.

    Attributes:
        entry: what is done before the first iteration.
        iteration: what is done in each.
    """

    def __init__(self) -> None:
        self.entry: list[str] = []
        self.iteration: list[str] = []
        self._known: dict[str, str] = {}

    def add(self, entry: Sequence[str], iteration: Sequence[str]) -> None:
        """Add what is done for one more row."""
        names: dict[str, str] = {}
        for lines, into in ((entry, self.entry), (iteration, self.iteration)):
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


def by_pieces(nest: Nest) -> bool:
    """Whether rows are done so."""
    narrow = all(stream.dtype.itemsize <= NARROW and not stream.apart for stream in nest.streams)
    return narrow and len(nest.stages) == 1 and nest.reduction is None and nest.depth > 0 and not nest.once


def widest(nest: Nest) -> int:
    """The bytes of the widest number."""
    return max(stream.dtype.itemsize for stream in nest.streams)


def row_of_pieces(nest: Nest, params: str) -> str:
    """The function `row`, which calls `row_piece`, or for a row that is shorter `row_rest`."""
    streams = {f"%s{place}": stream for place, stream in enumerate(nest.streams)}
    lines = [f"define internal i64 @{nest.name}row({params}) alwaysinline {{"]
    lines += [cut(f"{nest.name}row_piece", streams, size, widest(nest)) for size in SIZES]
    given = ", ".join(f"ptr {name}" for name in streams)
    lines.append(f"  %rest = call i64 @{nest.name}row_rest({given}, ptr %frame, i64 %n)")
    return "\n".join([*lines, "  ret i64 %rest", "}", ""])


def cut(piece: str, streams: Mapping[str, Stream], size: int, widest: int) -> str:
    """What calls a function for pieces of so many bytes of the widest, and goes on where rows are shorter."""
    given, moved = [], []
    for name, stream in streams.items():
        there = f"%p{size}.{name[1:]}" if stream.steps else name
        given.append(f"ptr {there}, ")
        if stream.steps:
            moved.append(f"  {there} = getelementptr [{stream.dtype.itemsize} x i8], ptr {name}, i64 %at{size}")
    call = f"call i64 @{piece}({''.join(given)}ptr %frame, i64 {size // widest})"
    return _PIECES.format(k=size, count=size // widest, moved="\n".join(moved), call=call)


_PIECES = """  %last{k} = sub i64 %n, {count}
  %short{k} = icmp slt i64 %last{k}, 0
  br i1 %short{k}, label %shorter{k}, label %long{k}
long{k}:
  br label %iteration{k}
iteration{k}:
  %i{k} = phi i64 [ 0, %long{k} ], [ %next{k}, %iteration{k} ]
  %kept{k} = phi i64 [ 0, %long{k} ], [ %keep{k}, %iteration{k} ]
  %over{k} = icmp sgt i64 %i{k}, %last{k}
  %at{k} = select i1 %over{k}, i64 %last{k}, i64 %i{k}
{moved}
  %found{k} = {call}
  %keep{k} = xor i64 %kept{k}, %found{k}
  %next{k} = add i64 %i{k}, {count}
  %more{k} = icmp slt i64 %next{k}, %n
  br i1 %more{k}, label %iteration{k}, label %end{k}
end{k}:
  ret i64 %keep{k}
shorter{k}:"""


def row_of_blocks(nest: Nest, params: str) -> str:
    """The function `row`, which calls `row_begin`, and then `row_iteration` for each iteration, a block at a time."""
    name, streams = f"{nest.name}row", list(enumerate(nest.streams))
    size = max(LEAST, CACHE // sum(stream.dtype.itemsize for _, stream in streams if stream.steps) & -LEAST)
    begin = Rows(f"{name}_begin")
    for place, out in nest.carried.items():
        dtype = nest.dtypes[out]
        begin.store_next(dtype, begin.load_next(dtype, f"%s{place}", True), f"%s{out}")
    moved = []
    for place, stream in streams:
        step = f"%step{place}" if stream.apart else stream.dtype.itemsize if stream.steps else 0
        if stream.apart:
            moved.append(f"  %at{place} = getelementptr i8, ptr %frame, i64 {SLOT * nest.step(place)}")
            moved.append(f"  %step{place} = load i64, ptr %at{place}")
        moved.append(f"  %far{place} = mul i64 %i, {step}")
        moved.append(f"  %b{place} = getelementptr i8, ptr %s{place}, i64 %far{place}")
    given = ", ".join([*(f"ptr %b{place}" for place, _ in streams), "ptr %frame", "i64 %m"])
    slots = {"name": name, "params": params, "given": given, "size": size, "iterations": SLOT * nest.iterations}
    return begin.row(f"{name}_begin", params) + _ROW.format(**slots, moved="\n".join(moved))


_ROW = """define internal i64 @{name}({params}) noinline {{
start:
  %at.iterations = getelementptr i8, ptr %frame, i64 {iterations}
  %iterations = load i64, ptr %at.iterations
  br label %block
block:
  %i = phi i64 [ 0, %start ], [ %next, %done ]
  %kept = phi i64 [ 0, %start ], [ %keep, %done ]
  %left = sub i64 %n, %i
  %last = icmp ule i64 %left, {size}
  %m = select i1 %last, i64 %left, i64 {size}
{moved}
  %none = call i64 @{name}_begin({given})
  br label %iteration
iteration:
  %t = phi i64 [ 0, %block ], [ %t.next, %iteration ]
  %kept.iteration = phi i64 [ %kept, %block ], [ %keep, %iteration ]
  %found = call i64 @{name}_iteration({given})
  %keep = xor i64 %kept.iteration, %found
  %t.next = add i64 %t, 1
  %again = icmp slt i64 %t.next, %iterations
  br i1 %again, label %iteration, label %done
done:
  %next = add i64 %i, %m
  br i1 %last, label %end, label %block
end:
  ret i64 %keep
}}
"""
