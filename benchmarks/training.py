"""How fast gradients are: training steps, beside NumPy with gradients by hand, JAX and TensorFlow.

Each library runs the same program, on the same arrays of float32, with its own gradients and its own loops, this one
on both engines; they take turns, and of the times of each, the smallest counts. All must come to the same result. First
all run on one core, and what counts is processor time; then on all, and what counts is the time that one waits.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import common
import numpy as np
import trained
import trained_peers
from common import duration, ratio, smallest

import autograph as ag

ENGINES = ["native", "numpy"] if importlib.util.find_spec("llvmlite") else ["numpy"]
ALL_CORES = {common.ALL_CORES: "1", "OPENBLAS_NUM_THREADS": str(os.cpu_count())}
TITLES = {
    "rnn": "a recurrent network, 50 steps: its gradients",
    "lbfgs": "L-BFGS, 784×10 weights: 20 iterations",
    "maml": "MAML: gradients through a step of descent",
    "mlp": "784-128-10: 100 steps of descent",
}


def ways(name: str, args: tuple[Any, ...], others: dict[str, trained_peers.Programs]) -> dict[str, Callable[[], Any]]:
    """What to measure for a program: all that gives the same result."""
    functions = {engine: ag.function(trained.PROGRAMS[name], engine=engine) for engine in ENGINES}
    functions |= {"by hand": trained.BY_HAND[name]}
    functions |= {peer: programs[name] for peer, programs in others.items()}
    expected, works = functions["by hand"](*args), {}
    for way, function in functions.items():
        for mine, theirs in zip(function(*args), expected):
            if not np.allclose(mine, theirs, rtol=1e-2, atol=1e-3):
                raise AssertionError(f"{name}: {way} gives another result")
        works[way] = lambda function=function: function(*args)
    return works


def main(pattern: str = "*", rounds: int = 7) -> None:
    common.take_cores()
    others, rows = trained_peers.installed(), []
    for name, args in trained.arguments().items():
        if fnmatchcase(name, pattern):
            times = smallest(ways(name, args, others), rounds)
            ours, *theirs = times.values()
            rows.append([TITLES[name], duration(ours), *(ratio(ours, took) for took in theirs)])
    how = "time waited for on all cores" if common.all_cores else "processor time on one core"
    title = f"Gradients (float32; {how}; {ENGINES[0]}'s, and divided by that of each: below 1, it is ahead)"
    common.show(title, ["", *ENGINES, "by hand", *others], rows)
    if not common.all_cores:
        sys.stdout.flush()
        common.take_cores(every=True)           # for the next process, in which NumPy counts them when it is imported
        command = [sys.executable, __file__, pattern, "--rounds", str(rounds)]
        subprocess.run(command, env={**os.environ, **ALL_CORES}, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help="which programs, as a glob: rnn, lbfgs, maml, mlp")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    main(arguments.pattern, arguments.rounds)
