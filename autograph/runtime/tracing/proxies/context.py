"""The interface of a trace to the rooms above: one record, which the trace is made with.

Lower rooms call higher ones by way of it; `tracing/function_context.py` makes it. What is here is that of a trace of no
function, as TensorFlow's graphs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from autograph.runtime.graph.graph import Block
from autograph.runtime.tracing.proxies.graph_break import WHOLE, SourceKey


class Calls:
    """What traced code calls."""

    def replacement(self, function: Any) -> Any:
        """What to call for a function."""
        return function

    def stand_in(self, value: Any) -> Any:
        """What to show traced code in the place of a function or module, such as NumPy's."""
        return value


class Environment:
    """What traced code sees of the world around the function."""

    def array(self, value: Any) -> Any:
        """The proxy for an array."""
        return value

    def guard(self, condition: tuple[str, dict[str, Any]], what: str) -> None:
        """Let the trace be used only where a condition holds; `what` has changed if it does not."""

    def expose(self, value: Any) -> None:
        """Know that code which is not traced looks, while tracing, at all that can be reached from a value."""


class Aliases:
    """Which containers have several names."""

    def is_one(self, first: Any, second: Any) -> bool:
        """Whether two things are one, of which traced code may have copies."""
        return first is second

    def watched(self, thing: Any) -> Any:
        """The object whose identity a program asks for, of which traced code may have a copy."""
        return thing

    def pin(self, value: Any) -> None:
        """See to it that a constant which the graph compares by `is` is that very object in the calls to come, too."""


class Values:
    """How the objects of traced code become values of the graph."""

    def lift(self, value: Any) -> Any:
        """What a node has for an object that is neither proxy, nor constant, nor structure."""
        return value

    def made_in(self, block: Block) -> list[Any]:
        """What has been made in a block, and could as well have been made before it."""
        return []

    def refuse(self, thing: Any) -> None:
        """Have the function run as plain Python if it changes what the graph has made its own object of."""

    def is_outer(self, value: tuple[Any, ...]) -> bool:
        """Whether a tuple is an object that was there before the function was called."""
        return False

    def lower_tuple(self, value: tuple[Any, ...]) -> Any:
        """What stands for such a tuple in the graph."""
        return value


class TraceContext:
    """What a trace needs of others.

    Attributes:
        late: keys of the sources of what is read, or made, when the graph runs.
        keeps_containers: whether containers stay Python's: an op gets what they hold at that time.
    """

    late: Set[SourceKey] = frozenset()
    keeps_containers = False
    calls = Calls()
    environment = Environment()
    aliases = Aliases()
    materializer = Values()

    @property
    def whole(self) -> bool:
        """Whether the code asks for all that it compares."""
        return WHOLE in self.late

    def meet(self, thing: Any) -> None:
        """Have traced code call the special methods of all that can be reached from a thing."""

    def roots(self) -> Iterable[Any]:
        """All that traced code can reach without being given it."""
        return ()

    def collected(self, value: Any) -> Any:
        """What a builtin function gets in the place of an array, or of a generator of which it takes all."""
        return value

    def write_back(self) -> None:
        """Record the writes to what is not the function's own, as it is now."""

    def leave(self) -> None:
        """Let the graph write what is still to be written, before the program returns or raises."""
