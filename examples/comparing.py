"""What a call did, told so that two runs of a program can be compared."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import numpy as np


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The value or the error of a call, with the line it comes from; what was printed; the arguments afterwards."""
    value, error = None, None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            value = function(*arguments)
        except Exception as raised:
            error = type(raised), str(raised), lines_of(raised)
    return told(value), error, printed.getvalue(), told(arguments)


def lines_of(error: BaseException) -> list[tuple[str, int]]:
    """The functions and lines that an error passed through. Who calls a staged function finds its first line, too."""
    entries = [(entry.tb_frame.f_code, entry.tb_lineno) for entry in _entries(error.__traceback__)]
    return [(code.co_name, line) for code, line in entries[1:] if line != code.co_firstlineno]


def _entries(entry: TracebackType | None) -> Iterator[TracebackType]:
    while entry is not None:
        yield entry
        entry = entry.tb_next


def told(value: Any) -> Any:
    """A value with the types and dtypes of all that is in it."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value), *map(told, value)
    if isinstance(value, dict):
        return dict, *((told(key), told(part)) for key, part in value.items())
    if hasattr(value, "__dict__"):
        return type(value), told(vars(value))
    return type(value), repr(value)
