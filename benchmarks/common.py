"""What the benchmarks share: timing, and tables."""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

ALL_CORES = "AUTOGRAPH_BENCH_ALL_CORES"  # in the environment: what users wait for, on a machine that does nothing else
all_cores = ALL_CORES in os.environ
clock = time.perf_counter if all_cores else time.process_time
if not all_cores:  # before NumPy is imported
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def take_cores() -> None:
    """To be called before libraries are imported that count the cores: processor time is what a call takes on one.

    A process begins with the cores of the one that started it.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1) if all_cores else {max(os.sched_getaffinity(0))})


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


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: its first column aligned left, the others right."""
    table = Table()
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(str, row))
    console = Console(width=None if Console().is_terminal else 120)
    console.print(title, style="bold")
    console.print(table)
