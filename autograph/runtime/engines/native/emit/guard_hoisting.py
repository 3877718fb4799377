"""Guard hoisting: what would be looked at in each iteration of a loop is looked at once, before many of them.

While the iterations of a counted loop are emitted, a `Chunk` says what does not change in them. What is computed of
that alone is computed before the iterations, and if the code is to be left under a condition that does not change, the
iterations are not begun. Nor if an index that goes with the items would come out of bounds: so the iterations go as far
as it does not.

To refuse iterations is always right: there is other code for them, which looks at everything at its time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from autograph.runtime.engines.native.emit.emitter import Emitter, outside
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.engines.native.llvm.ir import Block, Instruction, Value
from autograph.runtime.graph.operands import Array, Number
from autograph.runtime.graph.types import INT

OFFSET = 2 * RANGE      # how far an index may be from the item
# Instructions that may trap, or give poison, or become a call.
PINNED = frozenset("shl lshr ashr sdiv udiv srem urem frem fptosi fptoui".split())


class Access(NamedTuple):
    """An element that is read or written.

    Attributes:
        order: which of two accesses in one block comes first.
    """

    array: Array
    indices: tuple[Number, ...]
    instruction: Instruction
    order: int

    def is_same(self, other: Access) -> bool:
        """Whether two are of the same element."""
        return self[:2] == other[:2]


@dataclass(slots=True)
class Chunk:
    """Iterations of a counted loop that are run one after the other.

    Attributes:
        before: the block before the iterations.
        entry: the block with which the function begins.
        size: how many blocks the function had before.
        fixed: what is known in `before`, though it is computed elsewhere.
        offsets: what is an item plus something that does not change.
        conditions: under none of these.
        spans: by how much the items are off an index, and the length within which it must be.
        exits: how often the iterations can be left nevertheless.
        loads: how many elements they read.
        blind: the first item, the number of an iteration, and whether items go down, if they are run blindly: see
            `speculation`.
        doubts: how often they may have to be run again, then.
        carries: whether an iteration hinges on the one before, so that there are no vectors.
        gathered: how often an iteration notes down what is to be looked at behind the iterations.
        noted: the floats of which an iteration notes whether they are infinite or none.
        doubted: the conditions of which it notes whether they hold.
        at_once: whether several iterations are done at once, see `simd`.
        later: what is looked at then only, and in which cell it is.
        stores: what they write, if they are run blindly.
        loaded: likewise what they read.
        apart: indices that are said to be of different elements, if iterations are run.
    """

    before: Block
    entry: Block
    size: int
    fixed: set[Value] = field(default_factory=set)
    offsets: dict[Value, Number] = field(default_factory=dict)
    conditions: list[Number] = field(default_factory=list)
    spans: dict[tuple[Value, Value], tuple[Number, Number]] = field(default_factory=dict)
    exits: int = 0
    loads: int = 0
    blind: tuple[Value, Value, bool] | None = None
    doubts: int = 0
    carries: bool = False
    at_once: bool = False
    gathered: int = 0
    noted: list[Number] = field(default_factory=list)
    doubted: list[Number] = field(default_factory=list)
    later: dict[Any, Number] = field(default_factory=dict)
    stores: list[Access] = field(default_factory=list)
    loaded: list[Access] = field(default_factory=list)
    apart: list[tuple[tuple[Number, ...], tuple[Number, ...]]] = field(default_factory=list)

    def copy(self) -> Chunk:
        """It as it is now."""
        return replace(
            self, fixed=set(self.fixed), offsets=dict(self.offsets), conditions=list(self.conditions),
            spans=dict(self.spans), later=dict(self.later), stores=list(self.stores), loaded=list(self.loaded),
            noted=list(self.noted), doubted=list(self.doubted),
        )  # fmt: skip

    def is_fixed(self, a: Number) -> bool:
        """Whether a number does not change during the iterations."""
        ref = a.ref
        if a.known is not None or not isinstance(ref, Instruction):
            return True
        return ref.block is self.before or ref.block is self.entry or ref in self.fixed

    def are_fixed(self, numbers: Iterable[Number]) -> bool:
        return all(map(self.is_fixed, numbers))

    def is_moving(self, a: Number) -> bool:
        """Whether a number goes with the items."""
        return a.ref in self.offsets


def leave_if_far(emit: Emitter, a: Number, by: int) -> None:
    """Leave if an integer is larger than so much, or less than its opposite."""
    emit.leave_if(emit.compare("gt", a, emit.constant(by, INT)))
    emit.leave_if(emit.compare("lt", a, emit.constant(-by, INT)))


def moved(emit: Emitter, chunk: Chunk, name: str, a: Number, b: Number) -> Number | None:
    """An index that goes with the items, moved by what does not change; None if it is something else.

    Before the iterations it is made sure that it does not overflow.
    """
    offset = chunk.offsets.get(a.ref)
    if offset is None or not chunk.is_fixed(b):
        return None
    if offset.known is not None and b.known is not None:
        known = int(offset.known) + int(b.known) * (1 if name == "add" else -1)
        if abs(known) > OFFSET:
            return None
        offset = emit.constant(known, INT)
    else:
        with emit.b.at(chunk.before):
            offset, overflow = Emitter.overflowing(emit, name, offset, b)
            emit.leave_if(overflow)
            leave_if_far(emit, offset, OFFSET)
    low, high = emit.ranges.reach(name, a, b)
    found = emit.integer(name, a, b)
    emit.ranges.bound(found.ref, max(low, -RANGE - OFFSET), min(high, RANGE + OFFSET))
    chunk.offsets[found.ref] = offset
    return found


def placed(emit: Emitter, chunk: Chunk, index: Number, length: Number, always: bool) -> Number | None:
    """Where an index leads, if that is made sure before the iterations.

    Args:
        always: whether each iteration needs it.
    """
    offset = chunk.offsets.get(index.ref)
    if offset is not None and always:
        chunk.spans[offset.ref, length.ref] = offset, length
        return index
    if not chunk.is_fixed(index):
        return None
    with emit.b.at(chunk.before):
        negative = emit.compare("lt", index, emit.constant(0, INT))
        place = index
        if negative.known is None or negative.known:
            place = emit.select(negative, emit.integer("add", index, length), index)
        emit.leave_if(outside(emit, place, length))
    return place
