"""Guard hoisting: moves checks from the iterations of a loop to its preheader.

Loop versioning (`loops/fast_path.py`) emits two versions of an iteration. While the fast one is emitted, a `FastLoop`
records which values are loop-invariant, and which indices are an item plus an invariant offset. So

- an instruction whose operands are invariant is computed in the preheader (loop-invariant code motion),
- a guard on an invariant condition becomes a condition of entering the fast version,
- a bounds check of an item plus an offset becomes a bound on the items.

`enter` then emits the checks of the preheader. If one fails, the slow version runs, which checks everything in its
place; so refusing to enter is always correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autograph.runtime.engines.native.emit.emitter import Emitter, outside
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.engines.native.llvm.ir import Block, Instruction, Value
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL, INT

OFFSET = 2 * RANGE      # the largest distance of an index from the item
CAPACITY = 2**56        # a longer array counts as this long, so that sums with offsets do not overflow
# Instructions that may trap, give poison, or become a call.
PINNED = frozenset("shl lshr ashr sdiv udiv srem urem frem fptosi fptoui".split())


@dataclass(slots=True)
class FastLoop:
    """The iterations of the fast version of a counted loop, while they are emitted.

    Attributes:
        preheader: the block before the iterations.
        entry: the first block of the function.
        size: the number of blocks before the iterations.
        invariants: values that are available in the preheader, though computed elsewhere.
        offsets: the invariant part of each index that is the item plus that.
        conditions: if one of these holds, the fast version is not entered.
        bounds: for each index of `offsets` that is used, the offset, and the length that it must be below.
        exits: the number of side exits of an iteration.
        loads: the number of elements that it reads.
    """

    preheader: Block
    entry: Block
    size: int
    invariants: set[Value] = field(default_factory=set)
    offsets: dict[Value, Number] = field(default_factory=dict)
    conditions: list[Number] = field(default_factory=list)
    bounds: dict[tuple[Value, Value], tuple[Number, Number]] = field(default_factory=dict)
    exits: int = 0
    loads: int = 0

    @property
    def _facts(self) -> tuple[Any, ...]:
        return self.offsets, self.conditions, self.bounds, self.preheader.instructions

    def mark(self) -> Any:
        """The facts so far, for `reset`."""
        return self.exits, self.loads, *map(len, self._facts)

    def reset(self, mark: Any) -> None:
        """Forget the facts, and discard the code of the preheader, since a mark."""
        self.exits, self.loads, *counts = mark
        truncate(self._facts, counts)

    def is_invariant(self, a: Number) -> bool:
        ref = a.ref
        if a.known is not None or not isinstance(ref, Instruction):
            return True
        return ref.block is self.preheader or ref.block is self.entry or ref in self.invariants

    def are_invariant(self, numbers: Iterable[Number]) -> bool:
        return all(map(self.is_invariant, numbers))

    def is_affine(self, a: Number) -> bool:
        """Whether a number is the item plus an invariant offset."""
        return a.ref in self.offsets


def truncate(facts: Iterable[Any], counts: Iterable[int]) -> None:
    """Drop the last items of lists and dicts, so that as many are left of each."""
    for each, count in zip(facts, counts):
        if isinstance(each, list):
            del each[count:]
        while len(each) > count:
            each.popitem()


def leave_if_far(emit: Emitter, a: Number, by: int) -> None:
    """Leave if the absolute value of an integer is larger than `by`."""
    emit.leave_if(emit.compare("gt", a, emit.constant(by, INT)))
    emit.leave_if(emit.compare("lt", a, emit.constant(-by, INT)))


def hoist_sum(emit: Emitter, loop: FastLoop, name: str, a: Number, b: Number) -> Number | None:
    """The sum or difference of an affine index and an invariant, which is affine, too; None if it is something else.

    The preheader checks that it does not overflow.
    """
    offset = loop.offsets.get(a.ref)
    if offset is None or not loop.is_invariant(b):
        return None
    if offset.known is not None and b.known is not None:
        known = int(offset.known) + int(b.known) * (1 if name == "add" else -1)
        if abs(known) > OFFSET:
            return None
        offset = emit.constant(known, INT)
    else:
        with emit.b.at(loop.preheader):
            offset, overflow = Emitter.overflowing(emit, name, offset, b)
            emit.leave_if(overflow)
            leave_if_far(emit, offset, OFFSET)
    low, high = emit.ranges.reach(name, a, b)
    found = emit.integer(name, a, b)
    emit.ranges.bound(found.ref, max(low, -RANGE - OFFSET), min(high, RANGE + OFFSET))
    loop.offsets[found.ref] = offset
    return found


def hoist_bounds_check(emit: Emitter, loop: FastLoop, index: Number, length: Number, always: bool) -> Number | None:
    """The place of an index, if the preheader can check that it is within bounds; else None.

    Args:
        always: whether each iteration uses it.
    """
    offset = loop.offsets.get(index.ref)
    if offset is not None and always:
        loop.bounds[offset.ref, length.ref] = offset, length
        return index
    if not loop.is_invariant(index):
        return None
    with emit.b.at(loop.preheader):
        negative = emit.compare("lt", index, emit.constant(0, INT))
        place = index
        if negative.known is None or negative.known:
            place = emit.select(negative, emit.integer("add", index, length), index)
        emit.leave_if(outside(emit, place, length))
    return place


# The preheader --------------------------------------------------------------------------------------------------------


class Strip(NamedTuple):
    """Iterations that are about to run.

    Attributes:
        item: of the first one.
        limit: the item that ends them.
        down: whether items decrease.
        ends: the cells of the items that end the fast and the slow iterations.
        fast, slow: the blocks where these begin.
    """

    item: Number
    limit: Number
    down: bool
    ends: tuple[Value, Value]
    fast: Block
    slow: Block


def enter(emit: Emitter, loop: FastLoop, strip: Strip) -> None:
    """Emit the checks of the preheader: run a strip as far as indices stay within bounds, or the slow version."""
    emit.b.store(strip.limit.ref, strip.ends[0])
    if any(each.known for each in loop.conditions):
        emit.jump(strip.slow)
        return
    for each in loop.conditions:
        if each.known is None:
            sure = emit.b.new_block("sure")
            emit.branch(each, strip.slow, sure, rarely=True)
            emit.b.begin(sure)
    first, last = ("gt", "lt") if strip.down else ("lt", "gt")
    doubt, rare = emit.constant(False, BOOL), emit.b.new_block("rare")
    bounds = []
    for offset, length in loop.bounds.values():
        low, high = _items_within(emit, offset, length, strip.down)
        bounds.append((low, high))
        doubt = emit.integer("or", doubt, emit.compare(first, strip.item, low))
        doubt = emit.integer("or", doubt, emit.compare(last, strip.limit, high))
    if doubt.known is not None:
        emit.jump(strip.slow if doubt.known else strip.fast)
        return
    emit.branch(doubt, rare, strip.fast, rarely=True)
    emit.b.begin(rare)
    _shorten(emit, strip, bounds)


def _shorten(emit: Emitter, strip: Strip, bounds: Sequence[tuple[Number, Number]]) -> None:
    """Run the fast version up to the first item that is out of bounds; the slow one if that is this item."""
    first, item, limit = "gt" if strip.down else "lt", strip.item, strip.limit
    until, bad = limit, emit.constant(False, BOOL)
    for low, high in bounds:
        early, late = emit.compare(first, item, low), emit.compare("le" if strip.down else "ge", item, high)
        bad = emit.integer("or", emit.integer("or", bad, early), late)
        until = _least(emit, first, until, high)
        limit = emit.select(early, _least(emit, first, limit, low), limit)
    for cell, each in zip(strip.ends, (until, limit)):
        emit.b.store(each.ref, cell)
    if bad.known is None:
        emit.branch(bad, strip.slow, strip.fast)
    else:
        emit.jump(strip.slow if bad.known else strip.fast)


def _items_within(emit: Emitter, offset: Number, length: Number, down: bool) -> tuple[Number, Number]:
    """The first item of which an index is within bounds, and the first one beyond."""
    low = emit.integer("sub", emit.constant(0, INT), offset)
    high = emit.integer("sub", _least(emit, "lt", length, emit.constant(CAPACITY, INT)), offset)
    if down:
        low, high = (emit.integer("sub", each, emit.constant(1, INT)) for each in (high, low))
    return low, high


def _least(emit: Emitter, less: str, a: Number, b: Number) -> Number:
    return emit.select(emit.compare(less, a, b), a, b)
