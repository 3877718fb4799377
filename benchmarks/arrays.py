"""The native engine on whole arrays, beside NumPy and C: processor time of the fastest call, of one core.

What the functions give must be equal, bit for bit; of C that is not asked. `gcc -O3 -march=native` makes the C.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import all_cores, seconds, show, take_cores

take_cores()
if not all_cores:
    os.environ.setdefault("AUTOGRAPH_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import autograph as ag  # noqa: E402

CALLS = 20
SIZES = (1, 10, 100, 1000, 100_000, 10_000_000)


def chain(x: Any, y: Any) -> Any:
    return np.sqrt(x * x + y * y) / (1 + x * y)


def life(cells: Any) -> Any:
    north, south = cells[:-2], cells[2:]
    beside = cells[1:-1, :-2] + cells[1:-1, 2:]
    around = north[:, :-2] + north[:, 1:-1] + north[:, 2:] + beside + south[:, :-2] + south[:, 1:-1] + south[:, 2:]
    return (around == 3) | ((cells[1:-1, 1:-1] == 1) & (around == 2))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def distances(x: Any, centres: Any) -> Any:
    return ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)


def mandelbrot(cx: Any, cy: Any, turns: int) -> Any:
    x, y, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, np.int64)
    for _ in range(turns):
        xx, yy = x * x, y * y
        inside = xx + yy < 4
        x, y = np.where(inside, xx - yy + cx, x), np.where(inside, 2 * x * y + cy, y)
        count = count + inside
    return count


_RNG = np.random.default_rng(0)
_CX, _CY = (np.ascontiguousarray(each) for each in np.meshgrid(np.linspace(-2, 1, 300), np.linspace(-1, 1, 200)))
WORK: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    *((f"chain of 6 operations, {size:,}", chain, (_RNG.random(size), _RNG.random(size))) for size in SIZES),
    ("Game of Life, 1,000×1,000 bytes", life, (_RNG.integers(0, 2, (1000, 1000)).astype(np.uint8),)),
    ("softmax of rows, 1,000×1,000", softmax, (_RNG.normal(size=(1000, 1000)),)),
    ("k-means distances, 5,000×20, 16 deep", distances, (_RNG.normal(size=(5000, 16)), _RNG.normal(size=(20, 16)))),
    ("Mandelbrot 200×300, 50 turns", mandelbrot, (_CX, _CY, 50)),
]


def in_c(folder: Path) -> dict[str, Callable[..., Any]]:
    """The functions of c/arrays.c, called as those of Python; none without gcc."""
    if shutil.which("gcc") is None:
        return {}
    library, source = folder / "arrays.so", Path(__file__).parent / "c" / "arrays.c"
    command = ["gcc", "-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC", "-o", library, source, "-lm"]
    subprocess.run(command, check=True)
    code, integer = ctypes.CDLL(str(library)), ctypes.c_int64

    def call(name: str, *args: Any) -> Any:
        getattr(code, name)(*(each.ctypes if isinstance(each, np.ndarray) else integer(each) for each in args))
        return args

    def of_chain(x: Any, y: Any) -> Any:
        return call("chain", x, y, np.empty_like(x), x.size)[2]

    def of_life(cells: Any) -> Any:
        n = len(cells)
        return call("life", cells, np.empty((n - 2, n - 2), bool), n)[1]

    def of_softmax(x: Any) -> Any:
        return call("softmax", x, np.empty_like(x), *x.shape)[1]

    def of_distances(x: Any, centres: Any) -> Any:
        (n, depth), k = x.shape, len(centres)
        return call("distances", x, centres, np.empty((n, k)), n, k, depth)[2]

    def of_mandelbrot(cx: Any, cy: Any, turns: int) -> Any:
        out = np.empty(cx.shape, np.int64)
        return call("mandelbrot", cx, cy, np.empty_like(cx), np.empty_like(cx), out, cx.size, turns)[4]

    functions = {"chain": of_chain, "life": of_life, "softmax": of_softmax}
    return functions | {"distances": of_distances, "mandelbrot": of_mandelbrot}


def fastest(function: Callable[..., Any], args: tuple[Any, ...], repeat: int) -> float:
    """Processor time of one call, the least of several rounds."""
    return min(seconds(lambda: [function(*args) for _ in range(repeat)]) / repeat for _ in range(CALLS))


def row(title: str, plain: Any, args: tuple[Any, ...], others: dict[str, Callable[..., Any]]) -> list[str]:
    function = ag.function(plain, engine="native")
    first = seconds(lambda: function(*args))
    assert function(*args).tobytes() == plain(*args).tobytes(), title
    repeat = max(1, int(2e-3 / max(1e-6, seconds(lambda: plain(*args)))))
    native, numpy = fastest(function, args, repeat), fastest(plain, args, repeat)
    cells = [title, f"{1e3 * first:.0f} ms", f"{1e6 * native:,.1f} µs", f"{1e6 * numpy:,.1f} µs ({numpy / native:.1f})"]
    if not others:
        return [*cells, "–"]
    in_c = others[plain.__name__]
    assert np.allclose(in_c(*args), plain(*args)), title
    time = fastest(in_c, args, repeat)
    return [*cells, f"{1e6 * time:,.1f} µs ({native / time:.2f})"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTOGRAPH_CACHE_DIR"] = folder      # so that nothing is there yet
        others = in_c(Path(folder))
        warm: Any = ag.function(chain, engine="native")
        warm(np.ones(3), np.ones(3))        # so that no row pays for loading LLVM
        np.ones(3_500_000)      # so that for none results are new pages each time: glibc learns of what is freed
        rows = [row(title, function, args, others) for title, function, args in WORK]
    head = ["", "first call", "native", "NumPy (takes so many times as long)", "C (native is so many times as slow)"]
    show("Whole arrays", head, rows)


if __name__ == "__main__":
    main()
