"""Run every benchmark, or those named: `python benchmarks/run.py [conversion] [running] [staged] [native] …`.

Beside this library stand those that are installed: `pip install -e '.[bench,peers]'`.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys

import arrays
import as_written
import conversion
import everyday
import expressions
import first
import native
import real
import running
import staged
import training

BENCHMARKS = {
    "conversion": conversion.main,
    "running": running.main,
    "staged": staged.main,
    "native": native.main,
    "first": first.main,
    "arrays": arrays.main,
    "expressions": expressions.main,
    "everyday": everyday.main,
    "as_written": as_written.main,
    "training": training.main,
    "real": real.main,
}

if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    missing = [name for name in ("malt", "jax", "numba", "tensorflow") if not importlib.util.find_spec(name)]
    if missing:
        print(f"Not installed, so not compared: {', '.join(missing)}; see the extras `bench` and `peers`")
    for name in sys.argv[1:] or BENCHMARKS:
        print()
        BENCHMARKS[name]()
