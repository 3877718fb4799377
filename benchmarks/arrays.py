"""The native engine on whole arrays, beside NumPy, C, and those installed of Numba, JAX and TensorFlow's XLA.

They take turns, and of the times of each, the smallest counts: processor time on one core, or what one waits for on
all (`common.ALL_CORES`). NumPy must give the same bits, the others nearly the same numbers; `gcc -O3 -march=native`
makes the C, and ctypes takes some µs to call it. Of Numba, JAX and XLA there are two ways each, see arrays_peers.py.
Memory is kept from call to call (`common.keep_memory`), else it would be chance who has to ask for it.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import arrays_peers
import common
import numpy as np
from common import Programs, Work, bound, duration, ratio, seconds, smallest

import autograph as ag

SIZES = (1, 10, 100, 1000, 100_000, 10_000_000)
COLUMNS = [("NumPy",), ("C",), ("Numba", "its loops"), ("jax.jit", "its arrays"), ("tf jit_compile", "its tensors")]


def chain(x: Any, y: Any) -> Any:
    return np.sqrt(x * x + y * y) / (1 + x * y)


def life(cells: Any, steps: int) -> Any:
    cells = cells.copy()
    for _ in range(steps):
        north, south = cells[:-2], cells[2:]
        beside = cells[1:-1, :-2] + cells[1:-1, 2:]
        around = north[:, :-2] + north[:, 1:-1] + north[:, 2:] + beside + south[:, :-2] + south[:, 1:-1] + south[:, 2:]
        cells[1:-1, 1:-1] = (around == 3) | ((cells[1:-1, 1:-1] == 1) & (around == 2))
    return cells


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def distances(x: Any, centers: Any) -> Any:
    return ((x[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)


def mandelbrot(cx: Any, cy: Any, iterations: int) -> Any:
    x, y, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, np.int64)
    for _ in range(iterations):
        xx, yy = x * x, y * y
        inside = xx + yy < 4
        x, y = np.where(inside, xx - yy + cx, x), np.where(inside, 2 * x * y + cy, y)
        count = count + inside
    return count


def julia(z: Any, c: complex, iterations: int) -> Any:
    count = np.zeros(z.shape, np.int64)
    for _ in range(iterations):
        inside = z.real * z.real + z.imag * z.imag < 4
        z = np.where(inside, z * z + c, z)
        count = count + inside
    return count


PLAIN = {function.__name__: function for function in (chain, life, softmax, distances, mandelbrot, julia)}
_RNG = np.random.default_rng(0)
_CX, _CY = (np.ascontiguousarray(each) for each in np.meshgrid(np.linspace(-2, 1, 300), np.linspace(-1, 1, 200)))


def _cells(size: int) -> Any:
    """With a border of dead ones."""
    return np.pad(_RNG.integers(0, 2, (size - 2, size - 2)).astype(np.uint8), 1)


WORK: list[tuple[str, str, tuple[Any, ...]]] = [
    *(("chain", f"6 operations on {size:,}", (_RNG.random(size), _RNG.random(size))) for size in SIZES),
    ("life", "Game of Life, 1,000×1,000", (_cells(1000), 1)),
    ("life", "Game of Life, 100 of 256×256", (_cells(256), 100)),
    ("softmax", "softmax of rows, 1,000×1,000", (_RNG.normal(size=(1000, 1000)),)),
    ("distances", "k-means, 5,000×20, 16 deep", (_RNG.normal(size=(5000, 16)), _RNG.normal(size=(20, 16)))),
    ("mandelbrot", "Mandelbrot 200×300, 50 iterations", (_CX, _CY, 50)),
    ("julia", "Julia set, complex, likewise", (_CX + 1j * _CY, -0.8 + 0.156j, 50)),
]


def in_c(folder: Path) -> Programs:
    """The functions of c/arrays.c, called as those of Python; none without gcc."""
    if shutil.which("gcc") is None:
        return {}
    library, source = folder / "arrays.so", Path(__file__).parent / "c" / "arrays.c"
    command = ["gcc", "-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC", "-o", library, source, "-lm"]
    subprocess.run(command, check=True)
    code = ctypes.CDLL(str(library))

    def of_c(value: Any) -> Any:
        is_array = isinstance(value, np.ndarray)
        return ctypes.byref(ctypes.c_char.from_buffer(value)) if is_array else ctypes.c_int64(value)

    def call(name: str, *args: Any) -> Any:
        getattr(code, name)(*map(of_c, args))
        return args

    def chain(x: Any, y: Any) -> Any:
        return call("chain", x, y, np.empty_like(x), x.size)[2]

    def life(cells: Any, steps: int) -> Any:
        return call("life", cells.copy(), cells.copy(), len(cells), steps)[steps % 2]

    def softmax(x: Any) -> Any:
        return call("softmax", x, np.empty_like(x), *x.shape)[1]

    def distances(x: Any, centers: Any) -> Any:
        (n, depth), k = x.shape, len(centers)
        return call("distances", x, centers, np.empty((n, k)), n, k, depth)[2]

    def mandelbrot(cx: Any, cy: Any, iterations: int) -> Any:
        out = np.empty(cx.shape, np.int64)
        return call("mandelbrot", cx, cy, np.empty_like(cx), np.empty_like(cx), out, cx.size, iterations)[4]

    def julia(z: Any, c: complex, iterations: int) -> Any:
        parts = ctypes.c_double(c.real), ctypes.c_double(c.imag)
        out = np.empty(z.shape, np.int64)
        code.julia(of_c(z), *parts, of_c(np.empty_like(z)), of_c(out), of_c(z.size), of_c(iterations))
        return out

    return {function.__name__: bound(function) for function in (chain, life, softmax, distances, mandelbrot, julia)}


def ways(name: str, function: Any, args: tuple[Any, ...], others: dict[str, Programs]) -> dict[str, Work]:
    """What to measure: all that gives the same result."""
    expected = PLAIN[name](*args)
    works: dict[str, Any] = {"native": functools.partial(function, *args)}
    works |= {way: programs[name](*args) for way, programs in others.items() if name in programs}
    for way, work in works.items():
        result = np.asarray(work())
        same = result.tobytes() == expected.tobytes() if way == "native" else np.allclose(result, expected)
        assert same, f"{name}: {way} gives another result"
    return works


def row(name: str, title: str, args: tuple[Any, ...], others: dict[str, Programs], rounds: int) -> list[str]:
    function = ag.function(PLAIN[name], engine="native")
    first = seconds(lambda: function(*args))
    times = smallest(ways(name, function, args, others), rounds)
    ratios = {way: ratio(times["native"], time) for way, time in times.items()}
    columns = [" / ".join(ratios.get(way, "–") for way in column) for column in COLUMNS if {*column} & {*others}]
    return [title, duration(first), duration(times["native"]), *columns]


def main(pattern: str = "*", rounds: int = 20) -> None:
    common.take_cores()
    common.keep_memory()
    if not common.all_cores:
        os.environ.setdefault("AUTOGRAPH_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTOGRAPH_CACHE_DIR"] = folder      # so that nothing is there yet
        plain = {name: bound(function) for name, function in PLAIN.items()}
        others = {"NumPy": plain, "C": in_c(Path(folder)), **arrays_peers.installed(PLAIN)}
        warm: Any = ag.function(chain, engine="native")
        warm(np.ones(3), np.ones(3))        # so that no row pays for loading LLVM
        rows = [row(*work, others, rounds) for work in WORK if fnmatchcase(work[0], pattern)]
    head = ["", "first call", "native", *(" / ".join(column) for column in COLUMNS if {*column} & {*others})]
    common.show("Whole arrays (native's time, and divided by that of each: below 1, native is ahead)", head, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help=f"which programs, as a glob: {', '.join(PLAIN)}")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    main(arguments.pattern, arguments.rounds)
