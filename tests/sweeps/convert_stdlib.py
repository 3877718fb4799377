"""Convert every function of the running Python's standard library, one by one, and see how long it takes.

    python tests/sweeps/convert_stdlib.py [MODULE ...]

For each function and method: its source is found and verified, converted, printed and compiled, and the printed text
compiles, too. Before that, generated functions of growing length, of several shapes, must take time in proportion.
Exit status 1 if a function fails, or if what conversion takes, or what it gives, is more than the limits below.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import importlib
import io
import linecache
import pkgutil
import platform
import statistics
import sys
import sysconfig
import textwrap
import time
import traceback
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from autograph.conversion.conversions import conversion_of, text_of
from autograph.syntax import source

MEDIAN_MS = 4.0
LINES_PER_LINE = 2.0
PER_DOUBLING = 2.5  # 2 is linear, 4 quadratic

# Importing them opens a browser or a window, prints a poem, or starts a program; the last are no library.
NOT_IMPORTED = ("antigravity", "this", "idlelib", "turtledemo", "__phello__", "lib2to3.pgen2.conv", "ensurepip")


@dataclass
class Tally:
    """What the conversions gave so far."""

    modules: int = 0
    milliseconds: list[float] = field(default_factory=list)
    lines_in: int = 0
    lines_out: int = 0
    slowest: list[tuple[float, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    not_importable: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        done = len(self.milliseconds)
        median, mean = statistics.median(self.milliseconds), statistics.mean(self.milliseconds)
        return (
            f"{done} of {done + len(self.failures)} functions of {self.modules} modules convert, in {median:.2f} ms at"
            f" the median and {mean:.2f} ms on average, at {self.lines_out / self.lines_in:.2f} lines per line"
        )

    def too_much(self) -> list[str]:
        """What is beyond the limits."""
        said = [
            f"{len(self.failures)} functions fail" if self.failures else "",
            f"the median is above {MEDIAN_MS} ms" if statistics.median(self.milliseconds) > MEDIAN_MS else "",
            f"more than {LINES_PER_LINE} lines per line" if self.lines_out > LINES_PER_LINE * self.lines_in else "",
        ]
        return [line for line in said if line]


# The functions of a module -----------------------------------------------------------------------------------------


def library() -> list[str]:
    """The names of all modules of the standard library that are written in Python."""
    found = pkgutil.walk_packages([sysconfig.get_path("stdlib")], onerror=lambda name: None)
    names = []
    for place, name, _ in found:
        path = getattr(place.find_spec(name, None), "origin", None)
        top = name.split(".")[0]
        is_test = not {"test", "tests", "__main__"}.isdisjoint(name.split("."))
        if top in sys.stdlib_module_names and str(path).endswith(".py") and not is_test:
            names.append(name)
    return names


def functions(module: types.ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module defines, seen through decorators, each once."""
    seen: set[int] = set()
    scopes: list[dict[str, Any]] = [vars(module)]
    while scopes:
        for value in list(scopes.pop().values()):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, type) and value.__module__ == module.__name__:
                scopes.append(dict(vars(value)))
            for function in behind(value):
                code = function.__code__
                if id(code) not in seen and code.co_filename in (module.__file__, f"<frozen {module.__name__}>"):
                    seen.add(id(code))
                    yield function


def behind(value: Any) -> Iterator[FunctionType]:
    """The functions that a value is, or is made of."""
    if isinstance(value, property):
        candidates = [value.fget, value.fset, value.fdel]
    else:
        candidates = [getattr(value, "func", None) if isinstance(value, functools.cached_property) else value]
    for candidate in candidates:
        candidate = getattr(candidate, "__func__", candidate)
        while candidate is not None:
            if isinstance(candidate, FunctionType):
                yield candidate
            candidate = vars(candidate).get("__wrapped__") if hasattr(candidate, "__dict__") else None


# One function ---------------------------------------------------------------------------------------------------------


def convert(function: FunctionType) -> tuple[float, str]:
    """How many milliseconds the conversion takes, and its text."""
    start = time.process_time()
    conversion_of(function)
    return (time.process_time() - start) * 1000, text_of(function)


def recompile(text: str, code: CodeType) -> None:
    """Compile the text of a function, among the variables it has from around it."""
    if code.co_freevars:
        text = f"def around({', '.join(code.co_freevars)}):\n" + textwrap.indent(text, " ")
    compile(text, code.co_filename, "exec", dont_inherit=True)


def lines(text: str) -> int:
    """How many lines are neither blank nor only a comment."""
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines())


def text_before(function: FunctionType) -> str:
    """What the user wrote, without decorators."""
    read = source.of_function(function)
    return "".join(read.source.lines[read.node.lineno - 1 : read.node.end_lineno])


def check(function: FunctionType, name: str, tally: Tally) -> None:
    """Convert one function."""
    try:
        milliseconds, text = convert(function)
        recompile(text, function.__code__)
    except Exception as error:  # whatever it is, it is what we look for
        place = traceback.extract_tb(error.__traceback__)[-1]
        tally.failures.append(f"{name}: {type(error).__name__}: {error} ({place.filename}, line {place.lineno})")
        print(f"  {tally.failures[-1]}", flush=True)
        return
    tally.milliseconds.append(milliseconds)
    tally.slowest = sorted([*tally.slowest, (milliseconds, name)])[-5:]
    tally.lines_in += lines(text_before(function))
    tally.lines_out += lines(text)


def convert_library(names: list[str]) -> Tally:
    """Convert all functions of the modules."""
    tally = Tally()
    for name in names:
        if name.startswith(NOT_IMPORTED):
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                module = importlib.import_module(name)
        except BaseException as error:  # some exit
            tally.not_importable.append(f"{name} ({error})")
            continue
        if getattr(module, "__file__", None) is None:
            continue
        tally.modules += 1
        for function in functions(module):
            check(function, f"{name}.{function.__qualname__}", tally)
        if tally.modules % 50 == 0:
            print(f"  {tally.modules} modules, {len(tally.milliseconds)} functions", flush=True)
    return tally


# Growth ---------------------------------------------------------------------------------------------------------------

SHAPES = {
    "ifs": "if x > {}:\n    x -= y",
    "ifs and elses": "if x > {}:\n    x -= y\nelse:\n    x, z = y, x",
    "loops": "for i in range({}):\n    x += i",
    "loops left": "while x > {}:\n    x -= 1\n    if x == y:\n        break",
    "calls": "x = f(f(x, y), f(y, {}))",
    "conditions": "x = x if x > {} and not y else (y or x)",
    "guards": "if x == {}:\n    return y",
    "assignments": "x{0} = x + {0}",
    "handlers": "try:\n    x = f(x)\nexcept ValueError:\n    if x > {}:\n        x = y",
}
SIZES = (100, 200, 400, 800)


def program(shape: str, size: int) -> str:
    """A function with so many statements of that shape."""
    if shape == "elifs":
        body = "if x < 0:\n    x = y\n" + "".join(f"elif x == {i}:\n    x = z + {i}\n" for i in range(size))
    else:
        body = "".join(SHAPES[shape].format(i) + "\n" for i in range(size))
    return "def generated(x, y, z, f):\n" + textwrap.indent(body, "    ") + "    return x\n"


def seconds(shape: str, size: int) -> float:
    """How long it takes to convert a generated function, at best."""
    text, filename = program(shape, size), f"<{size} {shape}>"
    best = float("inf")
    for _ in range(3):
        space: dict[str, Any] = {}
        exec(compile(text, filename, "exec"), space)
        linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
        gc.collect()
        best = min(best, convert(space["generated"])[0] / 1000)
    return best


def growth() -> list[str]:
    """Print how time grows with length; say for which shapes it grows too fast."""
    fast = []
    print(f"{'milliseconds for':16}" + "".join(f"{size:9}" for size in SIZES) + "   per doubling")
    for shape in ["elifs", *SHAPES]:
        print(f"{shape:16}", end="", flush=True)
        times = []
        try:
            for size in SIZES:
                times.append(seconds(shape, size))
                print(f"{times[-1] * 1000:9.1f}", end="", flush=True)
        except Exception as error:
            fast.append(f"{SIZES[len(times)]} {shape} give {type(error).__name__}: {error}")
            print(f"   {fast[-1]}")
            continue
        factor = (times[-1] / times[0]) ** (1 / (len(SIZES) - 1))
        print(f"{factor:15.2f}", flush=True)
        if factor > PER_DOUBLING:
            fast.append(f"time for {shape} grows by {factor:.2f} per doubling")
    return fast


def main() -> int:
    """Convert everything, then generated functions; print what fails, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", metavar="MODULE", nargs="*", help="only these, and no generated functions")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    trouble = [] if options.modules else growth()  # first: later, there is much for the garbage collector to look at
    tally = convert_library(options.modules or library())
    if not tally.milliseconds:
        print("No function was converted.")
        return 1
    for milliseconds, name in reversed(tally.slowest):
        print(f"  {milliseconds:7.1f} ms  {name}")
    for name in tally.not_importable:
        print(f"  not importable here: {name}")
    trouble += tally.too_much()
    print(f"Python {platform.python_version()}: {tally}")
    for line in trouble:
        print(f"FAILED: {line}")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
