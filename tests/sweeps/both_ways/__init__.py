"""Running tests both ways, plain and converted, in processes of their own, and comparing what came of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HEADINGS = "plain: run skip fail  time   converted: run skip fail  time"


@dataclass
class Outcome:
    """What one run of some tests gave: the exit status (or why there is none), counts, and who failed."""

    status: int | str
    run: int
    skipped: int
    failed: set[str]
    seconds: float
    output: str

    def __str__(self) -> str:
        return f"{self.run:10} {self.skipped:4} {len(self.failed):4} {self.seconds:6.1f}"


def python(
    arguments: Sequence[str],
    converting: Collection[str],
    timeout: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[int | str, float, str]:
    """Run this Python, through `autograph run` if there is anything to convert: status, seconds, output."""
    prefix = ["-m", "autograph", "run", *(f"--convert={pattern}" for pattern in converting)] if converting else []
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *prefix, *arguments], cwd=cwd, env=env, start_new_session=True, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    status: int | str
    try:
        output, _ = process.communicate(timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the processes it started
        output, _ = process.communicate()
        status = f"took more than {timeout:.0f} s"
    return status, time.perf_counter() - start, output


def shortcomings(plain: Outcome, converted: Outcome) -> list[str]:
    """In what the converted run falls short of the plain one."""
    short = [f"fails: {name}" for name in sorted(converted.failed - plain.failed)]
    if not plain.run:
        short.append(f"no tests were run plain: exit status {plain.status}")
    if converted.run != plain.run:
        short.append(f"{converted.run} tests were run, not {plain.run}")
    if converted.skipped > plain.skipped:
        short.append(f"{converted.skipped} tests were skipped, not {plain.skipped}")
    if converted.status != plain.status:
        short.append(f"exit status {converted.status}, not {plain.status}")
    return short + re.findall(r"^autograph: nothing was converted.*", converted.output, re.MULTILINE)
