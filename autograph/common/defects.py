"""Errors of this library itself: each is reported once, and the program goes on as plain Python.

With AUTOGRAPH_DEBUG=1 in the environment, as in this project's tests, each is raised as an `InternalError` instead.
"""

from __future__ import annotations

import os

from autograph.errors import InternalError

VARIABLE = "AUTOGRAPH_DEBUG"
_reported: set[tuple[str, str]] = set()


def are_raised() -> bool:
    """Whether errors of this library are raised."""
    return os.environ.get(VARIABLE) == "1"


def internal_error(failed: str, error: BaseException, place: tuple[str, int] | tuple[()] = ()) -> InternalError:
    """The exception to raise for an error of this library, from that error."""
    message = f"{failed} ({_described(error)}). This is an error in autograph, please report it with this traceback "
    message += "and the output of `autograph doctor`"
    return InternalError(message, *place)


def report(
    failed: str, error: BaseException, place: tuple[str, int] | tuple[()], instead: str, raised: bool = False
) -> str:
    """Log an error of this library, once for each failure and cause; gives the message for `explain`.

    Args:
        failed: the failure, such as "f cannot be staged".
        place: its file and line in the program.
        instead: the consequence, such as "it runs as plain Python".
        raised: raise the error in any case, because the program cannot go on.

    Raises:
        InternalError: AUTOGRAPH_DEBUG=1 asks for it, or `raised`.
    """
    if raised or are_raised():
        raise internal_error(failed, error, place) from error
    message = f"{failed} ({_described(error)}), and {instead}. This is an error in autograph, please report it with "
    message += f"the traceback that {VARIABLE}=1 in the environment shows, and the output of `autograph doctor`"
    if (failed, _described(error)) not in _reported:
        _reported.add((failed, _described(error)))
        log(("{}:{}: ".format(*place) if place else "") + message)
    return message


def log(message: str) -> None:
    """Log a warning. (A program may turn warnings of Python's into errors, or count them.)"""
    import logging

    logging.getLogger("autograph").warning(message)


def _described(error: BaseException) -> str:
    """The error, and the line of this library that raised it."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{error!r}{where}"
