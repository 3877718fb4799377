"""Facts about code objects, computed once for each: keyed by identity, and forgotten with them.

Python's own hash of a code object visits all its constants, each time, and its equality all its instructions.
"""

from __future__ import annotations

import bisect
import functools
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar

from autograph.common.statics import class_has

T = TypeVar("T")


class OfCode(Generic[T]):
    """Facts about code objects."""

    def __init__(self) -> None:
        self._facts: dict[int, tuple[weakref.ref[CodeType], T]] = {}

    def get(self, code: CodeType) -> T | None:
        found = self._facts.get(id(code))
        return found[1] if found is not None and found[0]() is code else None

    def __len__(self) -> int:
        return len(self._facts)

    def put(self, code: CodeType, value: T) -> T:
        self._facts[id(code)] = weakref.ref(code, functools.partial(self._forget, id(code))), value
        return value

    def _forget(self, key: int, reference: weakref.ref[CodeType]) -> None:
        if (found := self._facts.get(key)) is not None and found[0] is reference:
            del self._facts[key]


def of_code(compute: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """A decorator: cache the result of a function for each code object."""
    facts: OfCode[T] = OfCode()

    @functools.wraps(compute)
    def find(code: CodeType) -> T:
        found = facts.get(code)
        return facts.put(code, compute(code)) if found is None else found

    return find


@of_code
def names_in(code: CodeType) -> list[str]:
    """All names that code uses for globals, attributes and the like, and that in it."""
    return sorted({name for each in codes_in(code) for name in each.co_names})


def codes_in(code: CodeType) -> list[CodeType]:
    """A code object and those in it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return [code, *(found for each in inner for found in codes_in(each))]


def is_compiled(function: Any) -> bool:
    """Whether a function was written in Python, and compiled by Cython, Nuitka or the like; it has no source then."""
    kind = type(function)
    looks_like_one = kind is not FunctionType and not class_has(kind, "__ag_staged__") and class_has(kind, "__code__")
    return looks_like_one and isinstance(function.__code__, CodeType)


def code_line(code: CodeType, instruction: int) -> int | None:
    """The line of an instruction."""
    starts, ends, lines = _lines(code)
    at = bisect.bisect_right(starts, instruction) - 1
    return lines[at] if at >= 0 and instruction < ends[at] else None


@of_code
def _lines(code: CodeType) -> tuple[list[int], list[int], list[int | None]]:
    """The pieces of code that are in one line: begin, end and line."""
    pieces = [piece for piece in code.co_lines() if piece[0] < piece[1]]
    return [start for start, _, _ in pieces], [end for _, end, _ in pieces], [line for _, _, line in pieces]
