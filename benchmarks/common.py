"""What the benchmarks share: timing, and tables in plain text."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call, with the collector out of the way: other processes do not count."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text; the first aligned left, the others right."""
    texts = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts)]
    lines = ([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])] for first, *rest in texts)
    return "\n".join("  ".join(line).rstrip() for line in lines)
