"""The lines of a file: places and spans, comments and blank lines, what begins inside a string."""

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
_STRING_OR_COMMENT = re.compile(_STRING.pattern + r" | (\#[^\n]*)", _STRING.flags)
_AT_END = re.compile(r"(?:\s*;)?(\s*#.*)")
_BEHIND = re.compile(r"[^#]*?(\s*#.*)")


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


class Lines:
    """The lines of a file; line 1 is the first. Comments come stripped of the indentation of their block."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.all = lines

    def __getitem__(self, line: int) -> str:
        return self.all[line - 1]

    def indent(self, line: int) -> str:
        """The white space that a line begins with."""
        text = self[line]
        return text[: len(text) - len(text.lstrip())]

    def width(self, line: int) -> int:
        """How far a line is indented."""
        return len(self.indent(line).expandtabs())

    def begins(self, line: int, offset: int, word: str) -> bool:
        """Whether a word stands at a place."""
        return self[line].startswith(word, column(self[line], offset))

    def above(self, line: int, floor: int, width: int) -> tuple[str, ...]:
        """The comment and blank lines right above `line`, up to `floor`; what holds them is indented by `width`."""
        found = []
        while line - 1 > floor and self[line - 1].strip()[:1] in ("", "#"):
            line -= 1
            found.append(self._stripped(line, width))
        return tuple(reversed(found))

    def below(self, line: int, width: int) -> tuple[str, ...]:
        """The comment lines right below `line` that are indented by `width` or more, with blank lines between."""
        found: list[str] = []
        end = 0
        while line < len(self.all):
            line += 1
            text = self[line].strip()
            if text and (text[0] != "#" or self.width(line) < width):
                break
            found.append(self._stripped(line, width))
            end = len(found) if text else end
        return tuple(found[:end])

    def _stripped(self, line: int, width: int) -> str:
        text = self[line].strip()
        return " " * (self.width(line) - width) + text if text else ""

    def comment_at_end(self, line: int, offset: int) -> str:
        """The comment that ends a line, with the space before it, if only that follows the place; else ''."""
        text = self[line]
        found = _AT_END.fullmatch(text[column(text, offset) :].rstrip()) if "#" in text else None
        return found[1] if found else ""

    def comment_behind(self, line: int, offset: int) -> str:
        """The comment behind a place where no string follows, with the space before it; or ''."""
        text = self[line]
        found = _BEHIND.match(text, column(text, offset)) if "#" in text else None
        return found[1].rstrip() if found else ""

    def comments(self, first: int, last: int) -> tuple[str, ...]:
        """All comments on some lines, without the white space around."""
        part = self.all[first - 1 : last]
        if not any("#" in line for line in part):
            return ()
        return tuple(found[1].rstrip() for found in _STRING_OR_COMMENT.finditer("".join(part)) if found[1])


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
