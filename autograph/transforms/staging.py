"""Joins the two towers: gives `ag.function` the converter and the tracer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from types import FunctionType
from typing import Any

import autograph.runtime.engines.numpy.engine
import autograph.runtime.passes  # noqa: F401  (both now, so that the first call need not wait for them)
from autograph import api
from autograph.backends.graph import GRAPH
from autograph.common import disk_cache
from autograph.conversion.conversions import conversion_of
from autograph.conversion.fingerprint import fingerprint_of
from autograph.conversion.lifted_functions import lifted_function
from autograph.errors import SourceError
from autograph.operators import backend
from autograph.operators.tracebacks import shelter_at
from autograph.runtime.dispatch import decorator, tiers
from autograph.runtime.dispatch import function as staged
from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.helpers import staged_helper
from autograph.runtime.dispatch.options import ENGINES, Options, can_compile
from autograph.runtime.graph.signature import Event, Signature, Traced
from autograph.runtime.tracing.calls.bounds import HelperForms
from autograph.runtime.tracing.calls.dispatch import Converter
from autograph.runtime.tracing.proxies.proxy import Tensor
from autograph.runtime.tracing.trace_function import trace_function
from autograph.transforms.loop_runner import FIRST, HOT, LoopRunner

function = decorator.function
run_eagerly = staged.run_eagerly


def _trace(python_function: Any, signature: Signature, example: Any, options: Options) -> Traced:
    graphs = getattr(type(python_function), "__ag_graphs__", None)      # of a loaded function, see `saving`
    if graphs is not None:
        found: Traced = graphs(python_function, example)
        return found
    convert: Converter = api.convert_callee
    if "derivative" not in options.strict:      # derivatives trace code without source as it is
        convert = api.convert_or_explain
        reason = api.why_sourceless(python_function)
        if reason:
            return Traced(None, plain=reason, sourceless=True)
    calls_itself = options.engine != "numpy" and "derivative" not in options.strict and can_compile()
    helpers = HelperForms(partial(_helper, options), lifted_function) if calls_itself else None
    tracer = GRAPH.trace, shelter_at, options.trace_packages, helpers
    traced = trace_function(python_function, signature, example, convert, *tracer)
    check = getattr(python_function, "__ag_check__", None)      # of a loop on its own, see `loop_sites.py`
    return traced if check is None else check(traced)


def _helper(options: Options, function: FunctionType) -> Any:
    """The staged form of a function that a graph calls, since it calls itself; None if the graph must not call it."""
    if "callback" in options.strict:
        return None
    passes = dict.fromkeys(options.without, False)
    own = {"fastmath": options.fastmath, "trace_packages": options.trace_packages, "passes": passes}
    return staged_helper(function, engine="native", **own)


def _inline(called: staged.Function[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Trace a staged function that another one calls as a part of that one."""
    if backend.tracing() is not GRAPH:
        return NotImplemented
    return GRAPH.call(called.python_function)(*args, **kwargs)


def _statements(entity: Any) -> Iterable[Event]:
    """Events for the statements of a function; none if it has no source."""
    try:
        function = api.user_function(entity)
        conversion = conversion_of(function)
    except SourceError:
        return []       # the trace reports why
    name = function.__code__.co_filename
    unkept = f"the conversion of `{function.__qualname__}` is not kept: {conversion.unkept}"
    place = name, function.__code__.co_firstlineno
    return [
        Event("plain", f"{each.construct}: {each.reason}", (name, each.lineno))
        if each.reason
        else Event("converted", each.construct, (name, each.lineno))
        for each in sorted(conversion.decisions, key=lambda each: each.lineno)
        if not (each.construct.startswith("call of") and each.reason and "frame" not in each.reason)
    ] + [Event("disk", unkept, place)] * bool(conversion.unkept and not disk_cache.is_off())


def _loops(function: Any, options: Options, threshold: float = HOT, first: int = FIRST) -> LoopRunner | None:
    """The runner for the loops of a function; None if it has none, or no source.

    Args:
        threshold, first: as for `LoopRunner`.
    """
    if type(function) is not FunctionType or not isinstance(api.convert_or_explain(function), FunctionType):
        return None
    engine = options.engine if options.engine in ENGINES else "native" if can_compile() else "numpy"
    own = {"engine": engine, "fastmath": options.fastmath, "trace_packages": options.trace_packages}
    try:
        runner = LoopRunner(function, {**own, "passes": dict.fromkeys(options.without, False)}, threshold, first)
    except SourceError:     # it is converted code that was pickled by value
        return None
    return runner if runner.has_loops else None


backend.ACTIVE.observers.append(tiers.follow_traces)
backend.register(GRAPH, types=(Tensor,))
Hooks.install(
    tracer=_trace,
    inliner=_inline,
    active=backend.ACTIVE,
    statements=_statements,
    fingerprint=fingerprint_of,
    loops=_loops,
)
