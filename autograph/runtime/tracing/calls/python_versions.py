"""Functions of the standard library that are written in C, here as Python, so that they can be traced into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def reduce(function: Callable[[Any, Any], Any], items: Any, value: Any) -> Any:
    """`functools.reduce`."""
    for item in items:
        value = function(value, item)
    return value


def is_(first: Any, second: Any) -> Any:
    """`operator.is_`."""
    return first is second


def is_not(first: Any, second: Any) -> Any:
    """`operator.is_not`."""
    return first is not second


def add_note(error: Any, note: Any, /) -> None:
    """`BaseException.add_note`."""
    if not isinstance(note, str):
        raise TypeError(f"note must be a str, not '{type(note).__name__}'")
    if not hasattr(error, "__notes__"):
        error.__notes__ = []
    error.__notes__.append(note)
