"""Rows of narrow numbers, cut into pieces that are done at once.

A vector holds 64 bytes, so much of a row of them may be left over; what is left over is done as one more piece that
ends where the row does. It does no harm to compute elements twice, unless they are read again where they are written.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Stream

SIZES = 64, 16      # bytes of a piece of the widest; what is shorter is done one by one
NARROW = 2          # bytes of a number; of wider ones there are few left over
# Where rows begin anywhere, each vector of 64 bytes lies in two lines of the cache; of 32 bytes, each other one.
WIDTH = '"prefer-vector-width"="256"'


def by_pieces(nest: Nest) -> bool:
    """Whether rows are done so."""
    narrow = all(stream.dtype.itemsize <= NARROW and not stream.apart for stream in nest.streams)
    return narrow and len(nest.stages) == 1 and nest.reduction is None and nest.depth > 0 and not nest.once


def widest(nest: Nest) -> int:
    """The bytes of the widest number."""
    return max(stream.dtype.itemsize for stream in nest.streams)


def row(nest: Nest, params: str) -> str:
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
  br label %turn{k}
turn{k}:
  %i{k} = phi i64 [ 0, %long{k} ], [ %next{k}, %turn{k} ]
  %kept{k} = phi i64 [ 0, %long{k} ], [ %keep{k}, %turn{k} ]
  %over{k} = icmp sgt i64 %i{k}, %last{k}
  %at{k} = select i1 %over{k}, i64 %last{k}, i64 %i{k}
{moved}
  %found{k} = {call}
  %keep{k} = xor i64 %kept{k}, %found{k}
  %next{k} = add i64 %i{k}, {count}
  %more{k} = icmp slt i64 %next{k}, %n
  br i1 %more{k}, label %turn{k}, label %end{k}
end{k}:
  ret i64 %keep{k}
shorter{k}:"""
