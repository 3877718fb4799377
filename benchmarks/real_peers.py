"""Public kernels as machine code, beside Numba, Pythran and JAX: those of npbench and of Pythran's tests.

    python benchmarks/real.py --fetch                       # download them, pinned, into .real
    python benchmarks/real_peers.py                         # measure all that is there, beside the peers installed
    python benchmarks/real_peers.py --only npbench --limit 20 --json figures.json

Each kernel runs in a process of its own, as its own tests or benchmarks call it (`real_examples.py`). This library runs
it with `engine="native"`, and must give the answer of plain Python to the last bit. Numba compiles all functions of its
module, Pythran the module for the types of the arguments (extra `peers`; it needs a C++ compiler), JAX the function
with `jax.numpy` in the place of NumPy. A peer is left out where it cannot run a kernel, or gives another answer.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib
import importlib.util
import inspect
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import common
import numpy as np
import real_calls
from real import FOLDER
from real_sources import SOURCES, Subject
from rich.progress import track

import autograph as ag

PEERS = "numba", "pythran", "jax"
SECONDS = 90        # for all ways of a kernel: JAX unrolls loops, which may take it minutes
ROUNDS, LONG = 5, 2e-3
# So that C's allocator keeps the pages of freed arrays from the first call on. It does so anyway once megabytes have
# been freed, as by a compiler; a way would be faster because an earlier one in its process had compiled more.
KEEPING_PAGES = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**30)}
Call = Callable[..., Any]


def kernels(options: argparse.Namespace) -> list[Subject]:
    sources = [source for source in SOURCES if source.name in ("pythran", "npbench")]
    found = [each for source in sources for each in source.subjects(options.sources, everything=True)]
    found = [each for each in found if options.only in each.title]
    step = max(1.0, len(found) / options.limit) if options.limit else 1
    return [found[int(step * number)] for number in range(int(len(found) / step))]


# The ways to run a kernel ---------------------------------------------------------------------------------------------


def by_this_library(side: Any, args: tuple[Any, ...]) -> Call:
    function = ag.function(side.function, engine="native")
    setattr(side.owner, side.name, function)
    return function


def by_numba(side: Any, args: tuple[Any, ...]) -> Call:
    import numba

    for name, value in vars(side.module).items():
        if type(value) is types.FunctionType and value.__module__ == side.module.__name__:
            setattr(side.module, name, numba.njit(value))
    return vars(side.owner)[side.name]


def by_pythran(side: Any, args: tuple[Any, ...]) -> Call:
    """Compile the module, with the types of these arguments."""
    text = side.subject.file.read_text()
    lines = [line for line in text.splitlines() if not line.lower().startswith(("#pythran export", "# pythran export"))]
    export = f"#pythran export {side.name}({', '.join(map(pythran_type, args))})"
    name = f"kernel_{os.getpid()}"
    Path(f"{name}.py").write_text("\n".join([export, *lines]))
    command = [sys.executable, "-m", "pythran.run", f"{name}.py", "-O3", "-march=native", "-o", f"{name}.so"]
    subprocess.run(command, check=True, capture_output=True, timeout=150)
    spec = importlib.util.spec_from_file_location(name, f"{name}.so")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, side.name)


def pythran_type(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}[{','.join(':' * value.ndim)}]" if value.ndim else value.dtype.name
    if isinstance(value, np.generic):
        return value.dtype.name
    if isinstance(value, list) and value:
        return f"{pythran_type(value[0])} list"
    if isinstance(value, tuple):
        return f"({', '.join(map(pythran_type, value))})"
    return {bool: "bool", int: "int", float: "float", complex: "complex", str: "str"}[type(value)]


def by_jax(side: Any, args: tuple[Any, ...]) -> Call:
    import jax

    jax.config.update("jax_enable_x64", True)
    for name, value in vars(side.module).items():
        if value is np:
            setattr(side.module, name, jax.numpy)
    fixed = tuple(at for at, arg in enumerate(args) if isinstance(arg, (bool, int, str, tuple)))
    if len(fixed) == len(args):
        raise TypeError("all arguments are constants for JAX, so that calls compute nothing")
    compiled = jax.jit(side.function, static_argnums=fixed)
    return lambda *args: jax.block_until_ready(compiled(*args))


WAYS: dict[str, Callable[[Any, tuple[Any, ...]], Call]] = {
    "native": by_this_library, "numba": by_numba, "pythran": by_pythran, "jax": by_jax,
}  # fmt: skip


# Measuring ------------------------------------------------------------------------------------------------------------


def measured(subject: Subject) -> Iterator[dict[str, Any]]:
    """The seconds of a first and of a later call in each way that gives the answer; `why` has the reasons of others.

    Yields:
        what is known after each way.
    """
    plain = real_calls._Side(subject)
    example = real_calls._suitable(plain, subject)[0]
    before = positional(plain, example)
    changed = copy.deepcopy(before)     # for all ways alike: copies share no memory, as `x` and `x.T` do
    wanted = plain.function(*changed)
    mutates = not same(changed, before)
    result: dict[str, Any] = {"why": {}, "first": {}, "later": {"plain": least(plain.function, before, mutates)}}
    for way, make in WAYS.items():
        if way != "native" and importlib.util.find_spec(way) is None:
            continue
        side = real_calls._Side(subject)
        try:
            given = copy.deepcopy(before)
            begin = time.perf_counter()
            call = make(side, given)
            value = call(*given)
            result["first"][way] = time.perf_counter() - begin
            check = same if way == "native" else close
            if not (check(value, wanted) and check(given, changed)):    # JAX changes no arguments
                raise ArithmeticError("gives another answer")
            result["later"][way] = least(call, before, mutates)
        except BaseException as error:
            if way == "native":
                raise
            result["why"][way] = f"{type(error).__name__}: {error}"[:200]
        yield result


def positional(side: Any, example: Any) -> tuple[Any, ...]:
    args, kwargs = side.arguments(example)
    bound = inspect.signature(side.function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def least(call: Call, args: tuple[Any, ...], mutates: bool) -> float:
    """The least time of a call, of several rounds, without that of copying the arguments."""
    def once(number: int) -> float:
        given = [copy.deepcopy(args) if mutates else args for _ in range(number)]
        begin = time.perf_counter()
        for each in given:
            call(*each)
        return (time.perf_counter() - begin) / number

    guess = min(once(1) for _ in range(3))
    number = max(1, min(2000, int(LONG / guess)))
    return min(once(number) for _ in range(ROUNDS))


def same(a: Any, b: Any) -> bool:
    """Whether two answers are equal to the last bit, and of equal classes. The bits of NaNs do not count."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and np.shape(a) == np.shape(b) and bits(a) == bits(b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b or (a != a and b != b))


def bits(value: Any) -> bytes:
    array = np.array(value)
    if array.dtype.kind in "fc":
        array[np.isnan(array)] = np.nan
    return array.tobytes()


def close(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(close, a, b))
    try:
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True))
    except TypeError:
        return bool(a == b)


def results(chosen: list[Subject]) -> Iterator[dict[str, Any]]:
    os.environ["AUTOGRAPH_CACHE"] = "0"     # first calls find nothing on disk
    os.environ |= KEEPING_PAGES
    context = multiprocessing.get_context("spawn")
    for number, subject in enumerate(track(chosen, "Running", disable=not sys.stderr.isatty()), 1):
        if not sys.stderr.isatty():
            print(f"{number} of {len(chosen)}: {subject.title}", file=sys.stderr, flush=True)
        ours, theirs = context.Pipe()
        process = context.Process(target=_in_process, args=(theirs, subject))
        process.start()
        theirs.close()
        result = {"failed": f"takes more than {SECONDS} s, or the process died"}
        end = time.monotonic() + SECONDS
        with contextlib.suppress(EOFError):     # which says that it is done
            while ours.poll(end - time.monotonic()):
                result = ours.recv()
        process.kill()
        process.join()
        yield {"name": subject.title, **result}


def _in_process(connection: Connection, subject: Subject) -> None:
    with tempfile.TemporaryDirectory() as folder, real_calls._quiet():
        os.chdir(folder)
        try:
            for result in measured(subject):
                connection.send(result)
        except real_calls.Unsuitable as error:
            connection.send({"skipped": str(error)})
        except BaseException as error:
            connection.send({"failed": f"{type(error).__name__}: {error}"})


# Reporting ------------------------------------------------------------------------------------------------------------


def report(found: list[dict[str, Any]]) -> None:
    ran = [each for each in found if "later" in each]
    ratios = {each["name"]: {peer: each["later"]["native"] / each["later"][peer]
                             for peer in PEERS if peer in each["later"]} for each in ran}
    rows = []
    for each in sorted(ran, key=lambda each: -max(ratios[each["name"]].values(), default=0)):
        times = [common.duration(each["later"][way]) if way in each["later"] else ""
                 for way in ("plain", "native", *PEERS)]
        worst = max(ratios[each["name"]].values(), default=math.nan)
        source, file, name = each["name"].split(": ")
        rows.append([f"{source} {Path(file).stem}: {name}", *times, f"{worst:.2f}"])
    common.show("kernels", ["kernel", "plain", "native", *PEERS, "behind the best"], rows)
    for peer in PEERS:
        known = [each[peer] for each in ratios.values() if peer in each]
        if known:
            mean = math.exp(statistics.mean(map(math.log, known)))
            print(f"native / {peer}: geometric mean {mean:.2f} of {len(known)} kernels")
    worst = [max(each.values()) for each in ratios.values() if each]
    print(f"behind the best peer by more than 1.5: {sum(each > 1.5 for each in worst)}, by more than 4: "
          f"{sum(each > 4 for each in worst)}, at most {max(worst, default=math.nan):.1f}")
    for way in WAYS:
        first = [each["first"][way] for each in ran if way in each["first"]]
        if first:
            print(f"first call, {way}: median {common.duration(statistics.median(first))}")
    for each in found:
        if "failed" in each:
            print(f"FAILED {each['name']}: {each['failed']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, default=FOLDER, help="the folder with the public code")
    parser.add_argument("--only", default="", help="kernels whose title has this text")
    parser.add_argument("--limit", type=int, help="how many, picked evenly")
    parser.add_argument("--json", type=Path, help="also write the figures to this file, after each kernel")
    options = parser.parse_args()
    chosen = kernels(options)
    if not chosen:
        parser.error(f"nothing to measure in {options.sources}: run benchmarks/real.py --fetch")
    found = []
    for each in results(chosen):
        found.append(each)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))
    report(found)


if __name__ == "__main__":
    main()
