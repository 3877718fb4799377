"""Warnings of code that runs during a trace: the graph gives them in each run.

`~flag` and `scale * 10` of plain values are computed once, while tracing, and Python and NumPy warn of them then. In
plain Python they warn in each call. So during a trace, a filter in front of all others suppresses the warnings of the
tracing thread, and has the graph warn at the same place.

Python asks the parts of each filter in turn whether they match. So this filter learns of each warning, even if the
present filters would not show it: those of a later run may.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from autograph.common import forking
from autograph.common.trace_rules import files_of, is_own
from autograph.runtime.graph.graph import Constant
from autograph.runtime.ops.python.warnings import Site
from autograph.runtime.tracing.environment.globals import Globals
from autograph.runtime.tracing.state.trace import CURRENT, Trace


@contextmanager
def given_by_graph() -> Iterator[None]:
    """Within it, the graph gives the warnings of this thread."""
    with _LOCK:
        warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined]
    try:
        with np.errstate(all="warn"):  # the graph follows the `np.errstate` of its run
            yield
    finally:
        with _LOCK:
            if _FILTER in warnings.filters:  # unless the program has replaced the list
                warnings.filters.remove(_FILTER)  # type: ignore[attr-defined]


class _Here(threading.local):
    """The text and module of the warning that this thread is about to give."""

    text = module = ""


_HERE = _Here()
_LOCK = forking.lock()


class _Part:
    """A pattern of a filter that matches the text or module of every warning, and notes it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def match(self, text: str) -> bool:
        setattr(_HERE, self.name, text)
        return True


class _Asking(type):
    def __subclasscheck__(self, category: type[Warning]) -> bool:
        """Whether the filter matches a warning of this category; Python asks for the text and module before."""
        if not CURRENT.traces:
            return False
        _warned(CURRENT.traces[-1], _HERE.text, category, _HERE.module)
        return True


class _Category(Warning, metaclass=_Asking):
    pass


_FILTER: Any = ("ignore", _Part("text"), _Category, _Part("module"), 0)
# Parts of this library whose warnings are not the program's.
_OWN = files_of("syntax", "converters", "conversion", "runtime.ops")


def _warned(trace: Trace, text: str, category: type[Warning], module: str) -> None:
    """Record a warning."""
    warner: FrameType | None = None
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        own = is_own(frame.f_code.co_filename)
        if warner is None and not own and frame.f_globals.get("__name__") == module:
            warner = frame
        if frame.f_code.co_filename.startswith(_OWN):
            return
        if isinstance(frame.f_globals, Globals):
            warner = warner or frame
            break
        frame = frame.f_back
    if warner is not None:
        names: Any = warner.f_globals
        real = names.real if isinstance(names, Globals) else names
        site = Site(warner.f_code.co_filename, warner.f_lineno, real.get("__name__", "<string>"), real)
        trace.undo_log.write_back()
        trace.record_lowered("warn", (text, category, Constant(site)))
