"""Blocks of rows that stay in the processor's cache for all turns of a loop; see `loop_interchange`.

The first turn begins with what came in, which is copied to where the results will be; all turns go on there.
"""

from __future__ import annotations

from autograph.runtime.engines.native.kernels.inner_loop import Rows
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT

CACHE = 20 << 10        # bytes of all arrays that are a block
LEAST = 64              # elements of it


def row(nest: Nest, params: str) -> str:
    """The function `row`, which calls `row_begin`, and then `row_turn` once for each turn, for a block at a time."""
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
    slots = {"name": name, "params": params, "given": given, "size": size, "turns": SLOT * nest.turns}
    return begin.row(f"{name}_begin", params) + _ROW.format(**slots, moved="\n".join(moved))


_ROW = """define internal i64 @{name}({params}) noinline {{
start:
  %at.turns = getelementptr i8, ptr %frame, i64 {turns}
  %turns = load i64, ptr %at.turns
  br label %block
block:
  %i = phi i64 [ 0, %start ], [ %next, %done ]
  %kept = phi i64 [ 0, %start ], [ %keep, %done ]
  %left = sub i64 %n, %i
  %last = icmp ule i64 %left, {size}
  %m = select i1 %last, i64 %left, i64 {size}
{moved}
  %none = call i64 @{name}_begin({given})
  br label %turn
turn:
  %t = phi i64 [ 0, %block ], [ %t.next, %turn ]
  %kept.turn = phi i64 [ %kept, %block ], [ %keep, %turn ]
  %found = call i64 @{name}_turn({given})
  %keep = xor i64 %kept.turn, %found
  %t.next = add i64 %t, 1
  %again = icmp slt i64 %t.next, %turns
  br i1 %again, label %turn, label %done
done:
  %next = add i64 %i, %m
  br i1 %last, label %end, label %block
end:
  ret i64 %keep
}}
"""
