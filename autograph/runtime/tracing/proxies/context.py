"""The interfaces between a trace, its proxies and the rooms above.

Lower rooms call higher ones through the `TraceContext` of the trace; `trace_function.py` makes it. The classes here are
those of a trace without a function, such as a graph of TensorFlow. Proxies record through the `Recorder`, the trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, NoReturn, Protocol

from autograph.errors import StagingError
from autograph.runtime.graph.graph import Block, Node, Place, Value
from autograph.runtime.graph.signature import Guard
from autograph.runtime.graph.types import Type
from autograph.runtime.tracing.proxies.graph_break import WHOLE, SourceKey


class Calls:
    """The calls of traced code."""

    def replacement(self, function: Any) -> Any:
        """The function to call instead of `function`."""
        return function

    def stand_in(self, value: Any) -> Any:
        """The stand-in for a function or module, such as NumPy's; other values as they are."""
        return value


class Environment:
    """The captured environment.

    Attributes:
        guards: the conditions for using the trace.
    """

    def __init__(self) -> None:
        self.guards: list[Guard] = []

    def array(self, value: Any) -> Any:
        """The proxy for an array."""
        return value

    def capture(self, value: Any, source: Any) -> Any:
        """A captured value as traced code gets it."""
        return value

    def guard(self, condition: tuple[str, dict[str, Any]], what: str) -> None:
        """Use the trace only while a condition holds; otherwise `what` has changed."""

    def note_read(self, thing: Any, name: str) -> None:
        """Note that traced code reads an attribute of an object of a watched class, and prepare the object for it."""

    def note_write(self, thing: Any) -> None:
        """Note that traced code is about to change a container or object."""

    def expose(self, value: Any) -> None:
        """Note that code which is not traced may read, while tracing, all objects that can be reached from a value."""


class Aliases:
    """The alias analysis of containers."""

    def is_one(self, first: Any, second: Any) -> bool:
        """Whether two things, of which traced code may have copies, are one object."""
        return first is second

    def watched(self, thing: Any) -> Any:
        """The original of a thing whose identity the program uses."""
        return thing

    def pin(self, value: Any) -> None:
        """Guard that a constant which the graph compares by `is` stays the same object."""


class Objects:
    """Objects that only the graph knows."""

    def attribute(self, thing: Any, name: str) -> Any:
        """An attribute of such an object."""
        return thing._ag_trace.record("getattr", (thing, name))

    def call(self, found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of calling such an object."""
        return found._ag_call(args, kwargs)

    def set_attribute(self, thing: Any, name: str, value: Any) -> None:
        """Set an attribute of such an object."""
        thing._ag_trace.record("setattr", (thing, name, value))

    def operator(self, trace: Any, op: str, args: tuple[Any, ...]) -> Any:
        """The result of an operator for such objects."""
        return trace.record(op, args)


class Values:
    """The materializer of objects of traced code."""

    def lift(self, value: Any) -> Any:
        """The argument of a node for an object that is neither proxy, nor constant, nor structure."""
        return value

    def made_in(self, block: Block) -> list[Any]:
        """The objects that were made in a block, and could have been made before it."""
        return []

    def forget(self, thing: Any) -> None:
        """Note that traced code no longer refers to an object of which the graph has got a copy."""

    def refuse(self, thing: Any) -> None:
        """Check that a thing may change, although the graph has copied it."""

    def look_into(self, container: Any) -> None:
        """Note that the graph indexes a container, which may have to be one object of the graph."""

    def is_outer(self, value: tuple[Any, ...]) -> bool:
        """Whether a tuple existed before the function was called."""
        return False

    def lower_tuple(self, value: tuple[Any, ...]) -> Any:
        """The value of the graph for such a tuple."""
        return value


class TraceContext:
    """The parts of a trace that it uses.

    Attributes:
        late: keys of the sources that the graph reads, or makes, itself.
        texts: the paths of texts that may become objects of the graph, see `Signature`.
        keeps_containers: whether the graph never holds containers: an op gets their contents of that time.
    """

    texts: tuple[str, ...] = ()
    late: Set[SourceKey] = frozenset()
    keeps_containers = False
    calls = Calls()
    environment = Environment()
    aliases = Aliases()
    materializer = Values()
    objects = Objects()

    @property
    def whole(self) -> bool:
        """Whether the code is the version that marks the operands of comparisons."""
        return WHOLE in self.late

    def instrument(self, thing: Any) -> None:
        """Trace the special methods of all objects that can be reached from a thing."""

    def instrument_parts(self, thing: Any) -> None:
        """The same for the attributes of an object of a watched class."""

    def is_watched(self, kind: type) -> bool:
        """Whether it is noted which attributes of instances of a class traced code reads."""
        return False

    def registries(self) -> list[Any]:
        """The dicts of all objects that traced code has met."""
        return []

    def roots(self) -> Iterable[Any]:
        """All objects that traced code can reach by itself."""
        return ()

    def collected(self, value: Any) -> Any:
        """An argument of a builtin function: the proxy of an array; all elements of a generator; others as they are."""
        return value

    def note_made(self, thing: Any) -> None:
        """Note that traced code has made an object."""

    def write_back(self) -> None:
        """Record the writes to all objects outside, as they are now."""

    def leave(self) -> None:
        """Record the last writes, before the program returns or raises."""


class Recorder(Protocol):
    """Records the operations on proxies."""

    closed: bool
    staged_items: list[Any]
    classes: dict[Value, type]
    maybe_methods: dict[Value, tuple[Any, str]]
    called_methods: dict[Node, None]
    context: TraceContext
    undo_log: Any
    special_calls: list[str]
    iterated: dict[int, Place]

    def place(self) -> Place: ...

    def record(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any: ...

    def record_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def report(self, kind: str, message: str) -> None: ...

    def strayed(self, tensor: Any, place: Place) -> StagingError: ...

    def unpack_starred(self, tensor: Any, before: int, after: int) -> Iterator[Any]: ...

    def spread_items(self, tensor: Any) -> Iterator[Any]: ...

    def is_all(self, key: Any) -> bool: ...

    def type_of(self, tensor: Any) -> Type: ...

    def class_of(self, tensor: Any) -> type: ...

    def constant(self, value: Any) -> Any: ...

    def materialize(self, container: Any) -> Any: ...

    def graph_break(self, reason: str) -> NoReturn: ...

    def unstageable(self, message: str, things: Sequence[Any] = ()) -> NoReturn: ...

    def needs(self, tensor: Any, use: str, asked: bool = False) -> NoReturn: ...

    def formatted(self, tensor: Any, conversion: str, spec: str) -> str: ...

    def retyped(self, tensor: Any) -> None: ...
