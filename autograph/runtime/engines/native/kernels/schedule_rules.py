"""Rules that choose the schedule of a nest.

**Strip mining**: if inner loops of NumPy's compute a part of a nest, a strip of some hundred elements goes through all
stages and these loops in turn, so that the scratch buffers stay in the cache.

**Cache blocking**: if a loop over iterations moves inside (`loop_interchange`), a strip of all arrays stays in the
cache for all iterations.

**Vectors of narrow numbers**: a vector of 64 bytes leaves over much of a short row. So the last vector is shifted
inwards. Some elements are computed twice, which is right unless they are read where they are written.

**Unroll and jam**: in `x[:-2, 1:] + x[1:-1, 1:] + x[2:, 1:]`, neighboring rows share most operands. Four rows at a time
load each row of `x` once.

**NumPy's order of sums**: up to 128 floats in eight accumulators, more in halves (pairwise summation), which loses less
to rounding. The order shows in the result, so kernels keep it exactly.
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

SCRATCH = 24 << 10          # bytes of the scratch buffers of a strip
STRIPS = 128, 1024          # least and greatest number of its elements
CACHE = 20 << 10            # bytes of all arrays in a strip that is a cache block
LEAST = 64                  # least number of its elements
VECTORS = 64, 16            # bytes of a vector of the widest numbers; shorter rows are computed one by one
NARROW = 2                  # bytes of a narrow number; of wider ones, vectors leave few over
ROWS = 4                    # at a time
JAMMED = 32                 # bytes of a vector of each of these rows


def schedule_of(nest: Nest) -> Schedule:
    """The schedule of a nest."""
    row = tuple(part for stage, loop in enumerate(nest.stages) for part in _row(nest, stage, loop.stores))
    found = in_order(nest.depth, row, nest.iterations is not None)
    if nest.reduction is not None:
        how = Combiner(nest)
        any_number = not how.in_order and (nest.direct is not None or nest.by_vectors)
        found = reduce_rows(found, how.lanes, 0 if any_number else how.most, how.part, nest.by_vectors)
    if len(nest.stages) > 1 and not nest.by_vectors:
        found = strip_mine(found, _strip(nest))
    if nest.iterations is not None:
        found = interchange(strip_mine(found, _block(nest)))
    if is_narrow(nest):
        found = vectorize(found, [size // widest(nest) for size in VECTORS])
        if _shares_rows(nest):
            found = unroll_and_jam(found, nest.depth - 1, ROWS, JAMMED // widest(nest))
    if nest.update is not None and nest.update.buffered:
        found = (*found, CopyOut(in_order(nest.depth, (Each(None),))))
    return found


def _row(nest: Nest, stage: int, stores: bool) -> Schedule:
    return (Each(stage),) * stores + (Calls(stage),) * bool(nest.calls[stage])


def _strip(nest: Nest) -> int:
    """The length of a strip whose scratch buffers stay in the cache."""
    wanted = SCRATCH // sum((dtype.itemsize for dtype in nest.scratch), 1) & -64
    return max(STRIPS[0], min(STRIPS[1], wanted))


def _block(nest: Nest) -> int:
    """The length of a strip of all arrays that stays in the cache."""
    return max(LEAST, CACHE // sum(stream.dtype.itemsize for stream in nest.streams if stream.steps) & -LEAST)


def is_narrow(nest: Nest) -> bool:
    """Whether rows are contiguous narrow numbers that may be computed twice."""
    narrow = all(stream.dtype.itemsize <= NARROW and not stream.strided for stream in nest.streams)
    return narrow and len(nest.stages) == 1 and nest.reduction is None and nest.depth > 0 and nest.idempotent


def widest(nest: Nest) -> int:
    """The bytes of the widest dtype."""
    return max(stream.dtype.itemsize for stream in nest.streams)


def _shares_rows(nest: Nest) -> bool:
    """Whether neighboring rows read rows in common."""
    alone = {(leader, row) for leader, row, _ in nest.neighbors(0)}
    every = {(leader, row) for number in range(ROWS) for leader, row, _ in nest.neighbors(number)}
    return len(every) < ROWS * len(alone) and not nest.stages[0].pinned
