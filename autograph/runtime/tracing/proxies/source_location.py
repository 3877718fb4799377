"""The current place in the user's program while it is traced."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy as np

from autograph.common.trace_rules import is_own
from autograph.runtime.graph.callables import full_name_of
from autograph.runtime.graph.graph import Node, Place
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.proxies.graph_break import Plain


class Handling(tuple[tuple[CodeType, int], ...]):
    """A place where the user's program handles an exception, which is the context of those that are raised there.

    Attributes:
        exceptions: class, arguments, attributes and places of the one that is handled, and of those in its own context.
    """

    exceptions: list[tuple[type[BaseException], tuple[Any, ...], dict[str, Any], Place]]

    def check(self, node: Node) -> None:
        """Whether a node of this place can tell of them, should it raise something, and does not ask for them.

        Raises:
            Plain: it cannot, for they bear what only the graph knows, or what is made anew by each call; or it calls
                what may look at the one that is handled, which is not being handled when the graph runs.
        """
        if self.exceptions and (name := _looks_at_handled(node)):
            raise Plain(f"{name} may look at the {self.exceptions[0][0].__name__} that is handled", self)
        for kind, args, state, _ in () if is_quiet(node) else self.exceptions:
            if not all(type(part) in _CONSTANT for part in (*args, *state.values())):
                raise Plain(f"what may raise stands where {kind.__name__} is handled, which would be its context", self)


def _looks_at_handled(node: Node) -> str:
    """What a node calls that may look at the exception that is handled: code written in Python, or `sys.exc_info`."""
    function = getattr(node.args[0], "value", node.args[0]) if node.op == "call" and node.args else int
    is_in_c = isinstance(function, (type, types.BuiltinFunctionType, types.MethodDescriptorType, np.ufunc))
    return "" if is_in_c and getattr(function, "__module__", "") != "sys" else full_name_of(function)


_CONSTANT = frozenset({int, float, complex, bool, str, bytes, type(None)})


class SourceLocation:
    """Tells where the user's program is.

    Attributes:
        around: the exception that was being handled when the function was called.
    """

    def __init__(self) -> None:
        self.around = sys.exc_info()[1]
        self._root: FrameType | None = None
        self._outer: Place = ()  # where that frame was called
        self._placed: Place | None = None

    def start_from(self, frame: FrameType | None) -> None:
        """Look for places from `frame` inwards, which is not the user's; None where there are none any more."""
        self._root = frame

    def enter(self, frame: FrameType) -> Any:
        """Note that `frame` calls whatever is recorded next: nobody need look further out for its place."""
        before = self._root, self._outer
        if self._root is not None:
            self._root, self._outer = frame, self.place()
        return before

    def leave(self, before: Any) -> None:
        """The end of that; `before`: what `enter` gave."""
        self._root, self._outer = before

    def place(self) -> Place:
        """Where the user's program is."""
        if self._placed:    # () for what a derivative itself does, outside of all functions
            return self._placed
        found = []
        root = self._root
        frame: FrameType | None = sys._getframe(1) if root is not None else None  # before it starts, it is nowhere
        while frame is not None and frame is not root:
            code = frame.f_code
            if not is_own(code.co_filename):
                found.append((code, frame.f_lasti))
            frame = frame.f_back
        found.extend(reversed(self._outer))
        found.reverse()
        met = sys.exc_info()[1]
        return tuple(found) if met is None else self._handling(met, found)

    def _handling(self, met: BaseException, found: list[tuple[CodeType, int]]) -> Place:
        """The place, where an exception is being handled: by the user's program, or by this library."""
        exceptions = []
        caught = met.__traceback__
        if caught is not None and not is_own(caught.tb_frame.f_code.co_filename):
            handled: BaseException | None = met
            while handled is not None and handled is not self.around:
                exceptions.append((type(handled), handled.args, dict(vars(handled)), _came_by(handled)))
                handled = handled.__context__
        if not exceptions:
            return tuple(found)
        place = Handling(found)
        place.exceptions = exceptions
        return place

    @property
    def reversing(self) -> bool:
        """Whether what is recorded is the reverse of something."""
        return self._placed is not None

    @contextmanager
    def placed(self, place: Place) -> Iterator[None]:
        """While it lasts, what is recorded comes from `place`."""
        before, self._placed = self._placed, place
        try:
            yield
        finally:
            self._placed = before


def _came_by(error: BaseException) -> Place:
    """Where an exception has come by in the user's program, the outermost place first."""
    entry, found = error.__traceback__, []
    while entry is not None:
        if not is_own(entry.tb_frame.f_code.co_filename):
            found.append((entry.tb_frame.f_code, entry.tb_lasti))
        entry = entry.tb_next
    return tuple(found)
