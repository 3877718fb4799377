"""Which schedule a nest gets.

*Strips* (strip mining): if NumPy's own loops compute a part of a nest, a strip of some hundred elements goes through
the first stage, which leaves in the scratch what others need; then NumPy's loops do their part of it, and so on, while
all of that is in the processor's cache.

*Blocks* (cache blocking): parts of rows that stay in the cache for all iterations of a loop, see `loop_interchange`.

*Vectors* of narrow numbers: a vector holds 64 bytes, so much of a row of them may be left over; so the last one begins
where it ends with the row. It does no harm to compute elements twice, unless they are read again where they are
written.

*Four rows at once* (unroll and jam), of which neighbors have most in common, as in
`x[:-2, 1:] + x[1:-1, 1:] + x[2:, 1:]`: each row of `x` is read once for all of them.

*Sums as NumPy sums*: up to 128 floats in eight sums side by side, and more in halves, which loses less than one by one.
The result shows the order of the sums, so kernels keep NumPy's order exactly.
"""

from __future__ import annotations

from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.reduction import Combiner
from autograph.runtime.engines.native.kernels.schedule import (
    Calls,
    CopyOut,
    Each,
    Schedule,
    in_order,
    interchange,
    reduce_rows,
    strip_mine,
    unroll_and_jam,
    vectorize,
)

SCRATCH = 24 << 10          # bytes of scratch
STRIPS = 128, 1024          # elements of a strip, at least and at most
CACHE = 20 << 10            # bytes of all arrays that are a block
LEAST = 64                  # elements of it, at least
VECTORS = 64, 16            # bytes of a vector of the widest numbers; what is shorter is computed one by one
NARROW = 2                  # bytes of a number; of wider ones there are few left over
ROWS = 4                    # at once
JAMMED = 32                 # bytes of a vector of each of them


def schedule_of(nest: Nest) -> Schedule:
    """The schedule of a nest."""
    row = tuple(part for stage, loop in enumerate(nest.stages) for part in _row(nest, stage, loop.stores))
    found = in_order(nest.depth, row, nest.iterations >= 0)
    if nest.reduction is not None:
        how = Combiner(nest.reduction.how, nest.dtypes[-1])
        any_number = not how.in_order and (nest.direct is not None or nest.by_vectors)
        found = reduce_rows(found, how.lanes, 0 if any_number else how.most, how.part or 0, nest.by_vectors)
    if len(nest.stages) > 1 and not nest.by_vectors:
        found = strip_mine(found, _strip(nest))
    if nest.iterations >= 0:
        found = interchange(strip_mine(found, _block(nest)))
    if is_narrow(nest):
        found = vectorize(found, [size // widest(nest) for size in VECTORS])
        if _shares_rows(nest):
            found = unroll_and_jam(found, nest.depth - 1, ROWS, JAMMED // widest(nest))
    return (*found, CopyOut()) if nest.buffered else found


def _row(nest: Nest, stage: int, stores: bool) -> Schedule:
    return (Each(stage),) * stores + (Calls(stage),) * bool(nest.calls[stage])


def _strip(nest: Nest) -> int:
    """How many elements of the scratch stay in the cache."""
    wanted = SCRATCH // sum((dtype.itemsize for dtype in nest.scratch), 1) & -64
    return max(STRIPS[0], min(STRIPS[1], wanted))


def _block(nest: Nest) -> int:
    """How many elements of all arrays do."""
    return max(LEAST, CACHE // sum(stream.dtype.itemsize for stream in nest.streams if stream.steps) & -LEAST)


def is_narrow(nest: Nest) -> bool:
    """Whether rows are of narrow numbers, side by side, that may be computed twice."""
    narrow = all(stream.dtype.itemsize <= NARROW and not stream.apart for stream in nest.streams)
    return narrow and len(nest.stages) == 1 and nest.reduction is None and nest.depth > 0 and not nest.once


def widest(nest: Nest) -> int:
    """The bytes of the widest number."""
    return max(stream.dtype.itemsize for stream in nest.streams)


def _shares_rows(nest: Nest) -> bool:
    """Whether rows that are computed at once read rows in common."""
    alone = {(leader, row) for leader, row, _ in nest.neighbors(0)}
    every = {(leader, row) for number in range(ROWS) for leader, row, _ in nest.neighbors(number)}
    return len(every) < ROWS * len(alone) and not nest.stages[0].emit.pinned
