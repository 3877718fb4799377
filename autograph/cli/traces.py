"""Tracebacks of a program that was run, without the frames that ran it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from autograph.common.trace_rules import wants_full_tracebacks
from autograph.operators.tracebacks import is_library

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def hide_library(error: BaseException) -> None:
    """Have an exception that ends the program shown with the program's own frames, by its own `sys.excepthook`.

    To be called by the function that ran the program, while it handles the exception.
    """
    if wants_full_tracebacks():
        return
    beginning = error.__traceback__
    trace = of_the_program(beginning.tb_next if beginning else None)
    _clean_linked(error)
    show: Hook = sys.excepthook

    def excepthook(kind: type[BaseException], shown: BaseException, found: TracebackType | None) -> None:
        if shown is error:
            found = error.__traceback__ = trace
        show(kind, shown, found)

    sys.excepthook = excepthook


def _clean_linked(error: BaseException) -> None:
    visited, work = {id(error)}, [error.__cause__, error.__context__]
    while work:
        linked = work.pop()
        if linked is not None and id(linked) not in visited:
            visited.add(id(linked))
            linked.__traceback__ = of_the_program(linked.__traceback__)
            work += linked.__cause__, linked.__context__


def of_the_program(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this library, and of the import system where that called this library."""
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    shown: list[TracebackType] = []
    for is_hidden, group in itertools.groupby(entries, _is_hidden):
        together = list(group)
        if not is_hidden or not any(_is_ours(entry) for entry in together):
            shown += together
    for entry, following in zip(shown, [*shown[1:], None]):
        if entry.tb_next is not following:
            entry.tb_next = following
    return shown[0] if shown else None


def _is_ours(entry: TracebackType) -> bool:
    return is_library(entry.tb_frame.f_code)


def _is_hidden(entry: TracebackType) -> bool:
    return _is_ours(entry) or str(entry.tb_frame.f_globals.get("__name__")).startswith("importlib")
