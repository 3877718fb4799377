"""Outcomes of calls: value, printed text, exception; and how two of them differ."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call.

    Attributes:
        value: the result.
        printed: the text written to `sys.stdout`.
        exception: the exception raised, or None.
    """

    value: Any = None
    printed: str = ""
    exception: Exception | None = None

    def __str__(self) -> str:
        ended = f"returned {self.value!r}" if self.exception is None else f"raised {_text(self.exception)}"
        return f"printed {self.printed!r}, {ended}" if self.printed else ended


def outcome_of(function: Callable[..., Any], *arguments: Any) -> Outcome:
    """Call a function, and return the outcome."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            value, exception = function(*arguments), None
        except Exception as error:
            value, exception = None, error
    return Outcome(value, out.getvalue(), exception)


def difference(expected: Outcome, actual: Outcome, rtol: float = 1e-6) -> str:
    """Compare two outcomes.

    Texts, exceptions' classes and messages, structures, shapes and kinds of numbers (bool, integer, float, complex)
    must be equal. A Python number, a NumPy scalar and an array without dimensions are equal.

    Args:
        rtol: by how much two numbers may differ, relative to the greater one.

    Returns:
        the first difference, as a sentence; "" if there is none.
    """
    if _text(expected.exception) != _text(actual.exception):
        return f"raised {_text(actual.exception)}, not {_text(expected.exception)}"
    if expected.printed != actual.printed:
        return f"printed {actual.printed!r}, not {expected.printed!r}"
    return next(_differences("the result", expected.value, actual.value, rtol), "")


def _text(exception: Exception | None) -> str:
    if exception is None:
        return "nothing"
    try:
        return f"{type(exception).__name__}: {exception}"
    except Exception as error:  # its message may be a staged value
        return f"{type(exception).__name__}, whose text raises {type(error).__name__}"


def _differences(place: str, expected: Any, actual: Any, rtol: float) -> Iterator[str]:
    if _is_numeric(expected) and _is_numeric(actual):
        yield from _of_numbers(place, np.asarray(expected), np.asarray(actual), rtol)
    elif type(expected) is not type(actual):
        yield f"{place} is {actual!r}, not {expected!r}"
    elif isinstance(expected, dict):
        if list(expected) != list(actual):
            yield f"{place} has the keys {list(actual)}, not {list(expected)}"
        for key in expected.keys() & actual.keys():
            yield from _differences(f"{place}[{key!r}]", expected[key], actual[key], rtol)
    elif isinstance(expected, (list, tuple)):
        if len(expected) != len(actual):
            yield f"{place} has {len(actual)} items, not {len(expected)}"
        for i, pair in enumerate(zip(expected, actual)):
            yield from _differences(f"{place}[{i}]", *pair, rtol)
    elif expected != actual:
        yield f"{place} is {actual!r}, not {expected!r}"


def _is_numeric(value: Any) -> bool:
    return isinstance(value, (Number, np.generic)) or (hasattr(value, "__array__") and hasattr(value, "dtype"))


def _of_numbers(place: str, expected: Any, actual: Any, rtol: float) -> Iterator[str]:
    if expected.shape != actual.shape:
        yield f"{place} has shape {actual.shape}, not {expected.shape}"
    elif _kind(expected) != _kind(actual):
        yield f"{place} is of {actual.dtype}, not {expected.dtype}"
    elif not np.allclose(actual, expected, rtol=rtol, atol=rtol, equal_nan=True):
        yield f"{place} is {actual}, not {expected}"


def _kind(array: Any) -> str:
    return "i" if array.dtype.kind == "u" else str(array.dtype.kind)
