"""The native engine beside C, and Numba where it is installed: scalar loops, processor time of the fastest call.

Rows say what the first call takes, too: conversion, trace, passes and LLVM. `gcc -O3 -march=native` makes the C.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import seconds, show, take_cores

take_cores()

import loops  # noqa: E402
import numpy as np  # noqa: E402

import autograph as ag  # noqa: E402

CALLS = 20
_RNG = np.random.default_rng(0)
_WORDS = _RNG.integers(0, 4, 500), _RNG.integers(0, 4, 500)
_MATRIX = _RNG.random((100, 100)) + 100 * np.eye(100)
WORK: dict[str, tuple[str, tuple[Any, ...]]] = {
    "collatz": ("Collatz, 524 turns", (837799,)),
    "collatz_sum": ("Collatz sum, n < 20,000", (20_000,)),
    "edit_distance": ("edit distance, 500×500, in place", _WORDS),
    "sieve": ("sieve up to 1,000,000", (1_000_000,)),
    "lu": ("LU, 100×100", (_MATRIX,)),
    "heap_sort": ("heap sort, 10,000", (_RNG.random(10_000),)),
    "lorenz": ("Lorenz RK4, 10,000 steps", (1.0, 2.0, 3.0, 10_000, 0.01)),
    "mandelbrot": ("Mandelbrot 150×200, 100 turns", (150, 200, 100)),
    "moving_average": ("moving average, 20,000 of 16", (_RNG.random(20_000), 16)),
    "insertion_sort": ("insertion sort, 1,000", (_RNG.random(1_000),)),
    "horner": ("Horner, 20 factors, 10,000 numbers", (_RNG.random(20), _RNG.random(10_000))),
    "matmul": ("product of matrices, 80×80", (_RNG.random((80, 80)), _RNG.random((80, 80)))),
}


def in_c(folder: Path) -> dict[str, Callable[..., Any]]:
    """The functions of c/loops.c, called as those of Python; none without gcc."""
    if shutil.which("gcc") is None:
        return {}
    library = folder / "loops.so"
    source = Path(__file__).parent / "c" / "loops.c"
    subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
    code = ctypes.CDLL(str(library))
    integer, real = ctypes.c_int64, ctypes.c_double
    for name in ("collatz", "collatz_sum", "edit_distance", "sieve"):
        getattr(code, name).restype = integer
    code.lorenz.restype = real

    def lu(a: Any) -> Any:
        a = a.copy()
        code.lu(a.ctypes, integer(len(a)))
        return a

    def heap_sort(x: Any) -> Any:
        x = x.copy()
        code.heap_sort(x.ctypes, integer(len(x)))
        return x

    def mandelbrot(height: int, width: int, turns: int) -> Any:
        out = np.zeros((height, width), np.int64)
        code.mandelbrot(out.ctypes, integer(height), integer(width), integer(turns))
        return out

    def moving_average(x: Any, width: int) -> Any:
        out = np.zeros(len(x) - width + 1)
        code.moving_average(x.ctypes, integer(len(x)), integer(width), out.ctypes)
        return out

    def insertion_sort(x: Any) -> Any:
        x = x.copy()
        code.insertion_sort(x.ctypes, integer(len(x)))
        return x

    def horner(factors: Any, x: Any) -> Any:
        out = np.zeros(len(x))
        code.horner(factors.ctypes, integer(len(factors)), x.ctypes, integer(len(x)), out.ctypes)
        return out

    def matmul(a: Any, b: Any) -> Any:
        out = np.zeros((len(a), b.shape[1]))
        code.matmul(a.ctypes, b.ctypes, out.ctypes, *map(integer, (len(a), len(b), b.shape[1])))
        return out

    return {
        "collatz": lambda n: code.collatz(integer(n)),
        "collatz_sum": lambda n: code.collatz_sum(integer(n)),
        "edit_distance": lambda a, b: code.edit_distance(a.ctypes, integer(len(a)), b.ctypes, integer(len(b))),
        "sieve": lambda n: code.sieve(integer(n)),
        "lu": lu,
        "heap_sort": heap_sort,
        "lorenz": lambda x, y, z, steps, h: code.lorenz(real(x), real(y), real(z), integer(steps), real(h)),
        "mandelbrot": mandelbrot,
        "moving_average": moving_average,
        "insertion_sort": insertion_sort,
        "horner": horner,
        "matmul": matmul,
    }


def with_numba() -> dict[str, Callable[..., Any]]:
    """The functions of loops.py, compiled by Numba."""
    if importlib.util.find_spec("numba") is None:
        return {}
    numba: Any = importlib.import_module("numba")
    names = vars(loops)
    original = dict(names)
    names |= {"sift": numba.njit(loops.sift), "slope": numba.njit(loops.slope)}
    found = {name: numba.njit(names[name]) for name in WORK}
    for name, function in found.items():
        function(*WORK[name][1])
    names |= original
    return found


def fastest(function: Callable[..., Any], args: tuple[Any, ...], repeat: int) -> float:
    """Processor time of one call, the least of several rounds."""
    return min(seconds(lambda: [function(*args) for _ in range(repeat)]) / repeat for _ in range(CALLS))


def row(name: str, others: list[dict[str, Callable[..., Any]]]) -> list[str]:
    title, args = WORK[name]
    plain = getattr(loops, name)
    python = seconds(lambda: plain(*args))
    function = ag.function(plain, engine="native")
    first = seconds(lambda: function(*args))
    assert np.array_equal(function(*args), plain(*args)), name
    repeat = max(1, int(1e-3 / max(1e-6, seconds(lambda: function(*args)))))
    native = fastest(function, args, repeat)
    cells = [title, f"{1e3 * python:.2f} ms", f"{1e3 * first:.0f} ms", f"{1e3 * native:.4f} ms"]
    for other in others:
        time = fastest(other[name], args, repeat) if other else None
        cells.append("–" if time is None else f"{1e3 * time:.4f} ms ({native / time:.2f})")
    return cells


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTOGRAPH_CACHE_DIR"] = folder      # so that nothing is there yet
        others = [in_c(Path(folder)), with_numba()]
        warm: Any = ag.function(loops.collatz, engine="native")
        warm(3)             # so that no row pays for loading LLVM
        rows = [row(name, others) for name in WORK]
    head = ["", "Python", "first call", "native", "C (native is so many times as slow)", "Numba (likewise)"]
    show("Scalar loops", head, rows)


if __name__ == "__main__":
    main()
