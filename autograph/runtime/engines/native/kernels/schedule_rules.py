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

from autograph.runtime.engines.native.emit.combiner import Combiner
from autograph.runtime.engines.native.kernels import schedule
from autograph.runtime.engines.native.kernels.loop_nest import Nest

SCRATCH = 24 << 10          # bytes of the scratch buffers of a strip
STRIPS = 128, 1024          # least and greatest number of its elements
CACHE = 20 << 10            # bytes of all arrays in a strip that is a cache block
LEAST = 64                  # least number of its elements
VECTORS = 64, 16            # bytes of a vector of the widest numbers; shorter rows are computed one by one
NARROW = 2                  # bytes of a narrow number; of wider ones, vectors leave few over
ROWS = 4                    # at a time
JAMMED = 32                 # bytes of a vector of each of these rows


def schedule_of(nest: Nest) -> schedule.Schedule:
    """The schedule of a nest."""
    row: schedule.Schedule = ()
    for stage, (code, calls) in enumerate(zip(nest.stages, nest.calls)):
        row += (schedule.Each(stage),) * code.stores + (schedule.Calls(stage),) * bool(calls)
    found = schedule.in_order(nest.depth, row, nest.iterations is not None)
    if nest.reduction is not None:
        how = Combiner(nest.reduction.how, nest.dtypes[-1])
        any_number = not how.in_order and (nest.direct is not None or nest.by_vectors)
        found = schedule.reduce_rows(found, how.lanes, 0 if any_number else how.most, how.part, nest.by_vectors)
    if len(nest.stages) > 1 and not nest.by_vectors:
        found = schedule.strip_mine(found, _strip(nest))
    if nest.iterations is not None:
        found = schedule.interchange(schedule.strip_mine(found, _block(nest)))
    if _is_narrow(nest):
        widest = max(stream.dtype.itemsize for stream in nest.streams)
        found = schedule.vectorize(found, [size // widest for size in VECTORS])
        if _shares_rows(nest):
            found = schedule.unroll_and_jam(found, nest.depth - 1, ROWS, JAMMED // widest)
    if nest.update is not None and nest.update.buffered:
        found = (*found, schedule.CopyOut(schedule.in_order(nest.depth, (schedule.Each(None),))))
    return found


def _strip(nest: Nest) -> int:
    """The length of a strip whose scratch buffers stay in the cache."""
    wanted = SCRATCH // sum((dtype.itemsize for dtype in nest.scratch), 1) & -64
    return max(STRIPS[0], min(STRIPS[1], wanted))


def _block(nest: Nest) -> int:
    """The length of a strip of all arrays that stays in the cache."""
    return max(LEAST, CACHE // sum(stream.dtype.itemsize for stream in nest.streams if stream.steps) & -LEAST)


def _is_narrow(nest: Nest) -> bool:
    """Whether rows are contiguous narrow numbers that may be computed twice."""
    narrow = all(stream.dtype.itemsize <= NARROW and not stream.strided for stream in nest.streams)
    return narrow and len(nest.stages) == 1 and nest.reduction is None and nest.depth > 0 and nest.idempotent


def _shares_rows(nest: Nest) -> bool:
    """Whether neighboring rows read rows in common."""
    return len(nest.rows(ROWS)) < ROWS * len(nest.rows(1)) and not nest.stages[0].pinned
