"""What the first call of a function takes with the native engine, and Numba's where it is installed.

Each is called in a process of its own, where everything is imported, and the function decorated: the least processor
time of several processes, less that of a later call. `cold` is conversion, trace, passes and LLVM; `from disk` is the
next process, which finds the conversion, the trace and the machine code.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from common import seconds, show, take_cores

PROCESSES = 3


def called(name: str, with_numba: bool) -> None:
    """Print what the first call takes, in ms."""
    take_cores()
    import loops
    from native import WORK

    import autograph as ag

    function: Callable[..., Any] = getattr(loops, name)
    if with_numba:
        import numba  # type: ignore[import-not-found, unused-ignore]

        vars(loops).update({other: numba.njit(getattr(loops, other)) for other in ("sift", "slope")})
        function = numba.njit(function)
    else:
        function = ag.function(function, engine="native")
    args = WORK[name][1]
    first, _, later = (seconds(lambda: function(*args)) for _ in range(3))
    print(1e3 * (first - later))


def in_process(name: str, folder: str, *how: str) -> float:
    environment = {**os.environ, "AUTOGRAPH_CACHE_DIR": folder}
    run = [sys.executable, __file__, name, *how]
    return float(subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout)


def row(name: str, title: str, numba: bool) -> list[str]:
    cold, warm = [], []
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(in_process(name, folder))
            warm.append(in_process(name, folder))
            other = in_process(name, folder, "numba") if numba else None
    times = [min(cold), min(warm), *([] if other is None else [other])]
    return [title, *(f"{time:.0f} ms" for time in times)]


def main() -> None:
    from importlib.util import find_spec

    from native import WORK

    numba = find_spec("numba") is not None
    rows = [row(name, title, numba) for name, (title, _) in WORK.items()]
    show("First calls", ["", "cold", "from disk", *(["Numba, cold"] if numba else [])], rows)


if __name__ == "__main__":
    if sys.argv[1:]:
        called(sys.argv[1], "numba" in sys.argv)
    else:
        main()
