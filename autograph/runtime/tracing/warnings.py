"""Warnings about what is computed while tracing: the graph gives them, in each run.

`~flag` and `scale * 10` of plain values are computed once, while tracing, and Python and NumPy warn of them then. In
plain Python they warn in each call. So while a trace is made there is a filter in front of all others, which keeps
back what the thread that traces is warned of, and has the graph warn at that place.

A filter is found by asking the parts of each in turn whether they match. That is how this one learns of a warning,
and it does so whether or not it would be shown: it may be in a later run.
"""

from __future__ import annotations

import sys
import threading
import warnings
from types import FrameType
from typing import Any

import numpy as np

from autograph.common import forking
from autograph.common.trace_rules import files_of, is_own
from autograph.runtime.graph.graph import Constant
from autograph.runtime.ops.python.warnings import Site
from autograph.runtime.tracing.environment.globals import Globals
from autograph.runtime.tracing.state.trace import Trace


class Warnings:
    """While it lasts, what this thread is warned of is the graph's; a context manager."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._errors = np.errstate(all="warn")  # `np.errstate` of later runs decides what comes of it

    def __enter__(self) -> None:
        with _LOCK:
            warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined]
        _HERE.traces.append(self.trace)
        self._errors.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._errors.__exit__(*error)
        _HERE.traces.pop()
        with _LOCK:
            if _FILTER in warnings.filters:  # unless other filters have been put in the place of all
                warnings.filters.remove(_FILTER)  # type: ignore[attr-defined]


class _Here(threading.local):
    """The traces that are made in this thread, and the warning that is being asked about."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.text = self.module = ""


_HERE = _Here()
_LOCK = forking.lock()


class _Part:
    """What matches the text of every warning, or every module; it remembers it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def match(self, text: str) -> bool:
        setattr(_HERE, self.name, text)
        return True


class _Asking(type):
    def __subclasscheck__(self, category: type[Warning]) -> bool:
        """Whether the filter is for this warning, of which this is the last part."""
        if not _HERE.traces:
            return False
        _warned(_HERE.traces[-1], _HERE.text, category, _HERE.module)
        return True


class _Category(Warning, metaclass=_Asking):
    pass


_FILTER: Any = ("ignore", _Part("text"), _Category, _Part("module"), 0)
# What warns for reasons of its own, as far as it does.
_OWN = files_of("syntax", "converters", "conversion", "runtime.ops")


def _warned(trace: Trace, text: str, category: type[Warning], module: str) -> None:
    """Have the graph give a warning."""
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
