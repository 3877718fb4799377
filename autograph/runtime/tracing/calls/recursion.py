"""Functions that call themselves, under conditions that are known only when the graph runs.

Traced, such a recursion may have no end. One that ends comes by fewer numbers, shorter lists or other objects; where a
function is called by itself with the same ones again and again, the data says how deep it goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from autograph.common.statics import is_a
from autograph.runtime.graph.object_model import is_open
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.tracing.proxies.graph_break import Plain, TooDeep
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import attributes, contents

DEEP = 25  # calls of a function from itself, in one another
ALIKE = 4  # of those with the same arguments, as far as they are known
MANY = 100  # and all in all
LONG = 64  # of so many items, those that come after them are not looked at


class Recursion:
    """The calls of functions from themselves in one trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._open: dict[int, list[Any]] = {}  # for each function: what its calls in one another are called with
        self._count = 0

    def enter(self, function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Note that a traced function begins.

        Raises:
            TooDeep, Plain: it is called by itself once too often.
        """
        calls = self._open.setdefault(id(function.__code__), [])
        calls.append(self._note(function, calls, [*args, *kwargs.items()]))

    def leave(self, function: FunctionType) -> None:
        """Note that it has ended."""
        self._open[id(function.__code__)].pop()

    def _note(self, function: FunctionType, calls: Sequence[Any], args: list[Any]) -> Any:
        trace = self.trace
        if not calls or not trace.tests:
            return None
        self._count += 1
        if self._count > MANY:
            raise Plain(f"{function.__name__} calls itself too often to be traced", trace.place())
        variables = [part for cell in function.__closure__ or () for part in contents(cell).values()]
        known = _known(args + variables)
        if len(calls) >= DEEP or calls.count(known) >= ALIKE:
            raise TooDeep(trace.tests[0], function.__name__, trace.place())
        return known


def _known(value: Any, depth: int = 4) -> Any:
    """What is known of a value while tracing, in a form to be compared."""
    if is_tensor(value):
        return value._ag_value.type
    if is_a(value, (list, tuple)):
        return type(value), len(value), [_known(part, depth - 1) for part in value[:LONG]] if depth else ()
    if is_a(value, dict) or is_open(type(value)):
        parts = list((value if is_a(value, dict) else attributes(value)).items())
        return id(value), len(parts), [(name, _known(part, depth - 1)) for name, part in parts[:LONG]] if depth else ()
    return static_key(value)
