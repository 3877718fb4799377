"""SIMD vectorization: does several iterations of a loop at once, and looks at the results before they go into memory.

Iterations that are to be run blindly (see `speculation`), that hinge on no iteration before, and that write elements
which lie side by side, are done as vectors: 16 numbers of eight bytes, then 4. Only when all of them are as they should
be are they stored; else nothing has happened yet, and the code that looks at everything at its time takes over. So
there is no log to be kept, and nothing to be undone. Iterations that are left over at the end are run by that code,
too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.guard_hoisting import Access, Chunk
from autograph.runtime.engines.native.emit.speculation import (
    DOUBT,
    EXPONENTS,
    STRANGE,
    clear_flags,
    either,
    flags_raised,
    moved_to,
)
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    I1,
    I32,
    I64,
    VOID,
    Block,
    Constant,
    Instruction,
    Value,
    constant,
    count_of,
    like,
    poison,
    vector,
    zero,
)
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL, INT

SIZES = (128, 32)       # bytes of the widest numbers, of as many iterations as are done at once
REGISTER = 32           # bytes of a vector that is looked at
_SSE = 0xD              # `FLAGS` of processors that store theirs by one instruction
_PLAIN = frozenset("fadd fsub fmul fdiv fneg add sub mul and or xor shl lshr ashr icmp fcmp select bitcast".split())
_PLAIN |= frozenset("zext sext trunc fpext fptrunc sitofp uitofp fptosi fptoui".split())


class _Scalar(Exception):
    """Iterations cannot be done at once."""


@dataclass(slots=True)
class _Iteration:
    """An iteration as it has been emitted.

    Attributes:
        body: its block.
        read: the elements that it reads, by what is loaded.
        width: bytes of the widest number that it reads or writes.
    """

    chunk: Chunk
    body: Block
    read: dict[Value, Access]
    width: int


def vectorize(emit: Emitter, chunk: Chunk, node: Any, head: Block, body: Block, slow: Block, edge: Block) -> bool:
    """Emit iterations that are done at once, in the place of others. Gives whether they can be.

    Args:
        node: the loop.
        head: the block that loads the item and the end, and compares the two.
        body: the block that follows it, if there is another iteration.
        slow: where iterations are run that look at everything.
        edge: where it is looked whether there are more iterations.
    """
    here, blocks = emit.b.block, len(emit.b.function.blocks)
    try:
        iteration = _iteration(emit, chunk, node, head, body)
        *begin, rest, again = (emit.b.new_block(name) for name in (*["lanes"] * len(SIZES), "rest", "again"))
        ends = head.instructions[0], head.instructions[1]
        for size, block, fewer in zip(SIZES, begin, (*begin[1:], rest)):
            _at_once(emit, iteration, max(1, size // iteration.width), ends, (block, fewer, again), node)
    except _Scalar:
        for name in list(emit.b.function.blocks)[blocks:]:
            del emit.b.function.blocks[name]
        emit.b.begin(here)
        return False
    emit.b.begin(again)
    clear_flags(emit)
    emit.b.br(rest)
    emit.b.begin(rest)
    now, last = (Number(INT, emit.b.copy(each, {})) for each in ends)
    emit.cells.keep((node, "limit"), INT.dtype, last.ref)
    emit.b.cond_br(emit.compare("lt", now, last).ref, slow, edge)
    del emit.b.function.blocks[body.name]
    head.instructions.clear()
    with emit.b.at(head):
        emit.b.br(begin[0])
    return True


def _iteration(emit: Emitter, chunk: Chunk, node: Any, head: Block, body: Block) -> _Iteration:
    """What is known of an iteration, if it does nothing that cannot be done at once."""
    if not SIZES or body.successors != (head,) or chunk.later:
        raise _Scalar
    item = [((node, (part,)), I64) for part in range(3)]
    notes = [(DOUBT, I64), *((STRANGE[size], f"i{8 * size}") for size in STRANGE)]
    known = {emit.cells.places.get(each) for each in (*item, *notes)}
    for each in body.instructions:
        pointer = each.operands[-1] if each.opcode == "store" else None
        if isinstance(pointer, Instruction) and pointer.opcode == "alloca" and pointer not in known:
            raise _Scalar
    accesses = [*chunk.stores, *chunk.loaded]
    if not all(_is_plain(chunk, body, each) for each in accesses):
        raise _Scalar
    for stored in chunk.stores:
        later = [each for each in chunk.loaded if each.is_same(stored) and each.order > stored.order]
        if later or not chunk.is_moving(stored.indices[-1]):
            raise _Scalar
    read = {each.instruction: each for each in chunk.loaded}
    return _Iteration(chunk, body, read, max(each.array.dtype.itemsize for each in accesses))    # type: ignore[arg-type]


def _is_plain(chunk: Chunk, body: Block, access: Access) -> bool:
    """Whether elements lie side by side, or are one and the same."""
    moving = list(map(chunk.is_moving, access.indices))
    others = [each.ref for each, moves in zip(access.indices, moving) if not moves]
    fixed = not any(isinstance(each, Instruction) and each.block is body for each in others)
    return access.array.contiguous and access.array.dtype.kind != "c" and fixed and not any(moving[:-1])


def _at_once(
    emit: Emitter,
    iteration: _Iteration,
    count: int,
    ends: tuple[Instruction, Instruction],
    blocks: tuple[Block, Block, Block],
    node: Any,
) -> None:
    """Emit so many iterations that are done at once, as long as there are as many.

    Args:
        blocks: in which they begin; where there are fewer; and where they are to be run slowly.
    """
    (begin, fewer, again), b, stores = blocks, emit.b, iteration.chunk.stores
    inside, odd, look, good = (emit.b.new_block(name) for name in ("inside", "odd", "look", "good"))
    emit.b.begin(begin)
    now, end = (b.copy(each, {}) for each in ends)
    b.cond_br(b.icmp("slt", now, b.sub(end, count - 1)), inside, fewer)
    emit.b.begin(inside)
    lanes = _Lanes(emit, iteration, now, count)
    values = [(lanes.element(each), lanes.of(each.instruction.operands[0])) for each in stores]
    strange = [each for each in map(lanes.strange, STRANGE) if each is not None]
    doubts = [any_of(b, lanes.of(each.ref)) for each in iteration.chunk.doubted]
    b.cond_br(either(emit, doubts).ref, again, look, False)
    emit.b.begin(look)
    b.cond_br(either(emit, strange).ref, odd, good, False)
    emit.b.begin(odd)
    b.cond_br(_raised(emit).ref, again, good)
    emit.b.begin(good)
    for (element, value), access in zip(values, stores):
        b.store(value, element, access.array.dtype.itemsize)
    b.store(b.add(now, count, "nsw"), ends[0].operands[0])
    b.br(begin)


def _raised(emit: Emitter) -> Number:
    """Whether there are flags of what NumPy warns of."""
    if FLAGS != _SSE:
        return flags_raised(emit)
    place = emit.cells.place("flags", I32)      # vectors would not live through a call
    emit.b.intrinsic("x86.sse.stmxcsr", place, result=VOID, overload=())
    return Number(BOOL, emit.b.icmp("ne", emit.b.and_(emit.b.load(I32, place), FLAGS), 0))


def any_of(b: Builder, flags: Value) -> Number:
    """Whether one of some Booleans is true."""
    return Number(BOOL, b.intrinsic("vector.reduce.or", flags, result=I1))


# Whether memory allows it ---------------------------------------------------------------------------------------------


def collide(emit: Emitter, chunk: Chunk, first: Number, limit: Number) -> Number:
    """Whether iterations done at once may read what another of them writes, or write what a later one does.

    All that is read is read before anything is written, and each store writes for all iterations.
    """
    found, iterations = [], emit.integer("sub", limit, first)
    for place, stored in enumerate(chunk.stores):
        begin, size = _address(emit, chunk, stored, first), stored.array.dtype.itemsize
        length = emit.integer("mul", iterations, emit.constant(size, INT))
        for other in (*chunk.loaded, *chunk.stores[:place]):
            if other.is_same(stored):
                continue
            at, width = _address(emit, chunk, other, first), other.array.dtype.itemsize
            if not chunk.is_moving(other.indices[-1]):
                near = _meet(emit, begin, length, at, emit.constant(width, INT))
            elif width != size:
                near = _meet(emit, begin, length, at, emit.integer("mul", iterations, emit.constant(width, INT)))
            else:   # those ahead of what is written are read in time
                same = emit.constant(1 if other.order < stored.order else size, INT)
                near = _meet(emit, at, emit.constant(SIZES[0], INT), begin, same)
            found.append(near)
    return either(emit, found)


def _address(emit: Emitter, chunk: Chunk, access: Access, item: Number) -> Number:
    return Number(INT, emit.b.cast("ptrtoint", moved_to(emit, chunk, access, item), I64))


def _meet(emit: Emitter, begin: Number, length: Number, other: Number, width: Number) -> Number:
    """Whether bytes from an address on are among others."""
    width = emit.integer("sub", width, emit.constant(1, INT))
    off = emit.integer("add", emit.integer("sub", other, begin), width)
    return Number(BOOL, emit.b.icmp("ult", off.ref, emit.integer("add", length, width).ref))


# Vectors --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Lanes:
    """Iterations that are done at once.

    Attributes:
        now: the item of the first.
        found: the vectors that there are.
    """

    emit: Emitter
    iteration: _Iteration
    now: Value
    count: int
    found: dict[Value, Value] = field(default_factory=dict)

    def element(self, access: Access) -> Value:
        """Where the element of the first iteration is."""
        return moved_to(self.emit, self.iteration.chunk, access, Number(INT, self.now))

    def of(self, value: Value) -> Value:
        """What a number of an iteration is in all of them."""
        if value not in self.found:
            self.found[value] = self._made(value)
        return self.found[value]

    def _made(self, value: Value) -> Value:
        b, iteration = self.emit.b, self.iteration
        if isinstance(value, Constant):
            return constant(vector(self.count, value.type), [value] * self.count)
        offset = iteration.chunk.offsets.get(value)
        if offset is not None:
            first = self.emit.integer("add", Number(INT, self.now), offset).ref
            return b.add(b.splat(first, self.count), constant(vector(self.count, I64), range(self.count)))
        if not isinstance(value, Instruction) or value.block is not iteration.body:
            return b.splat(value, self.count)
        if value in iteration.read:
            return self._loaded(iteration.read[value], value)
        callee = value.operands[0].ref if value.opcode == "call" else ""
        if value.opcode not in _PLAIN and not (callee.startswith("@llvm.") and value.type in ("float", "double")):
            raise _Scalar
        if callee:
            given = [self.of(each) for each in value.operands[1:]]
            return b.intrinsic(callee.removeprefix("@llvm.").rpartition(".")[0], *given)
        operands = tuple(self.of(each) for each in value.operands)
        return b.emit(vector(self.count, value.type), value.opcode, operands, value.detail)

    def _loaded(self, access: Access, load: Instruction) -> Value:
        b = self.emit.b
        if self.iteration.chunk.is_moving(access.indices[-1]):
            return b.load(vector(self.count, load.type), self.element(access), access.array.dtype.itemsize)
        return b.splat(b.load(load.type, self.element(access), load.align), self.count)

    def strange(self, size: int) -> Number | None:
        """Whether there is an infinity or a NaN among floats of one size; None if there are no such floats.

        Their sum is one, too. (If it is one by itself, the processor's flags tell of that: the iterations are run
        slowly.)
        """
        refs = [each.ref for each in self.iteration.chunk.noted if each.type.dtype.itemsize == size]
        if not refs:
            return None
        b = self.emit.b
        total, *others = (self.of(ref) for ref in dict.fromkeys(refs))
        for each in others:
            total = b.binary("fadd", total, each)
        while count_of(total.type) % 2 == 0 and count_of(total.type) * size > REGISTER:
            count, nothing = count_of(total.type) // 2, poison(total.type)
            one, other = (b.shuffle(total, nothing, range(k, k + count)) for k in (0, count))
            total = b.binary("fadd", one, other)
        limit = EXPONENTS[size]
        bits = b.cast("bitcast", total, like(total.type, f"i{8 * size}"))
        carried = b.add(b.and_(bits, limit), limit & -limit)
        return any_of(b, b.icmp("slt", carried, zero(carried.type)))
