"""The emitter of loops of the graph, whose iterations are made fast: see `guard_hoisting` and `speculation`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit import external_calls, speculation
from autograph.runtime.engines.native.emit.emitter import Emitter, is_strange
from autograph.runtime.engines.native.emit.guard_hoisting import PINNED, Access, Chunk, moved, placed
from autograph.runtime.engines.native.emit.polling import Poll
from autograph.runtime.engines.native.llvm.ir import Block, Value
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType


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
        start: the block in which the code begins.
        polls: the polls for signals.
        chunk: the iterations that are being emitted.
        always: whether what is emitted happens in each of them.
        bounded: whether sums do not overflow, as has been looked at before the iterations.
    """

    def __init__(self, name: str, leave: Callable[[], Any]) -> None:
        super().__init__(name, leave)
        self.start = self.b.new_block("start")
        self.polls: list[Poll] = []
        self.chunk: Chunk | None = None
        self.always = self.bounded = False
        self._guard: Number | None = None

    # Undoing ----------------------------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """Where the emitter is, for `reset`."""
        chunk, block, found = self.chunk, self.b.block, dict(self.ranges.found)
        before = len(chunk.before.instructions) if chunk else 0
        blocks = len(self.b.function.blocks)
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

    def _at_best(self, *args: Number) -> Any:
        """What is emitted meanwhile, of such numbers, is computed before the iterations if it can be."""
        chunk = self.chunk
        return self.b.at(chunk.before) if chunk is not None and chunk.are_fixed(args) else nullcontext()

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

    def doubt_if(self, condition: Number) -> None:
        chunk = self._blind
        if chunk is None or condition.known is not None or chunk.is_fixed(condition):
            self.leave_if(condition)
        else:
            speculation.doubt(self, chunk, self._guarded(condition))

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        chunk, blind, watches = self.chunk, self._blind, found.type.kind != "python"
        fixed = chunk is not None and chunk.is_fixed(found)
        if blind is not None and watches and not fixed:
            blind.doubts += 1
        if watches and fixed and not self.fast:
            self.underflows = True
            self.leave_if(is_strange(self, found))
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
        """What is computed of such numbers only that do not change is computed before the iterations, if it can be."""
        if self.chunk is None or opcode in PINNED or not self.chunk.are_fixed(args):
            return super().emit(type, opcode, *args, detail=detail)
        with self.b.at(self.chunk.before):
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
            found = moved(self, chunk, name, one, other)
            if found is not None:
                return found, self.constant(False, BOOL)
        if self.bounded and name in ("add", "sub"):
            return self.integer(name, a, b), self.constant(False, BOOL)
        with self._at_best(a, b):
            return super().overflowing(name, a, b)

    # Arrays -----------------------------------------------------------------------------------------------------------

    def place(self, index: Number, length: Number) -> Number:
        chunk, key = self.chunk, (index.ref, length.ref)
        if chunk is None or key in self.ranges.found or not chunk.is_fixed(length):
            return super().place(index, length)
        found = placed(self, chunk, index, length, self.always)
        if found is None:
            return super().place(index, length)
        self.ranges.found[key] = found
        return found

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
