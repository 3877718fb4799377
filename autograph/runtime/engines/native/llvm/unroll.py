"""Loop unrolling: copies the block of a short loop several times.

LLVM unrolls, too, but only together with passes that take twice the time. Iterations that are left over at the end run
one by one.
"""

from __future__ import annotations

from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import Block, Constant, Instruction, Value

COPIES = 4      # iterations in one block
SHORT = 24      # instructions of an iteration, at most, besides accesses to cells


def unroll(b: Builder, head: Block, body: Block, step: Value) -> Block:
    """Unroll a loop. Returns the block to enter instead of the head; the head itself if the loop cannot be unrolled.

    Args:
        head: the block that loads the item and the end, and compares the two.
        body: the next block, if there is another iteration.
    """
    size = sum(not _accesses_cell(each) for each in body.instructions)
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


def _accesses_cell(each: Instruction) -> bool:
    """Whether an instruction accesses a cell."""
    pointer = each.operands[-1] if each.opcode in ("load", "store") else None
    return isinstance(pointer, Instruction) and pointer.opcode == "alloca"
