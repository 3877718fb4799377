"""The reports of `explain` on staged functions: a summary, advice, and lists of events, to read or to assert on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from inspect import Parameter
from itertools import groupby
from typing import Any, NamedTuple

from autograph.runtime.dispatch.advice import LITTLE, Advice, advice_for, merged
from autograph.runtime.dispatch.advice_rules import RULES
from autograph.runtime.dispatch.compilation import Hooks
from autograph.runtime.dispatch.locations import Locations, place_in
from autograph.runtime.dispatch.persistent_traces import why_not_saved
from autograph.runtime.dispatch.specialize import Specializer
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.graph.callables import place_of
from autograph.runtime.graph.graph import walk
from autograph.runtime.graph.signature import Event, Where
from autograph.runtime.graph.traits import LOOP

VERSION = 1  # of the structure of JSON reports

SMALL = 1e-6  # seconds of a plain call that cannot become shorter
RETRACED = 4  # traces of a function, after which each value of an argument seems to need one

TIERS = ("plain Python", "a graph on NumPy", "machine code")  # tiers 0, 1 and 2, in words

# In this order, under these headings; other kinds come last, under their own names.
HEADINGS = {
    "trace": "traced",
    "engine": "engine",
    "often": "retraced often",
    "signature": "changes of the signature",
    "dropped": "dropped",
    "guard": "traced again if",
    "converted": "converted",
    "plain": "plain Python",
    "specialize": "made part of the signature",
    "unroll": "unrolled",
    "iterations": "unrolled as set_loop_options says",
    "callback": "called back",
    "pass": "optimized",
    "native": "machine code",
    "native_callback": "left to Python by machine code",
    "disk": "not kept on disk",
    "time": "time",
}


@dataclass(frozen=True)
class TierSummary:
    """The tier of the calls of a signature, with figures.

    Attributes:
        tier: 0 if the plain function runs, 1 if the graph runs on NumPy, 2 if loops of it are machine code.
        calls: how many there have been.
        plain_seconds: the time of a plain call; None if none was measured.
        staged_seconds: the time of a staged call; None if none was measured.
        reason: why this tier: "a staged call was not faster".
    """

    tier: int
    calls: int
    plain_seconds: float | None = None
    staged_seconds: float | None = None
    reason: str = ""

    @property
    def speedup(self) -> float | None:
        """How many times as fast a staged call is as a plain one."""
        if not self.plain_seconds or not self.staged_seconds:
            return None
        return self.plain_seconds / self.staged_seconds

    def __str__(self) -> str:
        text = f"{TIERS[self.tier]} (tier {self.tier}), {self.calls:,} call{'s' * (self.calls != 1)}"
        own, other = self.plain_seconds, self.staged_seconds
        if self.tier:
            own, other = other, own
        if own is not None:
            text += f" of {duration(own)}"
        if other is not None:
            text += f", {'plain' if self.tier else 'staged'} {duration(other)}"
        if self.tier and self.speedup is not None:
            text += f": {self.speedup:.3g} times as fast"
        return text


@dataclass(frozen=True)
class LoopSummary:
    """The tier of a loop, in a function whose loops are staged on their own.

    Attributes:
        place: the user's file and line.
        tier: as in `TierSummary`.
        reason: why this tier.
        runs: how often the loop has run in this tier.
        seconds: the time of these runs.
        advice: how to make it faster.
    """

    place: Where | None
    tier: int
    reason: str = ""
    runs: int = 0
    seconds: float = 0.0
    advice: Sequence[Advice] = ()

    def __str__(self) -> str:
        text = f"{TIERS[self.tier]} (tier {self.tier})"
        if self.runs:
            text += f", {self.runs:,} run{'s' * (self.runs != 1)} in {duration(self.seconds)}"
        return f"{text}: {self.reason}" if self.reason else text


def duration(seconds: float) -> str:
    """A time in the unit that suits it: "1.23 ms"."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    number = seconds * factor
    return f"{number:.3g} {unit}" if number < 99.5 else f"{number:,.0f} {unit}"


class Line(NamedTuple):
    """A line of a report: its indentation, and its pieces, each with the kind that says how to show it."""

    indent: int
    pieces: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return " " * self.indent + "".join(text for _, text in self.pieces)


class Report:
    """A report on a call: how it was staged, which parts were not, and why.

    `str()` of it is a text to read. As an assertion:

        assert not f.explain(x).where(kind="callback")
        assert "x" in str(f.explain(x).where(line=12))

    Attributes:
        title: the function and its trace.
        entries: the events, each with its kind, message and place.
        file: the file of the function.
        summary: the tier, and figures.
        loops: the loops that are staged on their own.
        advice: how to make it faster, the greatest gain first.
    """

    def __init__(
        self,
        title: str,
        entries: Iterable[Event],
        *,
        file: str = "",
        summary: TierSummary | None = None,
        loops: Sequence[LoopSummary] = (),
        advice: Sequence[Advice] = (),
    ) -> None:
        self.title = title
        self.entries = list(entries)
        self.file = file
        self.summary = summary
        self.loops = list(loops)
        self.advice = list(advice)
        self._locations = Locations(file)

    def where(self, kind: str | Iterable[str] | None = None, line: int | None = None, text: str = "") -> Report:
        """The entries of these kinds, at this line of the user's file, whose message holds `text`."""
        kinds = {kind} if isinstance(kind, str) else None if kind is None else set(kind)
        found = [
            entry
            for entry in self.entries
            if (kinds is None or entry.kind in kinds)
            and (line is None or (entry.place is not None and entry.place[1] == line))
            and text in entry.message
        ]
        return Report(self.title, found, file=self.file)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"<Report on {self.title}: {len(self)} entries>"

    # As text ----------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines()))

    def lines(self) -> Iterator[Line]:
        """The lines of the text. The kinds of pieces are title, heading, summary, place, cause, remedy and detail."""
        file = self._locations.file
        yield Line(0, (("title", self.title), ("place", f" ({file})" * bool(file))))
        for heading, lines in self._sections():
            if len(lines) == 1:
                yield Line(2, (("heading", f"{heading}: "), *lines[0]))
            else:
                yield Line(2, (("heading", f"{heading}:"),))
                yield from (Line(4, pieces) for pieces in lines)

    def _sections(self) -> Iterator[tuple[str, list[tuple[tuple[str, str], ...]]]]:
        """The headings, each with the pieces of its lines."""
        if self.summary is not None:
            reason = self._locations.in_text(self.summary.reason)
            lines = [str(self.summary), *[reason] * bool(reason)]
            yield "summary", [(("summary", line),) for line in lines]
        if self.advice:
            yield "advice", [self._advice(advice) for advice in self.advice]
        if self.loops:
            yield "loops", [self._placed(loop.place, "detail", str(loop)) for loop in self.loops]
        for heading, entries in self._groups():
            counted = Counter(self._placed(entry.place, "detail", entry.message) for entry in entries)
            times = {pieces: f" ×{count}" * (count > 1) for pieces, count in counted.items()}
            yield heading, [(*pieces, ("detail", count)) for pieces, count in times.items()]

    def _advice(self, advice: Advice) -> tuple[tuple[str, str], ...]:
        cause = f"{advice.cause}{f' ×{advice.count}' * (advice.count > 1)}. "
        return (*self._placed(advice.place, "cause", cause), ("remedy", advice.remedy))

    def _placed(self, place: Where | None, kind: str, text: str) -> tuple[tuple[str, str], ...]:
        text = self._locations.in_text(text)
        return (("place", f"{self._locations.of(place)}: "), (kind, text)) if place is not None else ((kind, text),)

    def _groups(self) -> Iterator[tuple[str, list[Event]]]:
        ranks = {kind: rank for rank, kind in enumerate(HEADINGS)}
        ordered = sorted(self.entries, key=lambda entry: (ranks.get(entry.kind, len(ranks)), entry.kind))
        for kind, entries in groupby(ordered, lambda entry: entry.kind):
            yield HEADINGS.get(kind, kind), list(entries)

    # For notebooks and tools ------------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        import html  # only now: it takes its time

        first, *lines = self.lines()
        styles = {"title": "b", "heading": "b", "place": "code", "remedy": "i"}
        rows = []
        for line in (first, *lines):
            pieces = [(styles.get(kind, "span"), html.escape(text)) for kind, text in line.pieces if text]
            text = "".join(f"<{tag}>{piece}</{tag}>" for tag, piece in pieces)
            rows.append(f"<div style='padding-left: {line.indent / 2:g}em; text-align: left'>{text}</div>")
        return "".join(rows)

    def to_dict(self) -> dict[str, Any]:
        """The report as dicts, lists and texts; `docs/functions.md` describes it."""
        return {
            "version": VERSION,
            "title": self.title,
            "file": self.file or None,
            "summary": None if self.summary is None else {**asdict(self.summary), "speedup": self.summary.speedup},
            "advice": [_as_dict(advice) for advice in self.advice],
            "loops": [_as_dict(loop) for loop in self.loops],
            "events": [_as_dict(entry) for entry in self.entries],
        }

    def to_json(self) -> str:
        """The same as JSON."""
        import json  # only now: it takes its time

        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


def _as_dict(record: Any) -> dict[str, Any]:
    """A record with a place; that becomes `file` and `line`. The advice of a loop is among all advice."""
    found = asdict(record)
    found.pop("advice", None)
    found["file"], found["line"] = found.pop("place") or (None, None)
    return found


# Of a trace -----------------------------------------------------------------------------------------------------------


def report_on(
    made: Specializer, trace: Trace, summary: TierSummary | None = None, loops: Sequence[LoopSummary] = ()
) -> Report:
    """The report on the calls that a trace is for.

    Args:
        made: what has made the trace.
        summary: what runs the calls, and how fast; omitted if there are no figures.
        loops: the loops that are staged on their own.
    """
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
        Event("trace", f"({trace.signature}): {trace.reason}"),
        *made.events,
        *(Event("guard", reason) for reason in dict.fromkeys(guard.reason for guard in trace.guards)),
        *(Hooks.statements(made.function) if Hooks.statements is not None else ()),
        *trace.events,
        *(trace.executable.events if trace.executable is not None else ()),
        Event("time", ", ".join(f"{name} {1e3 * seconds:.2f} ms" for name, seconds in trace.seconds.items())),
    ]
    events += [event for event in why_not_saved(trace, made.function) if event not in events]
    return [event for event in events if event.message]


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
    return merged([*advice_for(telling, RULES), *(advice for loop in loops for advice in loop.advice)])


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
        return TierSummary(0 if trace.plain else _tier_of(trace), trace.calls, reason=trace.plain)
    plain = trial.plain if trial.plain < math.inf else None
    staged = trial.staged if trial.staged < math.inf else None
    tier = _tier_of(trace) if trial.faster == "staged" else 0
    return TierSummary(tier, trial.calls + trace.calls, plain, staged, trial.why(tier > 0))


def _tier_of(trace: Trace) -> int:
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
