"""Tier-up: the baseline tier compiles code for the first call, which goes on as good code where that takes long.

LLVM takes a tenth of the time if it is to optimize nothing. What comes of it runs five to ten times as long, which is
less in all, unless a loop has millions of iterations. Nobody knows before. So baseline code stops whenever it has
looked at signals: it puts its cells into the frame, behind what the caller has put there, and with them the number of
the place, which tells the loop's head from which it can go on. The region looks at the clock then, and lets it go on,
or goes on with code from LLVM's passes that begins at that very head (on-stack replacement).

All values that outlive a head are in cells, and everything else is read anew when a function begins. So the three codes
of one lowering do the same: that from the beginning, the baseline one, and the one that begins at a head. What has been
done since the head is done again. That changes nothing but how many iterations may be run until the next look, which
are no more than have just been granted.

LLVM selects most instructions one by one, in a fraction of the time that it takes for calls of functions by name, for
`switch` and for what comes before these in a block. So there is no `switch` here, and there are few calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from autograph.common import forking
from autograph.runtime.engines.native.emit.loop_emitter import LoopEmitter
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.interrupts import SIGNALS, define_signals, give_way
from autograph.runtime.engines.native.llvm.ir import I32, I64, PTR, Block, Global, Module, Value, constant
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.graph.graph import Place

STOPPED = -1        # what baseline code gives back that can go on
PATIENCE = 5e-5     # seconds that baseline code may run, for each line of it; good code takes LLVM about as long


def assembled(emit: LoopEmitter, begin: Callable[[Builder], None] | None = None) -> tuple[str, list[Place]]:
    """The assembly of the function, and the places in the user's code that it names, see `printer.Printer`.

    Args:
        begin: builds how it begins, behind the allocation of its cells; by default it goes to `start`.
    """
    whole, module = emit.b.function, Module()
    module.declared, module.globals = dict(whole.module.declared), dict(whole.module.globals)
    function = module.define(emit.name, whole.result, *whole.parameters)
    function.numbers = whole.numbers
    if emit.polls:
        del module.declared[SIGNALS]
        define_signals(module, emit.objects.place_of(give_way))
    entry = Block(emit.entry.name)
    entry.instructions = list(emit.entry.instructions)
    b = Builder(function, entry)
    begin(b) if begin is not None else b.br(emit.start)
    function.blocks |= {name: block for name, block in whole.blocks.items() if name not in function.blocks}
    return emit.printer.print(verified(module)), emit.printer.origins


class BaselineTier:
    """The texts of baseline code, and of what follows it.

    Args:
        slot: of the frame, from which on it is free.

    Attributes:
        slots: of the frame, in all.
        places: how many there are where it may stop.
    """

    def __init__(self, emit: LoopEmitter, slot: int) -> None:
        self._emit = emit
        self._slot = slot
        self._cells = [(place, kind) for (_, kind), place in emit.cells.places.items() if kind[0] != "["]
        self.slots = slot + 1 + len(self._cells)
        self.places = len(emit.polls)

    def stopped(self, frame: Any) -> int:
        """The number of the place where code has stopped."""
        return int(ctypes.c_int64.from_buffer(frame, SLOT * self._slot).value)

    @property
    def patience(self) -> float:
        """How many seconds the baseline code may run."""
        return PATIENCE * self.text.count("\n")

    @forking.cached_property
    def text(self) -> str:
        """The baseline code: it begins where the frame says, and stops instead of going on from a look at signals."""
        return assembled(self._emit, self._begin)[0]

    def resumed(self, number: int) -> str:
        """Code that begins at the head of a place, with the cells that are in the frame."""

        def begin(b: Builder) -> None:
            self._move(b, into_frame=False)
            b.br(self._emit.polls[number - 1].head)

        return assembled(self._emit, begin)[0]

    def _begin(self, b: Builder) -> None:
        function, polls = b.function, self._emit.polls
        look: Value | None = None
        if polls:   # each look calls the function by this, so that LLVM need not look for its name again
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
        """Let each look at signals lead to a block that stops."""
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
