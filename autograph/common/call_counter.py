"""Functions that count their calls at next to no cost: a prologue in their bytecode takes a tick from an iterator.

    for due in ticks:               # a list iterator, set back by `Ticks.rearm`
        if due:
            found = sample((a, b), cells)
            if found is not None:
                failed, value = found
                if failed: raise value  # without a frame of its own in the traceback
                return value
        break
    ...                             # the user's code

There is no frame more than in the plain function, and each instruction keeps its line. The tick takes 10 ns, where
calling another function would take 30. The bytecode is that of CPython 3.11 to 3.13; a check at the first use runs it.
Elsewhere `counting` gives None.
"""

from __future__ import annotations

import dis
import functools
import inspect
import math
import operator
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any, cast

from autograph.common.code_marks import staged

MOST = 1024     # calls between two samples
_LAST = 64      # ticks for threads that call before `rearm`
_SCHEDULE = [False] * MOST + [True] * _LAST
_VERSIONS = ((3, 11), (3, 12), (3, 13))

Sample = Callable[[tuple[Any, ...], "tuple[CellType, ...]"], "tuple[bool, Any] | None"]


class Ticks:
    """An iterator that gives False for each call, and True when a sample is due.

    Attributes:
        iterator: for code to take ticks from.
    """

    __slots__ = ("iterator",)

    def __init__(self, count: int = 0) -> None:
        self.iterator: Any = iter(_SCHEDULE)
        self.rearm(count)

    def rearm(self, count: int) -> None:
        """Let the next sample be due after `count` more calls."""
        self.iterator.__setstate__(MOST - min(count, MOST))

    def left(self) -> int:
        """The calls before the next sample is due."""
        return max(0, operator.length_hint(self.iterator) - _LAST)


@dataclass(eq=False)
class Pace:
    """How often calls are timed.

    Attributes:
        ticks: say when.
        interval: calls from one that is timed to the next one.
        samples: the number of calls that were timed.
        last: the seconds of the last one.
        heat: seconds in calls that were not small, estimated, and that no signature has been given yet.
    """

    ticks: Ticks = field(default_factory=Ticks)
    interval: int = 0
    samples: int = 0
    last: float = math.inf
    heat: float = 0.0

    def wait(self, calls: int) -> None:
        """Let the next call be due after so many others, or one more: or it might always be one of the same size."""
        self.interval = min(calls, MOST - 1) + self.samples.bit_count() % 2
        self.ticks.rearm(self.interval)


class Sampler:
    """A weak reference in the code of a function that counts its calls: garbage collection does not follow code."""

    __slots__ = ("_tiers",)

    def __init__(self, tiers: weakref.ref[Any] | None) -> None:
        self._tiers = tiers

    def __call__(self, values: tuple[Any, ...], cells: tuple[CellType, ...]) -> tuple[bool, Any] | None:
        tiers = None if self._tiers is None else self._tiers()
        if tiers is None or not tiers.are_called(sys._getframe(1), cells):
            return None
        try:
            return False, tiers.sample(values)
        except BaseException as error:
            trace = error.__traceback__
            while trace and trace.tb_frame.f_globals.get("__name__", "").startswith(_LIBRARY):
                trace = trace.tb_next   # to the user's function
            error.__traceback__ = trace
            return True, error

    def __reduce__(self) -> Any:
        return Sampler, (None,)     # a function that is unpickled gets other code


_LIBRARY = __name__.partition(".")[0] + "."


def counting(function: FunctionType, ticks: Ticks, sample: Sample) -> FunctionType | None:
    """A copy of `function` that counts its calls; None if its bytecode cannot be extended here.

    Args:
        ticks: say when a sample is due.
        sample: is called instead then, with the values of all parameters and the cells that the function captures. It
            gives False and the result of the call, or True and the error that it raises; or None, and the code goes
            on, which it may do in any function. Code keeps a reference to it that garbage collection does not follow.
    """
    if sys.version_info[:2] not in _VERSIONS or not _is_right():
        return None
    code = _extended(function.__code__, ticks.iterator, sample)
    return None if code is None else with_code(function, code)


def uncounted(function: FunctionType) -> FunctionType:
    """A copy of `function`, marked as `counting` does, that does not count its calls."""
    return with_code(function, staged(function.__code__, function.__code__))


def with_code(function: FunctionType, code: CodeType) -> FunctionType:
    """A copy of `function` that runs other code."""
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _extended(code: CodeType, ticks: Any, sample: Sample) -> CodeType | None:
    """The code with the prologue behind its RESUME."""
    slots = _parameter_slots(code)
    raw = code.co_code
    begin = next((at + 2 for at in range(0, len(raw), 2) if raw[at] == dis.opmap["RESUME"]), 0)
    if not begin or len(slots) > 200:
        return None
    cells = len({*code.co_varnames, *code.co_cellvars})
    added = _prologue(
        len(code.co_consts),
        [(at, code.co_varnames[at] in code.co_cellvars) for at in slots],
        range(cells, cells + len(code.co_freevars)),
    )
    units = len(added) // 2
    before, after = _split(code.co_linetable, begin // 2)
    handlers: Any = {"co_exceptiontable": _shifted(getattr(code, "co_exceptiontable"), units)}  # noqa: B009 (since 3.11)
    extended = code.replace(
        co_code=raw[:begin] + added + raw[begin:],
        co_consts=(*code.co_consts, ticks, sample),
        co_stacksize=max(code.co_stacksize, len(slots) + len(code.co_freevars) + 6),
        co_linetable=before + _unplaced(units) + after,
        **handlers,
    )
    return staged(extended, code)


def _parameter_slots(code: CodeType) -> list[int]:
    """The numbers of the local variables that are parameters, in the order of the signature."""
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    slots = [*range(positional + keywords)]
    if code.co_flags & inspect.CO_VARARGS:
        slots.insert(positional, len(slots))
    return slots + [len(slots)] * bool(code.co_flags & inspect.CO_VARKEYWORDS)


# Bytecode -------------------------------------------------------------------------------------------------------------

_IF = "POP_JUMP_FORWARD_IF_" if sys.version_info < (3, 12) else "POP_JUMP_IF_"
_CELL = "LOAD_CLOSURE" if sys.version_info < (3, 13) else "LOAD_FAST"
_END = [("END_FOR", 0), ("POP_TOP", 0)][: max(0, sys.version_info[1] - 11)]


def _prologue(constant: int, parameters: Sequence[tuple[int, bool]], cells: Sequence[int]) -> bytes:
    """The prologue of the module's docstring.

    Args:
        constant: the number of the constant that is the iterator; the next one is the function to call.
        parameters: the slot of each, and whether inner functions read it, too.
        cells: the slots of the cells that the function captures.
    """
    callee = [("LOAD_CONST", constant + 1), ("PUSH_NULL", 0)]
    values = [("LOAD_DEREF" if is_cell else "LOAD_FAST", slot) for slot, is_cell in parameters]
    values += [("BUILD_TUPLE", len(parameters)), *((_CELL, slot) for slot in cells), ("BUILD_TUPLE", len(cells))]
    call = [("PRECALL", 2), ("CALL", 2)] if sys.version_info < (3, 12) else [("CALL", 2)]
    without_iterator = [("SWAP", 2), ("POP_TOP", 0)]
    fails = _assembled([*without_iterator, ("RERAISE", 0)])
    returns = _assembled([*without_iterator, ("RETURN_VALUE", 0)])
    ends = _assembled([("UNPACK_SEQUENCE", 2), (_IF + "TRUE", len(returns) // 2)]) + returns + fails
    sampled = [
        *(callee if sys.version_info >= (3, 13) else callee[::-1]),
        *[*values, *call, ("COPY", 1), (_IF + "NONE", len(ends) // 2)],
    ]
    due = _assembled(sampled) + ends + _assembled([("POP_TOP", 0)])
    end = _assembled(_END)
    proceed = _assembled([("POP_TOP", 0), *([("JUMP_FORWARD", len(end) // 2)] if end else [])])
    due = _assembled([(_IF + "FALSE", len(due) // 2)]) + due + proceed
    return _assembled([("LOAD_CONST", constant), ("FOR_ITER", len(due) // 2)]) + due + end


def _assembled(instructions: Iterable[tuple[str, int]]) -> bytes:
    """The bytecode of instructions and their arguments, with empty caches."""
    found = bytearray()
    for name, argument in instructions:
        for shift in (24, 16, 8):
            if argument >> shift:
                found += bytes([dis.EXTENDED_ARG, argument >> shift & 0xFF])
        found += bytes([dis.opmap[name], argument & 0xFF]) + bytes(2 * _caches(name))
    return bytes(found)


def _caches(name: str) -> int:
    entries: Any = dis._inline_cache_entries  # type: ignore[attr-defined]
    return int(entries.get(name, 0) if isinstance(entries, dict) else entries[dis.opmap[name]])


# Tables of places and handlers ----------------------------------------------------------------------------------------


def _split(table: bytes, units: int) -> tuple[bytes, bytes]:
    """A line table before and behind a number of code units."""
    at = done = start = 0
    while done < units:
        start, done = at, done + (table[at] & 7) + 1
        at += 1
        while at < len(table) and not table[at] & 0x80:
            at += 1
    if done == units:
        return table[:at], table[at:]
    entry, rest = table[start:at], done - units     # an entry for instructions on both sides
    kind = entry[0] >> 3 & 15
    first = bytes([0x80 | kind << 3 | (entry[0] & 7) - rest]) + entry[1:]
    if 11 <= kind <= 12:    # one or two lines below the entry before
        kind = 10
    elif 13 <= kind <= 14:  # a line step in front, of any length
        behind = next(at for at in range(1, len(entry)) if not entry[at] & 0x40) + 1
        entry = entry[:1] + b"\0" + entry[behind:]
    return table[:start] + first, bytes([0x80 | kind << 3 | rest - 1]) + entry[1:] + table[at:]


def _unplaced(units: int) -> bytes:
    """Entries of a line table for code that is on no line, so that debuggers and coverage do not see it."""
    return b"".join(bytes([0x80 | 15 << 3 | min(rest, 8) - 1]) for rest in range(units, 0, -8))


def _shifted(table: bytes, units: int) -> bytes:
    """A table of exception handlers for code that begins later by `units`."""
    numbers = [*_varints(table)]
    for at in range(0, len(numbers), 4):
        numbers[at] += units        # start, length, target, depth and a flag
        numbers[at + 2] += units
    return b"".join(_varint(number, 0x80 * (at % 4 == 0)) for at, number in enumerate(numbers))


def _varints(table: bytes) -> Iterator[int]:
    number = 0
    for byte in table:
        number = number << 6 | byte & 63
        if not byte & 64:
            yield number
            number = 0


def _varint(number: int, first: int) -> bytes:
    """Six bits a byte, the highest first; all but the last byte have the bit 64, the first one has `first`."""
    found = [number & 63]
    while number := number >> 6:
        found.append(number & 63 | 64)
    found[-1] |= first
    return bytes(reversed(found))


@functools.cache
def _is_right() -> bool:
    """Whether extended code does what it should: counts, samples, gives results and errors on their lines."""
    seen: list[tuple[Any, ...]] = []

    def sample(values: tuple[Any, ...], cells: tuple[CellType, ...]) -> tuple[bool, Any] | None:
        seen.append((*values, *cells))
        ticks.rearm(1)
        return None if values[0] == 2 else (True, ValueError()) if values[0] else (False, values)

    def example(a: Any, *b: Any, c: int = 3, **d: Any) -> Any:
        try:
            return [a, b, c, d, captured, lambda: a + 1 // a]
        finally:
            a = None

    captured, ticks = 4, Ticks(1)
    checked = cast("FunctionType", example)
    code = _extended(checked.__code__, ticks.iterator, sample)
    if code is None:
        return False
    made = with_code(checked, code)
    try:
        results = [made(0, 1, e=2), made(0, 1, e=2), made(2), made(2), made(1)]
        made(1)
    except ValueError as error:
        trace = error.__traceback__
        is_bare = trace is not None and trace.tb_next is None
        lines, own = ([line for *_, line in each.co_lines() if line] for each in (code, checked.__code__))
        is_right = results[1] == (0, (1,), 3, {"e": 2}) and results[3][:5] == [2, (), 3, {}, 4]
        return is_bare and lines == own and is_right and seen[2] == (1, (), 3, {}, *(checked.__closure__ or ()))
    return False


def frames() -> Iterator[FrameType]:
    """The frames that are running, the innermost first."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
