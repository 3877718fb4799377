"""Code that is compiled in haste for the first call, and goes on as good code where that takes long.

LLVM takes a tenth of the time if it is to optimise nothing. What comes of it runs five to ten times as long, which is
less in all, unless a loop has millions of turns. Nobody knows before. So hasty code stops whenever it would look at
signals: it puts its cells into the frame, behind what the caller has put there, and with them the number of the loop's
head from which it can go on. The region looks at the clock then, and lets it go on, or goes on with code from LLVM's
passes that begins at that very head.

All values that outlive a head are in cells, and everything else is read anew when a function begins. So the three codes
of one lowering do the same: that from the beginning, the hasty one, and the one that begins at a head. What has been
done since the head is done again. That changes nothing but how many turns may be run until the next look, which are no
more than have just been granted.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

from autograph.runtime.engines.native.emitter import Emitter
from autograph.runtime.engines.native.objects import SLOT

STOPPED = -1        # what hasty code gives back that can go on
PATIENCE = 5e-5     # seconds that hasty code may run, for each line of it; good code takes LLVM about as long


class Haste:
    """The texts of code in haste, and of what follows it.

    Args:
        slot: of the frame, from which on it is free.

    Attributes:
        slots: of the frame, in all.
    """

    def __init__(self, emit: Emitter, slot: int) -> None:
        self._emit = emit
        self._slot = slot
        self._cells = [(name, kind) for (_, kind), name in emit.cells.items() if not kind.startswith("[")]
        self._heads = list(dict.fromkeys(emit.polls.values()))
        self.slots = slot + 1 + len(self._cells)

    def head(self, frame: Any) -> int:
        """The number of the head from which code goes on that has stopped."""
        return int(ctypes.c_int64.from_buffer(frame, SLOT * self._slot).value)

    @property
    def patience(self) -> float:
        """How many seconds the hasty code may run."""
        return PATIENCE * self.text.count("\n")

    @cached_property
    def text(self) -> str:
        """The hasty code: it begins where the frame says, and stops instead of going on from a look at signals."""
        heads = " ".join(f"i64 {number}, label %{head}" for number, head in enumerate(self._heads, 1))
        begin = [
            f"  %where.at = getelementptr i8, ptr %frame, i64 {SLOT * self._slot}",
            "  %where = load i64, ptr %where.at",
            "  %fresh = icmp eq i64 %where, 0",
            "  br i1 %fresh, label %start, label %resume",
            "resume:",
            *self._moved("resume", into_frame=False),
            f"  switch i64 %where, label %start [ {heads} ]",
        ]
        stop: list[str] = []
        if self._heads:
            numbers = (f"[ {self._heads.index(head) + 1}, %{label} ]" for label, head in self._emit.polls.items())
            stop = ["suspend:", f"  %head = phi i64 {', '.join(numbers)}", "  store i64 %head, ptr %where.at"]
            stop += [*self._moved("suspend", into_frame=True), f"  ret i64 {STOPPED}"]
        return self._emit.written(begin, {label: ["  br label %suspend"] for label in self._emit.polls}, stop)

    def resumed(self, number: int) -> str:
        """Code that begins at a head, with the cells that are in the frame."""
        return self._emit.written([*self._moved("resume", into_frame=False), f"  br label %{self._heads[number - 1]}"])

    def _moved(self, prefix: str, into_frame: bool) -> list[str]:
        """Instructions that move the cells into the frame or out of it."""
        lines = []
        for place, (cell, kind) in enumerate(self._cells):
            slot, value = f"%{prefix}.at{place}", f"%{prefix}{place}"
            source, target = (cell, slot) if into_frame else (slot, cell)
            lines += [
                f"  {slot} = getelementptr i8, ptr %frame, i64 {SLOT * (self._slot + 1 + place)}",
                f"  {value} = load {kind}, ptr {source}",
                f"  store {kind} {value}, ptr {target}",
            ]
        return lines
