"""Finds positions, comments and blank lines in the lines of a file, and lines that begin inside strings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

Span = tuple[int, int, int, int]
"""First line, first column, last line, last column; lines count from 1, columns are UTF-8 bytes."""

Place = tuple[int, int]
"""A line, from 1, and a column in UTF-8 bytes."""

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
_BRACKET = re.compile(_STRING_OR_COMMENT.pattern + r" | ([()\[\]{}])", _STRING.flags)
_TO_COLON = re.compile(r"[^:#]*(?=:)")
_COMMENT_ONLY = re.compile(r"(?:\s*;)?(\s*#.*)")
_COMMENT_BEHIND = re.compile(r"[^#]*?(\s*#.*)")


def column(line: str, offset: int) -> int:
    """Return the index in `line` of an offset in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode())


def comments(text: str) -> tuple[str, ...]:
    """Return all comments in a text, stripped."""
    if "#" not in text:
        return ()
    return tuple(found[1].rstrip() for found in _STRING_OR_COMMENT.finditer(text) if found[1])


class Lines:
    """The lines of a file; line 1 is the first. Comments are stripped of the indentation of their block."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.all = lines

    def __getitem__(self, line: int) -> str:
        return self.all[line - 1]

    def indent(self, line: int) -> str:
        """Return the white space at the beginning of a line."""
        text = self[line]
        return text[: len(text) - len(text.lstrip())]

    def width(self, line: int) -> int:
        """Return the width of a line's indentation."""
        return len(self.indent(line).expandtabs())

    def is_elif(self, node: Any) -> bool:
        """Whether a node is an `if` that was typed as `elif`."""
        if type(node).__name__ != "If":
            return False
        line = self[node.lineno]
        return line.startswith("elif", column(line, node.col_offset))

    def between(self, start: Place, end: Place) -> str:
        """Return the text between two places; line feeds separate its lines."""
        if start[0] == end[0]:
            line = self[start[0]]
            return line[column(line, start[1]) : column(line, end[1])]
        part = [line.rstrip("\r\n") for line in self.all[start[0] - 1 : end[0]]]
        part[-1] = part[-1][: column(part[-1], end[1])]
        part[0] = part[0][column(part[0], start[1]) :]
        return "\n".join(part)

    def find_colon(self, place: Place) -> Place:
        """Return the place of the first colon behind a place, outside of comments. No string may come before it."""
        line, offset = place
        start = column(self[line], offset)
        while (found := _TO_COLON.match(self[line], start)) is None:
            line, start = line + 1, 0
        return line, len(self[line][: found.end()].encode())

    def search_up(self, line: int, floor: int, word: str) -> int:
        """Return the last line up to `line` that begins with a word, or else the line below `floor`."""
        while line > floor + 1 and not self[line].lstrip().startswith(word):
            line -= 1
        return line

    def above(self, line: int, floor: int, width: int) -> tuple[str, ...]:
        """Return the comment and blank lines directly above `line`, down from `floor`.

        Args:
            width: the indentation of their block.
        """
        found = []
        while line - 1 > floor and self[line - 1].strip()[:1] in ("", "#"):
            line -= 1
            found.append(self._stripped(line, width))
        return tuple(reversed(found))

    def below(self, line: int, width: int) -> tuple[str, ...]:
        """Return the comment lines directly below `line` that are indented by `width` or more, with blank lines
        between.
        """
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

    def comment_behind(self, line: int, offset: int, only: bool = False) -> str:
        """Return the comment behind a place, with the white space before it; '' if there is none.

        Args:
            line: the line of the place.
            offset: its column; no string may come between it and the comment.
            only: return '' also if code stands between the place and the comment.
        """
        text = self[line]
        pattern = _COMMENT_ONLY if only else _COMMENT_BEHIND
        found = pattern.match(text, column(text, offset)) if "#" in text else None
        return found[1].rstrip() if found else ""

    def comments(self, first: int, last: int) -> tuple[str, ...]:
        """Return all comments on some lines, stripped."""
        return comments("".join(self.all[first - 1 : last]))


def inner_lines(text: str, line: int, fstring: bool) -> Iterable[int]:
    """Return the lines that begin inside the string tokens of a literal.

    Args:
        text: one or more string tokens, as typed.
        line: the line on which the text begins.
        fstring: whether there are f-strings, whose expressions may contain quotes. If in doubt, all lines count.
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


def reindented(line: str, was: str, indent: str) -> str:
    """Return a line with the indentation `was` replaced by `indent`; lines indented otherwise stay as they are."""
    return indent + line[len(was) :] if line and was != indent and line.startswith(was) else line


def padding(width: int, indent: str) -> str:
    """Return the white space before a column of a line that is indented by `indent`."""
    return indent + " " * (width - len(indent)) if width > len(indent) else " " * width


class Brackets:
    """Moves a text, and tracks its open brackets: lines aligned with a bracket stay aligned.

    Args:
        was: the old indentation of the text.
        indent: the new indentation.
    """

    def __init__(self, was: str, indent: str) -> None:
        self.was = was
        self.indent = indent
        self.open: list[tuple[int, int]] = []  # the old and new column of each

    def move(self, lines: Sequence[str], typed: int, now: int, fixed: Sequence[bool]) -> str:
        """Return the next piece of the text, moved.

        Args:
            lines: its lines; the first may begin in the middle of a line.
            typed: the column at which it began.
            now: the column at which it will begin.
            fixed: whether each line begins inside a string, and so must stay as it is.
        """
        moved: list[str] = []
        for line, keep, marks in zip(lines, fixed, _brackets(lines)):
            text, shift = line, now - typed
            if moved:
                typed = 0
                text = line if keep else self.place(line, len(moved) == len(lines) - 1)
                shift = len(text) - len(line)
            moved.append(text)
            for place, mark in marks:
                if mark in "([{":
                    self.open.append((typed + place, typed + place + shift))
                elif self.open:
                    self.open.pop()
        return "\n".join(moved)

    def place(self, line: str, last: bool) -> str:
        """Return a line inside the open brackets, moved. The last line of a piece may continue in the next piece."""
        rest = line.lstrip()
        if (rest or last) and self.open and len(line) - len(rest) == self.open[-1][0] + 1:
            return padding(self.open[-1][1] + 1, self.indent) + rest
        return reindented(line, self.was, self.indent)


def _brackets(lines: Sequence[str]) -> list[list[tuple[int, str]]]:
    """Return the brackets on each line, with their columns, without those in strings and comments."""
    found: list[list[tuple[int, str]]] = [[] for _ in lines]
    line = start = position = 0
    text = "\n".join(lines)
    for match in _BRACKET.finditer(text):
        if match[2]:
            line += text.count("\n", position, match.start())
            start = text.rfind("\n", 0, match.start()) + 1
            found[line].append((match.start() - start, match[2]))
            position = match.start()
    return found
