"""Errors of this library while it compiles during a run, which must not be taken for errors of the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from autograph.common import budget, defects, forking
from autograph.errors import AutographError
from autograph.runtime.graph.operands import NoLowering
from autograph.runtime.profiling import recorder


class Refused(Exception):
    """A loop is not compiled: each iteration would exit the code, or only call Python.

    Attributes:
        callbacks: the Python callbacks that its code would have.
    """

    def __init__(self, reason: str, callbacks: Iterable[Any] = ()) -> None:
        super().__init__(reason)
        self.callbacks = tuple(callbacks)


_NOT_OURS = (AutographError, NoLowering, Refused, MemoryError, RecursionError)


@contextmanager
def compiling(what: str, place: tuple[str, int] | None = None) -> Iterator[None]:
    """Report errors in this block, which makes machine code, as defects of this library.

    Args:
        what: the name of the compiled function or loop.
        place: its file and line.

    Raises:
        Refused: there was an error; see `defects`.
    """
    try:
        with forking.undivided(), budget.untimed(), recorder.phase(recorder.COMPILING):
            yield
    except _NOT_OURS:
        raise
    except Exception as error:
        failed = f"machine code of {what} cannot be made"
        raise Refused(defects.report(failed, error, place or (), "Python runs instead")) from error


class Optional:
    """Report errors in this block, which makes something optional, and continue.

    Args:
        what: the name of what is made.
        instead: what the program does without it.
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
    """Report errors in this block, which makes something that a running call needs, and raise.

    Raises:
        InternalError: there was an error.
    """
    try:
        yield
    except _NOT_OURS:
        raise
    except Exception as error:
        defects.report(f"{what} cannot be made", error, place or (), "", raised=True)
