"""f-strings while tracing: staged values leave a mark in the text that Python makes, to be found again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_PART = re.compile("\ue000(\\d+)\ue001")


class FStrings:
    """The f-string that is being made, if any: its staged values, as value, conversion and format."""

    def __init__(self) -> None:
        self.pieces: list[tuple[Any, str, str]] | None = None

    def mark(self, value: Any, conversion: str, spec: str) -> str:
        """What stands in the text for a staged value."""
        assert self.pieces is not None
        self.pieces.append((value, conversion, spec))
        return f"\ue000{len(self.pieces) - 1}\ue001"

    def made_by(self, thunk: Callable[[], str]) -> tuple[str, list[tuple[Any, str, str]]]:
        """The text that `thunk` makes, with its staged values."""
        pieces: list[tuple[Any, str, str]] = []
        before, self.pieces = self.pieces, pieces
        try:
            return thunk(), pieces
        finally:
            self.pieces = before


def parts_of(text: str, pieces: list[tuple[Any, str, str]]) -> tuple[Any, ...]:
    """The parts of an f-string whose staged values stand in `text` by their number."""
    parts: list[Any] = []
    for position, part in enumerate(_PART.split(text)):
        if position % 2:
            value, conversion, spec = pieces[int(part)]
            parts.append((value, conversion.lstrip("!"), parts_of(spec, pieces) if _PART.search(spec) else spec))
        elif part:
            parts.append(part)
    return tuple(parts)
