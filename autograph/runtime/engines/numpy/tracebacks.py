"""Tracebacks of generated functions, which show the user's functions.

The code of a generated function bears the name, file and lines of the user's, see `line_table`. But what the user's
function called has been recorded along with it: an operation of a helper is one of the generated function. For such a
place, `translate` puts one entry for each of the user's functions into the traceback.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

from autograph.common.defects import report
from autograph.common.line_tables import Position
from autograph.common.trace_rules import wants_full_tracebacks
from autograph.errors import DerivativeError
from autograph.runtime.engines.numpy.instrument import originals
from autograph.runtime.engines.numpy.line_table import Marks, Places, calls, disguised, node_of, only_calls, pieces_of
from autograph.runtime.engines.numpy.user_locals import arguments, user_locals
from autograph.runtime.graph.graph import Node, Place
from autograph.runtime.tracing.proxies.source_location import Handling
from autograph.runtime.tracing.state.blame import entries, is_installed, is_library
from autograph.runtime.tracing.state.exceptions import remake

Known = list[tuple[tuple[CodeType, int], dict[str, Any]]]  # frames of the user's, outermost first, and variables


def survived(translate: Callable[..., None]) -> Callable[..., None]:
    """Report errors of a function `translate`, so that none replaces the user's error, its last argument."""

    @functools.wraps(translate)
    def attempt(self: Any, error: BaseException, *args: Any) -> None:
        try:
            if not wants_full_tracebacks():
                translate(self, error, *args)
        except Exception as failure:
            failed = f"the traceback of {type(error).__name__} cannot be shown as the user's"
            report(failed, failure, (), "it shows generated code")
        finally:
            del error

    return attempt


def translate(
    error: BaseException, codes: Mapping[CodeType, CodeType], marks: Marks, around: Sequence[Known] = ()
) -> None:
    """Put the user's functions in the place of generated code in the traceback of `error`.

    The frames that it makes refer to those that made them, by `f_back`. So none of these may keep a variable that
    refers to the error or its traceback: it would live on until the next collection of garbage.

    Args:
        codes: generated code, and the same code with marks for line numbers.
        around: the variables of generated code that called this one and was left out, see `leave_out`.
    """
    _translate(error, codes, marks, around)
    _clear_frames(error)
    if isinstance(error, DerivativeError) and error.filename is None:
        _place_error(error)
    del error


def _translate(error: BaseException, codes: Mapping[CodeType, CodeType], marks: Marks, around: Sequence[Known]) -> None:
    pieces = {code for whole in codes for code in whole.co_consts if isinstance(code, CodeType)}
    before: TracebackType | None = None
    entry = error.__traceback__
    while entry is not None:
        behind = entry.tb_next
        while behind is not None and entry.tb_frame.f_code in codes and behind.tb_frame.f_code in pieces:
            entry, behind = behind, behind.tb_next
            _link(error, before, entry)
        while behind is not None and entry.tb_frame.f_code in codes and _is_ours(behind.tb_frame.f_code):
            entry.tb_next = behind = behind.tb_next  # a function of this library's that the graph calls
        node = node_at(entry, codes, marks)
        if node is not None and node.place:
            _give_context(error, node.place)
            frames = _with([*_called_with(error, node.place), *around], known_at(entry, codes, marks))
            entry = _entries(node.place, behind, [names for _, names in frames])
            _link(error, before, entry)
            for _ in frames[1:]:
                assert entry is not None
                entry = entry.tb_next
        before, entry = entry, behind


def _is_ours(code: CodeType) -> bool:
    return is_library(code) or only_calls(code)


def _place_error(error: DerivativeError) -> None:
    """Set file and line of an error to the innermost of the user's lines: in its traceback, or else of the call."""
    users = [entry for entry in entries(error) if not is_installed(entry.tb_frame.f_code)]
    if users:
        error.filename, error.lineno = users[-1].tb_frame.f_code.co_filename, users[-1].tb_lineno
        return
    frame: FrameType | None = sys._getframe()
    while frame is not None and is_installed(frame.f_code):
        frame = frame.f_back
    if frame is not None:
        error.filename, error.lineno = frame.f_code.co_filename, frame.f_lineno


def known_at(entry: TracebackType, codes: Mapping[CodeType, CodeType], marks: Marks) -> Known:
    """The user's frames behind an entry of generated code, and their variables as far as they are known."""
    marked = codes.get(entry.tb_frame.f_code)
    node = node_at(entry, codes, marks)
    if marked is None or node is None or not node.place:
        return []
    marked = originals.get(marked) or marked
    return [*zip(calls(node.place), user_locals(marked, marks, node.place, dict(entry.tb_frame.f_locals)))]


def _called_with(error: BaseException, place: Place) -> list[Known]:
    """The arguments, as the dispatcher has them, which calls generated code and looks like the user's function."""
    frame, whole = error.__traceback__.tb_frame if error.__traceback__ else None, place[0][0]
    while frame is not None and is_library(frame.f_code):
        frame = frame.f_back
    if frame is None or (frame.f_code.co_filename, frame.f_code.co_name) != (whole.co_filename, whole.co_name):
        return []
    return [[(calls(place)[0], arguments(*place[0], frame.f_locals))]]


def _with(around: Sequence[Known], frames: Known) -> Known:
    """Add the variables of the same frames that code around knows."""
    found = []
    for depth, (shown, names) in enumerate(frames):
        outer = [
            each[depth][1]
            for each in around
            if len(each) > depth and [at for at, _ in each[:depth]] == [at for at, _ in frames[:depth]]
        ]
        found.append((shown, {name: value for each in (*outer, names) for name, value in each.items()}))
    return found


def _clear_frames(error: BaseException | None) -> None:
    """Clear the frames that have made others for an error, or for its contexts: they refer to it."""
    while error is not None:
        entry = error.__traceback__
        while entry is not None:
            frame = entry.tb_frame.f_back
            while frame is not None and frame.f_code in _MAKERS:
                frame.clear()
                frame = frame.f_back
            entry = entry.tb_next
        error = error.__context__


def _give_context(error: BaseException, place: Place) -> None:
    """Chain an error to the exception that the user's program was handling at its node."""
    for kind, args, state, places in reversed(place.exceptions) if isinstance(place, Handling) else ():
        made = remake(kind, args, state).with_traceback(_entries(places, None))
        made.__context__, error.__context__ = error.__context__, made


def leave_out(
    error: BaseException,
    outer: Mapping[CodeType, Callable[[TracebackType], Known]],
    inner: Collection[CodeType],
    stays: Callable[[TracebackType], bool],
) -> list[Known]:
    """Take out of a traceback the entries of `outer` that are followed by one of `inner`; this library's do not count.

    Args:
        outer: for each code, a function that gives the variables of an entry.
        stays: whether an entry is one of a level of a recursion, and the next one of the level within.

    Returns:
        The variables of each entry that was taken out.
    """
    before: TracebackType | None = None
    entry = error.__traceback__
    frames = []
    while entry is not None:
        behind = entry.tb_next
        if entry.tb_frame.f_code in outer and not stays(entry):
            found = behind
            while found is not None and found.tb_frame.f_code not in inner and is_library(found.tb_frame.f_code):
                found = found.tb_next
            if found is not None and found.tb_frame.f_code in inner:
                frames.append(outer[entry.tb_frame.f_code](entry))
                _link(error, before, found)
                entry = found
                continue
        before, entry = entry, behind
    return frames


def _link(error: BaseException, before: TracebackType | None, entry: TracebackType | None) -> None:
    if before is None:
        error.__traceback__ = entry
    else:
        before.tb_next = entry


def node_at(entry: TracebackType, codes: Mapping[CodeType, CodeType], marks: Marks) -> Node | None:
    """The node that an entry of generated code is at."""
    marked = codes.get(entry.tb_frame.f_code)
    for start, end, mark in marked.co_lines() if marked is not None else ():
        if start <= entry.tb_lasti < end:
            return node_of(marks, mark)
    return None


def _entries(
    place: Place, behind: TracebackType | None, names: list[dict[str, Any]] | None = None
) -> TracebackType | None:
    places, shown = Places(), pieces_of(place)
    for number in reversed(range(len(shown))):
        (whole, _), (code, instruction) = shown[number][0], shown[number][-1]
        behind = _entry(whole, places.position(code, instruction), behind, names[number] if names else {})
    return behind


def _entry(
    function: CodeType, position: Position, behind: TracebackType | None, names: dict[str, Any]
) -> TracebackType:
    """An entry for a call of `function` that was traced, with these variables."""
    template = _TEMPLATE.replace(co_argcount=len(names), co_nlocals=len(names), co_varnames=tuple(names))
    code = disguised(template, function, iter([(len(_TEMPLATE.co_code), position)]))
    stand_in: Callable[..., None] = FunctionType(code, {"__name__": "__main__", "_Here": _Here})
    try:
        stand_in(*names.values())
    except _Here as here:
        found = here.__traceback__.tb_next if here.__traceback__ else None
        here.__traceback__ = None
    assert found is not None
    return TracebackType(behind, found.tb_frame, found.tb_lasti, position.line or function.co_firstlineno)


def is_stand_in(frame: FrameType) -> bool:
    """Whether a frame was made for a call that was traced."""
    return frame.f_globals.get("_Here") is _Here


class _Here(Exception):
    pass


def _raise() -> None:
    raise _Here


_TEMPLATE = _raise.__code__
_MAKERS = frozenset(each.__code__ for each in (_translate, _give_context, _called_with, known_at, _entries, _entry))
