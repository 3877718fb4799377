"""Graph breaks: signals that interrupt tracing. They are not errors: no `except Exception` of the user catches them.

What those come to that nobody within the library handles, `graph_break_policy.py` says: mostly, that the function runs
as plain Python, which is a graph break.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from autograph.errors import StagingError
from autograph.runtime.graph.graph import Place, Value, user_line
from autograph.runtime.graph_text.printer import expression

SourceKey: TypeAlias = "tuple[Any, ...]"  # of what is to be read, or made, when the graph runs: see `Source.key`


class _Raised(threading.local):
    """The signals of this thread that nobody within the library has handled yet."""

    def __init__(self) -> None:
        self.signals: list[Signal] = []


_RAISED = _Raised()


class Signal(BaseException):
    """Base of all signals."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        _RAISED.signals.append(self)


@contextmanager
def watched_signals() -> Iterator[None]:
    """While it lasts, signals are those of one trace."""
    before, _RAISED.signals = _RAISED.signals, []
    try:
        yield
    finally:
        _RAISED.signals = before


def handled(signal: Signal) -> None:
    """Say that a signal has been handled, with those it was raised in place of, and tracing goes on."""
    error: BaseException | None = signal
    while error is not None:
        _RAISED.signals = [each for each in _RAISED.signals if each is not error]
        error = error.__context__


def check_handled() -> None:
    """See to it that no signal was caught by code of the user's: by a bare `except`, or a `return` in a `finally`.

    Raises:
        Signal: one was.
    """
    for signal in _RAISED.signals:
        if isinstance(signal, (Diverged, Raised)):
            raise Plain("code that is not staged catches an exception that the graph raises", ())
        raise signal


class Failed(Signal):
    """An error of this library, `error`, ends the trace, whatever the user's code catches."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Diverged(Signal):
    """The block that is being traced never comes to its end, because it raises."""


class Raised(Signal):
    """What the user's code raises in the place of an exception that tracing code must not meet.

    Args:
        exception: a value of the graph, or an exception that is no `Exception`, such as `SystemExit`.
    """

    def __init__(self, exception: Any) -> None:
        super().__init__(type(exception).__name__)
        self.exception = exception


class NeedsConcrete(Signal):
    """Python needs the value of something that is known only when the graph runs.

    Args:
        value: what is needed.
        use: what for, such as "as an index into a list".
        asked: whether the user asked for what needs it, so that the function is not to run as plain Python instead.
    """

    def __init__(self, value: Value, use: str, place: Place, asked: bool = False) -> None:
        super().__init__(use)
        self.asked = asked
        self.value = value
        self.use = use
        self.place = place


class TooDeep(Signal):
    """A function calls itself under conditions that are staged, again and again.

    Args:
        value: the condition that would have to be known.
    """

    def __init__(self, value: Value, name: str, place: Place) -> None:
        super().__init__(name)
        self.value = value
        self.use = f"to know how deep the recursion of {name} goes"
        self.place = place


class Plain(Signal):
    """The function must run as plain Python, for this signature; not an error."""

    def __init__(self, reason: str, place: Place) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


class Unjoinable(Signal):
    """A variable has values on two paths for which nothing in common can stand.

    Args:
        name: what the user calls the variable; "the returned value" for what is returned.
        first, second: what it is on each path.
        test: the condition that the paths part at, if it is one.
    """

    def __init__(self, name: str, first: str, second: str, test: Value | None, place: Place) -> None:
        super().__init__(name)
        self.name = name
        self.first = first
        self.second = second
        self.test = test
        self.place = place
        self.lines: tuple[int | None, ...] = ()  # where each path sets the variable

    @property
    def paths(self) -> str:
        """What it is on each path, in words."""
        first, second = (f" (line {line})" if line else "" for line in self.lines or (None, None))
        second_kind = "another one" if self.second == self.first else self.second
        called = f"`{self.name}`" if self.name.isidentifier() else self.name
        return f"{called} is {self.first} on one path{first} and {second_kind} on the other{second}"


class NeedsStaging(Signal):
    """An iteration that was tried as plain Python comes to what must be staged.

    Args:
        iteration: which, of `Blocks.trying`.
    """

    def __init__(self, iteration: object) -> None:
        super().__init__()
        self.iteration = iteration


class Materialize(Signal):
    """A list, dict, set or function must become an object of the graph before the block that is being traced begins."""

    def __init__(self, container: Any) -> None:
        super().__init__(type(container).__name__)
        self.container = container


class Unstageable(Signal):
    """The program does something that cannot be staged, whatever is made static.

    Args:
        asked: whether the user asked for what cannot be had, so that the function is not to run as plain Python.
    """

    def __init__(self, message: str, place: Place, asked: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.asked = asked


WHOLE = ("whole",)      # in the place of a source: the code is to ask for all that is compared
PACKAGE = "package"     # a source that begins with this names an installed package that is to be traced


class Restart(Signal):
    """Trace once more: what stands at these sources is to be read when the graph runs, not while tracing."""

    def __init__(self, sources: set[SourceKey]) -> None:
        super().__init__(len(sources))
        self.sources = sources


def leaked(value: Value, place: Place) -> StagingError:
    """The error for a value that outlived the call it was made in, and is used at `place`."""
    return StagingError(
        f"{_described(value)}of a call that is over{_made(value)}, is used here. It was kept by code that is not "
        "converted, such as a thread. Return it from the staged function instead, write it into an ag.Variable, or "
        "mark what keeps it with @ag.do_not_convert",
        *(user_line(place) or ()),
    )


def of_another_thread(value: Value, function: str, place: Place) -> StagingError:
    """The error for a value that a thread meets at `place` while another one traces `function`."""
    return StagingError(
        f"{_described(value)}of {function}{_made(value)}, which another thread is tracing, is used here: {function} "
        f"changes an object that this thread uses as well. Call {function} once before the threads start, which traces "
        "it, or let both hold a lock while they use the object",
        *(user_line(place) or ()),
    )


def _described(value: Value) -> str:
    written = expression(value)
    return f"`{written}`, a staged value " if written else "a staged value "


def _made(value: Value) -> str:
    line = user_line(value.node.place) if value.node is not None else None
    return f", computed at {line[0]}:{line[1]}" if line else ""
