"""Speculation: looks behind many iterations of a loop whether the code should have been left.

NumPy may warn of each operation on floats. Code that looks at each number before it goes into memory has an exit for
it, and no loop with exits becomes one over vectors. But the processor has flags for just what NumPy warns of. So
iterations that can be left for nothing else are run *blindly*, some hundred at a time, and what they overwrite goes
into an undo log. If there are flags behind them, or what else was doubtful, the log is written back, the last first,
and the same iterations are run again by the code that looks at everything at its time. Nobody sees memory meanwhile:
the code holds the GIL, and looks at signals only between such iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.guard_hoisting import Access, Chunk
from autograph.runtime.engines.native.libmath.libm import FLAGS, raised_flags
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.ir import (
    I32,
    I64,
    VOID,
    Block,
    Metadata,
    Value,
    array,
    bits_of,
    loop_hints,
)
from autograph.runtime.engines.native.llvm.memory import load_number, store_number
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import BOOL, INT, scalar

BLIND = 512     # iterations at a time
STORES = 4      # of an iteration, at most
TRUST = 16      # how often iterations are run again in one call, after which none are run blindly any more
DOUBT, _TRUST, _BACK = "doubt", "trust", "back"        # cells
STRANGE = {4: "strange32", 8: "strange64"}             # likewise: negative if there are infinities or NaNs
EXPONENTS = {4: 0x7F80_0000, 8: 0x7FF0_0000_0000_0000}


def flags_raised(emit: Emitter) -> Number:
    """Whether the processor has flags of what NumPy warns of."""
    return Number(BOOL, emit.b.icmp("ne", raised_flags(emit.b), 0))


def clear_flags(emit: Emitter) -> None:
    """Take these flags down."""
    emit.b.call(emit.b.function.module.declare("feclearexcept", I32, I32), FLAGS)


def either(emit: Emitter, conditions: Sequence[Number]) -> Number:
    """Whether one of these holds."""
    found = emit.constant(False, BOOL)
    for each in conditions:
        found = emit.integer("or", found, each)
    return found


# Iterations -----------------------------------------------------------------------------------------------------------


def begin_blind(emit: Emitter, chunk: Chunk, first: Value, now: Value, down: bool) -> None:
    """From now on, emit iterations that run blindly, from an item on, up or down; this is that of one iteration."""
    number = emit.b.sub(first, now) if down else emit.b.sub(now, first)
    chunk.blind = first, number, down


def is_blind_of_use(emit: Emitter, chunk: Chunk) -> bool:
    """Whether iterations should be run blindly that have been emitted so, and can be."""
    if chunk.blind is None or chunk.exits or not chunk.doubts or any(_calls(emit, chunk)):
        return False
    if chunk.gathered if chunk.carries else not chunk.stores:
        return False
    down = chunk.blind[2]
    return not any(
        _comes_of(chunk, one.indices, other.indices, down)
        for one in chunk.stores
        for other in chunk.loaded
        if one.array == other.array
    )


def _calls(emit: Emitter, chunk: Chunk) -> Iterator[bool]:
    """Calls of functions that do what cannot be undone, or may take flags down: all but LLVM's own."""
    for block in list(emit.b.function.blocks.values())[chunk.size :]:
        for each in block.instructions:
            if each.opcode == "call" and not each.operands[0].ref.startswith("@llvm."):
                yield True


def before_blind(emit: Emitter, chunk: Chunk) -> None:
    """Begin some iterations."""
    cells = emit.cells
    with emit.b.at(emit.entry):
        cells.keep(_TRUST, INT.dtype, emit.constant(TRUST, INT).ref)
    cells.keep(DOUBT, INT.dtype, emit.constant(0, INT).ref)
    for size, cell in STRANGE.items():
        type = scalar(f"i{size}")
        cells.keep(cell, type.dtype, emit.constant(0, type).ref)
    chunk.conditions.append(Number(BOOL, emit.b.icmp("slt", cells.kept(_TRUST, INT.dtype), 0)))


def look_behind(emit: Emitter, chunk: Chunk, now: Value, good: Block, again: Block) -> None:
    """Go on behind iterations, up to an item; or undo them, and go where they are run by other code.

    Args:
        chunk: how they began, and what they have stored.
    """
    assert chunk.blind is not None
    look, flags, undo = (emit.b.new_block(name) for name in ("look", "flags", "undo"))
    doubt = emit.cells.kept(DOUBT, INT.dtype)
    emit.b.cond_br(emit.b.icmp("ne", doubt, 0), undo, look, likely=False)
    emit.b.begin(look)
    for cell, last in chunk.later.items():
        note(emit, None, Number(last.type, emit.cells.kept(cell, last.type.dtype)))
    strange = []
    for size, cell in STRANGE.items():
        bits = Number(scalar(f"i{size}"), emit.cells.kept(cell, np.dtype(f"i{size}")))
        strange.append(emit.compare("lt", bits, emit.constant(0, bits.type)))
    emit.b.cond_br(either(emit, strange).ref, flags, good, likely=False)
    emit.b.begin(flags)
    emit.b.cond_br(flags_raised(emit).ref, undo, good)
    emit.b.begin(undo)
    clear_flags(emit)
    emit.cells.keep(_TRUST, INT.dtype, emit.b.sub(emit.cells.kept(_TRUST, INT.dtype), 1))
    _undo(emit, chunk, now, again)


def _undo(emit: Emitter, chunk: Chunk, now: Value, done: Block) -> None:
    """Write the log back."""
    assert chunk.blind is not None
    first, _, down = chunk.blind
    back, step = emit.b.new_block("back"), emit.b.new_block("step")
    emit.cells.keep(_BACK, INT.dtype, emit.b.sub(first, now) if down else emit.b.sub(now, first))
    emit.b.br(back)
    emit.b.begin(back)
    left = emit.cells.kept(_BACK, INT.dtype)
    emit.b.cond_br(emit.b.icmp("sgt", left, 0), step, done)
    emit.b.begin(step)
    number = emit.b.sub(left, 1)
    item = Number(INT, emit.b.sub(first, number) if down else emit.b.add(first, number))
    for place, each in reversed(list(enumerate(chunk.stores))):
        old = load_number(emit.b, _logged(emit, place, each.array, number), _raw(each.array.dtype))
        store_number(emit.b, moved_to(emit, chunk, each, item), _raw(each.array.dtype), old)
    emit.cells.keep(_BACK, INT.dtype, number)
    emit.b.br(back)


def moved_to(emit: Emitter, chunk: Chunk, access: Access, item: Number) -> Value:
    """Where an element is in the iteration of an item."""
    offsets = [chunk.offsets.get(each.ref) for each in access.indices]
    where = [each if by is None else emit.integer("add", item, by) for each, by in zip(access.indices, offsets)]
    return emit.element(access.array, where)


def jump_back(emit: Emitter, head: Block) -> None:
    """To the head of a loop that may well have few iterations: so vectors of several at a time are enough."""
    emit.jump(head)
    # A loop of five instructions should lie in one line of the cache.
    emit.b.block.instructions[-1].add_metadata("llvm.loop", loop_hints(interleave_count=1, align=32))


# Doubts ---------------------------------------------------------------------------------------------------------------


def doubt(emit: Emitter, chunk: Chunk, condition: Number) -> None:
    """Note whether a condition holds in any iteration."""
    chunk.doubts += 1
    chunk.doubted.append(condition)
    _gather(emit, chunk, DOUBT, emit.b.cast("sext", condition.ref, I64))


def note(emit: Emitter, chunk: Chunk | None, found: Number) -> None:
    """Note whether a float is infinite or none, for then all bits of the exponent are set."""
    if chunk is not None:
        chunk.noted.append(found)
    size = found.type.dtype.itemsize
    exponent = EXPONENTS[size]
    bits = emit.b.cast("bitcast", found.ref, f"i{8 * size}")
    _gather(emit, chunk, STRANGE[size], emit.b.add(emit.b.and_(bits, exponent), exponent & -exponent))


def _gather(emit: Emitter, chunk: Chunk | None, cell: str, bits: Value) -> None:
    if chunk is not None:
        chunk.gathered += 1
    dtype = np.dtype(f"i{bits_of(bits.type) // 8}")
    emit.cells.keep(cell, dtype, emit.b.or_(emit.cells.kept(cell, dtype), bits))


def look_later(emit: Emitter, chunk: Chunk, cell: Any, x: Number | Complex) -> None:
    """Look at a number behind the iterations only. It is in that cell then, and strange if it ever has been."""
    if isinstance(x, Number) and x.ref in emit.watched:
        del emit.watched[x.ref]
        chunk.later[cell] = x


# The log --------------------------------------------------------------------------------------------------------------


def can_undo(chunk: Chunk, index: Sequence[Number]) -> bool:
    """Whether there may be another store, to an element of that index."""
    return len(chunk.stores) < STORES and all(chunk.is_fixed(each) or chunk.is_moving(each) for each in index)


def log(emit: Emitter, chunk: Chunk, x: Array, index: Sequence[Number]) -> None:
    """Note down what the next store will overwrite."""
    assert chunk.blind is not None
    old = load_number(emit.b, emit.element(x, index), _raw(x.dtype))
    store_number(emit.b, _logged(emit, len(chunk.stores), x, chunk.blind[1]), _raw(x.dtype), old)


def _logged(emit: Emitter, place: int, x: Array, number: Value) -> Value:
    """Where the log has what an iteration has overwritten."""
    kind = llvm_type(_raw(x.dtype))
    return emit.b.gep(emit.cells.place(("log", place), array(BLIND, kind), align=64), number, kind)


# What is read and written ---------------------------------------------------------------------------------------------


def tell_apart(emit: Emitter, chunk: Chunk) -> None:
    """Tell LLVM which elements that are read are none of those of the same array that are written.

    That they are not, is made sure before the iterations, see `meet`. LLVM would compare addresses there, and must
    read again and again what does not change.
    """
    if chunk.carries or chunk.blind is None or chunk.blind[2]:      # no vectors; or items that go down
        return
    for stored in (each for each in chunk.stores if each.array.contiguous):    # of others, all may be one
        same = [each for each in chunk.loaded if each.array == stored.array]
        apart = [each for each in same if _may_be_apart(chunk, stored.indices, each.indices)]
        if not apart:
            continue
        scope = Metadata(Metadata(Metadata(distinct=True), distinct=True))
        with emit.b.at(chunk.before):
            emit.b.call_outside("llvm.experimental.noalias.scope.decl", VOID, scope)
        for each in (stored, *(each for each in same if each.is_same(stored))):
            each.instruction.add_metadata("alias.scope", scope)
        for each in apart:
            each.instruction.add_metadata("noalias", scope)
        chunk.apart += [(stored.indices, each.indices) for each in apart]


def meet(emit: Emitter, chunk: Chunk, first: Number, limit: Number) -> Number:
    """Whether, in iterations from an item up to another, elements that have been told apart may be the same."""
    found = []
    for stored, loaded in chunk.apart:
        same = emit.constant(True, BOOL)
        for one, other in zip(stored, loaded):
            offset = chunk.offsets.get(one.ref)
            if chunk.is_moving(other):
                continue
            if offset is None:
                same = emit.integer("and", same, emit.compare("eq", one, other))
            else:
                number = emit.integer("sub", other, emit.integer("add", first, offset))
                within = emit.b.icmp("ult", number.ref, emit.integer("sub", limit, first).ref)
                same = emit.integer("and", same, Number(BOOL, within))
        found.append(same)
    return either(emit, found)


def _may_be_apart(chunk: Chunk, stored: Sequence[Number], loaded: Sequence[Number]) -> bool:
    """Whether a dimension tells two elements apart: one in which the one that is read stays where it is."""
    pairs = [(one, other) for one, other in zip(stored, loaded) if not chunk.is_moving(other)]
    return any(one.ref != other.ref for one, other in pairs)


def _raw(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """As what elements are copied: a Boolean may be any byte."""
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def _comes_of(chunk: Chunk, stored: Sequence[Number], loaded: Sequence[Number], down: bool) -> bool:
    """Whether an iteration reads what one before has written, in the same array; then there are no vectors."""
    for one, other in zip(stored, loaded):
        if one.ref != other.ref:
            written, read = chunk.offsets.get(one.ref), chunk.offsets.get(other.ref)
            if written is None or read is None or written.known is None or read.known is None:
                return False
            if written.known == read.known or (written.known < read.known) != down:
                return False
    return stored != loaded
