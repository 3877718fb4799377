"""The policy for graph breaks without a handler: plain Python, more specialization, or an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autograph.errors import StagingError
from autograph.runtime.graph.callables import place_of
from autograph.runtime.graph.graph import Value, depends_on, user_line
from autograph.runtime.graph.signature import Respecialize
from autograph.runtime.graph.types import TensorType
from autograph.runtime.graph_text.printer import expression
from autograph.runtime.tracing.proxies.graph_break import (
    Materialize,
    NeedsConcrete,
    Plain,
    Signal,
    TooDeep,
    Unjoinable,
    Unstageable,
)
from autograph.runtime.tracing.state.blame import line_of, user_part


@dataclass
class GraphBreakPolicy:
    """For one trace.

    Args:
        params: the params of the graph, with the paths of their arguments.
    """

    function: Callable[..., Any]
    params: dict[Value, str]

    def outcome(self, signal: Signal) -> str | BaseException:
        """The reason why the function runs as plain Python, or the exception to raise instead.

        The latter is a request for more specialization, or an error if the user asked for something impossible. A
        signal that should have been handled is returned as it is.
        """
        at = self._at(signal)
        if isinstance(signal, Plain):
            return signal.reason + at
        if isinstance(signal, Materialize):
            return "Python iterates over a container whose length changes, or that is looked into"
        if isinstance(signal, Unstageable):
            return StagingError(signal.message, *line_of(signal.place)) if signal.asked else signal.message + at
        if isinstance(signal, Unjoinable):
            reason = f"{signal.paths}, and the path is known only when the graph runs{at}"
            tests = [] if signal.test is None else [signal.test]
            return self._specialized(tests, f"{signal.paths}{_at(signal.place)}") or reason
        if isinstance(signal, (NeedsConcrete, TooDeep)):
            needed = f"its value is needed {signal.use}{_at(signal.place)}"
            values = signal.tests if isinstance(signal, TooDeep) else [signal.value]
            return self._specialized(values, needed) or self._unspecialized(signal, at)
        return signal

    def _at(self, signal: Signal) -> str:
        """The place where tracing was interrupted, as a suffix; the function's own line, if that is unknown."""
        place = getattr(signal, "place", ())
        line = user_line(user_part(place)) or place_of(self.function) or user_line(place)
        return ", {}:{}".format(*line) if line else ""

    def _specialized(self, values: Sequence[Value], reason: str) -> Respecialize | None:
        """Make the Python numbers and lengths that determine values part of the signature; None if others do, too."""
        paths = []
        for source in set[Value]().union(*map(depends_on, values)):
            path = self.params.get(source)
            if path is None or not isinstance(source.type, TensorType):
                return None
            if source.type.kind == "python":
                paths.append(path)
            elif None in source.type.shape:
                paths += [f"{path}.shape[{axis}]" for axis, size in enumerate(source.type.shape) if size is None]
            else:
                return None
        return Respecialize(static=tuple(sorted(paths)), reason=reason) if paths else None

    def _unspecialized(self, signal: NeedsConcrete | TooDeep, at: str) -> str | StagingError:
        """The outcome for a value that does not depend on Python numbers alone."""
        if signal.value is None:
            return f"the number of iterations is needed {signal.use}{at}"
        written = expression(signal.value)
        called = f"`{written}`" if written else f"something of type {signal.value.type}"
        if isinstance(signal, TooDeep) or not signal.asked:
            return f"the value of {called} is needed {signal.use}{at}"
        origins = sorted({self._origin(source) for source in depends_on(signal.value)} - {called})
        origin = f", being computed from {' and '.join(origins)}" if origins else ""
        return StagingError(
            f"the value of {called} is needed {signal.use}, but it is known only when the graph runs{origin}. Use "
            "operators, NumPy's functions, or statements of code that is converted; or put what needs the value into a "
            "function of its own, decorated with @ag.do_not_convert, which is called when the graph runs",
            *line_of(signal.place),
        )

    def _origin(self, source: Value) -> str:
        """The user's name of a value that others are computed from."""
        name = self.params.get(source, source.name)
        return f"`{name}`" if name else "what a loop or branch left"


def _at(place: Any) -> str:
    line = line_of(place)
    return f", {line[0]}:{line[1]}" if line else ""
