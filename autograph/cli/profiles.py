"""The reports of `autograph profile`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograph.cli import display
from autograph.cli.failure import attempt
from autograph.common.printing.locations import Locations, duration
from autograph.runtime.dispatch.advice import Advice, merged
from autograph.runtime.dispatch.explain import VERSION, Report, TierSummary
from autograph.runtime.dispatch.trace_report import advice_on_figures, reports_of
from autograph.runtime.profiling.function_calls import Record, records_of
from autograph.runtime.profiling.profile import Profile

ADVICE = 3  # shown for each function, of those with the greatest gain
MANY = 100  # calls that show how long one takes
WORTH = 0.02  # the part of a function's time from which on there is advice


@dataclass
class Row:
    """A function, its times, and the reports on its traces."""

    name: str
    file: str
    line: int
    record: Record
    reports: list[Report]

    @property
    def per_call(self) -> float:
        return self.record.seconds / max(self.record.calls, 1)

    @property
    def summary(self) -> TierSummary:
        """That of the signature with the most calls."""
        found = [report.summary for report in self.reports if report.summary is not None]
        return max(found, key=lambda summary: summary.calls, default=TierSummary(0, self.record.calls))

    @property
    def advice(self) -> list[Advice]:
        """That of all signatures, the greatest gain first."""
        least = WORTH * self.record.seconds
        found = merged(advice for report in self.reports for advice in report.advice)
        if self.record.calls >= MANY:
            found = found or advice_on_figures(replace(self.summary, plain_seconds=self.per_call))
        return [advice for advice in found if not 0 < advice.seconds < least]

    @property
    def place(self) -> str:
        return f"{Locations(self.file).file or self.file}:{self.line}"

    @property
    def cells(self) -> list[str]:
        """Its cells in the table."""
        summary, faster = self.summary, self.summary.speedup
        times = [duration(self.record.seconds), duration(self.record.own), f"{self.record.calls:,}"]
        shown = "" if faster is None or not summary.tier else f"{faster:.3g}"
        return [*times, duration(self.per_call), str(summary.tier), shown, f"{self.name}  {self.place}"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "file": self.file,
            "line": self.line,
            "calls": self.record.calls,
            "seconds": self.record.seconds,
            "own_seconds": self.record.own,
            "reports": [report.to_dict() for report in self.reports],
        }


COLUMNS = ("time", "own", "calls", "per call", "tier", "faster", "function")
_KEYS: dict[str, Callable[[Row], Any]] = {
    "time": lambda row: -row.record.seconds,
    "own": lambda row: -row.record.own,
    "calls": lambda row: -row.record.calls,
    "per-call": lambda row: -row.per_call,
    "name": lambda row: row.name,
}


def rows_of(profile: Profile, sort: str) -> list[Row]:
    """The functions that were called, in order."""
    rows = [
        Row(*key, record, [report for function in record.functions for report in reports_of(function)])
        for key, record in records_of(profile.threads).items()
    ]
    return sorted(rows, key=lambda row: (_KEYS[sort](row), row.file, row.line))


class ProgramProfile:
    """The functions of a program, which ran for some seconds; and its profile, which may have lines."""

    def __init__(self, program: str, seconds: float, profile: Profile, sort: str) -> None:
        self.program = program
        self.seconds = seconds
        self.profile = profile
        self.rows = rows_of(profile, sort)

    @property
    def title(self) -> str:
        count = len(self.rows)
        if not count:
            return f"{self.program}: {duration(self.seconds)}, no staged function was called"
        inside = sum(row.record.own for row in self.rows)
        functions = f"{count} staged function{'s' * (count != 1)}"
        return f"{self.program}: {duration(self.seconds)}, of these {duration(inside)} in {functions}"

    def to_json(self) -> str:
        """A structure for other programs."""
        rows = [row.to_dict() for row in self.rows]
        record = {"version": VERSION, "program": self.program, "seconds": self.seconds, "functions": rows}
        if self.profile.has_lines:
            record["lines"] = [line.to_dict() for line in self.profile.lines]
            record["nodes"] = [node.to_dict() for node in self.profile.nodes]
        return json.dumps(record, indent=2, ensure_ascii=False)


def write(profile: ProgramProfile, top: int, format: str, output: Path | None) -> None:
    """Write a profile to a file, or to stderr.

    Args:
        top: how many functions and lines a table shows; 0 for all.
        format: "table", "json", "speedscope" or "chrome".
    """
    if output is None:
        assert sys.__stderr__ is not None, "the caller has checked that"
        _write(profile, top, format, sys.__stderr__)
        return
    with attempt("write", output), open(output, "w", encoding="utf-8") as file:
        _write(profile, top, format, file)


def _write(profile: ProgramProfile, top: int, format: str, file: IO[str]) -> None:
    if format != "table":
        measured = profile.profile
        texts = {"json": profile.to_json, "speedscope": measured.speedscope, "chrome": measured.chrome_trace}
        print(texts[format](), file=file)
        return
    shown = profile.rows[: top or None]
    hidden = len(profile.rows) - len(shown)
    rest = [f"... and {hidden} more: --top 0 shows all"] * (hidden > 0)
    if display.in_color(file):
        _write_in_color(profile.title, shown, rest, Console(file=file))
    else:
        print(profile.title, *_lines(shown), *rest, sep="\n", file=file)
    if profile.profile.has_lines:
        print("", *profile.profile.rows(top), sep="\n", file=file)


def _lines(rows: Iterable[Row]) -> list[str]:
    table = [list(COLUMNS), *(row.cells for row in rows)]
    if len(table) == 1:
        return []
    widths = [max(map(len, column)) for column in zip(*table)]
    aligned = ["  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths)), row[-1]]) for row in table]
    lines = ["", aligned[0]]
    for row, line in zip(rows, aligned[1:]):
        lines += [line, *("    " + "".join(text) for text in _notes(row))]
    return lines


def _notes(row: Row) -> list[tuple[str, str, str]]:
    """The lines below a function: place, cause and remedy of advice, or why it runs as plain Python."""
    locations = Locations(row.file)
    advice = row.advice[:ADVICE]
    if not advice and row.summary.tier == 0 and row.summary.reason:
        return [("", locations.in_text(row.summary.reason).removeprefix("tier 0: "), "")]
    places = [f"{locations.of(each.place)}: " if each.place is not None else "" for each in advice]
    return [(place, f"{each.cause}. ", each.remedy) for place, each in zip(places, advice)]


def _write_in_color(title: str, rows: Iterable[Row], rest: Iterable[str], console: Console) -> None:
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=None)
    for name in COLUMNS[:-1]:
        table.add_column(name, justify="right", no_wrap=True, style="cyan" if name == "time" else "")
    table.add_column(COLUMNS[-1], overflow="fold")
    for row in rows:
        cell = Text.assemble((row.name, "bold"), (f"  {row.place}", "bright_black"))
        for place, cause, remedy in _notes(row):
            cell.append_text(Text.assemble("\n", (place, "cyan"), cause, (remedy, "green")))
        table.add_row(*map(Text, row.cells[:-1]), cell)
    console.print(table)
    for line in rest:
        console.print(Text(line))
