"""The native engine on scalar loops, beside C, and those installed of Numba, JAX and TensorFlow.

They take turns, and of the times of each, the smallest counts: processor time on one core. `gcc -O3 -march=native`
makes the C. JAX and TensorFlow run programs of their own on arrays of their own (loops_in_jax.py); TensorFlow without
XLA takes some µs for each operation, so that it gets less to do, and is compared with what the native engine takes for
that. The first call takes conversion, trace, passes and LLVM. Memory is kept as in arrays.py.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import common
import loops
import loops_peers
import numpy as np
from common import Programs, bound, duration, ratio, seconds, smallest

import autograph as ag

SLOW = "tf.function"        # gets SMALL arguments
_RNG = np.random.default_rng(0)
_WORDS = _RNG.integers(0, 4, 500), _RNG.integers(0, 4, 500)
_MATRIX = _RNG.random((100, 100)) + 100 * np.eye(100)
WORK: dict[str, tuple[str, tuple[Any, ...]]] = {
    "collatz": ("Collatz, 524 iterations", (837799,)),
    "collatz_sum": ("Collatz sum, n < 20,000", (20_000,)),
    "edit_distance": ("edit distance, 500×500", _WORDS),
    "edit_rows": ("the same, row by row", _WORDS),
    "sieve": ("sieve up to 1,000,000", (1_000_000,)),
    "lu": ("LU, 100×100", (_MATRIX,)),
    "heap_sort": ("heap sort, 10,000", (_RNG.random(10_000),)),
    "lorenz": ("Lorenz RK4, 10,000 steps", (1.0, 2.0, 3.0, 10_000, 0.01)),
    "mandelbrot": ("Mandelbrot 150×200, 100 iterations", (150, 200, 100)),
    "moving_average": ("moving average, 20,000 of 16", (_RNG.random(20_000), 16)),
    "insertion_sort": ("insertion sort, 1,000", (_RNG.random(1_000),)),
    "horner": ("Horner, 10,000 of 20 factors", (_RNG.random(20), _RNG.random(10_000))),
    "matmul": ("product of matrices, 80×80", (_RNG.random((80, 80)), _RNG.random((80, 80)))),
}
SMALL: dict[str, tuple[Any, ...]] = {       # on which all give nearly the same, also where errors grow
    "collatz": (97,),
    "collatz_sum": (100,),
    "edit_distance": (_WORDS[0][:20], _WORDS[1][:20]),
    "edit_rows": (_WORDS[0][:20], _WORDS[1][:20]),
    "sieve": (1000,),
    "lu": (_MATRIX[:20, :20].copy(),),
    "heap_sort": (_RNG.random(100),),
    "lorenz": (1.0, 2.0, 3.0, 100, 0.01),
    "mandelbrot": (15, 20, 30),
}


def in_c(folder: Path) -> Programs:
    """The functions of c/loops.c, called as those of Python; none without gcc."""
    if shutil.which("gcc") is None:
        return {}
    library = folder / "loops.so"
    source = Path(__file__).parent / "c" / "loops.c"
    subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
    code = ctypes.CDLL(str(library))
    integer, real = ctypes.c_int64, ctypes.c_double
    for name in ("collatz", "collatz_sum", "edit_distance", "edit_rows", "sieve"):
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

    def mandelbrot(height: int, width: int, iterations: int) -> Any:
        out = np.zeros((height, width), np.int64)
        code.mandelbrot(out.ctypes, integer(height), integer(width), integer(iterations))
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

    functions: dict[str, Callable[..., Any]] = {
        "collatz": lambda n: code.collatz(integer(n)),
        "collatz_sum": lambda n: code.collatz_sum(integer(n)),
        "edit_distance": lambda a, b: code.edit_distance(a.ctypes, integer(len(a)), b.ctypes, integer(len(b))),
        "edit_rows": lambda a, b: code.edit_rows(a.ctypes, integer(len(a)), b.ctypes, integer(len(b))),
        "sieve": lambda n: code.sieve(integer(n)),
        "lorenz": lambda x, y, z, steps, h: code.lorenz(real(x), real(y), real(z), integer(steps), real(h)),
    }
    functions |= {each.__name__: each for each in (lu, heap_sort, mandelbrot, moving_average, insertion_sort)}
    functions |= {"horner": horner, "matmul": matmul}
    return {name: bound(function) for name, function in functions.items()}


def times(name: str, native: Any, others: dict[str, Programs], rounds: int) -> dict[str, tuple[float, float]]:
    """What the native engine takes and what each of the others takes for the same."""
    args, plain = WORK[name][1], getattr(loops, name)
    small = SMALL.get(name, args)
    smaller = ag.function(plain, engine="native")
    assert np.array_equal(native(*args), plain(*args)), name
    expected = plain(*small)
    assert np.array_equal(smaller(*small), expected), name
    works = {"native": functools.partial(native, *args), "small": functools.partial(smaller, *small)}
    for way, programs in others.items():
        if name in programs:
            assert np.allclose(programs[name](*small)(), expected), f"{name}: {way} gives another result"
            works[way] = programs[name](*(small if way == SLOW else args))
    found = smallest(works, rounds)
    return {way: (found["small" if way == SLOW else "native"], time) for way, time in found.items()}


def row(name: str, others: dict[str, Programs], rounds: int) -> list[str]:
    title, args = WORK[name]
    plain = getattr(loops, name)
    python = seconds(lambda: plain(*args))
    function = ag.function(plain, engine="native")
    first = seconds(lambda: function(*args))
    found = times(name, function, others, rounds)
    ratios = [ratio(*found[way]) if way in found else "–" for way in others]
    return [title, duration(first), duration(found["native"][1]), ratio(found["native"][1], python), *ratios]


def main(pattern: str = "*", rounds: int = 20) -> None:
    common.take_cores()
    common.keep_memory()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTOGRAPH_CACHE_DIR"] = folder      # so that nothing is there yet
        others = {"C": in_c(Path(folder)), **loops_peers.installed()}
        warm: Any = ag.function(loops.collatz, engine="native")
        warm(3)             # so that no row pays for loading LLVM
        rows = [row(name, others, rounds) for name in WORK if fnmatchcase(name, pattern)]
    head = ["", "first call", "native", "Python", *(f"{way}, small" if way == SLOW else way for way in others)]
    common.show("Scalar loops (native's time, and divided by that of each: below 1, native is ahead)", head, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help=f"which programs, as a glob: {', '.join(WORK)}")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    main(arguments.pattern, arguments.rounds)
