"""The emitter of loops of the graph, whose iterations are made fast: see `guard_hoisting` and `speculation`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime.engines.native.emit import emitter, external_calls, speculation
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.emit.guard_hoisting import OFFSET, PINNED, Access, Chunk
from autograph.runtime.engines.native.emit.value_ranges import RANGE
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.interrupts import SIGNALS, define_signals, give_way
from autograph.runtime.engines.native.llvm.ir import I32, I64, PTR, Block, Module, Value, constant
from autograph.runtime.engines.native.llvm.printer import Printer
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType


class Poll(NamedTuple):
    """A look at signals.

    Attributes:
        head: of the loop from which the code could begin there.
        look: the block in which it looks.
        stop, on: where it goes then: if there was one, and if there was none.
        last: the block that is the last of it.
    """

    head: Block
    look: Block
    stop: Block
    on: Block
    last: Block


@dataclass(slots=True)
class Mark:
    """Where an emitter was, for `LoopEmitter.reset`."""

    block: Block
    size: int
    blocks: int
    watched: dict[Value, Any]
    found: dict[Any, Any]
    chunk: Chunk | None
    before: int


class LoopEmitter(Emitter):
    """See `autograph.runtime.graph.operands.Emitter`.

    Attributes:
        polls: the looks at signals.
        chunk: the iterations that are being emitted.
        always: whether what is emitted happens in each of them.
        bounded: whether sums do not overflow, as has been looked at before the iterations.
        origins: the places in the user's code that the text names, see `printer.Printer`.
    """

    def __init__(self, name: str, leave: Callable[[], Any]) -> None:
        super().__init__(name, leave)
        self.polls: list[Poll] = []
        self.chunk: Chunk | None = None
        self.always = self.bounded = False
        self.origins: list[Place] = []
        self._guard: Number | None = None
        self.start_block = self.b.function.new_block("start")

    def start(self) -> None:
        """Begin the function."""
        self.b.begin(self.start_block)
        self.cells.keep("polls", INT.dtype, constant(I64, emitter.POLL))

    @property
    def text(self) -> str:
        """The function."""
        printer = Printer()
        printer.module(self.variant(lambda b: b.br(self.start_block)))
        self.origins = printer.origins
        return printer.text

    def variant(self, begin: Callable[[Builder], None]) -> Module:
        """The module of the function, if it begins as is built then, behind the allocation of its cells."""
        whole, module = self.b.function, Module()
        module.declared, module.globals = dict(whole.module.declared), dict(whole.module.globals)
        function = module.define(self.name, whole.result, *whole.parameters)
        function.numbers = whole.numbers
        if self.polls:
            del module.declared[SIGNALS]
            define_signals(module, self.objects.place_of(give_way))
        entry = Block(self.entry.name)
        entry.instructions = list(self.entry.instructions)
        b = Builder(function, entry)
        begin(b)
        function.blocks |= {name: block for name, block in whole.blocks.items() if name not in function.blocks}
        return module

    # Undoing ----------------------------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """Where the emitter is, for `reset`."""
        chunk, block = self.chunk, self.b.block
        before = len(chunk.before.instructions) if chunk else 0
        blocks = len(self.b.function.blocks)
        found = dict(self.ranges.found)
        return Mark(block, len(block.instructions), blocks, dict(self.watched), found, chunk and chunk.copy(), before)

    def reset(self, mark: Mark) -> None:
        """Forget what has been emitted since."""
        self.b.block, self.chunk, self.watched, self.ranges.found = mark.block, mark.chunk, mark.watched, mark.found
        if mark.chunk is not None:
            del mark.chunk.before.instructions[mark.before :]
        del mark.block.instructions[mark.size :]
        blocks = self.b.function.blocks
        for name in list(blocks)[mark.blocks :]:
            del blocks[name]
        self.polls = [poll for poll in self.polls if poll.last.name in blocks]

    # Iterations -------------------------------------------------------------------------------------------------------

    def begin_chunk(self) -> Chunk:
        """From now on, emit iterations. What is before them goes where the emitter is."""
        self.chunk = Chunk(self.b.block, self.entry, len(self.b.function.blocks))
        return self.chunk

    @contextmanager
    def before_iterations(self) -> Iterator[None]:
        """What is emitted meanwhile is computed before the iterations."""
        assert self.chunk is not None
        with self.b.at(self.chunk.before):
            yield

    def _at_best(self, *args: Number) -> Any:
        """What is emitted meanwhile, of such numbers, is computed before the iterations if it can be."""
        return self.before_iterations() if self.chunk is not None and self.chunk.are_fixed(args) else nullcontext()

    @property
    def _blind(self) -> Chunk | None:
        """The iterations that are being emitted, if they are run blindly."""
        chunk = self.chunk
        return chunk if chunk is not None and chunk.blind is not None and self.b.block is not chunk.before else None

    @contextmanager
    def only_if(self, condition: Number | None) -> Iterator[None]:
        """What is emitted meanwhile does not matter unless a condition holds; do not leave for it if there is one."""
        found, self._guard = dict(self.ranges.found), condition
        try:
            yield
        finally:
            self.ranges.found, self._guard = found, None

    def _guarded(self, condition: Number) -> Number:
        """With what only matters sometimes, not yet known where what all iterations share is computed."""
        chunk = self.chunk
        early = chunk is not None and self.b.block is chunk.before
        if self._guard is None or (early and chunk is not None and not chunk.is_fixed(self._guard)):
            return condition
        return self.integer("and", self._guard, condition)

    # Leaving ----------------------------------------------------------------------------------------------------------

    def leave_if(self, condition: Number) -> None:
        condition, chunk = self._guarded(condition), self.chunk
        if chunk is not None and condition.known is None and chunk.is_fixed(condition):
            chunk.conditions.append(condition)
            return
        if chunk is not None and condition.known in (None, True):
            chunk.exits += 1
        super().leave_if(condition)

    def leave_if_far(self, a: Number, by: int) -> None:
        """Leave if an integer is larger than so much, or less than its opposite."""
        self.leave_if(self.compare("gt", a, self.constant(by, INT)))
        self.leave_if(self.compare("lt", a, self.constant(-by, INT)))

    def doubt_if(self, condition: Number) -> None:
        chunk = self._blind
        if chunk is None or condition.known is not None or chunk.is_fixed(condition):
            self.leave_if(condition)
        else:
            speculation.doubt(self, chunk, self._guarded(condition))

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        chunk, watches = self.chunk, found.type.kind != "python"
        fixed = chunk is not None and chunk.is_fixed(found)
        if self._blind is not None and watches and not fixed:
            self._blind.doubts += 1
        if watches and fixed and not self.fast:
            self.underflows = True
            self.leave_if(self.is_strange(found))
        else:
            super().leave_if_warned(found, *args)

    def settle(self) -> None:
        """Numbers that are about to go into memory can be looked at behind the iterations."""
        if self._blind is None:
            super().settle()

    def jump(self, block: Block) -> None:
        self._look()
        super().jump(block)

    def branch(self, condition: Number, then: Block, orelse: Block, rarely: bool = False) -> None:
        self._look()
        super().branch(condition, then, orelse, rarely)

    def _look(self) -> None:
        chunk = self._blind
        if chunk is not None:
            watched, self.watched = self.watched, {}
            for checks in watched.values():
                speculation.note(self, chunk, checks[-1][0])

    # Numbers ----------------------------------------------------------------------------------------------------------

    def emit(self, type: TensorType, opcode: str, *args: Number, detail: str = "") -> Number:
        with nullcontext() if opcode in PINNED else self._at_best(*args):
            return super().emit(type, opcode, *args, detail=detail)

    def intrinsic(self, name: str, result: str, *args: Number) -> Value:
        with self._at_best(*args):
            return super().intrinsic(name, result, *args)

    def integer(self, name: str, a: Number, b: Number) -> Number:
        """What a number is between need not hold in iterations that will be undone; but nothing must trap."""
        chunk = self._blind
        if chunk is not None:
            divides = name in ("div", "rem") and (a.type.dtype.kind == "i" or not chunk.is_fixed(b))
            shifts = name in ("shl", "shr") and not chunk.is_fixed(b)
            chunk.exits += (divides or shifts) and not (b.known or 0) > 0
        return super().integer(name, a, b)

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        chunk = self.chunk
        if chunk is not None and name in ("add", "sub") and a.type == INT:
            one, other = (b, a) if name == "add" and chunk.is_moving(b) else (a, b)
            moved = self._moved(chunk, name, one, other)
            if moved is not None:
                return moved, self.constant(False, BOOL)
        if self.bounded and name in ("add", "sub"):
            return self.integer(name, a, b), self.constant(False, BOOL)
        with self._at_best(a, b):
            return super().overflowing(name, a, b)

    def _moved(self, chunk: Chunk, name: str, a: Number, b: Number) -> Number | None:
        """An index that goes with the items, moved by what does not change; None if it is something else."""
        offset = chunk.offsets.get(a.ref)
        if offset is None or not chunk.is_fixed(b):
            return None
        if offset.known is not None and b.known is not None:
            known = int(offset.known) + int(b.known) * (1 if name == "add" else -1)
            if abs(known) > OFFSET:
                return None
            offset = self.constant(known, INT)
        else:
            with self.before_iterations():
                offset, overflow = super().overflowing(name, offset, b)
                self.leave_if(overflow)
                self.leave_if_far(offset, OFFSET)
        low, high = self.ranges.reach(name, a, b)
        found = super().integer(name, a, b)
        self.ranges.bound(found.ref, max(low, -RANGE - OFFSET), min(high, RANGE + OFFSET))
        chunk.offsets[found.ref] = offset
        return found

    # Arrays -----------------------------------------------------------------------------------------------------------

    def place(self, index: Number, length: Number) -> Number:
        chunk, key = self.chunk, (index.ref, length.ref)
        if chunk is None or key in self.ranges.found or not chunk.is_fixed(length):
            return super().place(index, length)
        offset, known = chunk.offsets.get(index.ref), index
        if offset is not None and self.always:
            chunk.spans[offset.ref, length.ref] = offset, length
        elif chunk.is_fixed(index):
            with self.before_iterations():
                negative = self.compare("lt", index, self.constant(0, INT))
                if negative.known is None or negative.known:
                    known = self.select(negative, self.integer("add", index, length), index)
                self.leave_if(self.outside(known, length))
        else:
            return super().place(index, length)
        self.ranges.found[key] = known
        return known

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        found, chunk, blind = super().load(x, index), self.chunk, self._blind
        if chunk is not None:
            chunk.loads += 1
        if blind is not None:
            instructions = self.b.block.instructions
            at = next(at for at in range(len(instructions) - 1, -1, -1) if instructions[at].opcode == "load")
            blind.loaded.append(Access(x, tuple(index), instructions[at], at))
        return found

    def store(self, x: Array, index: Sequence[Number], value: Number | Complex) -> None:
        chunk = self.chunk if self.chunk is not None and self.chunk.blind is not None else None
        if chunk is not None:
            if not isinstance(value, Number) or not self.always or not speculation.can_undo(chunk, index):
                chunk.exits += 1        # these iterations could not be undone
                return
            speculation.log(self, chunk, x, index)
        super().store(x, index, value)
        if chunk is not None:
            instructions = self.b.block.instructions
            chunk.stores.append(Access(x, tuple(index), instructions[-1], len(instructions) - 1))

    def make_array(self, dtype: np.dtype[np.generic], lengths: Sequence[Number], zeros: bool) -> Array:
        return external_calls.make_array(self, dtype, lengths, zeros)

    def copy_array(self, x: Array) -> Array:
        return external_calls.copy_array(self, x)

    def library(self, name: str, *args: Number) -> Number:
        return external_calls.library(self, name, *args)

    def ufunc(self, ufunc: np.ufunc, type: TensorType, *args: Number) -> Number:
        return external_calls.ufunc(self, ufunc, type, *args)

    # Interrupts -------------------------------------------------------------------------------------------------------

    def poll(
        self, iterations: Value | int, stop: Callable[[], None], head: Block, besides: Callable[[], None] | None = None
    ) -> None:
        """Of so many iterations: every `POLL` iterations, let others run, and stop if a signal has raised an exception.

        Args:
            head: of the loop. Everything that has happened since may as well happen again.
            besides: what else is to be done then.
        """
        self.settle()
        before = self.cells.kept("polls", INT.dtype)
        left = self.b.sub(before, iterations)
        self.cells.keep("polls", INT.dtype, left)
        due = self.b.icmp("eq", before, 0) if iterations == 1 else self.b.icmp("slt", left, 0)
        with self.rarely(Number(BOOL, due)):
            self.cells.keep("polls", INT.dtype, constant(I64, emitter.POLL))
            look = self._onwards("look")
            signals = self.b.function.module.declare(SIGNALS, I32, PTR)
            raised = self.b.icmp("ne", self.b.call(signals, self.b.function.parameters[1]), 0)
            end, on = self.stop_if(Number(BOOL, raised), stop)
            if besides is not None:
                besides()
                self._onwards("on")
            self.polls.append(Poll(head, look, end, on, self.b.block))

    def _onwards(self, hint: str) -> Block:
        """Go on in a new block, and give it."""
        block = self.b.function.new_block(hint)
        self.b.br(block)
        self.b.begin(block)
        return block

    def spend(self, address: int) -> None:
        """Count the integer at an address down, and leave when it comes to zero."""
        pointer = self.b.cast("inttoptr", constant(I64, address), PTR)
        left = self.b.sub(self.b.load(I64, pointer), 1)
        self.b.store(left, pointer)
        self.leave_if(Number(BOOL, self.b.icmp("eq", left, 0)))

