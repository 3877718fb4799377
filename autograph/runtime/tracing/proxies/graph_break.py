"""Signals that interrupt tracing. They are no errors: no `except Exception` of the user catches them.

`graph_break_policy.py` decides on signals that the library does not handle itself. For most of them the function runs
as plain Python, which is a graph break.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from autograph.errors import StagingError
from autograph.runtime.graph.graph import Place, Value, user_line
from autograph.runtime.graph_text.printer import expression

SourceKey: TypeAlias = "tuple[Any, ...]"  # identifies what the graph is to read or make itself; see `Source.key`


class _Raised(threading.local):
    """The signals of this thread that the library has not handled yet."""

    def __init__(self) -> None:
        self.signals: list[Signal] = []


_RAISED = _Raised()


@dataclass(eq=False)
class Signal(BaseException):
    """Base of all signals."""

    def __post_init__(self) -> None:
        _RAISED.signals.append(self)


@contextmanager
def watched_signals() -> Iterator[None]:
    """Within it, the unhandled signals are those of one trace."""
    before, _RAISED.signals = _RAISED.signals, []
    try:
        yield
    finally:
        _RAISED.signals = before


def handled(signal: Signal) -> None:
    """Mark a signal, and those in its context, as handled: tracing continues."""
    error: BaseException | None = signal
    while error is not None:
        _RAISED.signals = [each for each in _RAISED.signals if each is not error]
        error = error.__context__


def check_handled() -> None:
    """Check that the user's code has caught no signal, by a bare `except` or a `return` in a `finally`.

    Raises:
        Signal: the one that it has caught.
    """
    for signal in _RAISED.signals:
        if isinstance(signal, (Diverged, Raised)):
            raise Plain("code that is not staged catches an exception that the graph raises", ())
        raise signal


@dataclass(eq=False)
class Failed(Signal):
    """An error of this library, or a request, ends the trace; handlers of the user's code cannot catch it."""

    error: BaseException


class Diverged(Signal):
    """The block that is being traced always raises, so its end is never reached."""


@dataclass(eq=False)
class Raised(Signal):
    """The user's code raises an exception that the code which traces must not catch.

    Attributes:
        exception: a value of the graph, or an exception that is no `Exception`, such as `SystemExit`.
    """

    exception: Any


@dataclass(eq=False)
class NeedsConcrete(Signal):
    """Python needs a value that is known only when the graph runs.

    Attributes:
        value: the value that is last_needed.
        use: its use, such as "as an index into a list".
        asked: whether the user asked for the construct that needs it; then it is an error, not a graph break.
    """

    value: Value
    use: str
    place: Place
    asked: bool = False


@dataclass(eq=False)
class TooDeep(Signal):
    """A function calls itself under staged conditions, again and again.

    Attributes:
        tests: the conditions that would have to be concrete, from outside in; none in a loop without one.
    """

    tests: Sequence[Value]
    name: str
    place: Place

    @property
    def value(self) -> Value | None:
        return self.tests[0] if self.tests else None

    @property
    def use(self) -> str:
        return f"to know how deep the recursion of {self.name} goes"


@dataclass(eq=False)
class Plain(Signal):
    """The function must run as plain Python for this signature; not an error.

    Attributes:
        things: objects in the way: it need not, if only the graph knows these.
    """

    reason: str
    place: Place
    things: Sequence[Any] = ()


@dataclass(eq=False)
class Unjoinable(Signal):
    """A variable has values on two paths that the merge lattice cannot join.

    Attributes:
        name: the user's name of the variable; "the returned value" for a result.
        first, second: descriptions of its values on the two paths.
        test: the condition at which the paths part, if there is one.
        lines: the line of each path that sets the variable.
        things: as for `Plain`.
    """

    name: str
    first: str
    second: str
    test: Value | None
    place: Place
    lines: tuple[int | None, ...] = ()
    things: Sequence[Any] = ()

    @property
    def paths(self) -> str:
        """The values on both paths, in words."""
        first, second = (f" (line {line})" if line else "" for line in self.lines or (None, None))
        second_kind = "another one" if self.second == self.first else self.second
        called = f"`{self.name}`" if self.name.isidentifier() else self.name
        return f"{called} is {self.first} on one path{first} and {second_kind} on the other{second}"


@dataclass(eq=False)
class NeedsStaging(Signal):
    """An iteration that ran speculatively as plain Python meets a construct that must be staged.

    Attributes:
        iteration: an item of `Trace.speculations`.
    """

    iteration: object


@dataclass(eq=False)
class Materialize(Signal):
    """A list, dict, set or function must become an object of the graph before the block that is being traced.

    Attributes:
        others: further containers that must, too; so the block is traced again once rather than for each of them.
    """

    container: Any
    others: tuple[Any, ...] = ()


@dataclass(eq=False)
class Unstageable(Signal):
    """The program does something that cannot be staged, however far the signature is specialized.

    Attributes:
        asked: whether the user asked for it to be staged; then it is an error, not a graph break.
        things: as for `Plain`.
    """

    message: str
    place: Place
    asked: bool = False
    things: Sequence[Any] = ()


WHOLE = ("whole",)  # the key of the second version of the code, which marks all operands of comparisons
UNWATCHED = ("unwatched",)  # the key of a trace that does not note which attributes are read
ALONE = ("alone",)  # the key of the trace of a loop on its own: the graph calls functions whose recursion is too deep
ITSELF = ("itself",)  # the key of a trace whose graph may call its own function, where that recurses too deep
OPAQUE = "opaque"  # the first part of the key of the code of such a function
MADE = "made"  # the first part of the key of a class: the graph makes and keeps its objects that traced code makes
GIVEN = "given"  # the first part of the key of an argument, an object of the user's: only the graph knows it
PACKAGE = "package"  # the first part of the key of an installed package to trace


@dataclass(eq=False)
class Restart(Signal):
    """The function must be traced again: the graph is to read these sources itself, instead of the trace.

    Attributes:
        within: objects that are in one of them, so that the graph need not read their attributes by themselves.
    """

    sources: set[SourceKey]
    within: Sequence[Any] = ()

    def added_to(self, late: set[SourceKey]) -> set[SourceKey]:
        """All sources that the graph reads from now on, besides the ones so far."""
        inside = set(map(id, self.within))
        return self.sources | {key for key in late if key[0] != "attribute" or key[1] not in inside}


def leaked(value: Value, place: Place) -> StagingError:
    """The error for a value that outlived the call that made it, and is used at `place`."""
    return StagingError(
        f"{_described(value)}of a call that is over{_made(value)}, is used here. It was kept by code that is not "
        "converted, such as a thread. Return it from the staged function instead, write it into an ag.Variable, or "
        "mark what keeps it with @ag.do_not_convert",
        *(user_line(place) or ()),
    )


def of_another_thread(value: Value, function: str, place: Place) -> StagingError:
    """The error for a value that one thread uses at `place` while another thread traces `function`."""
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
