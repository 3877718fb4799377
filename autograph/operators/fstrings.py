"""f-strings, and formatting by `%`."""

from __future__ import annotations

from typing import Any

from autograph.operators.backend import ACTIVE, Thunk, ask_tracer
from autograph.operators.unbound import rename


def fstring(text: Thunk) -> Any:
    """Return the result of the f-string in `text`; a tracing backend may return its own."""
    try:
        if ACTIVE:
            result = ask_tracer("fstring", text)
            if result is not NotImplemented:
                return result
        return text()
    except NameError as error:
        rename(error, text)
        raise


def percent(template: Any, value: Any) -> Any:
    """Return `template % value`, for a string or bytes; a tracing backend may return its own."""
    if ACTIVE:
        result = ask_tracer("percent", template, value)
        if result is not NotImplemented:
            return result
    return template % value
