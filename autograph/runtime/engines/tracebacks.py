"""What a traceback shows of a generated function: the user's functions.

The code of a generated function bears the name, file and lines of the user's, see `places`. But what the user's
function called has been recorded along with it: an operation of a helper is one of the generated function. For such a
place, `translate` puts one entry for each of the user's functions into the traceback.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from types import CodeType, FunctionType, TracebackType
from typing import Any

from autograph.errors import DerivativeError
from autograph.runtime.blame import is_library
from autograph.runtime.engines.places import Marks, Places, Position, calls, disguised
from autograph.runtime.engines.user_locals import user_locals
from autograph.runtime.graph import Node, Place
from autograph.runtime.raising import remake
from autograph.runtime.whereabouts import Handling

FULL_TRACEBACK = "AUTOGRAPH_FULL_TRACEBACK"


def wants_generated_code() -> bool:
    """Whether the user wants to see the code of this library in tracebacks."""
    return os.environ.get(FULL_TRACEBACK) == "1"


def translate(error: BaseException, codes: Mapping[CodeType, CodeType], marks: Marks) -> None:
    """Put the user's functions in the place of generated code in the traceback of `error`.

    The frames that it makes refer to those that made them, by `f_back`. So none of these may keep a variable that
    refers to the error or its traceback: it would live on until the next collection of garbage.

    Args:
        codes: generated code, and what it was when its line numbers were marks.
    """
    _translate(error, codes, marks)
    _clear_frames(error)
    del error


def _translate(error: BaseException, codes: Mapping[CodeType, CodeType], marks: Marks) -> None:
    pieces = {code for whole in codes for code in whole.co_consts if isinstance(code, CodeType)}
    before: TracebackType | None = None
    entry = error.__traceback__
    while entry is not None:
        behind = entry.tb_next
        while behind is not None and entry.tb_frame.f_code in codes and behind.tb_frame.f_code in pieces:
            entry, behind = behind, behind.tb_next
            _link(error, before, entry)
        while behind is not None and entry.tb_frame.f_code in codes and is_library(behind.tb_frame.f_code):
            entry.tb_next = behind = behind.tb_next  # a function of this library's that the graph calls
        marked = codes.get(entry.tb_frame.f_code)
        node = _node(marked, entry.tb_lasti, marks) if marked is not None else None
        if node is not None:
            _give_context(error, node.place)
        shown = calls(node.place) if node is not None else []
        if shown and marked is not None:
            values = dict(entry.tb_frame.f_locals)
            names = user_locals(marked, marks, shown, values)
            entry = _entries(shown, behind, names)
            _link(error, before, entry)
            for _ in shown[1:]:
                assert entry is not None
                entry = entry.tb_next
        before, entry = entry, behind
    if isinstance(error, DerivativeError) and error.filename is None and before is not None:
        error.filename, error.lineno = before.tb_frame.f_code.co_filename, before.tb_lineno


def _clear_frames(error: BaseException | None) -> None:
    """Clear the variables of the frames that have made others of an error, or of what it came up beside."""
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
    """Let what a node has raised tell of the exception that the user's program was handling there."""
    for kind, args, state, places in reversed(place.exceptions) if isinstance(place, Handling) else ():
        made = remake(kind, args, state).with_traceback(_entries(calls(places), None))
        made.__context__, error.__context__ = error.__context__, made


def leave_out(error: BaseException, outer: Collection[CodeType], inner: Collection[CodeType]) -> None:
    """Take the entries of `outer` out of a traceback that are followed, but for this library's, by one of `inner`."""
    before: TracebackType | None = None
    entry = error.__traceback__
    while entry is not None:
        behind = entry.tb_next
        if entry.tb_frame.f_code in outer:
            found = behind
            while found is not None and found.tb_frame.f_code not in inner and is_library(found.tb_frame.f_code):
                found = found.tb_next
            if found is not None and found.tb_frame.f_code in inner:
                _link(error, before, found)
                entry = found
                continue
        before, entry = entry, behind


def _link(error: BaseException, before: TracebackType | None, entry: TracebackType | None) -> None:
    if before is None:
        error.__traceback__ = entry
    else:
        before.tb_next = entry


def _node(marked: CodeType, instruction: int, marks: Marks) -> Node | None:
    for start, end, mark in marked.co_lines():
        if start <= instruction < end:
            return marks[mark - 1] if mark is not None and 0 < mark <= len(marks) else None
    return None


def _entries(
    shown: list[tuple[CodeType, int]], behind: TracebackType | None, names: list[dict[str, Any]] | None = None
) -> TracebackType | None:
    places = Places()
    for number in reversed(range(len(shown))):
        code, instruction = shown[number]
        behind = _entry(code, places.position(code, instruction), behind, names[number] if names else {})
    return behind


def _entry(
    function: CodeType, position: Position, behind: TracebackType | None, names: dict[str, Any]
) -> TracebackType:
    """An entry for a call of `function` that is not there, with these variables."""
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


class _Here(Exception):
    pass


def _raise() -> None:
    raise _Here


_TEMPLATE = _raise.__code__
_MAKERS = frozenset(each.__code__ for each in (_translate, _give_context, _entries, _entry))
