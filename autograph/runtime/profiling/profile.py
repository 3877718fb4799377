"""`ag.profile`: the time of staged functions by function, by line and by node, as tables and for viewers.

`recorder.py` records; here the record of a profile becomes lists of plain objects.
"""

from __future__ import annotations

import json
import linecache
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ContextDecorator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from autograph.common.printing.locations import duration, shown_file
from autograph.runtime.profiling import recorder
from autograph.runtime.profiling.flame_graph import Event, chrome_trace, events_of, speedscope
from autograph.runtime.profiling.function_calls import records_of
from autograph.runtime.profiling.recorder import Branch, Line, Spot, Thread

VERSION = 1     # of the JSON
TOP = 20        # lines of a table
HEADER = 20     # lines of decorators
WIDE = 60       # characters of a source line


class _Times:
    """The times of one thing. It can become a dict for JSON."""

    def to_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "nodes"}    # type: ignore[arg-type]


@dataclass(frozen=True)
class FunctionTime(_Times):
    """The calls of a staged function.

    Attributes:
        function, file, line: its name, and where it begins.
        calls: how often it was called, without the calls that are part of another graph.
        staged_calls: those that have entered a graph; the others ran as plain Python.
        total: seconds of all calls; of a recursion once.
        seconds: the same without other staged functions.
    """

    function: str
    file: str
    line: int
    calls: int
    staged_calls: int
    total: float
    seconds: float


@dataclass(frozen=True)
class LineTime(_Times):
    """A line of the user's program, as one engine runs it: a line that several run is there several times.

    Attributes:
        file, line, function: where it is.
        last_line: of machine code for several lines; else the same line.
        source: its text.
        engine: "Python", "NumPy" or "machine code". Or "entering", for what is between a call of a function and its
            graph, "tracing", with optimizing, or "compiling"; "" for a line that only calls others.
        calls: how often it ran; a loop of machine code counts once for each run of the whole loop.
        total: seconds of the line in all engines, with the functions that it calls.
        seconds: of the line itself in this engine.
    """

    file: str
    line: int
    last_line: int
    function: str
    source: str
    engine: str
    calls: int
    total: float
    seconds: float


@dataclass(frozen=True)
class NodeTime(_Times):
    """A node of a graph, at each place from which the graph was called.

    Attributes:
        op: its operation; of nodes that machine code runs as one, their operations.
        function: in which it is.
        places: the lines of the user's program, the outermost call first.
        engine: as for a line.
        calls: how often it ran.
        seconds: without those of graphs and functions that it calls.
        nodes: the nodes themselves.
    """

    op: str
    function: str
    places: tuple[Line, ...]
    engine: str
    calls: int
    seconds: float
    nodes: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"places": [place._asdict() for place in self.places]}


class Profile(ContextDecorator):
    """Measures the staged functions that are called while it is active, in all threads.

    Use it in a `with` statement, or as a decorator. It can be entered again; then the times add up. Profiles may be in
    one another. Staged functions do the same as without a profile, in the same tier. Only time differs: reading the
    clock costs about 2 µs for each call and 0.5 µs for each node that NumPy runs, which the results leave out.

    A function in tier 0 is plain Python, and measured as a whole: its time is that of its `def` line. A loop or a group
    of operations that is machine code is one node, at its first line.

    Args:
        lines: whether to time lines and nodes, too. Without, only the calls of functions are timed.

    Attributes:
        seconds: for how long it has been active.
        has_lines: whether it times lines and nodes.
        threads: the record itself, see `recorder`.

    Example:
        >>> @ag.function(engine="numpy")
        ... def norm(x):
        ...     squares = x * x
        ...     return np.sqrt(squares.sum())
        >>> with ag.profile() as p:
        ...     norm(np.array([3.0, 4.0]))
        np.float64(5.0)
        >>> sorted((line.line, line.calls, line.engine) for line in p.lines if line.engine == "NumPy")
        [(3, 1, 'NumPy'), (4, 1, 'NumPy')]
        >>> sorted(node.op for node in p.nodes)
        ['.sum', 'mul', 'np.sqrt']
    """

    def __init__(self, lines: bool = True) -> None:
        self.seconds = 0.0
        self.threads: list[Thread] = []
        self.has_lines = lines
        self._entered: list[tuple[recorder.Mark, float]] = []

    def __enter__(self) -> Profile:
        outermost = not self._entered
        self._entered.append((recorder.start(self.has_lines) if outermost else {}, recorder.clock()))
        return self

    def __exit__(self, *error: object) -> None:
        mark, begin = self._entered.pop()
        if not self._entered:
            self.seconds += recorder.clock() - begin
            self.threads += recorder.stop(mark, self.has_lines)

    @property
    def functions(self) -> list[FunctionTime]:
        """The staged functions that were called; those with most time of their own first."""
        return _ordered(
            FunctionTime(*key, record.calls, record.staged, record.seconds, record.own)
            for key, record in records_of(self.threads).items()
        )

    @property
    def lines(self) -> list[LineTime]:
        """The lines of the user's program; those with most time of their own first."""
        return _ordered(_line_times(self.threads))

    @property
    def nodes(self) -> list[NodeTime]:
        """The nodes of graphs; those with most time first."""
        return _ordered(_node_times(self.threads))

    @property
    def events(self) -> list[Event]:
        """The runs of functions, graphs and nodes in time, as they ended: the first 100,000 of each thread."""
        return [event for thread in self.threads for event in events_of(thread)]

    def table(self, top: int = TOP) -> str:
        """The lines as a table.

        Args:
            top: how many lines it shows; 0 for all.
        """
        inside, count = _seconds(self.threads), len(self.functions)
        what = f"{count} staged function{'s' * (count != 1)}" if count else "graphs"
        title = f"{duration(self.seconds)}, of these {duration(inside)} in {what}"
        return "\n".join([title, "", *self.rows(top)] if inside else [title])

    __str__ = table

    def rows(self, top: int = TOP) -> list[str]:
        """The lines of the table, without its title."""
        lines, inside = self.lines, _seconds(self.threads)
        shown = lines[: top or None]
        rest = len(lines) - len(shown)
        table = aligned([list(COLUMNS), *(_cells(each, inside) for each in shown)])
        return table + [f"... and {rest} more lines"] * (rest > 0)

    def __repr__(self) -> str:
        return f"<profile of {duration(self.seconds)}; print it to see the lines>"

    def to_json(self) -> str:
        """Functions, lines and nodes as JSON, with the attributes of `FunctionTime`, `LineTime` and `NodeTime`."""
        lists = {name: [each.to_dict() for each in getattr(self, name)] for name in ("functions", "lines", "nodes")}
        return json.dumps({"version": VERSION, "seconds": self.seconds, **lists}, indent=2, ensure_ascii=False)

    def speedscope(self) -> str:
        """A flame graph as JSON for https://www.speedscope.app: by thread, function, line and node."""
        return json.dumps(speedscope(self.threads), ensure_ascii=False)

    def chrome_trace(self) -> str:
        """The events in time, as JSON for https://ui.perfetto.dev or chrome://tracing."""
        return json.dumps(chrome_trace(self.threads), ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file. Its name says what: `*.speedscope.json`, `*.chrome.json`, other `*.json`, or a table.

        Args:
            path: of the file. `.trace.json` is a Chrome trace, too.
        """
        name = os.fspath(path)
        if name.endswith(".speedscope.json"):
            text = self.speedscope()
        elif name.endswith((".chrome.json", ".trace.json")):
            text = self.chrome_trace()
        else:
            text = self.to_json() if name.endswith(".json") else self.table(top=0) + "\n"
        Path(path).write_text(text, encoding="utf-8")


def _ordered(times: Iterable[Any]) -> list[Any]:
    return sorted(times, key=lambda each: -each.seconds)


# Sums ----------------------------------------------------------------------------------------------------------------


@dataclass
class _Sum:
    """The time of a line in an engine."""

    calls: int = 0
    seconds: float = 0.0
    last: int = 0


_Key = tuple[Line, str]     # a line and its engine


def _line_times(threads: Sequence[Thread]) -> Iterator[LineTime]:
    sums: dict[_Key, _Sum] = defaultdict(_Sum)
    totals: dict[Line, float] = defaultdict(float)
    for branch, times, counts in (each for thread in threads for each in thread.branches):
        around = [*spots_around(branch)]
        calls: Counter[_Key] = Counter()
        for number, (time, count) in enumerate(zip(times, counts)):
            spot = branch.site.spot(number)
            place = spot.lines or next((each.lines for each in around if each.lines), ())
            if not place or not (time or count):
                continue
            own = sums[key := (place[-1], spot.engine)]
            own.seconds += time
            own.last = max(own.last, spot.last)
            if spot.name:
                calls[key] = max(calls[key], count)
            callers = (line for each in (spot, *around) if each.nodes for line in each.lines)
            for line in {place[-1], *callers}:
                totals[line] += time
        for key, count in calls.items():
            sums[key].calls += count
    with_time = {line for line, _ in sums}
    sums |= {(line, ""): _Sum() for line in totals if line not in with_time}
    for (line, engine), each in sums.items():
        yield LineTime(
            *(line.file, line.line, max(line.line, each.last), line.function, _source(line)),
            *(engine, each.calls, totals[line], each.seconds),
        )


def spots_around(branch: Branch) -> Iterator[Spot]:
    """The nodes and functions around a branch, the innermost first."""
    each = branch
    while each.above is not None:
        yield each.above.site.spot(each.number)
        each = each.above


def _source(line: Line) -> str:
    """The text of a line; of a function that begins with a decorator, that of its `def`."""
    text = linecache.getline(line.file, line.line).strip()
    if text.startswith("@"):
        following = (linecache.getline(line.file, line.line + step).strip() for step in range(1, HEADER))
        text = next((each for each in following if each.startswith(("def ", "class "))), text)
    return text


def _node_times(threads: Sequence[Thread]) -> Iterator[NodeTime]:
    found: dict[Any, list[Any]] = {}
    for branch, times, counts in (each for thread in threads for each in thread.branches):
        if branch.site.kind != "graph":
            continue
        for number, (time, count) in enumerate(zip(times, counts)):
            if number and (time or count):
                total = found.setdefault((branch.site, number), [0, 0.0])
                total[0] += count
                total[1] += time
    for (site, number), (count, time) in found.items():
        spot = site.spot(number)
        if spot.nodes:
            yield NodeTime(spot.name, site.line.function, spot.lines, spot.engine, count, time, spot.nodes)


# The table -----------------------------------------------------------------------------------------------------------

COLUMNS = ("time", "share", "total", "calls", "by", "line", "")


def _seconds(threads: Sequence[Thread]) -> float:
    return sum(sum(seconds) for thread in threads for _, seconds, _ in thread.branches)


def aligned(rows: list[list[str]]) -> list[str]:
    """A table: numbers, then texts."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    sides = [">"] * 4 + ["<"] * 3
    return ["  ".join(map("{:{}{}}".format, row, sides, widths)).rstrip() for row in rows]


def _cells(line: LineTime, inside: float) -> list[str]:
    place = f"{shown_file(line.file, os.getcwd())}:{line.line}"
    place += f"-{line.last_line}" * (line.last_line > line.line)
    share = f"{100 * line.seconds / inside:.1f} %" if inside else ""
    source = line.source if len(line.source) <= WIDE else f"{line.source[: WIDE - 1]}…"
    times = [duration(line.seconds), share, duration(line.total), f"{line.calls:,}" if line.calls else ""]
    return [*times, line.engine, place, source]


profile = Profile
