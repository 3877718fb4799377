"""Expressions of arrays on an engine, beside NumPy itself: nothing should take longer than without the decorator.

Processor time, alternately; of the times of each, the smallest counts. Memory is kept from call to call
(`common.keep_memory`), else chance decides who has to ask for it.
`--open` calls each function with other lengths first, so that the lengths of its arrays are open in the graph.
`--memory` compares the greatest memory that a call holds at one time.
"""

from __future__ import annotations

import argparse
import tracemalloc
from fnmatch import fnmatchcase
from typing import Any

import common
import numpy as np
from common import Work, bound, duration, ratio, smallest

import autograph as ag

SIZES = (10, 1_000, 20_000, 400_000)
SLOWER = 1.05


def density(x: Any) -> Any:
    u = 1.0 / (1.0 + 0.25 * np.abs(x))
    y = np.exp(-0.5 * x * x) * (u * (0.3 + u * (-0.35 + u * (1.8 + u * (-1.8 + u * 1.3)))))
    return np.where(x > 0, 1.0 - y, y)


def black_scholes(a: Any, b: Any, c: Any, out: Any) -> None:
    s, k, t = 5 + 25 * a, 1 + 99 * b, 0.25 + c
    root = np.sqrt(t)
    first = (np.log(s / k) + 0.07 * t) / (0.3 * root)
    second = first - 0.3 * root
    out[:] = s * density(first) - k * np.exp(-0.02 * t) * density(second)


def axpy(a: Any, b: Any, c: Any, out: Any) -> Any:
    return 2.0 * a + b


def horner(a: Any, b: Any, c: Any, out: Any) -> Any:
    return (((0.1 * a + 0.2) * a + 0.3) * a + 0.4) * a + 0.5


def norm(a: Any, b: Any, c: Any, out: Any) -> Any:
    return np.sqrt(a * a + b * b + c * c)


def gaussian(a: Any, b: Any, c: Any, out: Any) -> Any:
    return np.exp(-((a - 0.5) ** 2) / (2 * 0.3**2)) / np.sqrt(2 * np.pi * 0.3**2)


def distance(a: Any, b: Any, c: Any, out: Any) -> Any:
    temp = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((out - b) / 2) ** 2
    return 2 * (np.arctan2(np.sqrt(temp), np.sqrt(1 - temp)))


def weighted(a: Any, b: Any, c: Any, out: Any) -> Any:
    return np.clip(a, 0.2, 0.8) * 4 + b * 3 + 9


def standardize(a: Any, b: Any, c: Any, out: Any) -> Any:
    return (a - np.mean(a)) / np.std(a)


def sigmoid(a: Any, b: Any, c: Any, out: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-(a * b + c)))


def softplus(a: Any, b: Any, c: Any, out: Any) -> Any:
    return np.maximum(a, 0) + np.log1p(np.exp(-np.abs(a)))


def laplacian(a: Any, b: Any, c: Any, out: Any) -> None:
    out[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2.0 * a[1:-1] + a[:-2])


def upwind(a: Any, b: Any, c: Any, out: Any) -> None:
    flux = 0.5 * (a[1:] + a[:-1]) - 0.5 * np.abs(b[1:]) * (a[1:] - a[:-1])
    out[1:-1] -= 0.1 * (flux[1:] - flux[:-1])


def limiter(a: Any, b: Any, c: Any, out: Any) -> None:
    res = a[1:] - a[:-1]
    flux = np.where(res * (b[1:] - b[:-1]) > 0, 0, res)
    out[1:-1] = a[1:-1] - c[1:-1] * (flux[1:] - flux[:-1])


def moments(a: Any, b: Any, c: Any, out: Any) -> Any:
    mean = a.mean()
    centered = a - mean
    return mean, (centered**2).mean(), (centered**3).mean(), (centered**4).mean()


def shared(a: Any, b: Any, c: Any, out: Any) -> Any:
    return (a * b + c) / (a * b - c + 2.0) + np.sin(a * b)


def named(a: Any, b: Any, c: Any, out: Any) -> Any:
    p = a * b
    q = p + c
    r = np.sqrt(q)
    s = r - 0.5
    return s * 2.0


def helper(x: Any, y: Any) -> Any:
    u = x * y
    v = u + x
    return v / (1.0 + y)


def helpers(a: Any, b: Any, c: Any, out: Any) -> Any:
    return helper(helper(a, b), c) + helper(b, helper(c, a))


def rows(a: Any, b: Any, c: Any, out: Any) -> Any:
    x = a.reshape(-1, 10)
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def outer(a: Any, b: Any, c: Any, out: Any) -> Any:
    x, y = a.reshape(-1, 10), b[:10]
    return (x - y) ** 2 + 0.5 * x * y


def integers(a: Any, b: Any, c: Any, out: Any) -> Any:
    i, j = (a * 1000).astype(np.int64), (b * 1000).astype(np.int64)
    return (3 * i + j) % 17 + (i ^ j) // 5


def masks(a: Any, b: Any, c: Any, out: Any) -> Any:
    return ((a > 0.2) & (a < 0.8) | (b > c)) & ~(c > 0.9)


def single(a: Any, b: Any, c: Any, out: Any) -> Any:
    x, y = a.astype(np.float32), b.astype(np.float32)
    return np.float32(0.5) * x * x - y * x + np.sqrt(y)


def complexes(a: Any, b: Any, c: Any, out: Any) -> Any:
    z = a + 1j * b
    return np.abs(z * z + c * z - 0.3)


def steps(a: Any, b: Any, c: Any, out: Any) -> Any:
    x, v = a, b
    for _ in range(5):
        v = v - 0.1 * (x + c * x * x * x)
        x = x + 0.1 * v
    return x


def escape(a: Any, b: Any, c: Any, out: Any) -> Any:
    x, y, count = np.zeros_like(a), np.zeros_like(a), np.zeros(a.shape, np.int64)
    for _ in range(4):
        xx, yy = x * x, y * y
        inside = xx + yy < 4
        x, y = np.where(inside, xx - yy + a, x), np.where(inside, 2 * x * y + b, y)
        count = count + inside
    return count


def haversine(a: Any, b: Any, c: Any, out: Any) -> Any:
    p, q, r, s = np.radians(a), np.radians(b), np.radians(c), np.radians(out)
    h = np.sin((r - p) * 0.5) ** 2 + np.cos(p) * np.cos(r) * np.sin((s - q) * 0.5) ** 2
    return 12742 * np.arcsin(np.sqrt(h))


def rosenbrock(a: Any, b: Any, c: Any, out: Any) -> Any:
    return np.sum(100.0 * (a[1:] - a[:-1] ** 2.0) ** 2.0 + (1 - a[:-1]) ** 2.0)


def rotate(a: Any, b: Any, c: Any, out: Any) -> Any:
    cos, sin = np.cos(c), np.sin(c)
    return cos * a - sin * b, sin * a + cos * b


def adam(a: Any, b: Any, c: Any, out: Any) -> Any:
    m = 0.9 * a + 0.1 * c
    v = 0.999 * b + 0.001 * (c * c)
    return out - 0.001 * (m / (1 - 0.9)) / (np.sqrt(v / (1 - 0.999)) + 1e-8)


def growing(a: Any, b: Any, c: Any, out: Any) -> None:
    """Reads and writes the same array, in the other direction, and begins with an empty slice."""
    for k in range(40):
        out[:k] += 0.001 * np.flip(out[:k])


def quiet(a: Any, b: Any, c: Any, out: Any) -> Any:
    with np.errstate(all="ignore"):
        return 0.5 / (a + 1.0) + b


def infinite(a: Any, b: Any, c: Any, out: Any) -> Any:
    """NumPy looks at its settings in each call."""
    with np.errstate(divide="ignore"):
        return 1.0 / (a - a[0]) + b


def transposed(a: Any, b: Any, c: Any, out: Any) -> Any:
    x = a.reshape(-1, 10).T
    return 2.0 * x + x * x


PROGRAMS = [
    axpy, horner, norm, gaussian, distance, weighted, standardize, sigmoid, softplus, laplacian, upwind, limiter,
    moments, shared, named, helpers, rows, outer, integers, masks, single, complexes, steps, escape, haversine,
    rosenbrock, rotate, adam, black_scholes, growing, quiet, infinite, transposed,
]  # fmt: skip


def arguments(size: int) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    return tuple(random.random(size) for _ in range(4))


def peak(work: Work) -> int:
    """The bytes that a call holds at most."""
    tracemalloc.start()
    work()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    work()
    after = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return after - before


def ratios(program: Any, engine: Any, open_lengths: bool, memory: bool, rounds: int) -> list[str]:
    function, found = ag.function(program, engine=engine), []
    if open_lengths:
        for size in (30, 40):
            function(*arguments(size))
    for size in SIZES:
        works = {"plain": bound(program)(*arguments(size)), "staged": bound(function)(*arguments(size))}
        for _ in range(5):
            for work in works.values():
                work()
        if memory:
            sizes = {name: peak(work) for name, work in works.items()}
            found.append(f"{sizes['staged'] / max(sizes['plain'], 1):.2f}")
            continue
        times = smallest(works, rounds)
        mark = "!" if times["staged"] > SLOWER * times["plain"] else ""
        found.append(f"{mark}{ratio(times['staged'], times['plain'])} of {duration(times['plain'])}")
    return found


def main(
    pattern: str = "*", engine: Any = "numpy", open_lengths: bool = False, memory: bool = False, rounds: int = 15
) -> None:
    common.take_cores()
    common.keep_memory()
    chosen = [each for each in PROGRAMS if fnmatchcase(each.__name__, pattern)]
    table = [[each.__name__, *ratios(each, engine, open_lengths, memory, rounds)] for each in chosen]
    title = "Memory" if memory else "Time"
    common.show(f"{title} on engine {engine}, divided by NumPy's", ["", *(f"{size:,}" for size in SIZES)], table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help="which programs, as a glob")
    parser.add_argument("--engine", default="numpy")
    parser.add_argument("--open", action="store_true", help="with open lengths")
    parser.add_argument("--memory", action="store_true", help="the greatest memory instead of the time")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    main(options.pattern, options.engine, options.open, options.memory, options.rounds)
