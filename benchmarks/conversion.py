"""How fast functions convert and how long they become, side by side with diastatic-malt.

Takes the functions and methods of some standard-library modules. Every round measures each converter in a
process of its own, because both cache what they have converted; of a function's times, the smallest counts.
Malt is left out, with a word, where it is not installed (extra `bench`).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util  # malt fails on every function unless this happens to be imported
import inspect
import json
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import NamedTuple

from common import show

MODULES = (
    "argparse bisect calendar colorsys configparser copy csv difflib fractions heapq ipaddress json.decoder "
    "json.encoder pprint random shlex statistics string textwrap urllib.parse"
).split()


def functions(module: types.ModuleType) -> Iterator[tuple[str, types.FunctionType]]:
    """The functions and plain methods that `module` defines, with qualified names."""
    classes = [value for value in vars(module).values() if inspect.isclass(value)]
    for scope in (module, *classes):
        for value in vars(scope).values():
            if inspect.isfunction(value) and value.__code__.co_filename == module.__file__:
                if "<locals>" not in value.__qualname__ and not hasattr(value, "__wrapped__"):
                    yield f"{module.__name__}.{value.__qualname__}", value


def code_lines(text: str) -> int:
    """Lines that are neither blank nor only a comment."""
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines())


class Result(NamedTuple):
    seconds: float
    lines_in: int
    lines_out: int


Results = dict[str, "Result | None"]  # by qualified name; None where it was refused


def converter(name: str) -> Callable[[object], str]:
    module = importlib.import_module("malt.impl.api" if name == "malt" else "autograph")
    return module.to_code


def warm_up(x):
    while x:
        x = -x if x < 0 else x - 1
    return x


def measure(name: str) -> Results:
    """Convert each function once."""
    to_code = converter(name)
    to_code(warm_up)
    results: Results = {}
    for module in MODULES:
        for qualname, function in functions(importlib.import_module(module)):
            start = time.perf_counter()
            try:
                text = to_code(function)
            except Exception:  # refusals, of whatever kind, are what is counted here
                results[qualname] = None
                continue
            took = time.perf_counter() - start
            results[qualname] = Result(took, code_lines(inspect.getsource(function)), code_lines(text))
    return results


def rounds(name: str, count: int) -> Results:
    """`measure` in `count` processes, keeping the fastest of each function."""
    best: Results = {}
    command = [sys.executable, __file__, "--measure", name]
    for _ in range(count):
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        for qualname, numbers in json.loads(output.splitlines()[-1]).items():
            result, kept = numbers and Result(*numbers), best.get(qualname)
            best[qualname] = min(kept, result) if kept and result else result
    return best


class Summary(NamedTuple):
    converted: float
    median: float
    slowest: float
    growth: float

    def row(self, name: str) -> list[str]:
        times = (f"{1e3 * self.median:.2f}", f"{1e3 * self.slowest:.1f}")
        return [name, f"{100 * self.converted:.1f} %", *times, f"{self.growth:.2f}"]


def summary(results: Results, among: list[str]) -> Summary:
    """The share converted of all, and, of the functions `among`, the times and the lines out per line in."""
    taken = [result for qualname in among if (result := results[qualname])]
    times = [result.seconds for result in taken]
    growth = sum(result.lines_out for result in taken) / sum(result.lines_in for result in taken)
    share = sum(map(bool, results.values())) / len(results)
    return Summary(share, statistics.median(times), max(times), growth)


def main(count: int = 3) -> None:
    ours = rounds("autograph", count)
    converted = [qualname for qualname, result in ours.items() if result]
    rows = [summary(ours, converted).row("autograph")]
    verdict = "diastatic-malt is not installed, so nothing stands beside it: pip install '.[bench]'"
    if importlib.util.find_spec("malt"):
        theirs = rounds("malt", count)
        both = [qualname for qualname in converted if theirs[qualname]]
        mine, malts = summary(ours, both), summary(theirs, both)
        rows += [mine.row(f"autograph, the {len(both)} that both convert"), malts.row("malt, the same")]
        slower, longer = malts.median / mine.median, malts.growth / mine.growth
        verdict = f"malt takes {slower:.1f} times as long and gives {longer:.1f} times as many lines"
    title = f"Converting {len(ours)} functions of {len(MODULES)} standard-library modules"
    show(title, ["", "converted", "median ms", "slowest ms", "lines per line"], rows)
    print(verdict)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", choices=["autograph", "malt"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
    else:
        main(arguments.rounds)
