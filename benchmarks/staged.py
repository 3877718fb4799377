"""How fast staged functions run and how long staging takes, beside plain Python and NumPy, Numba, JAX and TensorFlow.

All run the programs of numeric.py on the same arguments, by turns; of the times of each, the smallest counts. Each must
give the answer of plain Python. Peers that are not installed, or cannot run a program, are left out.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import common
import numeric
import numpy as np
import peers
from common import Work, duration, smallest

import autograph as ag

PLAIN, STAGED, NATIVE = "plain Python", "ag.function", "native"
OURS = {STAGED: "numpy"} | ({NATIVE: "native"} if importlib.util.find_spec("llvmlite") else {})


def arguments() -> dict[str, tuple[Any, ...]]:
    """What each program is called with; behind a name may stand how much there is to do."""
    random = np.random.default_rng(0)
    w, u = random.normal(size=(2, 32, 32)) / 8
    network = random.normal(size=(500, 64)), random.normal(size=(64, 64)) / 8, random.normal(size=(64, 500)) / 3
    clusters = random.normal(size=(2000, 2)), random.normal(size=(8, 2)), 20
    shapes = (50, 32, 64), (32, 256), (64, 256), (256, 256)
    inputs, state, wide_w, wide_u = (0.05 * random.normal(size=shape).astype(np.float32) for shape in shapes)
    return {
        "collatz": (837799,),
        "mandelbrot": (60, 40, 50),
        "mandelbrot_of_arrays": (300, 200, 50),
        "rnn": (random.normal(size=(50, 16, 32)), random.integers(10, 50, 16), np.zeros((16, 32)), w, u),
        "rnn, 256 wide": (inputs, random.integers(10, 50, 32), state, wide_w, wide_u),
        "k_means": clusters,
        "k_means_by_matmul": clusters,
        "beam_search": (*network, 3, 0, 8, 40),
        "matmuls": (random.normal(size=(64, 64)), random.normal(size=(64, 64)) / 8),
    }


def same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return all(map(same, one, other))
    single = np.asarray(one).dtype == np.float32
    return bool(np.allclose(one, other, rtol=1e-4 if single else 1e-6, atol=1e-5 if single else 1e-9))


def ways(name: str, args: tuple[Any, ...], others: dict[str, peers.Programs]) -> dict[str, Work]:
    """What to measure for a program: all that gives the answer of plain Python."""
    program = name.partition(",")[0]
    plain = getattr(numeric, program)
    functions = {PLAIN: plain} | {way: ag.function(plain, engine=engine) for way, engine in OURS.items()}
    functions |= {peer: programs[program] for peer, programs in others.items() if program in programs}
    expected, works = plain(*args), {}
    for way, function in functions.items():
        try:
            result = function(*args)
        except Exception as error:
            if way == PLAIN or way in OURS:
                raise
            print(f"{way} cannot run {name}: {type(error).__name__}")
            continue
        if not same(expected, result):
            raise AssertionError(f"{name}: {way} gives another answer")
        works[way] = lambda function=function: function(*args)
    return works


def calling(rounds: int, others: dict[str, peers.Programs]) -> None:
    """What a call costs of a function that does next to nothing."""
    array = np.arange(3.0)
    rows = []
    for title, args in (("two numbers", (1, 2)), ("two small arrays", (array, array))):
        times = smallest(ways("add", args, others), rounds)
        rows.append([f"adding {title}", *(duration(times[way]) for way in (PLAIN, *OURS, *others))])
    common.show("Calling", ["", PLAIN, *OURS, *others], rows)


def running(rounds: int, others: dict[str, peers.Programs]) -> None:
    """Whole programs."""
    columns = [*OURS, *others]
    rows = []
    for name, args in arguments().items():
        times = smallest(ways(name, args, others), rounds)
        ratios = [f"{times[way] / times[PLAIN]:.2f}" if way in times else "–" for way in columns]
        rows.append([name, duration(times[PLAIN]), *ratios])
    title = "Running (times the time of plain Python and NumPy; staged, the aim is 1.1)"
    common.show(title, ["", PLAIN, *columns], rows)


def staging(rounds: int) -> None:
    """Tracing long programs, and what a first call takes."""
    rows = []
    gc.collect()
    gc.freeze()  # what the peers consist of is not looked at again
    for name, count in (("ops_1000", 1000), ("ops_10000", 10000)):
        best: dict[str, float] = {}
        for _ in range(rounds):
            staged = ag.function(getattr(numeric, name))
            with patch.dict(os.environ, AUTOGRAPH_CACHE="0"):       # so that it is traced each time
                staged(1.5)
            for part, seconds in staged.traces[0].seconds.items():
                best[part] = min(best.get(part, seconds), seconds)
        parts = [f"{1e6 * best[part] / count:.1f}" for part in ("trace", "optimize", "compile")]
        rows.append([f"{count} operations", *parts, f"{1e6 * sum(best.values()) / count:.1f}"])
    title = "Staging long straight programs: microseconds for each operation (tracing, the aim is 20)"
    common.show(title, ["", "trace", "optimize", "compile", "together"], rows)


STARTING = {
    "convert and first call, 20 lines": """
import time, numeric, autograph as ag
ag.function(numeric.add)(1, 2)
begin = time.process_time()
ag.function(numeric.newton)(5.0, 2.0, 1e-9, 100)
print(time.process_time() - begin)
""",
    "import autograph, NumPy being there": """
import time, numpy
begin = time.process_time()
import autograph
print(time.process_time() - begin)
""",
}


def starting(rounds: int) -> None:
    """What takes a process of its own to measure."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    rows = []
    for name, text in STARTING.items():
        times = []
        for _ in range(rounds):
            run = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, env=environment, check=True)
            times.append(float(run.stdout))
        rows.append([name, duration(min(times))])
    common.show("Starting", ["", "time"], rows)


def main(rounds: int = 7) -> None:
    common.take_cores()
    others = peers.installed()
    calling(rounds, others)
    running(rounds, others)
    staging(rounds)
    starting(rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    main(parser.parse_args().rounds)
