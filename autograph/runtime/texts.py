"""f-strings while tracing: staged values leave a mark in the text that Python makes, to be told apart again."""

from __future__ import annotations

import re
from typing import Any

_PART = re.compile("\ue000(\\d+)\ue001")


def mark(number: int) -> str:
    """What stands in a text for a staged value."""
    return f"\ue000{number}\ue001"


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
