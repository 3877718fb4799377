"""Everyday functions, undecorated and staged: nowhere should a staged one be slower by more than what a call costs.

Each function of recipes.py, further.py and classes.py is called with small and with large arguments, undecorated and
with each engine, by turns, when all has been compiled that will be; processor time. What counts is how many times as
long as the undecorated function a staged one takes, the median of all rounds. It may take 2 µs for its guards; one that
takes longer is marked by a star. What seems to is measured again, with more rounds, and that counts: other processes
may have been in the way.
Memory is kept from call to call (`common.keep_memory`), else it would be chance who has to ask for it.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from statistics import median
from typing import Any

from common import all_cores, clock, keep_memory, once, show, take_cores

take_cores()
if not all_cores:
    os.environ.setdefault("AUTOGRAPH_NUM_THREADS", "1")

import classes  # noqa: E402
import further  # noqa: E402
import numpy as np  # noqa: E402
import recipes  # noqa: E402

import autograph as ag  # noqa: E402

Work = Callable[[], object]
MODULES = recipes, further, classes
FUNCTIONS = {name: getattr(module, name) for module in MODULES for name in module.ARGUMENTS}
ARGUMENTS = {name: sizes for module in MODULES for name, sizes in module.ARGUMENTS.items()}
ENGINES = "numpy", "native", "auto"
OVERHEAD = 2e-6     # of a call
AGAIN = 4           # times as many rounds there are, of a second measurement, for what seems to take longer
NOISE = 1.05        # by which two measurements of the same may differ
WARM = 0.3          # seconds of calls after which `auto` has made up its mind


def warmed(function: Callable[..., Any], args: tuple[Any, ...], patient: bool) -> Work:
    """A call of a function, of which all has been compiled that will be."""
    begin, calls = clock(), 0
    while calls < 3 or (clock() < begin + WARM and (patient or calls < 1000)):
        function(*args)
        calls += 1
    return lambda: function(*args)


def times(name: str, args: tuple[Any, ...], rounds: int) -> tuple[float, list[float]]:
    """What a call of the undecorated function takes, and how many times as long it takes with each engine."""
    plain = FUNCTIONS[name]
    works = [warmed(plain, args, False)]
    works += [warmed(ag.function(plain, engine=engine), args, engine == "auto") for engine in ENGINES]
    count = max(1, int(1e-3 / once(works[0], 3)))
    gc.collect()
    gc.disable()
    try:
        rounds = [[once(work, count) for work in works] for _ in range(rounds)]
    finally:
        gc.enable()
    ratios = [[each / first for each in others] for first, *others in rounds]
    return median(first for first, *_ in rounds), [median(column) for column in zip(*ratios)]


def limit(plain: float) -> float:
    """How many times as long as the undecorated function, which takes so many seconds, a staged one may take."""
    return NOISE + OVERHEAD / plain


def duration(time: float) -> str:
    return f"{1e6 * time:.3g} µs" if time < 1e-3 else f"{1e3 * time:.3g} ms"


def main(pattern: str = "*", rounds: int = 25) -> None:
    keep_memory()
    rows, ratios, slow = [], [[] for _ in ENGINES], [0] * len(ENGINES)
    for name in ARGUMENTS:
        for size, args in zip(("small", "large"), ARGUMENTS[name]):
            if not fnmatchcase(name, pattern):
                continue
            plain, staged = times(name, args, rounds)
            if max(staged) > limit(plain):
                plain, staged = times(name, args, AGAIN * rounds)
            cells = []
            for number, ratio in enumerate(staged):
                slower = ratio > limit(plain)
                slow[number] += slower
                ratios[number].append(ratio)
                cells.append(f"{ratio:.2f}{' *' if slower else '  '}")
            rows.append([f"{name}, {size}", duration(plain), *cells])
    rows.append(["geometric mean", "", *(f"{math.exp(np.log(each).mean()):.2f}  " for each in ratios)])
    rows.append(["slower by more than a call costs (*)", "", *(f"{each}  " for each in slow)])
    show("Everyday functions (times the undecorated function's time)", ["", "undecorated", *ENGINES], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help="which functions, as a glob")
    parser.add_argument("--rounds", type=int, default=25)
    arguments = parser.parse_args()
    main(arguments.pattern, arguments.rounds)
