"""What the benchmarks share: timing, and tables."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

Work = Callable[[], object]
Programs = dict[str, Callable[..., Work]]       # what takes the arguments of a call, and returns the call

ALL_CORES = "AUTOGRAPH_BENCH_ALL_CORES"  # in the environment: what users wait for, on a machine that does nothing else
all_cores = ALL_CORES in os.environ
clock = time.perf_counter if all_cores else time.process_time
if not all_cores:  # before NumPy is imported
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def take_cores(every: bool = all_cores) -> None:
    """To be called before libraries are imported that count the cores: processor time is what a call takes on one.

    A process begins with the cores of the one that started it.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1) if every else {max(os.sched_getaffinity(0))})


def keep_memory() -> None:
    """Let the C library keep all memory for the next array.

    By itself it gives some back and asks for it anew, which takes longer than most operations. How often depends on
    what the process has done before, so that the same function may take twice as long as before, or half.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, 2**31 - 1)
        mallopt(_MMAP_THRESHOLD, 2**30)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3       # as malloc.h calls them


def seconds(work: Callable[[], object]) -> float:
    """What one call takes, with the collector out of the way; processor time, so that other processes do not count."""
    gc.collect()
    gc.disable()
    try:
        start = clock()
        work()
        return clock() - start
    finally:
        gc.enable()


def bound(function: Callable[..., object]) -> Callable[..., Work]:
    """A program that has nothing to do before calls."""
    return functools.partial(functools.partial, function)


def once(work: Work, count: int) -> float:
    """Seconds of one call, out of `count`; processor time, of all threads, so that other processes do not count."""
    calls = [None] * count
    begin = clock()
    for _ in calls:
        work()
    return (clock() - begin) / count


def smallest(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """The least time that each takes, taking turns, after calls in which it may compile."""
    counts = {name: max(1, int(2e-3 / min(once(work, 1) for _ in range(3)))) for name, work in works.items()}
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            best[name] = min(best[name], once(work, counts[name]))
    return best


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.2f}" if ours > 0.095 * theirs else f"{ours / theirs:.1g}"


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: its first column aligned left, the others right."""
    table = Table()
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        table.add_row(*map(str, row))
    console = Console(width=None if Console().is_terminal else 120)
    console.print(title, style="bold")
    console.print(table)
