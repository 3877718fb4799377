"""SIMD vectorization: runs several iterations of a loop as vectors, and checks the results before it stores them.

It takes speculative iterations (see `speculation`) that do not depend on earlier ones, count upwards, are one block,
and write adjacent elements: 16 numbers of eight bytes at once, then 4. Nothing is stored before all results of these
iterations have been checked, so there is no log, and nothing to undo: if a check fails, the slow version runs them. It
also runs those that are left over at the end.

The vector instructions are made from the scalar ones of the block, operands first, starting at the stores.

If an iteration calls a function such as `np.log`, which takes little more time for 16 numbers than for one, it may also
depend on earlier ones (`total += np.log(x[i])`): what it carries on is computed number by number (`_Carried`), from
the elements of the vectors.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from autograph.runtime.engines.native.emit.emitter import Emitter, is_strange
from autograph.runtime.engines.native.emit.speculation import (
    EXPONENTS,
    Access,
    Speculation,
    clear_flags,
    either,
    element_at,
    flags_raised,
)
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL, INT, scalar

SIZES = (128, 32)       # bytes of a vector of the widest numbers
REGISTER = 32           # bytes of a vector that is checked
_FLOATS = {"float": scalar("f4"), "double": scalar("f8")}
_SSE = 0xD              # `FLAGS` of processors that store theirs by one instruction
_ELEMENTWISE = frozenset("fadd fsub fmul fdiv fneg add sub mul and or xor shl lshr ashr icmp fcmp select".split())
_ELEMENTWISE |= frozenset("bitcast zext sext trunc fpext fptrunc sitofp uitofp fptosi fptoui".split())


class Target(NamedTuple):
    """The blocks and cells of a loop that is vectorized.

    Attributes:
        head: the block that loads the item and the end, and compares the two.
        body: the next block, if there is another iteration.
        slow: the block where the slow version runs one.
        edge: the block that checks whether there are more.
        limit: the cell of the item up to which the slow version runs.
        private: the cells that iterations write, and vectors need not.
    """

    head: ir.Block
    body: ir.Block
    slow: ir.Block
    edge: ir.Block
    limit: ir.Value
    private: Collection[ir.Value | None]


class _Scalar(Exception):
    """Iterations cannot be vectors."""


def vectorize(emit: Emitter, speculation: Speculation, target: Target) -> bool:
    """Replace iterations by vector code. Returns whether that is possible; if not, nothing has changed."""
    head, body, b = target.head, target.body, emit.b
    here, blocks = b.block, len(b.function.blocks)
    try:
        width = _width(speculation, target)
        *begin, rest, again = (b.new_block(name) for name in (*["lanes"] * len(SIZES), "rest", "again"))
        ends = head.instructions[0], head.instructions[1]
        for size, block, fewer in zip(SIZES, begin, (*begin[1:], rest)):
            _emit_vectors(emit, speculation, target, max(1, size // width), (block, fewer, again))
    except _Scalar:
        for name in list(b.function.blocks)[blocks:]:
            del b.function.blocks[name]
        b.begin(here)
        return False
    b.begin(again)
    clear_flags(emit)
    b.br(rest)
    b.begin(rest)
    now, last = (Number(INT, b.copy(each, {})) for each in ends)
    b.store(last.ref, target.limit)
    b.cond_br(emit.compare("lt", now, last).ref, target.slow, target.edge)
    del b.function.blocks[body.name]
    head.instructions.clear()
    with b.at(head):
        b.br(begin[0])
    return True


def _width(speculation: Speculation, target: Target) -> int:
    """The bytes of the widest element of an iteration, if its accesses allow vectors."""
    body, stores, loads, loop = target.body, speculation.stores, speculation.loads, speculation.loop
    if not SIZES or body.successors != (target.head,) or not (loads or stores):
        raise _Scalar
    if not speculation.elements and (speculation.carried or any(_carries(each, target) for each in body.instructions)):
        raise _Scalar
    scattered = speculation.elements and not stores     # nothing that is stored may overlap what is read
    if not all(_is_regular(speculation, body, each, scattered) for each in (*stores, *loads)):
        raise _Scalar
    for stored in stores:
        if not loop.is_affine(stored.indices[-1]) or any(
            each.is_same(stored) and each.order > stored.order for each in loads
        ):
            raise _Scalar
    return max(each.array.dtype.itemsize for each in (*stores, *loads))


def _carries(each: ir.Instruction, target: Target) -> bool:
    """Whether an instruction stores a number for the next iteration."""
    pointer = each.operands[-1] if each.opcode == "store" else None
    return isinstance(pointer, ir.Instruction) and pointer.opcode == "alloca" and pointer not in target.private


def _is_regular(speculation: Speculation, body: ir.Block, access: Access, scattered: bool) -> bool:
    """Whether the elements of all iterations are adjacent, or one and the same.

    Args:
        scattered: whether they may also be anywhere, at known places.
    """
    others = [each.ref for each in access.indices if not speculation.loop.is_affine(each)]
    invariant = not any(isinstance(each, ir.Instruction) and each.block is body for each in others)
    return access.array.dtype.kind != "c" and invariant and (scattered or _is_adjacent(speculation, access))


def _is_adjacent(speculation: Speculation, access: Access) -> bool:
    """Whether the elements of all iterations are adjacent, or one and the same, if its indices are known before."""
    return access.array.contiguous and not any(map(speculation.loop.is_affine, access.indices[:-1]))


def _emit_vectors(
    emit: Emitter, speculation: Speculation, target: Target, count: int, blocks: tuple[ir.Block, ir.Block, ir.Block]
) -> None:
    """Emit vectors of `count` iterations, as long as there are as many.

    Args:
        blocks: in which they begin; where to go if there are fewer; and if a check fails.
    """
    (begin, fewer, again), b, stores = blocks, emit.b, speculation.stores
    inside, odd, look, good = (b.new_block(name) for name in ("inside", "odd", "look", "good"))
    b.begin(begin)
    item = target.head.instructions[0]
    now, end = (b.copy(each, {}) for each in target.head.instructions[:2])
    b.cond_br(b.icmp("slt", now, b.sub(end, count - 1)), inside, fewer)
    b.begin(inside)
    carried = _Carried(target)
    vectors = _Vectors(emit, speculation, target.body, now, count, carried.dependent)
    values = [(vectors.element(each), vectors.of(each.instruction.operands[0])) for each in stores]
    lasting = carried.computed(vectors)
    strange = [each for each in map(vectors.strange, EXPONENTS) if each is not None]
    floats = [(each, _FLOATS[each.type]) for each in lasting.values() if each.type in _FLOATS]
    strange += [is_strange(emit, Number(type, each)) for each, type in floats]
    failed = [any_of(b, vectors.of(each.ref)) for each in speculation.conditions]
    b.cond_br(either(emit, failed).ref, again, look, False)
    b.begin(look)
    b.cond_br(either(emit, strange).ref, odd, good, False)
    b.begin(odd)
    b.br(again) if speculation.elements else b.cond_br(_raised(emit).ref, again, good)
    b.begin(good)
    for cell, last in lasting.items():
        b.store(last, cell)
    for (element, value), access in zip(values, stores):
        b.store(value, element, access.array.dtype.itemsize)
    b.store(b.add(now, count, "nsw"), item.operands[0])
    b.br(begin)


def _raised(emit: Emitter) -> Number:
    """Whether the processor has raised flags for what NumPy warns of."""
    if FLAGS != _SSE:
        return flags_raised(emit)
    place = emit.cells.place("flags", ir.I32)      # a call would spill all vectors
    emit.b.intrinsic("x86.sse.stmxcsr", place, result=ir.VOID, overload=())
    return Number(BOOL, emit.b.icmp("ne", emit.b.and_(emit.b.load(ir.I32, place), FLAGS), 0))


def any_of(b: Builder, flags: ir.Value) -> Number:
    """Whether an element of a vector of Booleans is true."""
    return Number(BOOL, b.intrinsic("vector.reduce.or", flags, result=ir.I1))


# Dependences through memory -------------------------------------------------------------------------------------------


def conflict(emit: Emitter, speculation: Speculation, first: Number, limit: Number) -> Number:
    """Whether an iteration may read or write an element that another one of the same vector writes.

    A vector reads all elements before it writes any. Arrays may overlap, so this compares addresses.
    """
    found, iterations, loop = [], emit.integer("sub", limit, first), speculation.loop
    for place, stored in enumerate(speculation.stores):
        begin, size = _address(emit, speculation, stored, first), stored.array.dtype.itemsize
        length = emit.integer("mul", iterations, emit.constant(size, INT))
        for other in (*speculation.loads, *speculation.stores[:place]):
            if other.is_same(stored):
                continue
            at, width = _address(emit, speculation, other, first), other.array.dtype.itemsize
            if not loop.is_affine(other.indices[-1]):
                near = _overlap(emit, begin, length, at, emit.constant(width, INT))
            elif width != size:
                near = _overlap(emit, begin, length, at, emit.integer("mul", iterations, emit.constant(width, INT)))
            else:   # elements ahead of those that are written are read in time
                same = emit.constant(1 if other.order < stored.order else size, INT)
                near = _overlap(emit, at, emit.constant(SIZES[0], INT), begin, same)
            found.append(near)
    return either(emit, found)


def _address(emit: Emitter, speculation: Speculation, access: Access, item: Number) -> Number:
    return Number(INT, emit.b.cast("ptrtoint", element_at(emit, speculation.loop, access, item), ir.I64))


def _overlap(emit: Emitter, begin: Number, length: Number, other: Number, width: Number) -> Number:
    """Whether two ranges of bytes overlap, each given by its address and length."""
    width = emit.integer("sub", width, emit.constant(1, INT))
    off = emit.integer("add", emit.integer("sub", other, begin), width)
    return Number(BOOL, emit.b.icmp("ult", off.ref, emit.integer("add", length, width).ref))


# Vectors --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Vectors:
    """The values of `count` iterations as vectors.

    Attributes:
        body: the block of an iteration.
        now: the item of the first one.
        dependent: the scalars that depend on earlier iterations, which have no vectors.
        found: the vectors so far, by the scalar.
    """

    emit: Emitter
    speculation: Speculation
    body: ir.Block
    now: ir.Value
    count: int
    dependent: Collection[ir.Value] = ()
    found: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def element(self, access: Access) -> ir.Value:
        """The address of the element of the first iteration."""
        return element_at(self.emit, self.speculation.loop, access, Number(INT, self.now))

    def of(self, value: ir.Value) -> ir.Value:
        """The vector of a scalar of the iteration."""
        if value not in self.found:
            self.found[value] = self._vector(value)
        return self.found[value]

    def _vector(self, value: ir.Value) -> ir.Value:
        b, offset = self.emit.b, self.speculation.loop.offsets.get(value)
        if isinstance(value, ir.Constant):
            return ir.constant(ir.vector(self.count, value.type), [value] * self.count)
        if offset is not None:
            first = self.emit.integer("add", Number(INT, self.now), offset).ref
            return b.add(b.splat(first, self.count), ir.constant(ir.vector(self.count, ir.I64), range(self.count)))
        if not isinstance(value, ir.Instruction) or value.block is not self.body:
            return b.splat(value, self.count)
        if value in self.dependent:
            raise _Scalar
        for access in self.speculation.loads:
            if access.instruction is value:
                return self._loaded(access, value)
        if value.opcode == "call" and (make := b.function.module.vectors.get(value.operands[0])):
            return b.call(make(self.count), *map(self.of, value.operands[1:]))
        callee = value.operands[0].ref if value.opcode == "call" else ""
        if value.opcode not in _ELEMENTWISE and not (callee.startswith("@llvm.") and value.type in ("float", "double")):
            raise _Scalar
        if callee:
            args = [self.of(each) for each in value.operands[1:]]
            return b.intrinsic(callee.removeprefix("@llvm.").rpartition(".")[0], *args)
        operands = tuple(self.of(each) for each in value.operands)
        return b.emit(ir.vector(self.count, value.type), value.opcode, operands, value.detail)

    def _loaded(self, access: Access, load: ir.Instruction) -> ir.Value:
        b = self.emit.b
        if not _is_adjacent(self.speculation, access):
            return self._gathered(access, load)
        if self.speculation.loop.is_affine(access.indices[-1]):
            return b.load(ir.vector(self.count, load.type), self.element(access), access.array.dtype.itemsize)
        return b.splat(b.load(load.type, self.element(access), load.align), self.count)

    def _gathered(self, access: Access, load: ir.Instruction) -> ir.Value:
        """The vector of elements that lie anywhere."""
        b = self.emit.b
        found: ir.Value = ir.poison(ir.vector(self.count, load.type))
        for lane in range(self.count):
            item = Number(INT, b.add(self.now, lane))
            place = element_at(self.emit, self.speculation.loop, access, item)
            found = b.insert_element(found, b.load(load.type, place, load.align), lane)
        return found

    def strange(self, size: int) -> Number | None:
        """Whether a float of some bytes is infinite or NaN; None if there are no such floats.

        The sum of all floats is checked, since it is infinite or NaN, too. (If only the sum is, the flags are raised,
        and the slow version runs the iterations.)
        """
        refs = [each.ref for each in self.speculation.floats if each.type.dtype.itemsize == size]
        if not refs:
            return None
        b = self.emit.b
        total, *others = (self.of(ref) for ref in dict.fromkeys(refs))
        for each in others:
            total = b.binary("fadd", total, each)
        while ir.count_of(total.type) % 2 == 0 and ir.count_of(total.type) * size > REGISTER:
            count, nothing = ir.count_of(total.type) // 2, ir.poison(total.type)
            one, other = (b.shuffle(total, nothing, range(k, k + count)) for k in (0, count))
            total = b.binary("fadd", one, other)
        limit = EXPONENTS[size]
        bits = b.cast("bitcast", total, ir.like(total.type, f"i{8 * size}"))
        carried = b.add(b.and_(bits, limit), limit & -limit)
        return any_of(b, b.icmp("slt", carried, ir.zero(carried.type)))


class _Carried:
    """The numbers that iterations carry on, in cells, and all that is computed with them.

    Attributes:
        dependent: the instructions whose results depend on earlier iterations.
    """

    def __init__(self, target: Target) -> None:
        self._body = target.body.instructions
        self._last = {each.operands[1]: each.operands[0] for each in self._body if _carries(each, target)}
        self.dependent: set[ir.Value] = set()
        seen: set[ir.Value] = set()
        for each in self._body:
            pointer = each.operands[-1] if each.opcode in ("load", "store") else None
            if pointer in self._last:
                if pointer in seen:     # its value would be another one
                    raise _Scalar
                seen |= {pointer} if each.opcode == "store" else set()
                self.dependent.add(each)
            elif not self.dependent.isdisjoint(each.operands):
                if each.opcode not in _ELEMENTWISE:
                    raise _Scalar
                self.dependent.add(each)

    def computed(self, vectors: _Vectors) -> dict[ir.Value, ir.Value]:
        """The last values of the cells, computed iteration by iteration."""
        b, steps = vectors.emit.b, [each for each in self._body if each in self.dependent and each.opcode != "store"]
        now: dict[ir.Value, ir.Value] = {cell: b.load(value.type, cell) for cell, value in self._last.items()}
        for lane in range(vectors.count):
            numbers = _Numbers(vectors, lane)
            for each in steps:
                if each.opcode == "load":
                    numbers[each] = now[each.operands[0]]
                else:
                    operands = tuple([numbers[operand] for operand in each.operands])
                    numbers[each] = b.emit(each.type, each.opcode, operands, each.detail)
            now = {cell: numbers[value] for cell, value in self._last.items()}
        return now


class _Numbers(dict[ir.Value, ir.Value]):
    """The numbers of one iteration, by the scalars; by default they are elements of the vectors."""

    def __init__(self, vectors: _Vectors, lane: int) -> None:
        self._vectors, self._lane = vectors, lane

    def __missing__(self, value: ir.Value) -> ir.Value:
        vectors = self._vectors
        is_fixed = not isinstance(value, ir.Instruction) or value.block is not vectors.body
        found = value if is_fixed else vectors.emit.b.extract_element(vectors.of(value), self._lane)
        self[value] = found
        return found
