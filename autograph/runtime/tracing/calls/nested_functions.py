"""Nested functions that call themselves as deep as the data say: the graph calls a form that gets what they capture.

    def main(n):
        seen = set()

        def visit(k):       # the graph calls `visit(seen, k)`, see `Lifted`
            if k not in seen:
                seen.add(k)
                visit(k * 2 % n)
        visit(1)
        return seen
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any, Protocol

import numpy as np

from autograph.common.code_flags import codes_in
from autograph.common.statics import cell_content
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.graph import Constant
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Fallback

_VALUES = (int, float, complex, bool, str, bytes, type(None), list, dict, set, np.ndarray)
_UNBOUND = object()


class Lifted(Protocol):
    """A nested function as a function of what it captures.

    Attributes:
        function: this.
        captured: the variables that its first parameters are for.
        boxed: those of these that it rebinds, so that it gets a list of their value.
        group: it, and the nested functions that it calls.
    """

    @property
    def function(self) -> Any: ...
    @property
    def captured(self) -> tuple[str, ...]: ...
    @property
    def boxed(self) -> frozenset[str]: ...
    @property
    def group(self) -> frozenset[str]: ...


class NestedFunctions:
    """The nested functions of traced code.

    Args:
        lift: gives the lifted form of a function with some code, in a function of the user's.
        staged: gives the staged form of a function, that the graph may call.
    """

    def __init__(
        self,
        trace: Trace,
        lift: Callable[[FunctionType, CodeType], Lifted | None],
        staged: Callable[[FunctionType], Any],
    ) -> None:
        self._trace, self._lift, self._staged = trace, lift, staged
        self._around: dict[int, tuple[CodeType, FunctionType]] = {}     # by code: the user's function around it
        self._found: dict[int, tuple[Lifted, Any] | None] = {}

    def note(self, function: FunctionType, code: CodeType) -> None:
        """Note that code is traced, of a function of the user's."""
        self._around.update((id(each), (each, function)) for each in codes_in(code) if each is not code)

    def can_call(self, function: FunctionType) -> bool:
        """Whether the graph may call the lifted form of a nested function, given its traced form."""
        found = self._lifted(function)
        return found is not None and self._values(function, found[0]) is not None

    def replacement(self, function: FunctionType) -> Callable[..., Any] | None:
        """The function that traced code calls in place of a nested one; None if the graph cannot call that."""
        found = self._lifted(function)
        if found is None or self._values(function, found[0]) is None:
            return None
        lifted, staged = found

        @on_behalf
        def called(*args: Any, **kwargs: Any) -> Any:
            cells, code = self._values(function, lifted), function.__code__
            least = code.co_argcount - len(function.__defaults__ or ())
            if cells is None or kwargs or not least <= len(args) <= code.co_argcount:
                return function(*args, **kwargs)
            return self._record(lifted, staged, cells, args)

        return called

    def _record(self, lifted: Lifted, staged: Any, cells: dict[str, CellType], args: tuple[Any, ...]) -> Any:
        trace = self._trace
        boxed = [name for name in lifted.captured if name in lifted.boxed]
        boxes = {name: trace.materialize([cells[name].cell_contents]) for name in boxed}
        given = [boxes[name] if name in boxes else cells[name].cell_contents for name in lifted.captured]
        result = trace.record_function(lifted.function, (*given, *args), {}, Constant(staged))
        for name, box in boxes.items():
            cells[name].cell_contents = trace.record("getitem", (box, 0))
        return result

    def _lifted(self, function: FunctionType) -> tuple[Lifted, Any] | None:
        """The lifted form of a function, and the staged form of that."""
        code = function.__code__
        if id(code) not in self._found:
            _, around = self._around.get(id(code), (code, None))
            lifted = None if around is None else self._lift(around, code)
            staged = None if lifted is None else self._staged(lifted.function)
            self._found[id(code)] = None if lifted is None or staged is None else (lifted, staged)
        return self._found[id(code)]

    def _values(self, function: FunctionType, lifted: Lifted) -> dict[str, CellType] | None:
        """The cells of the variables; None if the graph cannot get the value of one."""
        cells: dict[str, CellType] = {}
        for name, cell in _cells(function, lifted.group):
            if cells.setdefault(name, cell) is not cell:
                return None
        values = [cell_content(cells[name], _UNBOUND) if name in cells else _UNBOUND for name in lifted.captured]
        return cells if all(is_tensor(each) or type(each) in _VALUES for each in values) else None


def _cells(function: FunctionType, group: frozenset[str]) -> Iterator[tuple[str, CellType]]:
    """The variables of traced nested functions, with their cells, other than those of the functions."""
    queue, seen = [function], {id(function)}
    for each in queue:
        for name, cell in zip(each.__code__.co_freevars, each.__closure__ or ()):
            content = cell_content(cell, _UNBOUND)
            is_nested = type(content) is FunctionType and isinstance(content.__globals__, Fallback)
            if name not in group or not is_nested:
                yield name, cell
            elif id(content) not in seen:
                seen.add(id(content))
                queue.append(content)
