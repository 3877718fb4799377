"""Removes this library's frames from the tracebacks of converted functions.

Every converted function is compiled as `try: BODY except: ag__.trim(); raise`. When an exception passes, its traceback
has an entry for this function, then entries of operators and of the bodies that they call, then perhaps other functions
of the user. `trim` unlinks the library's frames down to the next function with such a guard, which has already trimmed
the rest. So each frame is visited about once, however deep the recursion.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType

from autograph.common.code_flags import code_line
from autograph.common.code_marks import Shelter, is_body, shelters
from autograph.common.trace_rules import is_own, wants_full_tracebacks

# Whether a `trim` ran out of stack: the next one does its work as well.
_is_trim_pending = False


def is_library(code: CodeType) -> bool:
    """Whether `code` belongs to this package."""
    return is_own(code.co_filename)


def user_frame() -> FrameType | None:
    """Return the innermost running frame that is not this library's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code):
        frame = frame.f_back
    return frame


def shelter_at(code: CodeType, instruction: int, without: frozenset[Shelter] = frozenset()) -> Shelter | None:
    """Return the innermost `try` or `with` of converted code around an instruction, if any.

    An exception raised there, or in a function called there, is handled in the same function. A backend that computes
    later, when the function has returned, must not stage operations there.
    """
    enclosing = shelters(code)
    if not enclosing:
        return None
    line = code_line(code, instruction) or 0
    here = (shelter for shelter in reversed(enclosing) if shelter.first <= line <= shelter.last)
    return next((shelter for shelter in here if shelter not in without), None)


class _FullTracebacks(threading.local):
    """The number of uses of `full_tracebacks` in this thread."""

    count = 0


_FULL_TRACEBACKS = _FullTracebacks()


@contextmanager
def full_tracebacks() -> Iterator[None]:
    """While it lasts, this thread keeps tracebacks whole, so that they show which code is at fault."""
    _FULL_TRACEBACKS.count += 1
    try:
        yield
    finally:
        _FULL_TRACEBACKS.count -= 1


def trim() -> None:
    """Unlink this library's frames from the traceback of the exception that the calling frame handles.

    Does nothing if the environment variable AUTOGRAPH_FULL_TRACEBACK is 1.
    """
    global _is_trim_pending
    if _FULL_TRACEBACKS.count:
        return
    try:
        error = sys.exc_info()[1]
        if error is not None and error.__traceback__ is not None and not wants_full_tracebacks():
            error.__traceback__ = _without_library(error.__traceback__, all_frames=_is_trim_pending)
            _is_trim_pending = False
    except RecursionError:
        _is_trim_pending = True


def _without_library(own: TracebackType, all_frames: bool) -> TracebackType:
    entries = [own]
    while True:
        last = entries[-1]
        behind = rest = last.tb_next
        while rest is not None and is_library(rest.tb_frame.f_code):
            rest = rest.tb_next
        if rest is None:
            break
        if rest is behind and _is_guarded(last, rest) and not all_frames:
            break
        if rest is not behind and _is_body(rest, last) and (last is not own or _OWN_ENTRY_MAY_GO):
            entries.pop()  # one entry for each call of the user's: the innermost, which is on the line that failed
        entries.append(rest)
    for entry in reversed(entries):
        rest = entry if entry.tb_next is rest else _relinked(entry, rest)
    assert rest is not None
    return rest


# Before 3.11 `raise` reuses the entries that it saw.
_OWN_ENTRY_MAY_GO = sys.version_info >= (3, 11)


def _is_body(entry: TracebackType, caller: TracebackType) -> bool:
    """Whether an entry is of a generated body, and `caller` of the function, or body, that it is a part of."""
    piece, owner = entry.tb_frame.f_code, caller.tb_frame.f_code
    names = (piece.co_filename, piece.co_name, getattr(piece, "co_qualname", ""))
    same = names == (owner.co_filename, owner.co_name, getattr(owner, "co_qualname", ""))
    return same and is_body(piece)


def _is_guarded(last: TracebackType, entry: TracebackType) -> bool:
    # If a guard removed its own entry, the entry of a body comes directly after the caller's. A frame that raised a
    # caught exception again has two entries, of which the second has not passed the guard yet.
    code = entry.tb_frame.f_code
    return ("trim" in code.co_names or is_body(code)) and entry.tb_frame is not last.tb_frame


if sys.version_info >= (3, 11):

    def _relinked(entry: TracebackType, rest: TracebackType | None) -> TracebackType:
        # Setting tb_next would search the whole chain for a cycle.
        return TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno or -1)

else:

    def _relinked(entry: TracebackType, rest: TracebackType | None) -> TracebackType:
        entry.tb_next = rest  # `raise` reuses the entries that it saw, whatever __traceback__ is now
        return entry
