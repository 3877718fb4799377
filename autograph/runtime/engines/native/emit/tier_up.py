"""Code that is compiled by the baseline tier for the first call, and goes on as good code where that takes long.

LLVM takes a tenth of the time if it is to optimize nothing. What comes of it runs five to ten times as long, which is
less in all, unless a loop has millions of iterations. Nobody knows before. So baseline code stops whenever it has
looked at
signals: it puts its cells into the frame, behind what the caller has put there, and with them the number of the place,
which tells the loop's head from which it can go on. The region looks at the clock then, and lets it go on, or goes on
with code from LLVM's passes that begins at that very head.

All values that outlive a head are in cells, and everything else is read anew when a function begins. So the three codes
of one lowering do the same: that from the beginning, the baseline one, and the one that begins at a head. What has been
done since the head is done again. That changes nothing but how many iterations may be run until the next look, which
are no more than have just been granted.

LLVM selects most instructions one by one, in a fraction of the time that it takes for calls of functions by name, for
`switch` and for what comes before these in a block. So there is no `switch` here, and there are few calls.
"""

from __future__ import annotations

import ctypes
from typing import Any

from autograph.common import forking
from autograph.runtime.engines.native.emit.emitter import Emitter, Poll
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT

STOPPED = -1        # what baseline code gives back that can go on
PATIENCE = 5e-5     # seconds that baseline code may run, for each line of it; good code takes LLVM about as long


class BaselineTier:
    """The texts of baseline code, and of what follows it.

    Args:
        slot: of the frame, from which on it is free.

    Attributes:
        slots: of the frame, in all.
        places: how many there are where it may stop.
    """

    def __init__(self, emit: Emitter, slot: int) -> None:
        self._emit = emit
        self._slot = slot
        self._cells = [(name, kind) for (_, kind), name in emit.cells.items() if not kind.startswith("[")]
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
        polls = self._emit.polls
        begin = [
            f"  %where.at = getelementptr i8, ptr %frame, i64 {SLOT * self._slot}",
            "  %where = load i64, ptr %where.at",
            "  %fresh = icmp eq i64 %where, 0",
            "  br i1 %fresh, label %start, label %resume",
            "resume:",
            *self._moved("resume", into_frame=False),
            *_choice("resume", "%where", [poll.head for poll in polls] or ["start"]),
        ]
        if not polls:
            return self._emit.written(begin)
        looks = {poll.look: _look(number, poll) for number, poll in enumerate(polls)}
        ends = {poll.last: ["  br label %suspend"] for poll in polls}
        begin.insert(0, "  %look = load ptr, ptr @signals.at")
        end = [
            "suspend:",
            f"  %place = phi i64 {', '.join(f'[ {number}, %{poll.last} ]' for number, poll in enumerate(polls, 1))}",
            "  store i64 %place, ptr %where.at",
            *self._moved("suspend", into_frame=True),
            f"  ret i64 {STOPPED}",
        ]
        return _SIGNALS + self._emit.written(begin, looks | ends, end)

    def resumed(self, number: int) -> str:
        """Code that begins at the head of a place, with the cells that are in the frame."""
        moved = self._moved("resume", into_frame=False)
        return self._emit.written([*moved, f"  br label %{self._emit.polls[number - 1].head}"])

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


def _look(number: int, poll: Poll) -> list[str]:
    """The look at signals at one place."""
    return [
        f"  %raised{number} = call i32 %look(ptr %table)",
        f"  %signal{number} = icmp ne i32 %raised{number}, 0",
        f"  br i1 %signal{number}, label %{poll.stop}, label %{poll.on}",
    ]


# Each look calls the function by this, so that LLVM need not look for its name again.
_SIGNALS = "@signals.at = internal global ptr @signals\n"


def _choice(prefix: str, number: str, labels: list[str]) -> list[str]:
    """Instructions that go to the first of these blocks if a number is 1, and so on."""
    lines = []
    for place, label in enumerate(labels[:-1], 1):
        is_it, other = f"%{prefix}.is{place}", f"{prefix}.not{place}"
        lines += [f"  {is_it} = icmp eq i64 {number}, {place}", f"  br i1 {is_it}, label %{label}, label %{other}"]
        lines.append(f"{other}:")
    return [*lines, f"  br label %{labels[-1]}"]
