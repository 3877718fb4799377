"""The reports of `explain` on staged functions: a summary, advice, and lists of events, to read or to assert on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from typing import Any, NamedTuple

from autograph.common.printing.locations import Locations, duration
from autograph.runtime.dispatch.advice import Advice
from autograph.runtime.graph.signature import Event, Where

VERSION = 1  # of the structure of JSON reports

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
        advice: gives advice on it, for reports only, as that takes its time.
    """

    place: Where | None
    tier: int
    reason: str = ""
    runs: int = 0
    seconds: float = 0.0
    advice: Callable[[], Sequence[Advice]] = field(default=tuple, compare=False, repr=False)

    def __str__(self) -> str:
        text = f"{TIERS[self.tier]} (tier {self.tier})"
        if self.runs:
            text += f", {self.runs:,} run{'s' * (self.runs != 1)} in {duration(self.seconds)}"
        return f"{text}: {self.reason}" if self.reason else text


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
    found = {each.name: getattr(record, each.name) for each in fields(record) if each.name != "advice"}
    found["file"], found["line"] = found.pop("place") or (None, None)
    return found
