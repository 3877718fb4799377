"""Callbacks: functions that the graph calls without tracing them, and their installed packages."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autograph.common.packages import why_called
from autograph.common.trace_rules import is_plain
from autograph.runtime.graph.object_model import is_users_object


class Callbacks:
    """What a trace leaves to code that runs when the graph runs.

    Attributes:
        called: the functions.
        handed: those of the user's, and objects of the user's that they get; each with the function's name.
        packages: installed packages whose functions and objects the graph uses.
        differentiated: whether a derivative is asked for, which cannot go through them.
    """

    def __init__(self) -> None:
        self.called: list[Any] = []
        self.handed: list[tuple[Any, str]] = []
        self.packages: set[str] = set()
        self.differentiated = False

    def note(self, function: Any, given: tuple[Any, ...]) -> str:
        """Note that a function is called; why it is not traced into."""
        self.called.append(function)
        package, why = why_called(function)
        self.packages.update(package)
        if type(function) is FunctionType and not is_plain(str(function.__module__)):
            self.handed += [(part, function.__name__) for part in (function, *filter(is_users_object, given))]
        return why

    def differentiate(self) -> None:
        """Note that a derivative is asked for."""
        self.differentiated = True
