"""Which lines of the user's the instructions of a generated function belong to.

The function is compiled with marks for line numbers, see `expressions`. Then the table of lines in its code is
written anew, with the places in the user's source that the marked nodes of the graph come from. So what is raised,
what NumPy warns of and what debuggers and profilers show is at the user's own lines, at no cost when the code runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple, TypeAlias

from autograph.common.code_marks import is_body
from autograph.runtime.graph.graph import Node, Place


class Position(NamedTuple):
    """Lines and columns of an expression; what is not known is None."""

    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None


Marks: TypeAlias = "list[Node | None]"
_Raw: TypeAlias = "tuple[int | None, ...]"


class Places:
    """Reads positions from the user's code."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[CodeType, list[_Raw]]] = {}

    def position(self, code: CodeType, instruction: int) -> Position:
        """Where in its file an instruction of the user's stands."""
        known = self._read.get(id(code))
        if known is None:
            known = self._read[id(code)] = code, list(_positions(code))
        positions = known[1]
        return Position(*positions[instruction // 2]) if 0 <= instruction // 2 < len(positions) else Position(None)


if sys.version_info >= (3, 11):

    def _positions(code: CodeType) -> Iterator[_Raw]:
        return code.co_positions()

else:

    def _positions(code: CodeType) -> Iterator[_Raw]:
        for start, end, line in code.co_lines():
            for _ in range(start, end, 2):
                yield (line,)


def calls(place: Place) -> list[tuple[CodeType, int]]:
    """A place with one entry for each call of a function of the user's.

    A function that has been converted runs in several pieces, of which the innermost tells the line.
    """
    return [pieces[-1] for pieces in pieces_of(place)]


def pieces_of(place: Place) -> list[list[tuple[CodeType, int]]]:
    """For each call of a function of the user's, its pieces, the innermost last."""
    found: list[list[tuple[CodeType, int]]] = []
    for code, instruction in place:
        if found and is_body(code) and _identity(found[-1][0][0]) == _identity(code):
            found[-1].append((code, instruction))
        else:
            found.append([(code, instruction)])
    return found


def _identity(code: CodeType) -> tuple[str, str, str]:
    return code.co_filename, code.co_name, getattr(code, "co_qualname", "")


def home(marks: Marks) -> CodeType | None:
    """The user's function that the generated one stands for."""
    for node in marks:
        if node is not None and node.place:
            return calls(node.place)[0][0]
    return None


def relocated(code: CodeType, marks: Marks, function: CodeType) -> CodeType:
    """Generated code, as if it was that of the user's `function`."""
    places = Places()
    unknown = Position(function.co_firstlineno)
    found: dict[int, Position] = {}

    def position(mark: int | None) -> Position:
        if mark is None or not 0 < mark <= len(marks):
            return unknown
        if mark not in found:
            found[mark] = _position(marks[mark - 1], places, function.co_filename) or unknown
        return found[mark]

    spans = ((end - start, position(mark)) for start, end, mark in code.co_lines())
    consts = tuple(relocated(each, marks, function) if isinstance(each, CodeType) else each for each in code.co_consts)
    return disguised(code.replace(co_consts=consts), function, spans)


def _position(node: Node | None, places: Places, filename: str) -> Position | None:
    """The innermost line of a node's place that is in the file."""
    for code, instruction in reversed(node.place if node is not None else ()):
        if code.co_filename == filename:
            found = places.position(code, instruction)
            if found.line is not None:
                return found
    return None


def disguised(code: CodeType, function: CodeType, spans: Iterator[tuple[int, Position]]) -> CodeType:
    """`code` under the name and in the file of `function`.

    Args:
        spans: for so many bytes of code, where they stand.
    """
    first = function.co_firstlineno
    table = b"".join(_ENTRIES(spans, first))
    code = code.replace(
        co_filename=function.co_filename, co_name=function.co_name, co_firstlineno=first, co_linetable=table
    )
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname=function.co_qualname)
    return code


# ------------------------------------------------------------------------------------------------- tables of lines


def _locations(spans: Iterator[tuple[int, Position]], line: int) -> Iterator[bytes]:
    """The table of Python 3.11 and later; see `Objects/locations.md` (`InternalDocs/code_objects.md`) in CPython."""
    for size, position in spans:
        start = position.line
        kind, columns = (15, b"") if start is None else _columns(position)
        for units in range(size // 2, 0, -8):
            yield bytes([0x80 | kind << 3 | min(units, 8) - 1])
            if start is not None:
                yield _signed(start - line) + columns
                line = start


@lru_cache(maxsize=256)
def _columns(position: Position) -> tuple[int, bytes]:
    """The kind of entry for a position, and what it has in it, its first line apart."""
    line, end, first, last = position
    if line is None or end is None or first is None or last is None:
        return 13, b""
    return 14, _number(end - line) + _number(first + 1) + _number(last + 1)


def _number(value: int) -> bytes:
    """Six bits a byte, the lowest first; all but the last byte have the bit 0x40."""
    found = bytearray()
    while value >= 0x40:
        found.append(0x40 | value & 0x3F)
        value >>= 6
    found.append(value)
    return bytes(found)


def _signed(value: int) -> bytes:
    return _number(-value << 1 | 1 if value < 0 else value << 1)


def _lines(spans: Iterator[tuple[int, Position]], line: int) -> Iterator[bytes]:
    """The table of Python 3.10: pairs of steps, in bytes of code and in lines; -128 for no line."""
    for size, position in spans:
        start = position.line
        step = 0 if start is None else start - line
        while step and not -127 <= step <= 127:
            part = max(-127, min(127, step))
            yield bytes([0, part & 0xFF])
            step -= part
        while size > 254:
            yield bytes([254, 0x80 if start is None else step & 0xFF])
            size, step = size - 254, 0
        yield bytes([size, 0x80 if start is None else step & 0xFF])
        line = line if start is None else start


_ENTRIES: Callable[[Iterator[tuple[int, Position]], int], Iterator[bytes]] = (
    _locations if sys.version_info >= (3, 11) else _lines
)
