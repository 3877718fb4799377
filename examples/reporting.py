"""What the examples end with: a table of what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in plain text; the first column to the left, numbers to the right."""
    cells = [[_text(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells]
    return "\n".join([title, *lines[:1], "-" * len(lines[0]), *lines[1:]])


def _text(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
