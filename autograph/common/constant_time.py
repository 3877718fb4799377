"""Finds functions whose calls with numbers and texts cannot take long: without loops and unknown calls.

A function may call itself, since each of these calls is counted, and takes no longer.

Once calls of such a function have proved to be short, they need not be timed any more. The answer only decides what to
time. So it does no harm if a global name is bound to something else later.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from autograph.common.code_flags import codes_in, names_in
from autograph.common.code_marks import unstaged
from autograph.common.statics import cell_content, class_has, is_a
from autograph.common.trip_counts import has_loop

NUMBERS = (int, float, complex, bool)
_PLAIN = frozenset({*NUMBERS, str, bytes, type(None)})
_ITEMS = 16     # that a list, tuple or dict may have to be looked at
_DEEP = 8       # functions that call each other
# Staging makes none of these faster, however long its argument is.
_SHORT = (
    *NUMBERS, abs, bin, callable, chr, divmod, hash, hex, isinstance, issubclass, len, max, min, oct, ord, pow, repr,
    round, str, type,
)


def is_plain_data(value: Any) -> bool:
    """Whether a value is a number or a text, or a few of these."""
    if type(value) in (list, tuple, dict):
        items = [*value.values()] if type(value) is dict else value  # at once: other threads may change it
        return len(value) <= _ITEMS and all(type(item) in _PLAIN for item in items)
    return type(value) in _PLAIN


def takes_constant_time(function: Any, around: tuple[Any, ...] = ()) -> bool:
    """Whether calls with plain data take about the same time, without those of itself, whichever data these are.

    Args:
        around: the functions that call this one.
    """
    if function in around[:1]:
        return True
    if type(function) is not FunctionType or function in around or len(around) == _DEEP:
        return False
    if any(map(has_loop, codes_in(function.__code__))):
        return False
    return all(_is_short(value, (*around, function)) for value in _used(function))


def recurses(function: Any) -> bool:
    """Whether a function calls itself, perhaps through others, as far as its globals and variables now say."""
    if type(function) is not FunctionType:
        return False
    if "." in function.__qualname__ and function.__name__ in names_in(function.__code__):
        return True     # a method, it seems
    found: list[Any] = [function]
    for each in found:      # which grows
        inner = [value for value in map(unstaged, _used(each)) if type(value) is FunctionType]
        if function in inner:
            return True
        found += [value for value in inner if value not in found][: _DEEP - len(found)]
    return False


def _used(function: FunctionType) -> Iterator[Any]:
    """The values of the names in a function; `...` for a method of an object that is not plain data."""
    yield from (cell_content(cell) for cell in function.__closure__ or ())
    names, scopes = names_in(function.__code__), [function.__globals__, vars(builtins)]
    scopes += [vars(each[name]) for name in names for each in scopes[:1] if type(each.get(name)) is ModuleType]
    for name in names:
        found = [scope[name] for scope in scopes if name in scope]
        if not any(hasattr(kind, name) for kind in _PLAIN):
            yield found[0] if found else ...


def _is_short(value: Any, around: tuple[Any, ...]) -> bool:
    """Whether a function may use a value, and call it if it is a function, and still takes constant time."""
    if is_plain_data(value) or type(value) is ModuleType or any(value is each for each in _SHORT):
        return True
    if is_a(value, type) and issubclass(value, BaseException):
        return True
    if type(value) is BuiltinFunctionType:
        return value.__module__ == math.__name__
    is_function = type(value) is FunctionType or class_has(type(value), "__ag_staged__")
    return is_function and takes_constant_time(unstaged(value), around)
