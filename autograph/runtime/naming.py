"""What a user calls the result of an instruction: the variable that the next instruction stores it in."""

from __future__ import annotations

import bisect
import dis
import itertools
from functools import lru_cache
from types import CodeType

_STORES = frozenset({"STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL"})


def code_line(code: CodeType, instruction: int) -> int | None:
    """The line that an instruction stands in."""
    starts, ends, lines = _lines(code)
    at = bisect.bisect_right(starts, instruction) - 1
    return lines[at] if at >= 0 and instruction < ends[at] else None


@lru_cache(maxsize=256)
def _lines(code: CodeType) -> tuple[list[int], list[int], list[int | None]]:
    """Where the pieces of code begin and end that stand in one line, and that line."""
    pieces = [piece for piece in code.co_lines() if piece[0] < piece[1]]
    return [start for start, _, _ in pieces], [end for _, end, _ in pieces], [line for _, _, line in pieces]


@lru_cache(maxsize=256)
def stored_names(code: CodeType) -> dict[int, tuple[str, ...]]:
    """For each instruction whose result is stored at once, by offset, the names of the variables it is stored in."""
    found: dict[int, tuple[str, ...]] = {}
    instructions = [each for each in dis.get_instructions(code) if each.opname not in ("CACHE", "EXTENDED_ARG")]
    for position, each in enumerate(instructions[:-1]):
        following = instructions[position + 1]
        names = _stored(following)[:1]
        if each.opname == "UNPACK_SEQUENCE":
            stores = itertools.takewhile(bool, map(_stored, instructions[position + 1 :]))
            names = tuple(itertools.islice(itertools.chain.from_iterable(stores), each.arg))
        if names:  # in 3.11, a frame that calls a Python function is said to be at the end of the instruction's caches
            found |= dict.fromkeys(range(each.offset, following.offset, 2), names)
    return found


def _stored(instruction: dis.Instruction) -> tuple[str, ...]:
    """The variables that an instruction sets."""
    if instruction.opname in _STORES:
        return (str(instruction.argval),)
    if instruction.opname in ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"):  # from 3.13 on
        names: tuple[str, ...] = instruction.argval
        return names if instruction.opname == "STORE_FAST_STORE_FAST" else names[:1]
    return ()


def stored_at(code: CodeType | None, name: str) -> int | None:
    """The last line on which some code sets a variable, if it does."""
    stores = {} if code is None else stored_names(code)
    lines = [code_line(code, at) for at, names in stores.items() if code is not None and name in names]
    return lines[-1] if lines else None


_AROUND = frozenset({"_getframe", "currentframe", "globals"})


def looks_around(code: CodeType) -> bool:
    """Whether code depends on who calls it, or on a module as a whole."""
    if not _AROUND.isdisjoint(code.co_names):
        return True
    constants = code.co_consts
    if any(type(constant) is tuple and "stacklevel" in constant for constant in constants):
        return True
    return any(looks_around(constant) for constant in constants if isinstance(constant, CodeType))
