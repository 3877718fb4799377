"""Attributes exceptions during a trace to the program, or to this library."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from types import CodeType, TracebackType
from typing import Any, TypeVar

import numpy as np

from autograph.common import trace_rules
from autograph.common.packages import package_of_file
from autograph.errors import AutographError
from autograph.runtime.graph.graph import Place, user_line
from autograph.runtime.tracing.proxies.graph_break import Failed
from autograph.runtime.tracing.state.undo_log import Fallback

F = TypeVar("F", bound=Callable[..., Any])
# Code that others wrote, and that is not staged.
INSTALLED = (os.path.dirname(os.__file__) + os.sep, os.path.dirname(np.__file__) + os.sep, "<frozen ")


def is_library(code: CodeType) -> bool:
    """Whether code is this package's, rather than the user's."""
    return trace_rules.is_own(code.co_filename)


def is_own(error: BaseException) -> bool:
    """Whether an exception is an error of this library, rather than of what it does, or calls, for the user."""
    for frame in reversed([entry.tb_frame for entry in entries(error)]):
        if isinstance(frame.f_globals, Fallback) or not frame.f_code.co_filename.startswith(INSTALLED):
            return trace_rules.is_at_fault(frame.f_code)  # traced code may be a library's
    return False


def is_misfit(error: BaseException) -> bool:
    """Whether a function of the program was called with arguments that do not fit its parameters."""
    return type(error) is TypeError and [*entries(error)][-1].tb_frame.f_code in _CALLS


_CALLS: set[CodeType] = set()  # code of this library that does nothing but call a function of the program


def calls_programs(function: F) -> F:
    """Mark a function of this library: a `TypeError` raised there comes from the arguments that it passes on."""
    _CALLS.add(function.__code__)
    return function


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


def of_user(place: Place) -> Place:
    """The user's part of a place, without what libraries do that the user calls."""
    return tuple((code, at) for code, at in place if not is_installed(code))


def is_installed(code: CodeType) -> bool:
    """Whether code is part of Python, this library or an installed package."""
    return code.co_filename.startswith((*INSTALLED, trace_rules.ROOT)) or bool(package_of_file(code.co_filename))


def line_of(place: Place) -> tuple[str, int] | tuple[()]:
    """The user's line, rather than one of a library that the user calls."""
    return user_line(of_user(place)) or user_line(place) or ()


def entries(error: BaseException) -> Iterator[TracebackType]:
    """The entries of a traceback, the outermost first."""
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next
