"""Errors of this library where it makes machine code, which must not be taken for the program's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autograph import defects, forking
from autograph.errors import AutographError
from autograph.runtime.operands import NoLowering


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
