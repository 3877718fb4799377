"""Further everyday functions, of other kinds than those of recipes.py, and small and large arguments for each."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


# Geometry -------------------------------------------------------------------------------------------------------------


def polygon_area(points: Array) -> Any:
    x, y = points[:, 0], points[:, 1]
    return 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def rotation(axis: Array, angle: float) -> Array:
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)


def ray_sphere(origin: Array, direction: Array, center: Array, radius: float) -> Any:
    to = origin - center
    b = np.dot(to, direction)
    c = np.dot(to, to) - radius * radius
    h = b * b - c
    if h < 0:
        return None
    return -b - np.sqrt(h)


# Dates ----------------------------------------------------------------------------------------------------------------


def weekday_means(days: Array, values: Array) -> Array:
    weekday = (days.astype("datetime64[D]").astype(np.int64) - 4) % 7
    return np.array([values[weekday == day].mean() for day in range(7)])


def days_between(days: Array) -> tuple[Any, int]:
    gaps = np.diff(days)
    return gaps.astype("timedelta64[D]").astype(int).max(), int((gaps > np.timedelta64(2, "D")).sum())


# Sorting, counting, tables --------------------------------------------------------------------------------------------


def ranks(x: Array) -> Array:
    order = np.argsort(x, kind="stable")
    out = np.empty(len(x), dtype=np.int64)
    out[order] = np.arange(len(x))
    return out


def spearman(x: Array, y: Array) -> Any:
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())


def histogram_entropy(x: Array, bins: int) -> Any:
    counts, _ = np.histogram(x, bins)
    p = counts[counts > 0] / len(x)
    return -(p * np.log2(p)).sum()


def group_means(keys: Array, values: Array) -> tuple[Array, Array]:
    names, where = np.unique(keys, return_inverse=True)
    sums = np.bincount(where, weights=values)
    return names, sums / np.bincount(where)


def column_scores(table: dict[str, Array], weights: dict[str, float]) -> Array:
    total = np.zeros(len(table["a"]))
    for name, weight in weights.items():
        column = table[name]
        total += weight * (column - column.mean()) / column.std()
    return total


def clean(x: Array, limit: float) -> tuple[Array, int]:
    good = np.isfinite(x) & (np.abs(x) < limit)
    out = x.copy()
    out[~good] = np.median(x[good])
    return out, int(good.sum())


# Signals, images, fits ------------------------------------------------------------------------------------------------


def low_pass(x: Array, keep: int) -> Array:
    spectrum = np.fft.rfft(x)
    spectrum[keep:] = 0
    return np.fft.irfft(spectrum, len(x))


def sobel(image: Array) -> Array:
    gx = image[:-2, 2:] + 2 * image[1:-1, 2:] + image[2:, 2:] - image[:-2, :-2] - 2 * image[1:-1, :-2] - image[2:, :-2]
    gy = image[2:, :-2] + 2 * image[2:, 1:-1] + image[2:, 2:] - image[:-2, :-2] - 2 * image[:-2, 1:-1] - image[:-2, 2:]
    return np.hypot(gx, gy)


def interpolate(x: Array, xs: Array, ys: Array) -> Array:
    i = np.clip(np.searchsorted(xs, x) - 1, 0, len(xs) - 2)
    t = (x - xs[i]) / (xs[i + 1] - xs[i])
    return ys[i] * (1 - t) + ys[i + 1] * t


def least_squares(x: Array, y: Array, degree: int) -> Array:
    a = np.vander(x, degree + 1)
    return np.linalg.solve(a.T @ a, a.T @ y)


# Strings, lists and numbers -------------------------------------------------------------------------------------------


def invert_index(documents: list[str]) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for number, text in enumerate(documents):
        for word in text.lower().split():
            index.setdefault(word, []).append(number)
    return index


def parse_table(text: str) -> list[tuple[str, float]]:
    rows = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, _, number = line.partition(",")
        rows.append((name.strip(), float(number)))
    return rows


def top_words(text: str, count: int) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for word in text.split():
        word = word.strip(".,;!?").lower()
        if word:
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:count]


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def binary_search(xs: list[int], wanted: int) -> int:
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def flatten(nested: list[Any]) -> list[Any]:
    out: list[Any] = []
    for each in nested:
        if isinstance(each, list):
            out.extend(flatten(each))
        else:
            out.append(each)
    return out


def transpose_lists(rows: list[list[Any]]) -> list[list[Any]]:
    return [[row[i] for row in rows] for i in range(len(rows[0]))]


def squares(xs: list[int]) -> list[int]:
    return [x * x for x in xs if x % 2 == 0]


def row_norms(rows: list[list[float]]) -> list[float]:
    return [sum(x * x for x in row) ** 0.5 for row in rows]


def dedupe(xs: list[Any]) -> list[Any]:
    seen: set[Any] = set()
    out: list[Any] = []
    for x in xs:
        if x not in seen:
            seen.add(x)
            out.append(x)
    return out


def running_statistics(xs: list[float]) -> tuple[float, float]:
    count, mean, m2 = 0, 0.0, 0.0
    for x in xs:
        count += 1
        delta = x - mean
        mean += delta / count
        m2 += delta * (x - mean)
    return mean, m2 / (count - 1)


def mandelbrot_row(y: float, width: int, iterations: int) -> list[int]:
    out: list[Any] = []
    for i in range(width):
        c = complex(-2 + 3 * i / width, y)
        z = 0j
        n = 0
        while abs(z) <= 2 and n < iterations:
            z = z * z + c
            n += 1
        out.append(n)
    return out


# What each is called with ---------------------------------------------------------------------------------------------

_RNG = np.random.default_rng(0)
_WORDS = [f"Word{number}," for number in _RNG.integers(0, 60, 2000)]


def _normal(*shape: int) -> Any:
    return _RNG.normal(size=shape)


ARGUMENTS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "polygon_area": ((_normal(5, 2),), (_normal(20000, 2),)),
    "rotation": ((np.array([1.0, 2, 3]), 0.3), (np.array([0.0, 0, 1]), 1.3)),
    "ray_sphere": (
        (np.zeros(3), np.array([0, 0, 1.0]), np.array([0, 0, 5.0]), 1.0),
        (np.zeros(3), np.array([0, 0, 1.0]), np.array([0, 3, 5.0]), 1.0),
    ),
    "weekday_means": (
        (np.datetime64("2024-01-01") + np.arange(14), _normal(14)),
        (np.datetime64("2000-01-01") + np.arange(9000), _normal(9000)),
    ),
    "days_between": (
        (np.array(["2024-01-01", "2024-01-03"], "datetime64[D]"),),
        (np.datetime64("2000-01-01") + np.cumsum(_RNG.integers(1, 5, 10000)),),
    ),
    "ranks": ((_normal(10),), (_normal(20000),)),
    "spearman": ((_normal(10), _normal(10)), (_normal(10000), _normal(10000))),
    "histogram_entropy": ((_normal(20), 5), (_normal(50000), 50)),
    "group_means": ((_RNG.integers(0, 3, 10), _normal(10)), (_RNG.integers(0, 100, 10000), _normal(10000))),
    "column_scores": (
        ({"a": _normal(5), "b": _normal(5)}, {"a": 1.0, "b": 2.0}),
        ({"a": _normal(20000), "b": _normal(20000)}, {"a": 1.0, "b": 2.0}),
    ),
    "clean": (
        (np.array([1.0, 2, np.nan, 1e9]), 100.0),
        (np.where(_RNG.random(20000) < 0.01, np.inf, _normal(20000)), 3.0),
    ),
    "low_pass": ((_normal(16), 4), (_normal(16384), 100)),
    "sobel": ((_normal(6, 6),), (_normal(300, 400),)),
    "interpolate": (
        (_normal(4), np.linspace(-3, 3, 8), _normal(8)),
        (_normal(20000), np.linspace(-3, 3, 1000), _normal(1000)),
    ),
    "least_squares": ((np.linspace(0, 1, 6), _normal(6), 2), (np.linspace(0, 1, 5000), _normal(5000), 5)),
    "invert_index": ((["a b", "b c"],), ([" ".join(f"w{i}" for i in _RNG.integers(0, 50, 40)) for _ in range(100)],)),
    "parse_table": (("a, 1\n# no\nb, 2\n",), ("\n".join(f"name{i}, {i / 7}" for i in range(1000)),)),
    "top_words": (("the cat, the dog.", 2), (" ".join(_WORDS), 10)),
    "levenshtein": (("kitten", "sitting"), ("kitten sitting " * 8, "sitting kitten " * 8)),
    "binary_search": ((list(range(10)), 7), (list(range(100000)), 777)),
    "flatten": (([1, [2, [3]], 4],), ([[i, [i + 1, [i + 2]]] for i in range(200)],)),
    "transpose_lists": (([[1, 2], [3, 4]],), (_normal(100, 100).tolist(),)),
    "squares": (([1, 2, 3, 4],), (list(range(5000)),)),
    "row_norms": (([[1.0, 2.0], [3.0, 4.0]],), (_normal(300, 30).tolist(),)),
    "dedupe": (([1, 2, 1],), (_RNG.integers(0, 500, 5000).tolist(),)),
    "running_statistics": ((_normal(8).tolist(),), (_normal(10000).tolist(),)),
    "mandelbrot_row": ((0.3, 5, 10), (0.3, 100, 100)),
}
