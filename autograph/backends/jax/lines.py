"""The line of the user's code that runs, for errors and notes; and marks in texts."""

from __future__ import annotations

import os
from types import CodeType

import jax

from autograph.errors import StagingError
from autograph.operators.tracebacks import is_library, user_frame

_JAX = os.path.dirname(jax.__file__) + os.sep


def here(message: str) -> StagingError:
    """Return a StagingError at the line of the user's code that runs."""
    return StagingError(message, *place())


def place() -> tuple[str, int] | tuple[()]:
    """File and line of the user's code that runs."""
    frame = user_frame()
    while frame is not None and (is_library(frame.f_code) or is_of_jax(frame.f_code)):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ()


def is_of_jax(code: CodeType) -> bool:
    """Whether code is JAX's."""
    return code.co_filename.startswith(_JAX)


def mark(number: int) -> str:
    """The text that stands for a formatted array."""
    return f"\0{number}\1"
