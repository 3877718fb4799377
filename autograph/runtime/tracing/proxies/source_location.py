"""The current place in the user's program while it is traced."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy as np

from autograph.common.statics import ATOMS
from autograph.common.trace_rules import is_own
from autograph.runtime.graph.callables import full_name_of
from autograph.runtime.graph.graph import Node, Place
from autograph.runtime.passes.speculatable import is_quiet
from autograph.runtime.tracing.proxies.graph_break import Plain


class Handling(tuple[tuple[CodeType, int], ...]):
    """A place where the user's program handles an exception, which is the context of exceptions that are raised there.

    Attributes:
        exceptions: class, arguments, attributes and places of the handled exception, and of those in its own context.
    """

    exceptions: list[tuple[type[BaseException], tuple[Any, ...], dict[str, Any], Place]]

    def check(self, node: Node) -> None:
        """Check that a node of this place can run later, without the handled exception.

        Raises:
            Plain: it may raise, and the graph cannot make the context, as that holds staged values or new objects; or
                it calls code that may look at the handled exception.
        """
        if self.exceptions and (name := _looks_at_handled(node)):
            raise Plain(f"{name} may look at the {self.exceptions[0][0].__name__} that is handled", self)
        for kind, args, state, _ in () if is_quiet(node) else self.exceptions:
            if not all(type(part) in ATOMS for part in (*args, *state.values())):
                raise Plain(f"an operation may raise where {_named(kind)} is handled, which would be its context", self)


def _named(kind: type[BaseException]) -> str:
    """The name of the class of an exception, unless it is a signal of this library."""
    return kind.__name__ if issubclass(kind, Exception) else "another exception"


def _looks_at_handled(node: Node) -> str:
    """The name of a callback that may look at the handled exception: Python code, or `sys.exc_info`; else ""."""
    function = getattr(node.args[0], "value", node.args[0]) if node.op == "call" and node.args else int
    is_in_c = isinstance(function, (type, types.BuiltinFunctionType, types.MethodDescriptorType, np.ufunc))
    return "" if is_in_c and getattr(function, "__module__", "") != "sys" else full_name_of(function)


class SourceLocation:
    """The current place in the user's program.

    Attributes:
        handled_by_caller: the exception that was being handled when the function was called.
    """

    def __init__(self) -> None:
        self.handled_by_caller = sys.exc_info()[1]
        self._root: FrameType | None = None
        self._outer: Place = ()  # of the call of that frame
        self._placed: Place | None = None

    def start_from(self, frame: FrameType | None) -> None:
        """Take places from the frames inside `frame`; if it is None, there are none."""
        self._root = frame

    def enter(self, frame: FrameType) -> Any:
        """Note that `frame` is around all nodes that are recorded next: the search for their places can end there."""
        before = self._root, self._outer
        if self._root is not None:
            self._root, self._outer = frame, self.place()
        return before

    def leave(self, before: Any) -> None:
        """Undo `enter`, which has returned `before`."""
        self._root, self._outer = before

    def place(self) -> Place:
        """The current place in the user's program."""
        if self._placed:    # it is () for operations of a derivative itself, outside all functions
            return self._placed
        found = []
        root = self._root
        frame: FrameType | None = sys._getframe(1) if root is not None else None  # the program has not started
        while frame is not None and frame is not root:
            code = frame.f_code
            if not is_own(code.co_filename):
                found.append((code, frame.f_lasti))
            frame = frame.f_back
        found.extend(reversed(self._outer))
        found.reverse()
        current = sys.exc_info()[1]
        return tuple(found) if current is None else self._handling(current, found)

    def _handling(self, current: BaseException, found: list[tuple[CodeType, int]]) -> Place:
        """The place, given that the user's program or this library is handling an exception."""
        exceptions = []
        caught = current.__traceback__
        if caught is not None and not is_own(caught.tb_frame.f_code.co_filename):
            handled: BaseException | None = current
            while handled is not None and handled is not self.handled_by_caller:
                exceptions.append((type(handled), handled.args, dict(vars(handled)), _places_in_traceback(handled)))
                handled = handled.__context__
        if not exceptions:
            return tuple(found)
        place = Handling(found)
        place.exceptions = exceptions
        return place

    @property
    def reversing(self) -> bool:
        """Whether nodes are recorded for a derivative."""
        return self._placed is not None

    @contextmanager
    def placed(self, place: Place) -> Iterator[None]:
        """Within it, nodes are recorded with this place."""
        before, self._placed = self._placed, place
        try:
            yield
        finally:
            self._placed = before


def _places_in_traceback(error: BaseException) -> Place:
    """The places of the user's program in a traceback, the outermost first."""
    entry, found = error.__traceback__, []
    while entry is not None:
        if not is_own(entry.tb_frame.f_code.co_filename):
            found.append((entry.tb_frame.f_code, entry.tb_lasti))
        entry = entry.tb_next
    return tuple(found)
