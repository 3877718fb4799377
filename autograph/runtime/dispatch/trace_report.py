"""From a trace, and the times of its tiers, to a `Report` with a summary and advice."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from inspect import Parameter
from itertools import groupby
from typing import Any

from autograph.common.printing.locations import duration, place_in
from autograph.runtime.dispatch.advice import LITTLE, Advice, advice_for, merged
from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.explain import LoopSummary, Report, TierSummary
from autograph.runtime.dispatch.persistent_traces import why_not_saved
from autograph.runtime.dispatch.specialize import Specializer
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.graph.callables import place_of
from autograph.runtime.graph.graph import walk
from autograph.runtime.graph.signature import Event
from autograph.runtime.graph.traits import LOOP

SMALL = 1e-6  # seconds of a plain call that cannot become shorter
LONG = 4  # equal items of a list that are shown as one
RETRACED = 4  # traces of a function, after which each value of an argument seems to need one


def report_on(
    made: Specializer, trace: Trace, summary: TierSummary | None = None, loops: Sequence[LoopSummary] = ()
) -> Report:
    """The report on the calls that a trace is for.

    Args:
        made: what has made the trace.
        summary: what runs the calls, and how fast; omitted if there are no figures.
        loops: the loops that are staged on their own.
    """
    runner = made.tiers.runner if made.tiers is not None else None
    loops = loops or (runner.loops if runner is not None and trace.plain else ())
    entries = _events(made, trace)
    file, _ = place_of(made.function) or ("", 0)
    summary = summary or summary_of(made, trace)
    if trace.plain and not loops and made.tiers is not None and made.tiers.runner is not None:
        loops = made.tiers.runner.loops
    return Report(
        f"{made.name}, trace {trace.number}",
        entries,
        file=file,
        summary=summary,
        loops=loops,
        advice=[*advice_on_figures(summary), *_advice(made, trace, entries, loops)],
    )


def _events(made: Specializer, trace: Trace) -> list[Event]:
    events = [
        Event("trace", f"({short_signature(str(trace.signature))}): {trace.reason}"),
        *made.events,
        *(Event("guard", reason) for reason in dict.fromkeys(guard.reason for guard in trace.guards)),
        *(Hooks.statements(made.function) if Hooks.statements is not None else ()),
        *trace.events,
        *(trace.executable.events if trace.executable is not None else ()),
        Event("time", ", ".join(f"{name} {1e3 * seconds:.2f} ms" for name, seconds in trace.seconds.items())),
    ]
    events += [event for event in why_not_saved(trace, made.function) if event not in events]
    return [event for event in events if event.message]


def short_signature(text: str) -> str:
    """A signature with the equal items of a long list as one: "xs[0] to xs[8]: py.float"."""
    shown: list[str] = []
    for (name, kind), group in groupby(text.split(", "), _item):
        parts = [*group]
        whole = name and len(parts) >= LONG
        shown += [f"{parts[0].removesuffix(kind)} to {parts[-1]}"] if whole else parts
    return ", ".join(shown)


def _item(part: str) -> tuple[str, str]:
    """The list and the type of a part of a signature that is an item of a list."""
    found = re.fullmatch(r"([^=]+)\[\d+\](: .*)", part)
    return (found[1], found[2]) if found else ("", part)


def advice_on(function: Any) -> list[Advice]:
    """The advice on all traces of a staged function, such as a loop that is staged on its own."""
    made = function._specializer
    return merged(advice for trace in made.traces for advice in _advice(made, trace, _events(made, trace), ()))


def _advice(
    made: Specializer, trace: Trace, events: Iterable[Event], loops: Sequence[LoopSummary]
) -> list[Advice]:
    """The advice on a trace; if its loops are staged on their own, on these."""
    has_loops = trace.graph is not None and any(node.op in LOOP for node in walk(trace.graph.block))
    telling = []
    for event in events:
        if event.kind == "signature" and made.made < RETRACED and "recursion" not in event.message:
            continue    # it was needed, and may be the only trace
        if event.kind == "engine" and not has_loops:
            continue
        if not (loops and event.kind == "plain" and "as plain Python" in event.message):
            telling.append(event)
    for loop in loops:
        if not loop.tier and loop.reason:
            place = place_in(loop.reason) or loop.place
            telling.append(Event("plain", f"runs as plain Python: {loop.reason}", place))
    return merged([*advice_for(telling), *(advice for loop in loops for advice in loop.advice())])


def advice_on_figures(summary: TierSummary) -> list[Advice]:
    """The advice on a function whose calls are too short to gain."""
    if summary.tier or summary.plain_seconds is None or summary.plain_seconds >= SMALL:
        return []
    cause = f"a call takes {duration(summary.plain_seconds)}, about as long as entering a staged function"
    return [Advice("small", cause, "Decorate its caller instead", gain=LITTLE)]


def reports_of(function: Any) -> list[Report]:
    """The reports on the calls of a staged function so far, one for each trace."""
    return [report_on(function._specializer, trace) for trace in function.traces]


def summary_of(made: Specializer, trace: Trace) -> TierSummary:
    """The tier of the calls that a trace is for, with the figures that the tiers have."""
    trial = made.tiers.trials.get(trace.key) if made.tiers is not None else None
    if trial is None:
        return TierSummary(0 if trace.plain else _tier_of(made, trace), trace.calls, reason=trace.plain)
    plain = trial.plain if trial.plain < math.inf else None
    staged = trial.staged if trial.staged < math.inf else None
    tier = _tier_of(made, trace) if trial.faster == "staged" else 0
    return TierSummary(tier, trial.calls + trace.calls, plain, staged, trial.why(tier > 0))


def _tier_of(made: Specializer, trace: Trace) -> int:
    """The tier of a trace whose calls are staged, or of the loops that are staged on their own in these."""
    if trace.plain:
        assert made.tiers is not None, "it is staged, since its loops are"
        return max([loop.tier for loop in made.tiers.runner.loops], default=0)
    native = getattr(trace.executable, "native", None)
    return 2 if native is not None and native.is_used else 1


def takes_json(parameters: Iterable[Parameter], kwargs: dict[str, Any]) -> bool:
    """Whether `format="json"` is among some arguments for `explain`, and no argument of the function; takes it out.

    Raises:
        ValueError: another format is.
    """
    if any(parameter.name == "format" or parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return False
    form = kwargs.pop("format", None)
    if form not in (None, "json"):
        raise ValueError(f"format= is 'json', not {form!r}")
    return bool(form)
