"""Places in a text: columns, spans, and the lines that begin inside a string."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Span = tuple[int, int, int, int]
"""First line, first column, last line, last column; lines count from 1, columns are UTF-8 bytes."""

_STRING = re.compile(
    r"""[a-zA-Z]{0,2}(?:
        '''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''
        | \"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"""
        | '[^'\\\n]*(?:\\.[^'\\\n]*)*'
        | "[^"\\\n]*(?:\\.[^"\\\n]*)*"
    )""",
    re.VERBOSE | re.DOTALL,
)
_BETWEEN = re.compile(r"(?:[ \t\f\n]|\\\n|#[^\n]*)*")


def column(line: str, offset: int) -> int:
    """The index in `line` of an offset in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode())


def segment(lines: Sequence[str], span: Span) -> str:
    """The text of a span, its lines parted by line feeds."""
    first, start, last, end = span
    part = [line.rstrip("\r\n") for line in lines[first - 1 : last]]
    part[-1] = part[-1][: column(part[-1], end)]
    part[0] = part[0][column(part[0], start) :]
    return "\n".join(part)


def width(indent: str) -> int:
    """How far some white space indents."""
    return len(indent.expandtabs())


def inner_lines(text: str, line: int, fstring: bool) -> Iterable[int]:
    """The lines that begin inside the string tokens of a literal.

    Args:
        text: one or more string tokens, as typed.
        line: the line it begins on.
        fstring: some are f-strings, whose expressions may hold quotes: if in doubt, every line counts.
    """
    if fstring and ('"""' in text or "'''" in text):
        return range(line + 1, line + text.count("\n") + 1)
    found: list[int] = []
    first, position = line, 0
    while position < len(text):
        token = _STRING.match(text, position)
        if token is None:
            return range(first + 1, first + text.count("\n") + 1)
        inner = token[0].count("\n")
        found.extend(range(line + 1, line + inner + 1))
        between = _BETWEEN.match(text, token.end())
        position = between.end() if between else len(text)
        line += text.count("\n", token.start(), position)
    return found
