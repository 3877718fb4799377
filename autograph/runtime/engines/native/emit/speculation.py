"""Speculation with an undo log: checks after many iterations of a loop whether one should have left the code.

NumPy may warn of each operation on floats. Code that checks each result before it stores it has a side exit for it, and
LLVM vectorizes no loop with exits. But the processor raises flags for what NumPy warns of. So iterations without other
exits run speculatively, some hundred at a time, and save the elements that they overwrite in an undo log. If flags are
raised behind them, or a deferred condition held, the log is written back, last entry first, and the slow version runs
the same iterations. No other code sees memory meanwhile, since the code holds the GIL, and polls for signals only
between such strips of iterations.

While an iteration is emitted, a `Speculation` records what it reads, writes and defers; `pays` then decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.guard_hoisting import FastLoop, truncate
from autograph.runtime.engines.native.libmath.libm import FLAGS, raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.memory import load_number, store_number
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import BOOL, INT, scalar

STRIP = 512     # iterations between two checks
STORES = 4      # of an iteration, at most
RETRIES = 16    # strips of a call that may be undone; then iterations no longer speculate
_CONDITION, _RETRIES, _UNDONE = "condition", "retries", "undone"        # cells
_EXPONENT = {4: "exponent32", 8: "exponent64"}      # cells: negative if a float was infinite or NaN
EXPONENTS = {4: 0x7F80_0000, 8: 0x7FF0_0000_0000_0000}


class Access(NamedTuple):
    """An element that an iteration reads or writes.

    Attributes:
        order: the place of the instruction in its block.
    """

    array: Array
    indices: tuple[Number, ...]
    instruction: ir.Instruction
    order: int

    def is_same(self, other: Access) -> bool:
        """Whether both are of the same element."""
        return self[:2] == other[:2]


@dataclass(slots=True)
class Speculation:
    """An iteration that runs speculatively, while it is emitted.

    Attributes:
        first: the item of the first iteration of a strip.
        number: the number of an iteration in its strip.
        down: whether items decrease.
        carries: whether an iteration depends on the one before, so that LLVM makes no vectors.
        elements: whether it calls NumPy's loops, which may clear the flags that the processor has raised.
        checks: the number of checks that are deferred.
        floats: those that are checked behind the strip for infinities and NaNs.
        conditions: those that are checked there.
        carried: floats that are checked there only for the last iteration, by their cells.
        stores, loads: the elements that are written and read.
        distinct: indices of a store and a load of one array that must differ in all iterations of a strip.
    """

    loop: FastLoop
    first: ir.Value
    number: ir.Value
    down: bool
    carries: bool = False
    elements: bool = False
    checks: int = 0
    floats: list[Number] = field(default_factory=list)
    conditions: list[Number] = field(default_factory=list)
    carried: dict[Any, Number] = field(default_factory=dict)
    stores: list[Access] = field(default_factory=list)
    loads: list[Access] = field(default_factory=list)
    distinct: list[tuple[tuple[Number, ...], tuple[Number, ...]]] = field(default_factory=list)

    @property
    def _facts(self) -> tuple[Any, ...]:
        return self.floats, self.conditions, self.carried, self.stores, self.loads

    def mark(self) -> Any:
        """The facts so far, for `reset`."""
        return self.checks, *map(len, self._facts)

    def reset(self, mark: Any) -> None:
        """Forget the facts since a mark."""
        self.checks, *counts = mark
        truncate(self._facts, counts)


def begin(emit: Emitter, loop: FastLoop, first: ir.Value, item: ir.Value, down: bool, carries: bool) -> Speculation:
    """Begin an iteration that runs speculatively.

    Args:
        first: the item of the first iteration.
        item: that of this one.
    """
    return Speculation(loop, first, emit.b.sub(*((first, item) if down else (item, first))), down, carries)


# In an iteration ------------------------------------------------------------------------------------------------------


def defer_condition(emit: Emitter, speculation: Speculation, condition: Number) -> None:
    """Accumulate whether a condition holds in any iteration."""
    speculation.checks += 1
    speculation.conditions.append(condition)
    _accumulate(emit, _CONDITION, emit.b.cast("sext", condition.ref, ir.I64))


def defer_checks(emit: Emitter, speculation: Speculation) -> None:
    """Accumulate whether one of the watched floats is infinite or NaN, see `Emitter.leave_if_warned`."""
    watched, emit.watched = emit.watched, {}
    for checks in watched.values():
        speculation.floats.append(checks[-1][0])
        _accumulate_exponent(emit, checks[-1][0])


def defer_to_last(emit: Emitter, speculation: Speculation, cell: Any, x: Number | Complex) -> None:
    """Check a number that is carried from iteration to iteration, in its cell, only behind the last one.

    Once it is infinite or NaN, it stays so.
    """
    if isinstance(x, Number) and x.ref in emit.watched:
        del emit.watched[x.ref]
        speculation.carried[cell] = x


def may_trap(speculation: Speculation, name: str, a: Number, b: Number) -> bool:
    """Whether an operation on integers may trap or be undefined in an iteration that will be undone.

    Ranges of values need not hold there.
    """
    divides = name in ("div", "rem") and (a.type.dtype.kind == "i" or not speculation.loop.is_invariant(b))
    shifts = name in ("shl", "shr") and not speculation.loop.is_invariant(b)
    return (divides or shifts) and not (b.known or 0) > 0


def record_load(emit: Emitter, speculation: Speculation, x: Array, index: Sequence[Number]) -> None:
    """Record the load that has just been emitted."""
    instructions = emit.b.block.instructions
    at = next(at for at in range(len(instructions) - 1, -1, -1) if instructions[at].opcode == "load")
    speculation.loads.append(Access(x, tuple(index), instructions[at], at))


def record_store(emit: Emitter, speculation: Speculation, x: Array, index: Sequence[Number]) -> None:
    """Record the store that has just been emitted."""
    instructions = emit.b.block.instructions
    speculation.stores.append(Access(x, tuple(index), instructions[-1], len(instructions) - 1))


def can_log(speculation: Speculation, index: Sequence[Number]) -> bool:
    """Whether the log has room for another element, at an index that can be computed again."""
    loop = speculation.loop
    return len(speculation.stores) < STORES and all(loop.is_invariant(each) or loop.is_affine(each) for each in index)


def log(emit: Emitter, speculation: Speculation, x: Array, index: Sequence[Number]) -> None:
    """Save the element that the next store overwrites."""
    old = load_number(emit.b, emit.element(x, index), _raw(x.dtype))
    entry = _log_entry(emit, len(speculation.stores), x, speculation.number)
    store_number(emit.b, entry, _raw(x.dtype), old)


def _log_entry(emit: Emitter, store: int, x: Array, number: ir.Value) -> ir.Value:
    """The address of the log entry of a store in an iteration."""
    kind = llvm_type(_raw(x.dtype))
    return emit.b.gep(emit.cells.place(("log", store), ir.array(STRIP, kind), align=64), number, kind)


def _accumulate_exponent(emit: Emitter, x: Number) -> None:
    """The exponent of an infinity or NaN has all bits set: adding its lowest bit carries into the sign."""
    size = x.type.dtype.itemsize
    exponent = EXPONENTS[size]
    bits = emit.b.cast("bitcast", x.ref, f"i{8 * size}")
    _accumulate(emit, _EXPONENT[size], emit.b.add(emit.b.and_(bits, exponent), exponent & -exponent))


def _accumulate(emit: Emitter, cell: str, bits: ir.Value) -> None:
    emit.cells.store(cell, emit.b.or_(emit.cells.load(cell, bits.type), bits))


def accumulators(emit: Emitter) -> set[ir.Value | None]:
    """The cells that iterations accumulate deferred checks in."""
    keys = (_CONDITION, ir.I64), *((cell, f"i{8 * size}") for size, cell in _EXPONENT.items())
    return {emit.cells.places.get(key) for key in keys}


def jump_back(emit: Emitter, head: ir.Block) -> None:
    """Go to the head of a loop that may have few iterations: so LLVM shall vectorize without interleaving."""
    emit.jump(head)
    # A loop of five instructions should be in one cache line.
    emit.b.block.instructions[-1].add_metadata("llvm.loop", ir.loop_hints(interleave_count=1, align=32))


# The decision ---------------------------------------------------------------------------------------------------------


def pays(emit: Emitter, speculation: Speculation) -> bool:
    """Whether an iteration that has been emitted can be undone, and gains by speculation."""
    if speculation.loop.exits or not speculation.checks or _calls(emit, speculation):
        return False
    checked = (speculation.floats or speculation.conditions) and not speculation.elements
    if checked if speculation.carries else not speculation.stores:
        return False
    return not any(
        _reads_result(speculation, stored.indices, loaded.indices)
        for stored in speculation.stores
        for loaded in speculation.loads
        if stored.array == loaded.array
    )


def _calls(emit: Emitter, speculation: Speculation) -> bool:
    """Whether iterations call a function that cannot be undone: any but LLVM's own and those of elements."""
    blocks = list(emit.b.function.blocks.values())[speculation.loop.size :]
    called = [each.operands[0] for block in blocks for each in block.instructions if each.opcode == "call"]
    speculation.elements = not emit.b.function.module.vectors.keys().isdisjoint(called)
    return not all(each.ref.startswith("@llvm.") or each in emit.b.function.module.vectors for each in called)


def _reads_result(speculation: Speculation, stored: Sequence[Number], loaded: Sequence[Number]) -> bool:
    """Whether an iteration reads an element that an earlier one has written; then there are no vectors."""
    for one, other in zip(stored, loaded):
        if one.ref != other.ref:
            written, read = (speculation.loop.offsets.get(each.ref) for each in (one, other))
            if written is None or read is None or written.known is None or read.known is None:
                return False
            if written.known == read.known or (written.known < read.known) != speculation.down:
                return False
    return stored != loaded


# Around a strip -------------------------------------------------------------------------------------------------------


def begin_strip(emit: Emitter, loop: FastLoop) -> None:
    """Clear the accumulators; enter the fast version only while there are retries left."""
    cells = emit.cells
    with emit.b.at(emit.entry):
        cells.store(_RETRIES, emit.constant(RETRIES, INT).ref)
    cells.store(_CONDITION, emit.constant(0, INT).ref)
    for size, cell in _EXPONENT.items():
        type = scalar(f"i{size}")
        cells.store(cell, emit.constant(0, type).ref)
    loop.conditions.append(Number(BOOL, emit.b.icmp("slt", cells.load(_RETRIES, ir.I64), 0)))


def end_strip(emit: Emitter, speculation: Speculation, item: ir.Value, good: ir.Block, again: ir.Block) -> None:
    """Check a strip of iterations up to an item: go on, or undo them and go where the slow version runs them."""
    check, flags, undo = (emit.b.new_block(name) for name in ("look", "flags", "undo"))
    condition = emit.cells.load(_CONDITION, ir.I64)
    emit.b.cond_br(emit.b.icmp("ne", condition, 0), undo, check, likely=False)
    emit.b.begin(check)
    for cell, last in speculation.carried.items():
        _accumulate_exponent(emit, Number(last.type, emit.cells.load(cell, llvm_type(last.type.dtype))))
    negative = []
    for size, cell in _EXPONENT.items():
        bits = Number(scalar(f"i{size}"), emit.cells.load(cell, f"i{8 * size}"))
        negative.append(emit.compare("lt", bits, emit.constant(0, bits.type)))
    emit.b.cond_br(either(emit, negative).ref, flags, good, likely=False)
    emit.b.begin(flags)
    emit.b.br(undo) if speculation.elements else emit.b.cond_br(flags_raised(emit).ref, undo, good)
    emit.b.begin(undo)
    clear_flags(emit)
    emit.cells.store(_RETRIES, emit.b.sub(emit.cells.load(_RETRIES, ir.I64), 1))
    _undo(emit, speculation, item, again)


def _undo(emit: Emitter, speculation: Speculation, item: ir.Value, done: ir.Block) -> None:
    """Write the log back."""
    first, down = speculation.first, speculation.down
    back, step = emit.b.new_block("back"), emit.b.new_block("step")
    emit.cells.store(_UNDONE, emit.b.sub(*((first, item) if down else (item, first))))
    emit.b.br(back)
    emit.b.begin(back)
    left = emit.cells.load(_UNDONE, ir.I64)
    emit.b.cond_br(emit.b.icmp("sgt", left, 0), step, done)
    emit.b.begin(step)
    number = emit.b.sub(left, 1)
    now = Number(INT, emit.b.sub(first, number) if down else emit.b.add(first, number))
    for place, each in reversed(list(enumerate(speculation.stores))):
        old = load_number(emit.b, _log_entry(emit, place, each.array, number), _raw(each.array.dtype))
        store_number(emit.b, element_at(emit, speculation.loop, each, now), _raw(each.array.dtype), old)
    emit.cells.store(_UNDONE, number)
    emit.b.br(back)


def element_at(emit: Emitter, loop: FastLoop, access: Access, item: Number) -> ir.Value:
    """The address of an element in the iteration of an item."""
    offsets = [loop.offsets.get(each.ref) for each in access.indices]
    index = [each if by is None else emit.integer("add", item, by) for each, by in zip(access.indices, offsets)]
    return emit.element(access.array, index)


def flags_raised(emit: Emitter) -> Number:
    """Whether the processor has raised flags for what NumPy warns of."""
    return Number(BOOL, emit.b.icmp("ne", raised_flags(emit.b), 0))


def clear_flags(emit: Emitter) -> None:
    emit.b.call(emit.b.function.module.declare("feclearexcept", ir.I32, ir.I32), FLAGS)


def either(emit: Emitter, conditions: Sequence[Number]) -> Number:
    """Whether one of some conditions holds."""
    return reduce(partial(emit.integer, "or"), conditions, emit.constant(False, BOOL))


# Alias analysis -------------------------------------------------------------------------------------------------------


def declare_distinct(emit: Emitter, speculation: Speculation) -> None:
    """Declare to LLVM that some loads and stores of one array never access the same element.

    `may_be_same` checks that before the iterations. Otherwise LLVM would compare addresses there, and read loop
    invariants in each iteration.
    """
    if speculation.carries or speculation.down:     # LLVM does not vectorize these
        return
    loop = speculation.loop
    for stored in (each for each in speculation.stores if each.array.contiguous):  # of others, all may be one element
        same = [each for each in speculation.loads if each.array == stored.array]
        distinct = [each for each in same if _may_differ(loop, stored.indices, each.indices)]
        if not distinct:
            continue
        scope = ir.Metadata(ir.Metadata(ir.Metadata(distinct=True), distinct=True))
        with emit.b.at(loop.preheader):
            emit.b.call_outside("llvm.experimental.noalias.scope.decl", ir.VOID, scope)
        for each in (stored, *(each for each in same if each.is_same(stored))):
            each.instruction.add_metadata("alias.scope", scope)
        for each in distinct:
            each.instruction.add_metadata("noalias", scope)
        speculation.distinct += [(stored.indices, each.indices) for each in distinct]


def may_be_same(emit: Emitter, speculation: Speculation, first: Number, limit: Number) -> Number:
    """Whether elements that were declared distinct may be the same, in iterations from an item up to another."""
    found, loop = [], speculation.loop
    for stored, loaded in speculation.distinct:
        same = emit.constant(True, BOOL)
        for one, other in zip(stored, loaded):
            offset = loop.offsets.get(one.ref)
            if loop.is_affine(other):
                continue
            if offset is None:
                same = emit.integer("and", same, emit.compare("eq", one, other))
            else:
                number = emit.integer("sub", other, emit.integer("add", first, offset))
                within = emit.b.icmp("ult", number.ref, emit.integer("sub", limit, first).ref)
                same = emit.integer("and", same, Number(BOOL, within))
        found.append(same)
    return either(emit, found)


def _may_differ(loop: FastLoop, stored: Sequence[Number], loaded: Sequence[Number]) -> bool:
    """Whether two elements differ in a dimension in which the index that is read is invariant."""
    return any(one.ref != other.ref for one, other in zip(stored, loaded) if not loop.is_affine(other))


def _raw(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The dtype as which elements are copied: a Boolean may be any byte."""
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype
