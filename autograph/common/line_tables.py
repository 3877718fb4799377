"""Line tables of code objects: the lines and columns of instructions, read and replaced.

The format is CPython's own, another one since 3.11. It is checked at import: if it is not as expected, code keeps its
lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Any)


class Position(NamedTuple):
    """Lines and columns of an expression; None if unknown."""

    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None


def positions(code: CodeType) -> list[tuple[int | None, ...]]:
    """The position of each instruction, as in `Position`; before CPython 3.11, only the line is known."""
    if sys.version_info >= (3, 11):
        return [*code.co_positions()]
    return [(line,) for start, end, line in code.co_lines() for _ in range(start, end, 2)]


def with_lines(code: CodeType, spans: Iterable[tuple[int, Position]], first: int) -> CodeType:
    """The same code with other positions of its instructions.

    Args:
        spans: the positions of runs of bytes, in order.
        first: the first line of the function.
    """
    return code.replace(co_firstlineno=first, co_linetable=b"".join(_ENTRIES(spans, first))) if IS_KNOWN else code


def without_lines(function: F) -> F:
    """Let trace functions and debuggers not show a function: its code has no lines."""
    code = function.__code__
    function.__code__ = with_lines(code, [(len(code.co_code), Position(None))], code.co_firstlineno)
    return function


def _locations(spans: Iterable[tuple[int, Position]], line: int) -> Iterator[bytes]:
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
    """The kind of entry for a position, and its contents after the first line."""
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


def _lines(spans: Iterable[tuple[int, Position]], line: int) -> Iterator[bytes]:
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


_ENTRIES: Callable[[Iterable[tuple[int, Position]], int], Iterator[bytes]] = (
    _locations if sys.version_info >= (3, 11) else _lines
)


def _is_known() -> bool:
    """Whether CPython reads the table as it was written."""
    code = compile("a\nb\nc", "", "exec")
    instructions = len(code.co_code) // 2
    wanted = [Position(700, 701, 3, 4), Position(40, 40), *[Position(None)] * (instructions - 2)]
    found = positions(with_lines(code, [(2, each) for each in wanted], 50))
    return found == [each[: len(found[0])] for each in wanted]


IS_KNOWN = True
IS_KNOWN = _is_known()
