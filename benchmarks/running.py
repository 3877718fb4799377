"""How fast converted code runs while no backend traces: through the operators, and through `ag.convert`.

Each workload is a standard-library module, its C accelerator kept out, at real work; or a loop with an `if`.
The original and the converted module stand side by side in one process and take turns; of the times of each,
the smallest counts.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from common import seconds, show

import autograph


@dataclass
class Workload:
    """`work` gets the modules named in `modules`, imported without those in `accelerators`."""

    name: str
    modules: list[str]
    accelerators: list[str]
    work: Callable[..., object]


def sorting(heapq: types.ModuleType) -> object:
    numbers = [(i * 7919) % 10007 for i in range(1500)]
    heap: list[int] = []
    for number in numbers:
        heapq.heappush(heap, number)
    ordered = [heapq.heappop(heap) for _ in numbers]
    return ordered, heapq.nsmallest(20, numbers), list(heapq.merge(numbers[:50], numbers[50:100]))


def comparing(difflib: types.ModuleType) -> object:
    before = Path(argparse.__file__).read_text(encoding="utf-8").splitlines()[:600]
    after = [line.replace("action", "deed") for line in before if len(line) % 7]
    return list(difflib.unified_diff(before, after)), difflib.get_close_matches("statistics", before[:150])


def summing(statistics: types.ModuleType) -> object:
    numbers = [(i * 7919) % 10007 / 8 for i in range(600)]
    line = statistics.linear_regression(range(600), numbers)
    return line, statistics.mean(numbers), statistics.stdev(numbers), statistics.quantiles(numbers)


def encoding_and_decoding(json: types.ModuleType, *parts: types.ModuleType) -> object:
    document = {"rows": [{"id": i, "name": f"row {i} «é»", "xs": [i / 4, None, True]} for i in range(80)]}
    text = json.dumps(document, indent=1)
    return text, json.loads(text)


def stepping(looping: types.ModuleType) -> object:
    return looping.steps(300)


WORKLOADS = [
    Workload("json", "json json.scanner json.decoder json.encoder".split(), ["_json"], encoding_and_decoding),
    Workload("difflib", ["difflib"], [], comparing),
    Workload("statistics", ["statistics"], ["_statistics"], summing),
    Workload("heapq", ["heapq"], ["_heapq"], sorting),
    Workload("loop with an if", ["looping"], [], stepping),
]


@contextlib.contextmanager
def absent(names: list[str]) -> Iterator[None]:
    """While it lasts, importing `names` fails; afterwards all modules are as before."""
    kept = dict(sys.modules)
    sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.modules.clear()
        sys.modules.update(kept)


def fresh(workload: Workload, convert: bool) -> list[types.ModuleType]:
    """The workload's modules imported anew: as they are, or converted."""
    hook = autograph.importing.install(workload.modules) if convert else contextlib.nullcontext()
    with absent(workload.accelerators), hook:
        for name in workload.modules:
            sys.modules.pop(name, None)
        return [importlib.import_module(name) for name in workload.modules]


def compare(workload: Workload, rounds: int) -> tuple[float, float, float]:
    """Seconds of the original, of the converted modules, and of the work through `ag.convert`."""
    original, converted = fresh(workload, convert=False), fresh(workload, convert=True)
    through_convert = autograph.convert(workload.work)
    ways = [
        lambda: workload.work(*original),
        lambda: workload.work(*converted),
        lambda: through_convert(*original),
    ]
    expected, *answers = [way() for way in ways]
    if answers != [expected, expected]:
        raise AssertionError(f"{workload.name}: converted code gives another answer")
    times = [[seconds(way) for way in ways] for _ in range(rounds)]
    plain, operators, convert = (min(column) for column in zip(*times))
    return plain, operators, convert


def main(pattern: str = "*", rounds: int = 15) -> None:
    rows = []
    for workload in WORKLOADS:
        if fnmatchcase(workload.name, pattern):
            plain, operators, convert = compare(workload, rounds)
            ratios = f"{operators / plain:.2f}", f"{convert / plain:.2f}"
            rows.append((workload.name, f"{1e3 * plain:.2f}", *ratios))
    title = "Running converted code, no backend tracing (times the original; the aim is at most 7, and 1)"
    show(title, ["", "original ms", "operators", "ag.convert"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help="which workloads, as a glob")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    main(arguments.pattern, arguments.rounds)
