"""Running programs with staged arguments, and telling which of their lines reached the backend, and how."""

from __future__ import annotations

import inspect
import itertools
import linecache
import sys
from typing import Any

import pytest

import autograph as ag
from autograph.conversion import conversions
from autograph.operators.backend import register, traced_by, unregister
from tests.recording import Recorder, Staged, show

_numbers = itertools.count()


class Log(list[tuple[Any, ...]]):
    """What a `Recorder` records, and on which line of the program."""

    def __init__(self) -> None:
        self.places: list[tuple[str, int]] = []

    def append(self, entry: tuple[Any, ...]) -> None:
        frame = sys._getframe(1)
        while frame.f_back and not is_program(frame.f_code.co_filename):
            frame = frame.f_back
        self.places.append((frame.f_code.co_filename, frame.f_lineno))
        super().append(entry)


class Raised(Exception):
    """Stands for an exception that a staged branch raises."""


class Pair(Staged):
    """A staged pair, which can be taken apart."""

    def __iter__(self) -> Any:
        return iter((self[0], self[1]))


class Tracer(Recorder):
    """A `Recorder` that also stages exceptions in branches, and loops over pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Any] = Log()

    def if_stmt(self, test, body, orelse, state):
        return super().if_stmt(test, self._passing(body), self._passing(orelse), state)

    def _passing(self, branch):
        def run():
            try:
                return branch()
            except Raised:
                return None

        return branch and run

    def raise_(self, exception):
        super().raise_(exception)
        made = Raised()
        if isinstance(exception, BaseException):
            made.__traceback__ = exception.__traceback__
            made.__cause__, made.__context__ = exception.__cause__, exception.__context__
        return made

    def for_stmt(self, iterable, body, state, until, options, first):
        staged = self.owns(iterable) or self.owns(first)
        item = (Pair if show(iterable).startswith(("enumerate", "zip")) else Staged)("item")
        return self._loop("for_stmt", staged, lambda: body(item), state, until, options)


class Trace:
    """One call of a function while a backend traces: what it gave, and what reached the backend."""

    def __init__(self, function: Any, *args: Any, **kwargs: Any) -> None:
        self.backend = Tracer()
        register(self.backend)
        try:
            with traced_by(self.backend):
                self.result = function(*args, **kwargs)
        finally:
            unregister(self.backend)

    @property
    def log(self) -> Any:
        return self.backend.log

    def facts(self, filename: str) -> dict[int, str]:
        """What reached the backend from each line of a program."""
        facts: dict[int, str] = {}
        for (file, line), entry in zip(self.log.places, self.log):
            if file == filename:
                facts[line] = f"{facts[line]}; {told(entry)}" if line in facts else told(entry)
        return facts


def told(entry: tuple[Any, ...]) -> str:
    """An entry of the log, as text: the construct, and its state or operands."""
    construct, *rest = entry
    parts = [", ".join(part) if isinstance(part, tuple) else getattr(part, "__name__", str(part)) for part in rest]
    return " ".join([construct, *parts]).strip()


def execute(text: str, filename: str | None = None, **names: Any) -> dict[str, Any]:
    """Run the text of a module, whose source can be found."""
    module = {"__name__": "user", "ag": ag, **names}
    filename = filename or f"<program {next(_numbers)}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    exec(compile(text, filename, "exec", dont_inherit=True), module)
    return module


def is_program(filename: str) -> bool:
    return filename.startswith("<program ")


def staged_arguments(function: Any) -> dict[str, Staged]:
    """A staged value for each parameter that has no default."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: Staged(p.name) for p in parameters if p.default is p.empty}


def trace(function: Any) -> Trace:
    """Call what `ag.convert` makes of a function with staged arguments, while a backend traces."""
    return Trace(ag.convert(function), **staged_arguments(function))


def shown(value: Any) -> str:
    """A result, staged or not, or several."""
    return f"({', '.join(map(shown, value))})" if type(value) is tuple else show(value)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are converted from now on."""
    convert, names = conversions._convert, []

    def counting(function: Any, *args: Any) -> Any:
        names.append(function.__name__)
        return convert(function, *args)

    monkeypatch.setattr(conversions, "_convert", counting)
    return names
