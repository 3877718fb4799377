"""Tier-up: the first call runs baseline code; if it takes long, optimized code replaces it in the middle of a loop.

Without optimization LLVM takes a tenth of the time. The code runs five to ten times as long, which is less in all,
unless a loop has millions of iterations; their number is not known before. So baseline code stops after each poll for
signals: it saves its cells in the frame, behind the inputs, and with them the number of the poll, which identifies the
loop head from which it can resume. The region then looks at the clock. It resumes the baseline code, or calls optimized
code that begins at that loop head (on-stack replacement).

All values that are live at a head are in cells, and everything else is read again when a function begins. So the three
tiers of one lowering do the same: the optimized code, the baseline code, and the optimized code from a head. Code
between the head and the poll runs again. It only counts iterations until the next poll.

LLVM's fast instruction selector handles most instructions, but not calls of functions by name, `switch`, and what
precedes these in a block. So there is no `switch` here, and there are few calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from autograph.common import forking
from autograph.runtime.engines.native.emit.loop_emitter import LoopEmitter
from autograph.runtime.engines.native.emit.polling import SIGNALS, give_way, signals
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.ir import I32, I64, PTR, Block, Global, Module, Value, constant
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.graph.graph import Place

STOPPED = -1        # returned by baseline code that can resume
PATIENCE = 5e-5     # seconds that baseline code may run for each of its lines; optimizing it takes about as long


def assembled(emit: LoopEmitter, begin: Callable[[Builder], None] | None = None) -> tuple[str, list[Place]]:
    """The assembly of the function, and the source locations of its lines, see `printer.Printer`.

    Args:
        begin: builds its beginning, behind the allocation of its cells; by default it goes to `start`.
    """
    whole, module = emit.b.function, Module()
    module.declared, module.globals = dict(whole.module.declared), dict(whole.module.globals)
    module.functions = {name: each for name, each in whole.module.functions.items() if each is not whole}
    function = module.define(emit.name, whole.result, *whole.parameters)
    function.numbers = whole.numbers
    if emit.polls:
        del module.declared[SIGNALS]
        module.include(signals(emit.objects.place_of(give_way)))
    entry = Block(emit.entry.name)
    entry.instructions = list(emit.entry.instructions)
    b = Builder(function, entry)
    begin(b) if begin is not None else b.br(emit.start)
    function.blocks |= {name: block for name, block in whole.blocks.items() if name not in function.blocks}
    return emit.printer.print(verified(module)), emit.printer.origins


class BaselineTier:
    """The assembly of the baseline code, and of the optimized code that replaces it.

    Args:
        slot: the first free slot of the frame.

    Attributes:
        slots: the number of slots of the frame.
        places: the number of polls, where it may stop.
    """

    def __init__(self, emit: LoopEmitter, slot: int) -> None:
        self._emit = emit
        self._slot = slot
        # Arrays and vectors are only for use between two polls, and have more than one slot.
        self._cells = [(place, kind) for (_, kind), place in emit.cells.places.items() if kind[0] not in "[<"]
        self.slots = slot + 1 + len(self._cells)
        self.places = len(emit.polls)

    def stopped(self, frame: Any) -> int:
        """The number of the poll at which the code has stopped."""
        return int(ctypes.c_int64.from_buffer(frame, SLOT * self._slot).value)

    @property
    def patience(self) -> float:
        """The seconds that the baseline code may run."""
        return PATIENCE * self.text.count("\n")

    @forking.cached_property
    def text(self) -> str:
        """The baseline code: it begins at the poll whose number is in the frame, and stops after each poll."""
        return assembled(self._emit, self._begin)[0]

    def resumed(self, number: int) -> str:
        """Code that begins at the loop head of a poll, with the cells that are in the frame."""

        def begin(b: Builder) -> None:
            self._move(b, into_frame=False)
            b.br(self._emit.polls[number - 1].head)

        return assembled(self._emit, begin)[0]

    def _begin(self, b: Builder) -> None:
        function, polls = b.function, self._emit.polls
        look: Value | None = None
        if polls:   # each poll calls the function through this, since calls by name compile slowly
            signals = function.module.functions[SIGNALS]
            at = function.module.globals["signals.at"] = Global("signals.at", "internal global", PTR, signals)
            look = b.load(PTR, at)
        where_at = b.gep(function.parameters[0], SLOT * self._slot)
        where, resume = b.load(I64, where_at), function.new_block("resume")
        b.cond_br(b.icmp("eq", where, 0), self._emit.start, resume)
        b.begin(resume)
        self._move(b, into_frame=False)
        for number, poll in enumerate(polls[:-1], 1):   # instead of a `switch`
            other = function.new_block("resume")
            b.cond_br(b.icmp("eq", where, number), poll.head, other)
            b.begin(other)
        b.br(polls[-1].head if polls else self._emit.start)
        if look is not None:
            self._stop(b, look, where_at)

    def _stop(self, b: Builder, look: Value, where_at: Value) -> None:
        """Let each poll lead to a block that stops."""
        suspend, ends = Block("suspend"), []
        for number, poll in enumerate(self._emit.polls, 1):
            looking, last = Block(poll.look.name), Block(poll.last.name)
            b.begin(looking)
            raised = b.emit(I32, "call", (look, b.function.parameters[1]))
            b.cond_br(b.icmp("ne", raised, 0), poll.stop, poll.on)
            b.begin(last)
            b.br(suspend)
            ends.append((constant(I64, number), last))
        b.begin(suspend)
        b.store(b.phi(I64, *ends), where_at)
        self._move(b, into_frame=True)
        b.ret(STOPPED)

    def _move(self, b: Builder, into_frame: bool) -> None:
        """Move the cells into the frame or out of it."""
        for place, (cell, kind) in enumerate(self._cells):
            slot = b.gep(b.function.parameters[0], SLOT * (self._slot + 1 + place))
            source, target = (cell, slot) if into_frame else (slot, cell)
            b.store(b.load(kind, source), target)
