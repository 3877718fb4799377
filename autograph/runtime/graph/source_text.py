"""The user's own text of an operation, for messages."""

from __future__ import annotations

import itertools
import linecache
from types import CodeType
from typing import Any

from autograph.runtime.graph.graph import Place

MOST = 40  # characters of a text


def source_text(place: Place) -> str:
    """The text of the innermost expression of a place, if it is on one line; "" if that is unknown.

    Python 3.10 does not know it, nor a process with `-X no_debug_ranges`.
    """
    code, instruction = place[-1] if place else (None, 0)
    if code is None or not hasattr(code, "co_positions"):
        return ""
    line, last, begin, end = _position(code, instruction)
    if line is None or line != last or begin is None or end is None:
        return ""
    text = linecache.getline(code.co_filename, line).encode("utf-8")[begin:end].decode("utf-8", "replace")
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def _position(code: CodeType, instruction: int) -> tuple[int | None, ...]:
    """First line, last line, first column and last column of an instruction."""
    every: Any = code   # has no positions in Python 3.10
    positions = itertools.islice(every.co_positions(), instruction // 2, None)
    return tuple(next(positions, (None, None, None, None)))
