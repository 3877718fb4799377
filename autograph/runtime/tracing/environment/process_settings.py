"""Guards of the settings of the process that texts made while tracing depend on.

Python limits the digits of integers that become texts; the locale formats numbers (`f"{x:n}"`) and dates; NumPy's
printing options format its numbers. Only the few texts that depend on these have a guard. The graph itself calls all
other functions that depend on settings, see `trace_rules.is_impure`.
"""

from __future__ import annotations

import _locale
import decimal
import dis
import re
import sys
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, TypeVar

import numpy as np

from autograph.common.code_flags import of_code
from autograph.common.statics import own_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.tracing.state.trace import Trace

R = TypeVar("R")

_FEWEST = 640  # digits that Python writes under any limit
_DIGITS = re.compile(f"[0-9]{{{_FEWEST},}}")
_BITS = 2120  # of integers with so many digits
_limit: Callable[[], int] = getattr(sys, "get_int_max_str_digits", int)
# Formats that depend on the locale: `n` of a number, `%A` and the like of a date.
_BY_LOCALE = re.compile(r"n$|%[^%}]")
_FIELDS_BY_LOCALE = re.compile(r"n\}|:[^}]*[%{]")  # the same in fields of `str.format`


@on_behalf
def guarded(trace: Trace, make: Callable[[], R], args: Iterable[Any] = (), specs: Iterable[Any] = ()) -> R:
    """The result of `make` while tracing, with guards for the settings that it may depend on.

    Args:
        args: the values that it computes the result from.
        specs: the formats that it uses.
    """
    result: Any
    try:
        result = make()
    except Exception as error:
        if _is_of_the_limit(error):
            _guard_digits(trace)
        raise
    if _is_long(result) or any(map(_is_long, args)):
        _guard_digits(trace)
    if type(result) is str and ("np." in result or any(issubclass(type(part), np.generic) for part in args)):
        guard_setting(trace, np.get_printoptions, "what np.set_printoptions says")
    if any(map(_asks_locale, specs)):
        guard_locale(trace)
    return result  # type: ignore[no-any-return]


def _is_of_the_limit(error: Exception) -> bool:
    """Whether Python refused to write or read an integer; also if that is within another error, which has no text."""
    try:
        text = str(error)
        return "Exceeds the limit" in text or _is_long(text)
    except ValueError:
        return True


def _is_long(value: Any) -> bool:
    """Whether a value is an integer, or a text of one, that Python may refuse to write or to read."""
    if type(value) is int:
        return value.bit_length() > _BITS
    if type(value) in (bytes, bytearray) and len(value) >= _FEWEST:
        value = value.decode("latin-1")
    return type(value) is str and len(value) >= _FEWEST and _DIGITS.search(value) is not None


def guard_setting(trace: Trace, read: Callable[..., Any], what: str, *args: Any) -> None:
    """Use the trace only while `read(*args)` gives the present value."""
    names = {"read": read, "known": read(*args)}
    trace.context.environment.guard((f"read({', '.join(map(repr, args))}) == known", names), what)


def _guard_digits(trace: Trace) -> None:
    guard_setting(trace, _limit, "what sys.set_int_max_str_digits says")


def guard_locale(trace: Trace) -> None:
    guard_setting(trace, _locale.setlocale, "the locale", _locale.LC_ALL)


def guard_decimals(trace: Trace) -> None:
    guard_setting(trace, _context_of_decimals, "the context of decimals")


def _context_of_decimals() -> list[Any]:
    found = decimal.getcontext()
    traps = [signal for signal, is_trapped in found.traps.items() if is_trapped]
    return [found.prec, found.rounding, found.Emin, found.Emax, found.capitals, found.clamp, traps]


def _asks_locale(spec: Any) -> bool:
    return type(spec) is not str or _BY_LOCALE.search(spec) is not None


def fields(template: Any) -> list[str]:
    """The formats in the fields of a template for `str.format` that may depend on the locale."""
    return ["n"] if isinstance(template, str) and _FIELDS_BY_LOCALE.search(template) else []


def asks_locale(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function formats, or searches for a pattern, by the locale."""
    if own_attribute(function, "__name__", "") == "__format__":
        return any(map(_asks_locale, args[-1:]))
    owner = own_attribute(function, "__self__")
    by_pattern = type(owner) is re.Pattern or own_attribute(function, "__module__", "") == "re"
    return by_pattern and any(map(_is_by_locale, (owner, *args[:1])))


# Those that are always registered.
_CODECS = frozenset("ascii iso8859-1 latin-1 latin1 utf-16 utf-16-be utf-16-le utf-32 utf-8 utf8".split())
_ERRORS = frozenset(
    "strict ignore replace xmlcharrefreplace backslashreplace namereplace surrogateescape surrogatepass".split()
)


def asks_registry(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether arguments of `encode` or `decode` name a codec or handler that programs may register."""
    encoding = args[0] if args else kwargs.get("encoding", "utf-8")
    errors = args[1] if len(args) > 1 else kwargs.get("errors", "strict")
    return str(encoding).lower().replace("_", "-") not in _CODECS or errors not in _ERRORS


def _is_by_locale(pattern: Any) -> bool:
    if type(pattern) is re.Pattern:
        return bool(pattern.flags & re.LOCALE)
    return type(pattern) is bytes and b"(?" in pattern and b"L" in pattern


@of_code
def specs_in(code: CodeType) -> tuple[Any, ...]:
    """The formats in the f-strings of code; None for one that the code computes."""
    found: list[Any] = []
    before: Any = None
    for instruction in dis.get_instructions(code):
        has_spec = instruction.opname == "FORMAT_VALUE" and bool((instruction.arg or 0) & 4)
        if has_spec or instruction.opname == "FORMAT_WITH_SPEC":
            found.append(before.argval if before is not None and before.opname == "LOAD_CONST" else None)
        before = instruction
    return tuple(found)
