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
# Where code is that is neither the user's nor staged.
INSTALLED = (os.path.dirname(os.__file__) + os.sep, os.path.dirname(np.__file__) + os.sep, "<frozen ")


def is_library(code: CodeType) -> bool:
    """Whether code is this library's, rather than the user's."""
    return trace_rules.is_own(code.co_filename)


def is_own(error: BaseException) -> bool:
    """Whether an exception is an error of this library, rather than of the code that it runs for the user."""
    for frame in reversed([entry.tb_frame for entry in entries(error)]):
        if isinstance(frame.f_globals, Fallback) or not frame.f_code.co_filename.startswith(INSTALLED):
            return trace_rules.is_at_fault(frame.f_code)  # traced code may be in an installed package
    return False


def has_wrong_arguments(error: BaseException) -> bool:
    """Whether a function of the program was called with arguments that do not fit its parameters."""
    return type(error) is TypeError and [*entries(error)][-1].tb_frame.f_code in _CALLS


_CALLS: set[CodeType] = set()  # code of this library that only calls a function of the program


def calls_programs(function: F) -> F:
    """Mark a function of this library: a `TypeError` raised there comes from the arguments that it passes on."""
    _CALLS.add(function.__code__)
    return function


def check_not_own(error: Exception) -> None:
    """Check that an exception is no error of this library, which handlers of the program must not catch.

    Raises:
        Failed: it is.
    """
    if is_own(error) and not isinstance(error, AutographError):
        raise Failed(error)


def interrupting(function: F) -> F:
    """Decorate a function that traced code calls: an error of this library passes all handlers of the program."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            check_not_own(error)
            raise

    return checked  # type: ignore[return-value]


def user_part(place: Place) -> Place:
    """The part of a place that is in the user's code."""
    return tuple((code, at) for code, at in place if not is_installed(code))


def is_installed(code: CodeType) -> bool:
    """Whether code is part of Python, this library or an installed package."""
    return code.co_filename.startswith((*INSTALLED, trace_rules.ROOT)) or bool(package_of_file(code.co_filename))


def line_of(place: Place) -> tuple[str, int] | tuple[()]:
    """The line in the user's code; if there is none, in a library that the user calls."""
    return user_line(user_part(place)) or user_line(place) or ()


def entries(error: BaseException) -> Iterator[TracebackType]:
    """The entries of a traceback, the outermost first."""
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next
