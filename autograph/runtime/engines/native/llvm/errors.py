"""Errors of this library where it makes code while the program runs, which must not be taken for the program's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograph.common import defects, forking
from autograph.errors import AutographError
from autograph.runtime.graph.operands import NoLowering


class Refused(Exception):
    """A loop is not compiled: each iteration would exit the code, or only call Python."""


_NOT_OURS = (AutographError, NoLowering, Refused, MemoryError, RecursionError)


@contextmanager
def making(what: str, place: tuple[str, int] | None = None) -> Iterator[None]:
    """While it lasts, machine code is made; what fails is this library, or LLVM with the text that it got.

    Args:
        what: the code is of.
        place: the file and line of that.

    Raises:
        Refused: it fails; see `defects`.
    """
    try:
        with forking.undivided():
            yield
    except _NOT_OURS:
        raise
    except Exception as error:
        failed = f"machine code of {what} cannot be made"
        raise Refused(defects.report(failed, error, place or (), "Python runs instead")) from error


class Optional:
    """While it lasts, something is made that a program can do without: an error of this library is only reported.

    Args:
        what: cannot be made, then.
        instead: what the program does.
    """

    def __init__(self, what: str, instead: str, place: tuple[str, int] | None = None) -> None:
        self._what = what
        self._instead = instead
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if not isinstance(error, Exception) or isinstance(error, _NOT_OURS):
            return False
        defects.report(f"{self._what} cannot be made", error, self._place or (), self._instead)
        return True


@contextmanager
def needed(what: str, place: tuple[str, int] | None = None) -> Iterator[None]:
    """While it lasts, something is made that a call that has begun cannot do without.

    Raises:
        InternalError: that fails. It is never taken for an error of the program's.
    """
    try:
        yield
    except _NOT_OURS:
        raise
    except Exception as error:
        defects.report(f"{what} cannot be made", error, place or (), "", raised=True)
