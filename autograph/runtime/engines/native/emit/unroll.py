"""Loop unrolling: puts several iterations of a short loop into one.

LLVM would do so, too, but only together with passes that take twice the time. An iteration that is one block is copied,
with other names; what is left over at the end are single iterations.
"""

from __future__ import annotations

from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import Block, Constant, Instruction, Value

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
    many, inside = b.new_block("many"), b.new_block("several")
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
