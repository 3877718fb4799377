"""Keep this library's frames out of the tracebacks of converted functions.

Every converted function is compiled as `try: BODY except: ag__.trim(); raise`. When an exception comes by, its
traceback holds this function, then by turns operators and the bodies they called, then perhaps other functions
of the user. `trim` unlinks the library's frames down to the next function with such a guard, for that has trimmed
what lies behind it: however deep the recursion, each frame is looked at about once.
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

# Whether a `trim` found no room on the stack to work in: the next one does its work as well.
_is_trim_pending = False


def is_library(code: CodeType) -> bool:
    """Whether `code` belongs to this package."""
    return is_own(code.co_filename)


def user_frame() -> FrameType | None:
    """The innermost running frame that is not this library's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code):
        frame = frame.f_back
    return frame


def shelter_at(code: CodeType, instruction: int, without: frozenset[Shelter] = frozenset()) -> Shelter | None:
    """The innermost `try` or `with` of converted code around an instruction, if any.

    An exception raised there, or in what is called there, leads somewhere else in the same function first; a backend
    that computes only later, when the function is long done, must not stage what is computed there.
    """
    around = shelters(code)
    if not around:
        return None
    line = code_line(code, instruction) or 0
    here = (shelter for shelter in reversed(around) if shelter.first <= line <= shelter.last)
    return next((shelter for shelter in here if shelter not in without), None)


class _FullTracebacks(threading.local):
    """How many of those who run in this thread want tracebacks whole."""

    count = 0


_FULL_TRACEBACKS = _FullTracebacks()


@contextmanager
def full_tracebacks() -> Iterator[None]:
    """While it lasts, this thread leaves tracebacks whole, to be told whose fault an exception is."""
    _FULL_TRACEBACKS.count += 1
    try:
        yield
    finally:
        _FULL_TRACEBACKS.count -= 1


def trim() -> None:
    """Unlink this library's frames from the traceback of the exception that the calling frame handles.

    Does nothing where the environment variable AUTOGRAPH_FULL_TRACEBACK is 1.
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
    kept = [own]
    while True:
        last = kept[-1]
        behind = rest = last.tb_next
        while rest is not None and is_library(rest.tb_frame.f_code):
            rest = rest.tb_next
        if rest is None:
            break
        if rest is behind and _is_guarded(last, rest) and not all_frames:
            break
        if rest is not behind and _is_body(rest, last) and (last is not own or _OWN_ENTRY_MAY_GO):
            kept.pop()  # one call of the user's, one entry: the innermost, which is on the line that failed
        kept.append(rest)
    for entry in reversed(kept):
        rest = entry if entry.tb_next is rest else _relinked(entry, rest)
    assert rest is not None
    return rest


# Before 3.11 `raise` takes up the entries it saw.
_OWN_ENTRY_MAY_GO = sys.version_info >= (3, 11)


def _is_body(entry: TracebackType, caller: TracebackType) -> bool:
    """Whether an entry is that of a generated body, and `caller` that of the function, or a body, it is a piece of."""
    piece, owner = entry.tb_frame.f_code, caller.tb_frame.f_code
    names = (piece.co_filename, piece.co_name, getattr(piece, "co_qualname", ""))
    same = names == (owner.co_filename, owner.co_name, getattr(owner, "co_qualname", ""))
    return same and is_body(piece)


def _is_guarded(last: TracebackType, entry: TracebackType) -> bool:
    # Behind a guard that let its own entry go stands that of a body, right after the entry of who called.
    # A frame that raised again what it had caught has two entries: the second has not passed the guard yet.
    code = entry.tb_frame.f_code
    return ("trim" in code.co_names or is_body(code)) and entry.tb_frame is not last.tb_frame


if sys.version_info >= (3, 11):

    def _relinked(entry: TracebackType, rest: TracebackType | None) -> TracebackType:
        # Not by setting tb_next, which walks the whole chain in search of a loop.
        return TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno or -1)

else:

    def _relinked(entry: TracebackType, rest: TracebackType | None) -> TracebackType:
        entry.tb_next = rest  # `raise` takes up the very entries it saw, whatever __traceback__ says since
        return entry
