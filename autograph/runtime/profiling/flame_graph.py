"""Profiles as files for viewers: flame graphs for speedscope, and timelines for Perfetto and Chrome.

speedscope, https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources:

    {"$schema": …, "shared": {"frames": [{"name", "file", "line"}]}, "profiles": [
        {"type": "sampled", "name", "unit": "seconds", "startValue", "endValue",
         "samples": [[frame, …]], "weights": [seconds]}]}

A stack of frames has the outermost first, by their numbers; it has the weight of the same place. Chrome's Trace Event
Format, https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU:

    {"traceEvents": [{"ph": "X", "name", "cat", "pid", "tid", "ts", "dur", "args"}, {"ph": "M", …}]}

An event of the kind `X` is complete: it begins at `ts` and takes `dur`, both in microseconds. Events of a thread that
are within another one in time are below it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from autograph.runtime.profiling.recorder import WHOLE, Branch, Line, Spot, Thread

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(threads: Sequence[Thread]) -> dict[str, Any]:
    """The structure of a file for speedscope."""
    frames: dict[tuple[str, str, int], int] = {}
    profiles = [_sampled(thread, frames) for thread in threads]
    shared = [{"name": name, **({"file": file, "line": line} if file else {})} for name, file, line in frames]
    return {
        "$schema": SCHEMA,
        "name": "autograph",
        "exporter": "autograph",
        "activeProfileIndex": 0,
        "shared": {"frames": shared},
        "profiles": [profile for profile in profiles if profile["samples"]] or profiles[:1] or [_empty()],
    }


def _empty() -> dict[str, Any]:
    times = {"unit": "seconds", "startValue": 0, "endValue": 0}
    return {"type": "sampled", "name": "no thread", **times, "samples": [], "weights": []}


def _sampled(thread: Thread, frames: dict[tuple[str, str, int], int]) -> dict[str, Any]:
    stacks: dict[Branch, list[int]] = {}
    samples, weights = [], []
    for branch, seconds, _ in thread.branches:
        stack = stacks[branch] = _stack(branch, stacks, frames)
        for number, time in enumerate(seconds):
            if time > 0:
                samples.append(stack + _numbers(_spot_frames(branch, number), frames))
                weights.append(time)
    times = {"unit": "seconds", "startValue": 0, "endValue": sum(weights)}
    return {"type": "sampled", "name": thread.name, **times, "samples": samples, "weights": weights}


def _stack(
    branch: Branch, stacks: dict[Branch, list[int]], frames: dict[tuple[str, str, int], int]
) -> list[int]:
    """The frames around the spots of a branch."""
    if branch.above is None:
        return []
    around = stacks[branch.above]
    if branch.above.site.kind == "graph":
        around = around + _numbers(_spot_frames(branch.above, branch.number), frames)
    own = [(branch.site.line.function, *branch.site.line[:2])] if branch.site.kind == "function" else []
    return around + _numbers(own, frames)


def _spot_frames(branch: Branch, number: int) -> list[tuple[str, str, int]]:
    """The frames of a spot: its lines, and its operation."""
    spot = branch.site.spot(number)
    if branch.site.kind == "function":
        return []
    shown = [(_of(line), line.file, line.line) for line in spot.lines]
    return [*shown, (_operation(spot), "", 0)] if spot.name else shown


def _of(line: Line) -> str:
    return f"{line.function} ({os.path.basename(line.file)}:{line.line})"


def _operation(spot: Spot) -> str:
    return f"{spot.name} [{spot.engine}]" if spot.nodes else spot.name


def _numbers(wanted: Sequence[tuple[str, str, int]], frames: dict[tuple[str, str, int], int]) -> list[int]:
    return [frames.setdefault(frame, len(frames)) for frame in wanted]


class Event(NamedTuple):
    """A run of a function, a graph or a node.

    Attributes:
        thread: its name, and the number of the thread.
        kind: "function", "graph", "phase" or "node".
        name: of the function, or the operation.
        engine: as for a line of a profile; "" for functions and graphs.
        line: where it is.
        begin: seconds since some time in the past.
        seconds: until it ended, with all that ran within.
        nodes: of the graph.
    """

    thread: tuple[str, int]
    kind: str
    name: str
    engine: str
    line: Line
    begin: float
    seconds: float
    nodes: tuple[Any, ...]


def events_of(thread: Thread) -> Iterator[Event]:
    """The events of a thread, as they ended."""
    for branch, number, begin, end in thread.events:
        site, spot = branch.site, branch.site.spot(max(number, 0))
        times = begin, end - begin
        if number != WHOLE and spot.nodes:
            yield Event((thread.name, thread.ident), "node", spot.name, spot.engine, spot.lines[-1], *times, spot.nodes)
        elif number == WHOLE:
            engine = spot.engine if site.kind == "phase" else ""
            yield Event((thread.name, thread.ident), site.kind, site.line.function, engine, site.line, *times, ())


def chrome_trace(threads: Sequence[Thread]) -> dict[str, Any]:
    """The structure of a Chrome trace."""
    process = os.getpid()
    origin = min((begin for thread in threads for _, _, begin, _ in thread.events), default=0.0)
    named = [
        {"ph": "M", "name": "thread_name", "pid": process, "tid": thread.ident, "args": {"name": thread.name}}
        for thread in threads
    ]
    events = [_complete(event, origin) | {"pid": process} for thread in threads for event in events_of(thread)]
    dropped = sum(thread.dropped for thread in threads)
    return {"traceEvents": named + events, "displayTimeUnit": "ns", "otherData": {"events that are not kept": dropped}}


def _complete(event: Event, origin: float) -> dict[str, Any]:
    times = {"ts": 1e6 * (event.begin - origin), "dur": 1e6 * event.seconds}
    args = {"file": event.line.file, "line": event.line.line} if event.line.file else {}
    name = f"graph of {event.name}" if event.kind == "graph" else event.name
    return {"ph": "X", "name": name, "cat": event.engine or event.kind, "tid": event.thread[1], **times, "args": args}
