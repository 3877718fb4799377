"""Whose error an exception is that comes up while tracing: the program's, or this library's."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from types import CodeType, TracebackType
from typing import Any, TypeVar

import numpy as np

from autograph import libraries
from autograph.errors import AutographError
from autograph.runtime.journal import Fallback
from autograph.runtime.signals import Failed

F = TypeVar("F", bound=Callable[..., Any])
# Code that others wrote, and that is not staged.
INSTALLED = (os.path.dirname(os.__file__) + os.sep, os.path.dirname(np.__file__) + os.sep, "<frozen ")


def is_library(code: CodeType) -> bool:
    """Whether code is this package's, rather than the user's."""
    return libraries.is_own(code.co_filename)


def is_own(error: BaseException) -> bool:
    """Whether an exception is an error of this library, rather than of what it does, or calls, for the user."""
    for frame in reversed([entry.tb_frame for entry in entries(error)]):
        if isinstance(frame.f_globals, Fallback) or not frame.f_code.co_filename.startswith(INSTALLED):
            return libraries.is_at_fault(frame.f_code)  # traced code may be a library's
    return False


def check_not_own(error: Exception) -> None:
    """Whether an exception is an error of this library, which no handler of the program may take for its own.

    Raises:
        Failed: it is.
    """
    if is_own(error) and not isinstance(error, AutographError):
        raise Failed(error)


def interrupting(function: F) -> F:
    """Decorate what traced code calls: an error of this library's ends tracing, past all handlers of the program."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            check_not_own(error)
            raise

    return checked  # type: ignore[return-value]


def entries(error: BaseException) -> Iterator[TracebackType]:
    """The entries of a traceback, the outermost first."""
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next
