"""Traces, optimizes and compiles a function; if that fails, the trace runs the plain function."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, ClassVar

from autograph.common import budget, defects
from autograph.common.call_counter import frames
from autograph.errors import AutographError, TracingError
from autograph.runtime.dispatch.arguments import Reading, arrange
from autograph.runtime.dispatch.options import ENGINES, NOTHING, Options, can_compile, engine_for, refuse
from autograph.runtime.dispatch.persistent_traces import Fingerprint, TraceFile, Unsaved, file_of_trace
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import Builder
from autograph.runtime.dispatch.tracing_lock import patient_collector
from autograph.runtime.graph.callables import place_of
from autograph.runtime.graph.graph import checks_graphs, drop_unused_params, user_line, walk
from autograph.runtime.graph.signature import Event, Signature, Traced
from autograph.runtime.graph_text.verifier import GraphError, check_scopes
from autograph.runtime.profiling import recorder
from autograph.runtime.tracing.proxies.graph_break import Signal
from autograph.runtime.tracing.state.blame import is_own

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Tracer = Callable[[Any, Signature, Arguments, Options], Traced]


class Hooks:
    """Functions of higher rooms, see `transforms/staging.py`.

    Attributes:
        tracer: traces a function for a signature, given the arguments of one call.
        inliner: takes over the calls of functions while `active` is not empty; or gives NotImplemented.
        statements: gives an event of the kind `converted` or `plain` for each statement of a function.
        loops: gives a `LoopRunner`, which runs a function as plain Python with its loops staged on their own, given the
            options of the function, and the seconds in a loop after which it is staged; None if it has no loops, or no
            source.
        fingerprint: describes all that the traces of a function depend on besides the arguments, to save them on disk.
    """

    tracer: Tracer | None = None
    inliner: Callable[[Any, Any, Any], Any] | None = None
    active: ClassVar[list[Any]] = []
    statements: Callable[[Any], Iterable[Event]] | None = None
    fingerprint: Callable[[Any], Fingerprint] | None = None
    loops: Callable[..., Any] | None = None

    @classmethod
    def install(cls, **hooks: Any) -> None:
        """Set some of the hooks."""
        for name, hook in hooks.items():
            assert name in cls.__annotations__, name
            setattr(cls, name, hook)


@dataclass
class Compiler:
    """Stages the calls of one function.

    Args:
        name: of the function.
        function: the plain one.
    """

    name: str
    function: Callable[..., Any]
    parameters: Sequence[Parameter]
    options: Options

    def fill(
        self, trace: Trace, reading: Reading, values: tuple[Any, ...], late: Iterable[Any], widened: str
    ) -> None:
        """Make the entry of a trace.

        If anything fails, the trace runs the plain function. Nothing of the program has happened yet, since tracing
        undoes its effects, so errors of the program are raised by the program.

        Args:
            late: the captured numbers that the graph reads when it runs, as in `Guard.late`.
            widened: why the trace is neither looked for on disk nor saved there; "" if it may be.

        Raises:
            Respecialize: other arguments must be staged.
            AutographError: this signature cannot be staged; the error says why.
        """
        trace.signature.late = frozenset(late)
        try:
            with patient_collector(), recorder.phase(recorder.TRACING):
                self._fill(trace, Builder(self.parameters, trace.signature, reading), values, widened)
        except budget.BudgetSpent as spent:
            trace.stopped = True
            self.fill_plain(trace, reading, str(spent))
        except RecursionError:
            if _is_deep():  # where a call that is less deep can be traced
                raise
            self.fill_plain(trace, reading, _too_deep(self.function))
        except (Exception, Signal) as error:
            is_expected = isinstance(error, (AutographError, RecursionError, MemoryError))
            if is_expected and not isinstance(error, GraphError):
                raise
            self.fill_plain(trace, reading, self.failure(error))

    def fill_plain(self, trace: Trace, reading: Reading, reason: str) -> None:
        """Let a trace run the plain function."""
        refuse(self.options, self.name, "plain", f"runs as plain Python: {reason}")
        trace.plain = reason
        trace.graph, trace.guards = None, []
        trace.events.append(Event("plain", f"runs as plain Python: {reason}"))
        builder = Builder(self.parameters, trace.signature, reading)
        trace.entry = builder.make_plain(trace, self.function, ())
        trace.entry_source = builder.source

    def failure(self, error: BaseException) -> str:
        """The reason for running a call as plain Python, after an exception while staging it.

        Raises:
            InternalError: the exception is an error of this library, and such errors are raised; see `defects`.
            BaseException: the exception itself, if the call must not run as plain Python.
        """
        if isinstance(error, RecursionError) and not _is_deep():
            return _too_deep(self.function)
        if isinstance(error, (RecursionError, MemoryError)) or not (isinstance(error, Signal) or is_own(error)):
            if "derivative" in self.options.strict:
                raise error
            return f"{type(error).__name__} is raised while it is traced"
        raised = not self.options.strict.isdisjoint(("plain", "derivative"))
        failed = f"autograph fails to stage {self.name}"
        return defects.report(failed, error, place_of(self.function), "it runs as plain Python", raised)

    def _fill(self, trace: Trace, builder: Builder, values: tuple[Any, ...], widened: str) -> None:
        """Trace the function and compile the graph; or load the trace that an earlier process has saved."""
        file = self._file(trace, widened)
        loaded = file.recall(trace, builder.reading.named) if isinstance(file, TraceFile) else None
        traced = loaded or self._trace(trace, arrange(self.parameters, values))
        trace.sourceless = traced.sourceless
        if traced.plain:
            trace.entry = builder.make_plain(trace, self.function, traced.guards)
        else:
            executable = self._compile(trace, traced) if loaded is None else trace.executable
            trace.entry = builder.make(trace, executable, traced.guards, traced.containers)
            trace.containers = traced.containers
            if isinstance(file, TraceFile):
                file.containers = traced.containers
            trace.disk = file if loaded is None else None
        trace.entry_source = builder.source

    def traced_again(self, signature: Signature, example: Arguments) -> Traced:
        """Trace the function for a signature that it has been traced for, and do nothing else.

        Args:
            example: the arguments of such a call, or placeholders.
        """
        if Hooks.tracer is None:
            raise TracingError(f"{self.name} cannot be traced: there is no tracer. Import autograph")
        with patient_collector():
            return Hooks.tracer(self.function, signature, example, self.options)

    def _file(self, trace: Trace, widened: str) -> TraceFile | Unsaved | None:
        if Hooks.active or Hooks.fingerprint is None:
            return None
        return file_of_trace(trace, self.function, self.options, Hooks.fingerprint, widened)

    def _trace(self, trace: Trace, example: Arguments) -> Traced:
        if Hooks.tracer is None:
            raise TracingError(f"{self.name} cannot be traced: there is no tracer. Import autograph")
        begin = time.perf_counter()
        traced = Hooks.tracer(self.function, trace.signature, example, self.options)
        budget.current().check("tracing")
        trace.seconds = {**traced.seconds, "trace": time.perf_counter() - begin - sum(traced.seconds.values())}
        trace.guards = traced.guards
        trace.events = traced.events
        trace.plain = traced.plain
        if traced.plain:
            trace.events.append(Event("plain", f"runs as plain Python: {traced.plain}"))
        for event in (*self._left_plain(), *trace.events):
            refuse(self.options, self.name, event.kind, event.message, event.place)
        return traced

    def _left_plain(self) -> list[Event]:
        """The statements that were not converted, although they might depend on a staged value."""
        if Hooks.statements is None or "plain" not in self.options.strict:
            return []
        return [
            event
            for event in Hooks.statements(self.function)
            if event.kind == "plain" and "never staged" not in event.message and not event.message.startswith("call of")
        ]

    def _compile(self, trace: Trace, traced: Traced) -> Any:
        assert traced.graph is not None, "only a trace that runs as plain Python has no graph"
        check_scopes(traced.graph)
        name, why, options = engine_for(traced.graph, self.options, self.name)
        with budget.unlimited():
            passes: Any = importlib.import_module("autograph.runtime.passes")
            engine: Any = importlib.import_module(ENGINES[name])
        begin = time.perf_counter()
        check: Any = importlib.import_module("autograph.runtime.graph_text.verifier").check if checks_graphs() else None
        without = self.options.without
        late: frozenset[str] = getattr(engine, "LATE", frozenset())
        report = passes.optimize(traced.graph, {*without, *late}, check)
        trace.events += [Event("pass", message, user_line(place)) for message, place in report.notes]
        optimized = time.perf_counter()
        options |= {"late": late.difference(without)} if late else {}
        if traced.containers:
            used = drop_unused_params(traced.graph, len(traced.containers))
            traced.containers = tuple(traced.containers[number] for number in used)
        budget.current().check("compiling")
        executable = engine.compile(traced.graph, module=getattr(self.function, "__globals__", None), **options)
        trace.seconds |= {"optimize": optimized - begin, "compile": time.perf_counter() - optimized}
        if options.get("patient") and executable.native is None:
            name, why = "numpy", NOTHING
        trace.graph = traced.graph
        trace.engine = name
        trace.executable = executable
        trace.events.append(Event("engine", f"runs on the engine {name}: {why}"))
        return executable


def _too_deep(function: Any) -> str:
    place = place_of(function)
    at = ", {}:{}".format(*place) if place else ""
    return f"a structure is nested too deep to be traced{at}"


def _is_deep() -> bool:
    """Whether the stack is too deep to trace."""
    return sum(1 for _ in frames()) > sys.getrecursionlimit() // 3


def nodes_to_compile(trace: Trace) -> int:
    """The number of nodes of a new trace that may become machine code."""
    if trace.graph is None or "trace" not in trace.seconds or not can_compile():    # or it comes from disk
        return 0
    return sum(1 for _ in walk(trace.graph.block))
