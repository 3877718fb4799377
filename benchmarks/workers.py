"""Staged functions in worker threads and processes: `python benchmarks/workers.py`.

`speed-up` is the time of eight calls, one after the other in one process, divided by their time with two workers; of
both, the least of several measurements, by turns. `processor time` is what the calls take on the cores, added up: it
shows how much slower calls are in workers, also where other programs keep the cores busy. The first call is what a new
process waits for, wall time: with an empty cache, and after another process has filled it. Libraries that are not
installed are left out.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
from common import show

import autograph as ag

CALLS = [(1 + i * 200_000, 1 + (i + 1) * 200_000) for i in range(8)]
WORKERS, REPEATS, PROCESSES = 2, 15, 5


@ag.function(engine="native")
def longest(begin, end):
    """The greatest number of steps of the Collatz sequences of some numbers."""
    best = 0
    for n in range(begin, end):
        steps, x = 0, n
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        best = max(best, steps)
    return best


def timed(begin: int, end: int) -> tuple[int, float]:
    """What a call gives, and the processor time it takes."""
    began = time.thread_time()
    return longest(begin, end), time.thread_time() - began


@ag.function(engine="native")
def distances(first, second):
    """The edit distance of two arrays of numbers."""
    row = np.arange(len(second) + 1)
    for i in range(len(first)):
        before, row[0] = row[0], i + 1
        for j in range(len(second)):
            change = before if first[i] == second[j] else before + 1
            before = row[j + 1]
            row[j + 1] = min(change, row[j] + 1, before + 1)
    return row[-1]


def first_calls() -> dict[str, Callable[[], Any]]:
    words = np.random.default_rng(0).integers(0, 4, (2, 30))
    return {"longest": lambda: longest(1, 10), "distances": lambda: distances(*words)}


def ways() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each way to make the calls with two workers, which have started and made a call when it is measured."""
    if importlib.util.find_spec("joblib"):
        from joblib import Parallel, delayed

        for prefer in ("threads", "processes"):
            with Parallel(WORKERS, prefer=prefer) as pool:
                yield f"joblib, {prefer}", lambda: pool(delayed(timed)(*call) for call in CALLS)
    if importlib.util.find_spec("dask"):
        import dask

        tasks = [dask.delayed(timed)(*call) for call in CALLS]
        for scheduler, kind in {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor}.items():
            with kind(WORKERS) as pool, dask.config.set(scheduler=scheduler, pool=pool):
                yield f"Dask, {scheduler}", lambda: list(dask.compute(*tasks))
    if importlib.util.find_spec("ray"):
        os.environ["RAY_AUTH_MODE"] = "disabled"
        import ray

        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="error")
        remote = ray.remote(timed)
        yield "Ray", lambda: ray.get([remote.remote(*call) for call in CALLS])
        ray.shutdown()


def wall(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_one_process() -> list[Any]:
    return [timed(*call) for call in CALLS]


def speed_ups() -> list[list[str]]:
    rows = []
    for name, work in ways():
        if [found for found, _ in work()] != [found for found, _ in in_one_process()]:
            raise AssertionError(f"{name} gives other answers")
        one, two = zip(*((measured(in_one_process), measured(work)) for _ in range(REPEATS)))
        (wall_one, used_one), (wall_two, used_two) = (map(min, zip(*each)) for each in (one, two))
        rows.append([name, f"{wall_one / wall_two:.2f}", f"{used_one:.3f} s", f"{used_two:.3f} s"])
    return rows


def measured(work: Callable[[], Any]) -> tuple[float, float]:
    """Wall time and processor time of the eight calls."""
    began = time.perf_counter()
    results = work()
    return time.perf_counter() - began, sum(used for _, used in results)


def first_call(name: str, folder: str) -> float:
    environment = {**os.environ, "AUTOGRAPH_CACHE_DIR": folder}
    command = [sys.executable, __file__, name]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def waits() -> list[list[str]]:
    rows = []
    for name in first_calls():
        times = []
        for _ in range(PROCESSES):
            with tempfile.TemporaryDirectory() as folder:
                times.append((first_call(name, folder), first_call(name, folder)))
        rows.append([name, *(f"{1e3 * min(each):.1f} ms" for each in zip(*times))])
    return rows


def main() -> None:
    show("First call in a process", ["", "empty cache", "from disk"], waits())
    show("Two workers", ["", "speed-up", "processor time, one process", "two workers"], speed_ups())


if __name__ == "__main__":
    if sys.argv[1:]:
        print(wall(first_calls()[sys.argv[1]]))
    else:
        main()
