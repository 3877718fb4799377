"""f-strings, and texts that are formatted by `%`."""

from __future__ import annotations

from typing import Any

from autograph.operators.backend import ACTIVE, Thunk, ask_tracer
from autograph.operators.unbound import rename


def fstring(text: Thunk) -> Any:
    """The f-string in `text`; while a backend traces, its result for it."""
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
    """`template % value`, of a text or bytes; while a backend traces, what that makes of it."""
    if ACTIVE:
        result = ask_tracer("percent", template, value)
        if result is not NotImplemented:
            return result
    return template % value
