"""Measures the calls of all staged functions, for `autograph profile`. It imports little: the program runs later.

A measured function has one frame more. So functions that look at the frame of their caller are not measured.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import update_wrapper
from types import FunctionType
from typing import Any

Key = tuple[str, str, int]  # the name of a function, its file and first line


@dataclass
class Record:
    """The calls of a function; of all functions of one definition.

    Attributes:
        calls: those that are over.
        seconds: their time, that of a call within another one counted once.
        own: the same without the time in other staged functions.
        functions: the functions, as long as they are in use.
    """

    calls: int = 0
    seconds: float = 0.0
    own: float = 0.0
    functions: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)


class Stopwatch:
    """Measures the calls of the functions that are made while it is in `RUNNING`.

    Attributes:
        records: by name and place.
    """

    def __init__(self) -> None:
        self.records: dict[Key, Record] = {}
        self._lock = threading.Lock()
        self._local = threading.local()

    def timed(self, function: Any, call: Any, active: list[Any]) -> Any:
        """The implementation of a staged function, measured.

        Args:
            function: the staged function.
            call: its implementation.
            active: not empty while a function is traced; calls are then part of that.
        """
        code = getattr(function.python_function, "__code__", None)
        if type(call) is not FunctionType or code is None or function._looks_at_caller():
            return call
        record = self.records.setdefault((function.__qualname__, code.co_filename, code.co_firstlineno), Record())
        record.functions.add(function)

        def measured(*args: Any, **kwargs: Any) -> Any:
            if active:
                return call(*args, **kwargs)
            stack = self._stack()
            entry = [record, 0.0]       # the time of other functions that it calls
            stack.append(entry)
            begin = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self._count(stack, time.perf_counter() - begin)

        update_wrapper(measured, function.python_function)
        names: Any = {"co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno, "co_name": code.co_name}
        measured.__code__ = measured.__code__.replace(**names)
        return measured

    def _stack(self) -> list[list[Any]]:
        """The measured calls of this thread that are not over, the innermost last."""
        try:
            return self._local.stack  # type: ignore[no-any-return]
        except AttributeError:
            self._local.stack = []
            return self._local.stack  # type: ignore[no-any-return]

    def _count(self, stack: list[list[Any]], seconds: float) -> None:
        record, inner = stack.pop()
        is_outermost = all(other is not record for other, _ in stack)
        if stack:
            stack[-1][1] += seconds
        with self._lock:
            record.calls += 1
            record.own += seconds - inner
            if is_outermost:
                record.seconds += seconds


RUNNING: list[Stopwatch] = []


def measured(function: Any, call: Callable[..., Any], active: list[Any]) -> Callable[..., Any]:
    """The implementation of a staged function, measured while there is a stopwatch."""
    return RUNNING[-1].timed(function, call, active) if RUNNING else call
