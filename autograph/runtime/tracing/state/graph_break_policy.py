"""The policy for graph breaks without a handler: plain Python, more specialization, or an error."""

from __future__ import annotations

from collections.abc import Callable
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
from autograph.runtime.tracing.state.blame import line_of, of_user


@dataclass
class GraphBreakPolicy:
    """For one trace.

    Args:
        params: the paths of the arguments that the parameters of the graph stand for.
    """

    function: Callable[..., Any]
    params: dict[Value, str]

    def at(self, signal: Signal) -> str:
        """Where tracing was interrupted, to be added to the reason; the function's own line, if that is not known."""
        place = getattr(signal, "place", ())
        line = user_line(of_user(place)) or place_of(self.function) or user_line(place)
        return ", {}:{}".format(*line) if line else ""

    def plain_because(self, signal: Signal) -> str:
        """Why the function runs as plain Python, if that is what a signal comes to: only Python can do what it does."""
        at = self.at(signal)
        if isinstance(signal, Plain):
            return signal.reason + at
        if isinstance(signal, Materialize):
            return "Python iterates over a container whose length changes, or that is looked into"
        if isinstance(signal, Unstageable):
            return "" if signal.asked else signal.message + at
        if isinstance(signal, Unjoinable):
            if self._specialized(signal.test, "") is not None:
                return ""
            return f"{signal.paths}, and the path is known only when the graph runs{at}"
        if not isinstance(signal, (NeedsConcrete, TooDeep)) or self._specialized(signal.value, "") is not None:
            return ""
        if isinstance(signal, NeedsConcrete) and signal.asked:
            return ""
        return f"the value of {_called(signal.value)} is needed {signal.use}{at}"

    def explained(self, signal: Signal) -> BaseException:
        """What a signal comes to for which a function does not run as plain Python.

        More specialization, or an error if the user asks for what cannot be had; itself, if nobody should raise it.
        """
        if isinstance(signal, (NeedsConcrete, TooDeep)):
            return self._needed(signal)
        if isinstance(signal, Unjoinable):
            return self._unjoined(signal)
        return StagingError(signal.message, *line_of(signal.place)) if isinstance(signal, Unstageable) else signal

    def _specialized(self, value: Value | None, reason: str) -> Respecialize | None:
        """Make the Python numbers and lengths that a value is computed from part of the signature, if that is all."""
        if value is None:
            return None
        sources = depends_on(value)
        paths = []
        for source in sources:
            path = self.params.get(source)
            if path is None:
                return None
            if isinstance(source.type, TensorType) and source.type.kind == "python":
                paths.append(path)
            elif isinstance(source.type, TensorType) and None in source.type.shape:
                paths += [f"{path}.shape[{axis}]" for axis, size in enumerate(source.type.shape) if size is None]
            else:
                return None
        return Respecialize(static=tuple(sorted(paths)), reason=reason) if paths else None

    def _needed(self, signal: NeedsConcrete | TooDeep) -> BaseException:
        respecialized = self._specialized(signal.value, f"its value is needed {signal.use}{_at(signal.place)}")
        if respecialized is not None:
            return respecialized
        called = _called(signal.value)
        origins = sorted({self._origin(source) for source in depends_on(signal.value)} - {called})
        origin = f", being computed from {' and '.join(origins)}" if origins else ""
        return StagingError(
            f"the value of {called} is needed {signal.use}, but it is known only when the graph runs{origin}. Use "
            "operators, NumPy's functions, or statements of code that is converted; or put what needs the value into a "
            "function of its own, decorated with @ag.do_not_convert, which is called when the graph runs",
            *line_of(signal.place),
        )

    def _origin(self, source: Value) -> str:
        """What the user calls something that values are computed from."""
        name = self.params.get(source, source.name)
        return f"`{name}`" if name else "what a loop or branch left"

    def _unjoined(self, signal: Unjoinable) -> BaseException:
        respecialized = self._specialized(signal.test, f"{signal.paths}{_at(signal.place)}")
        assert respecialized is not None, "what nothing can be specialized for runs as plain Python"
        return respecialized


def _called(value: Value) -> str:
    written = expression(value)
    return f"`{written}`" if written else f"something of type {value.type}"


def _at(place: Any) -> str:
    line = line_of(place)
    return f", {line[0]}:{line[1]}" if line else ""
