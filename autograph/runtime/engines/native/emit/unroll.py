"""Loop unrolling: puts several iterations of a short loop into one.

LLVM would do so, too, but only together with passes that take twice the time. An iteration that is one block is copied,
with other names; what is left over at the end are single iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.engines.native.emit import simd, speculation
from autograph.runtime.engines.native.emit.loop_emitter import LoopEmitter
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import now_and_then, take_exception
from autograph.runtime.engines.native.llvm.ir import Block, Constant, Instruction, Value, constant
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL

COPIES = 4      # iterations in one
SHORT = 24      # instructions of an iteration, at most, besides those that move values to cells and back


def unroll(b: Builder, head: Block, body: Block, step: Value) -> Block:
    """Put several iterations into one. Gives the block to go to instead of the head, if that can be done.

    Args:
        head: the block that loads the item and the end, and compares the two.
        body: the block that follows it, if there is another iteration.
    """
    size = sum(not _moves(each) for each in body.instructions)
    if body.successors != (head,) or size > SHORT or not isinstance(step, Constant):
        return head
    item, end, compared, _ = head.instructions
    many, inside = b.function.new_block("many"), b.function.new_block("several")
    b.begin(many)
    now, last = b.copy(item, {}), b.copy(end, {})
    last = b.sub(last, (COPIES - 1) * step.value)
    b.cond_br(b.copy(compared, {item: now, end: last}), inside, head)
    b.begin(inside)
    for _ in range(COPIES):
        renamed: dict[Value, Value] = {}
        for each in (item, *body.instructions[:-1]):
            b.copy(each, renamed)
    b.br(many)
    return many


def _moves(each: Instruction) -> bool:
    """Whether an instruction moves a value to a cell, or back."""
    pointer = each.operands[-1] if each.opcode in ("load", "store") else None
    return isinstance(pointer, Instruction) and pointer.opcode == "alloca"


class Unrolling(LoopEmitter):
    """The emitter with blocks by name. Transitional, for `loops`."""

    def __init__(self, name: str, leave: Callable[[], Any]) -> None:
        self._named: dict[str, Block] = {}
        super().__init__(name, lambda: self._block(leave()))

    def __getattr__(self, name: str) -> Any:
        for owner in (self.cells, self.frame, self.objects, self.ranges):
            if hasattr(owner, name):
                return getattr(owner, name)
        return object.__getattribute__(self, name)

    @property
    def found(self) -> Any:
        return self.ranges.found

    @found.setter
    def found(self, found: Any) -> None:
        self.ranges.found = found

    def _block(self, name: Any) -> Block:
        return name if isinstance(name, Block) else self._named.setdefault(name, Block(name))

    @property
    def here(self) -> str:  # type: ignore[override]
        self._named[self.b.block.name] = self.b.block
        return self.b.block.name

    def label(self, hint: str) -> str:  # type: ignore[override]
        block = super().label(hint)
        self._named[block.name] = block
        return block.name

    def begin(self, block: Any) -> None:
        super().begin(self._block(block))

    def jump(self, block: Any) -> None:
        super().jump(self._block(block))

    def branch(self, condition: Number, then: Any, orelse: Any, rarely: bool = False) -> None:
        super().branch(condition, self._block(then), self._block(orelse), rarely)

    def poll(self, iterations: Any, stop: Any, head: Any, besides: Any = None) -> None:
        super().poll(int(iterations) if isinstance(iterations, str) else iterations, stop, self._block(head), besides)

    def call(self, function: Any, args: Any) -> str:
        return self.objects.call(function, args)    # type: ignore[no-any-return]

    def kept(self, key: Any, dtype: Any) -> str:
        return self.cells.kept(key, dtype)      # type: ignore[no-any-return]

    def counted(self, a: Any, b: Any) -> Any:
        return self.b.add(Value("i64", a) if isinstance(a, str) else a, b, "nsw")

    def is_null(self, thing: Any) -> Number:
        return Number(BOOL, self.b.is_null(thing))

    def is_of_class(self, thing: Any, kind: type) -> Number:
        return Number(BOOL, self.objects.is_of_class(thing, kind))

    def has_size(self, thing: Any, size: int) -> Number:
        return Number(BOOL, self.objects.has_size(thing, size))

    def take_exception(self) -> Any:
        return take_exception(self.objects, [self.cells.place(("exception", part), "ptr") for part in range(3)])

    def now_and_then(self, *args: Any) -> Any:
        return now_and_then(self.objects, *args)

    def bound(self, ref: Any, low: int, high: int) -> None:
        self.ranges.bound(ref, low, high)

    def several(self, head: Any, body: Any, step: Any) -> str:
        found = unroll(self.b, self._block(head), self._block(body), as_constant(step))
        self._named[found.name] = found
        return found.name

    def lanes(self, chunk: Any, node: Any, head: Any, body: Any, slow: Any, edge: Any) -> bool:
        return simd.vectorize(self, chunk, node, *map(self._block, (head, body, slow, edge)))

    def collide(self, chunk: Any, first: Number, limit: Number) -> Number:
        return simd.collide(self, chunk, first, limit)

    def meet(self, chunk: Any, first: Number, limit: Number) -> Number:
        return speculation.meet(self, chunk, first, limit)

    def tell_apart(self, chunk: Any) -> None:
        speculation.tell_apart(self, chunk)

    def look_behind(self, chunk: Any, now: Any, good: Any, again: Any) -> None:
        speculation.look_behind(self, chunk, now, self._block(good), self._block(again))

    def before_blind(self, chunk: Any) -> None:
        speculation.before_blind(self, chunk)

    def is_blind_of_use(self, chunk: Any) -> bool:
        return speculation.is_blind_of_use(self, chunk)

    def begin_blind(self, first: Any, now: Any, down: bool) -> None:
        assert self.chunk is not None
        speculation.begin_blind(self, self.chunk, first, now, down)

    def look_later(self, cell: Any, x: Any) -> None:
        if self._blind is not None:
            speculation.look_later(self, self._blind, cell, x)

    def jump_back(self, head: Any) -> None:
        speculation.jump_back(self, self._block(head))


def as_constant(step: Any) -> Value:
    return constant("i64", int(step)) if isinstance(step, str) else step
