"""Estimates how many iterations a call will run, from the loops of the function and the numbers that they may use.

The estimate takes next to no time, and only decides whether a first call is prepared to leave Python: a call of a
function with loops inside of each other on `k` levels, and a number or length `n` at hand, may run `n ** k` iterations.
A `while` counts if it compares by order, as in `while i < n`; several inside of each other count as one, since they
mostly move the same variables on, as in `quick_sort`.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from autograph.common.bytecode import is_order, raw_instructions
from autograph.common.code_flags import codes_in, of_code
from autograph.common.cpython_internals import attribute_values

LONG = 2_500_000  # iterations
MOST = 3        # levels of loops that count
_SIZED = (list, tuple, range)    # over whose items loops can be staged


def runs_long(function: Any, values: Iterable[Any]) -> bool:
    """Whether a call may run so many iterations that its loops get hot before it ends.

    Args:
        values: of the parameters.
    """
    if type(function) is not FunctionType:
        return False
    largest = max((size for value in _at_hand(function, values) for size in _sizes(value)), default=0)
    if largest**MOST < LONG:    # first calls wait for this, so code is read only if need be
        return False
    depth = loop_depth(function.__code__)
    return depth > 0 and largest**depth >= LONG


def _at_hand(function: FunctionType, values: Iterable[Any]) -> Iterator[Any]:
    """The values that the loops of a call may go through, or count to."""
    names = function.__globals__
    for value in values:
        yield value
        yield from attribute_values(value)
    yield from (value for value in function.__code__.co_consts if type(value) is not str)   # docstrings are long
    yield from (names[name] for name in function.__code__.co_names if name in names)


def _sizes(value: Any) -> Iterator[int]:
    if type(value) is int:
        yield min(value, LONG) if value > 0 else 0
    elif type(value) in _SIZED:
        yield len(value)
    elif hasattr(type(value), "__array_interface__") or type(value).__module__ == "numpy":
        yield from (size for size in getattr(value, "shape", ()) if type(size) is int)


@of_code
def loop_depth(code: CodeType) -> int:
    """How many loops of a function are inside of each other, at most `MOST`."""
    return min(MOST, max(map(_own_depth, codes_in(code))))


def _own_depth(code: CodeType) -> int:
    if not _may_loop(code):
        return 0
    every = [*raw_instructions(code)]
    loops: dict[int, int] = {}     # where each begins, and where it ends: `continue` jumps back, too
    for begin, end in _spans(every):
        loops[begin] = max(end, loops.get(begin, 0))
    orders = {offset for offset, operation, argument in every if is_order(dis.opname[operation], argument)}
    fors = {offset for offset, operation, _ in every if operation == dis.opmap["FOR_ITER"]}

    def depth(at: int) -> int:
        around = [range(begin, end) for begin, end in loops.items() if begin <= at < end]
        whiles = [each for each in around if each[0] not in fors]
        return len(around) - len(whiles) + any(not orders.isdisjoint(each) for each in whiles)

    return max(map(depth, loops), default=0)


def has_loop(code: CodeType) -> bool:
    """Whether code, without that in it, has a loop of any kind."""
    return _may_loop(code) and any(_spans(raw_instructions(code)))


def _may_loop(code: CodeType) -> bool:
    """Whether there is a backward jump; this is looked at first, for first calls wait for it."""
    return not _BACKWARD.isdisjoint(code.co_code[::2])


def _spans(instructions: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """The first instruction of each loop, and the one behind it."""
    for offset, operation, argument in instructions:
        if operation in _BACKWARD:
            target = 2 * argument if sys.version_info < (3, 11) else offset + _JUMP - 2 * argument
            if target <= offset:
                yield target, offset + 2


_JUMP = 4 if sys.version_info >= (3, 13) else 2     # bytes of a backward jump, with its cache


def _backward() -> frozenset[int]:
    names = [name for name in dis.opmap if "BACKWARD" in name and "NO_INTERRUPT" not in name]
    if sys.version_info < (3, 11):
        names = ["JUMP_ABSOLUTE", *(name for name in dis.opmap if name.startswith("POP_JUMP_IF"))]
    return frozenset(dis.opmap[name] for name in names)


_BACKWARD = _backward()
