"""The emitter of loops: each operation passes `guard_hoisting` and `speculation`, and then becomes instructions.

These two act while instructions are built, as the reducers of an optimizing compiler's graph builder do. Afterwards it
would be too late: a guard that has been emitted has split its block, and made a side exit with all values that Python
needs there, while an iteration without them is one block, as `simd` and `unroll` need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from autograph.runtime.engines.native.emit import external_calls, speculation
from autograph.runtime.engines.native.emit.draws import Draws
from autograph.runtime.engines.native.emit.emitter import Emitter, is_strange
from autograph.runtime.engines.native.emit.guard_hoisting import PINNED, FastLoop, hoist_bounds_check, hoist_sum
from autograph.runtime.engines.native.emit.polling import Poll
from autograph.runtime.engines.native.emit.products import Vectors
from autograph.runtime.engines.native.llvm.ir import Block, Parameter, Value
from autograph.runtime.engines.native.llvm.printer import Printer
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import BOOL, INT, TensorType


class LoopEmitter(Emitter):
    """See `autograph.runtime.graph.operands.Emitter`.

    Attributes:
        start: the block in which the code begins.
        polls: the polls for signals.
        printer: prints the tiers of the function, which share most blocks.
        loop: the fast version of a loop, if its iterations are being emitted.
        speculation: the same, if they run speculatively.
        always: whether each iteration runs what is emitted.
        draws: draws random numbers.
        bounded: whether sums do not overflow, as the preheader has checked.
        dropped: the number of instructions that have been discarded.
    """

    def __init__(self, name: str, side_exit: Callable[[], Any], *more: Parameter) -> None:
        super().__init__(name, self._side_exit, *more)
        self.start = self.b.new_block("start")
        self.polls: list[Poll] = []
        self.printer = Printer()
        self.loop: FastLoop | None = None
        self.speculation: speculation.Speculation | None = None
        self.always = self.bounded = False
        self._make_exit = side_exit
        self._guard: Number | None = None
        self._vectors = Vectors(self)
        self.draws: Draws = Draws(self)
        self.dropped = 0

    def _side_exit(self) -> Any:
        if self.loop is not None:
            self.loop.exits += 1
        return self._make_exit()

    # Undoing ----------------------------------------------------------------------------------------------------------

    def mark(self) -> Callable[[], None]:
        """Return a function that discards what has been emitted since."""
        block, size, blocks = self.b.block, len(self.b.block.instructions), len(self.b.function.blocks)
        watched, found = self.watched.copy(), self.ranges.found.copy()
        marks = [(each, each.mark()) for each in (self.loop, self.speculation) if each is not None]
        numbers, dropped = self.b.function.numbers, self.dropped
        loop, speculation = self.loop, self.speculation

        def reset() -> None:
            self.b.block, self.watched, self.ranges.found = block, watched.copy(), found.copy()
            self.loop, self.speculation = loop, speculation
            self.dropped = dropped + self.b.function.numbers - numbers
            for each, mark in marks:
                each.reset(mark)
            del block.instructions[size:]
            for name in list(self.b.function.blocks)[blocks:]:
                del self.b.function.blocks[name]
            self.polls = [poll for poll in self.polls if poll.last.name in self.b.function.blocks]

        return reset

    # Iterations -------------------------------------------------------------------------------------------------------

    def begin_loop(self) -> FastLoop:
        """From now on, emit iterations of a fast version; the block where the emitter is becomes the preheader."""
        self.loop = FastLoop(self.b.block, self.entry, len(self.b.function.blocks))
        return self.loop

    def _home(self, *args: Number) -> AbstractContextManager[None]:
        """Meanwhile, be in the preheader if these numbers are invariant."""
        loop = self.loop
        return self.b.at(loop.preheader) if loop is not None and loop.are_invariant(args) else nullcontext()

    @property
    def _speculative(self) -> speculation.Speculation | None:
        """The speculation, unless the emitter is in the preheader."""
        found = self.speculation
        return found if found is not None and self.b.block is not found.loop.preheader else None

    @contextmanager
    def only_if(self, condition: Number | None) -> Iterator[None]:
        """Emit code whose results are used only if a condition holds: side exits are taken only then."""
        found, self._guard = dict(self.ranges.found), condition
        try:
            yield
        finally:
            self.ranges.found, self._guard = found, None

    def _guarded(self, condition: Number) -> Number:
        """A condition of leaving, and that of `only_if`, unless the preheader cannot know that."""
        loop = self.loop
        early = loop is not None and self.b.block is loop.preheader
        if self._guard is None or (early and loop is not None and not loop.is_invariant(self._guard)):
            return condition
        return self.integer("and", self._guard, condition)

    # Leaving ----------------------------------------------------------------------------------------------------------

    def leave_if(self, condition: Number) -> None:
        condition, loop = self._guarded(condition), self.loop
        if loop is not None and condition.known is None and loop.is_invariant(condition):
            loop.conditions.append(condition)
        else:
            super().leave_if(condition)

    def doubt_if(self, condition: Number) -> None:
        found = self._speculative
        if found is None or condition.known is not None or found.loop.is_invariant(condition):
            self.leave_if(condition)
        else:
            speculation.defer_condition(self, found, self._guarded(condition))

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        if found.type.kind == "python" or self.fast:
            return
        if self.loop is not None and self.loop.is_invariant(found):
            self.underflows = True
            self.leave_if(is_strange(self, found))
            return
        if self._speculative is not None:
            self._speculative.checks += 1
        super().leave_if_warned(found, *args)

    def settle(self) -> None:
        """A speculative iteration stores floats before they are checked."""
        if self._speculative is None:
            super().settle()

    def jump(self, block: Block) -> None:
        self._defer_checks()
        super().jump(block)

    def branch(self, condition: Number, then: Block, orelse: Block, rarely: bool = False) -> None:
        self._defer_checks()
        super().branch(condition, then, orelse, rarely)

    def _defer_checks(self) -> None:
        if self._speculative is not None:
            speculation.defer_checks(self, self._speculative)

    # Numbers ----------------------------------------------------------------------------------------------------------

    def emit(self, type: TensorType, opcode: str, *args: Number, detail: str = "") -> Number:
        if self.loop is None or opcode in PINNED or not self.loop.are_invariant(args):
            return super().emit(type, opcode, *args, detail=detail)
        with self.b.at(self.loop.preheader):
            return super().emit(type, opcode, *args, detail=detail)

    def intrinsic(self, name: str, result: str, *args: Number) -> Value:
        with self._home(*args):
            return super().intrinsic(name, result, *args)

    def integer(self, name: str, a: Number, b: Number) -> Number:
        if self._speculative is not None and speculation.may_trap(self._speculative, name, a, b):
            self._speculative.loop.exits += 1
        return super().integer(name, a, b)

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        loop = self.loop
        if loop is not None and name in ("add", "sub") and a.type == INT:
            one, other = (b, a) if name == "add" and loop.is_affine(b) else (a, b)
            found = hoist_sum(self, loop, name, one, other)
            if found is not None:
                return found, self.constant(False, BOOL)
        if self.bounded and name in ("add", "sub"):
            return self.integer(name, a, b), self.constant(False, BOOL)
        with self._home(a, b):
            return super().overflowing(name, a, b)

    # Arrays -----------------------------------------------------------------------------------------------------------

    def place(self, index: Number, length: Number) -> Number:
        loop, key = self.loop, (index.ref, length.ref)
        if loop is None or key in self.ranges.found or not loop.is_invariant(length):
            return super().place(index, length)
        found = hoist_bounds_check(self, loop, index, length, self.always)
        if found is None:
            return super().place(index, length)
        self.ranges.found[key] = found
        return found

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        found = super().load(x, index)
        if self.loop is not None:
            self.loop.loads += 1
        if self._speculative is not None:
            speculation.record_load(self, self._speculative, x, index)
        return found

    def store(self, x: Array, index: Sequence[Number], value: Number | Complex) -> None:
        found = self.speculation
        if found is None:
            super().store(x, index, value)
        elif isinstance(value, Number) and self.always and speculation.can_log(found, index):
            speculation.log(self, found, x, index)
            super().store(x, index, value)
            speculation.record_store(self, found, x, index)
        else:
            found.loop.exits += 1       # such iterations could not be undone

    @property
    def vectors(self) -> Vectors:
        return self._vectors

    make_array = external_calls.make_array
    copy_array = external_calls.copy_array
    library = external_calls.library
    ufunc = external_calls.ufunc
