"""The reports of `explain` on staged functions: lists of events, to read or to assert on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from autograph.runtime.graph.signature import Event

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


class Report:
    """A report on a call: how it was staged, which parts were not, and why.

    `str()` of it is a text to read. As an assertion:

        assert not f.explain(x).where(kind="callback")
        assert "x" in str(f.explain(x).where(line=12))

    Attributes:
        title: the function and its trace.
        entries: the events, each with its kind, message and place.
    """

    def __init__(self, title: str, entries: Iterable[Event]) -> None:
        self.title = title
        self.entries = list(entries)

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
        return Report(self.title, found)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"<Report on {self.title}: {len(self)} entries>"

    def __str__(self) -> str:
        lines = [self.title]
        for heading, entries in self._groups():
            if len(entries) == 1:
                lines.append(f"  {heading}: {_line(entries[0])}")
            else:
                lines += [f"  {heading}:", *(f"    {_line(entry)}" for entry in entries)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html  # only now: it takes its time

        rows = []
        for heading, entries in self._groups():
            for number, entry in enumerate(entries):
                cells = [heading if number == 0 else "", _place(entry), entry.message]
                rows.append("".join(f"<td style='text-align: left'>{html.escape(cell)}</td>" for cell in cells))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p><b>{html.escape(self.title)}</b></p><table>{body}</table>"

    def to_json(self) -> str:
        """A JSON list with an object for each entry."""
        import json  # only now: it takes its time

        return json.dumps([_as_dict(entry) for entry in self.entries], indent=2, ensure_ascii=False)

    def _groups(self) -> Iterator[tuple[str, list[Event]]]:
        ranks = {kind: rank for rank, kind in enumerate(HEADINGS)}
        ordered = sorted(self.entries, key=lambda entry: (ranks.get(entry.kind, len(ranks)), entry.kind))
        for kind, entries in groupby(ordered, lambda entry: entry.kind):
            yield HEADINGS.get(kind, kind), list(entries)


def _place(entry: Event) -> str:
    return "{}:{}".format(*entry.place) if entry.place is not None else ""


def _line(entry: Event) -> str:
    place = _place(entry)
    return f"{place}: {entry.message}" if place else entry.message


def _as_dict(entry: Event) -> dict[str, Any]:
    filename, lineno = entry.place or (None, None)
    return {"kind": entry.kind, "message": entry.message, "file": filename, "line": lineno}
