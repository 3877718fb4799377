"""The parts of one tracing of a function, which find each other here: each is made of those before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from types import FunctionType
from typing import Any

from autograph.common.bytecode import rebound_names
from autograph.runtime.graph.signature import Signature
from autograph.runtime.tracing.calls.derivative_budget import DerivativeBudget
from autograph.runtime.tracing.calls.dispatch import Caller, Converter
from autograph.runtime.tracing.calls.handed_functions import objects_changed
from autograph.runtime.tracing.calls.special_methods import Instruments
from autograph.runtime.tracing.environment.container_aliases import ContainerAliases
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.lazy_builtins import collected
from autograph.runtime.tracing.materialize import Materializer
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.proxies.graph_break import Plain, SourceKey
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import attributes
from autograph.runtime.tracing.write_back import Writer


class FunctionContext(TraceContext):
    """See the module's documentation.

    Args:
        given: the arguments of the call that is traced, and what is in them, by path.
        late: keys of the sources that are read when the graph runs.
        borrowed: installed packages that are traced because a derivative goes through them.
    """

    environment: CapturedEnvironment
    calls: Caller
    materializer: Materializer
    aliases: ContainerAliases

    def __init__(
        self,
        name: str,
        signature: Signature,
        given: Mapping[str, Any],
        convert: Converter,
        late: Set[SourceKey],
        borrowed: Collection[str],
    ) -> None:
        self.late = late
        self.trace = trace = Trace(name, self)
        self.environment = CapturedEnvironment(trace)
        self.instruments = Instruments(trace, self.environment)
        self.budget = DerivativeBudget(trace, borrowed)
        self.calls = Caller(trace, self.environment, convert, self.budget)
        self.materializer = Materializer(trace, self.environment, self.calls)
        self.aliases = ContainerAliases(self.environment, given, self.materializer.paths, signature)
        self.writer = Writer(trace, self.environment, self.materializer, self.aliases)

    def meet(self, thing: Any) -> None:
        self.instruments.meet(thing)

    def roots(self) -> Iterator[Any]:
        yield from self.environment.roots()
        for container, _ in self.materializer.paths.values():
            yield container

    def collected(self, value: Any) -> Any:
        return collected(self.trace, value)

    def write_back(self) -> None:
        self.writer.write_back()

    def leave(self) -> None:
        self.aliases.check_reread()
        self.writer.check_entered(self.trace.graph)
        self._check_handed()
        self.trace.undo_log.write_back()

    def _check_handed(self) -> None:
        """See to it that traced code reads nothing that a function which the graph calls may have changed."""
        names, free = self.calls.names, self.calls.free
        handed = self.trace.callbacks.handed
        changed = [
            (each, name)
            for thing, name in handed if type(thing) is FunctionType for each in objects_changed(thing)
        ]  # fmt: skip
        for thing, function in (*handed, *changed):
            if type(thing) is FunctionType:
                read = sorted((names | free).intersection(rebound_names(thing.__code__)))
                what = f"{function} is called when the graph runs, and rebinds the variable"
            else:
                read = sorted(names.intersection(attributes(thing)))
                what = f"{function} is called when the graph runs, and may change, of the {type(thing).__qualname__},"
                if getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False):
                    continue
            if read:
                raise Plain(f"{what} {read[0]}, which is read here", self.trace.place())
