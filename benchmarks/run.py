"""Run every benchmark, or those named: `python benchmarks/run.py [conversion] [running] [staged] [training]`."""

from __future__ import annotations

import os
import platform
import sys

import conversion
import running
import staged
import training

BENCHMARKS = {"conversion": conversion.main, "running": running.main, "staged": staged.main, "training": training.main}

if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    for name in sys.argv[1:] or BENCHMARKS:
        print()
        BENCHMARKS[name]()
