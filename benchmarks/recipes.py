"""What people write every day with NumPy and plain Python, and small and large arguments for each."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


# Arrays ---------------------------------------------------------------------------------------------------------------


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x: Array, scale: Array, shift: Array) -> Array:
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


def standardize(x: Array) -> Array:
    spread = x.std(axis=0)
    spread[spread == 0] = 1
    return (x - x.mean(axis=0)) / spread


def pairwise_distances(x: Array) -> Array:
    difference = x[:, None, :] - x[None, :, :]
    return np.sqrt((difference**2).sum(axis=-1))


def moving_average(x: Array, width: int) -> Array:
    sums = np.cumsum(x)
    sums[width:] = sums[width:] - sums[:-width]
    return sums[width - 1 :] / width


def cosine_similarity(x: Array, y: Array) -> Array:
    return np.dot(x, y) / (np.linalg.norm(x) * np.linalg.norm(y))


def one_hot(labels: Array, classes: int) -> Array:
    out = np.zeros((len(labels), classes))
    out[np.arange(len(labels)), labels] = 1
    return out


def confusion_matrix(truth: Array, guess: Array, classes: int) -> Array:
    counts = np.zeros((classes, classes), dtype=np.int64)
    for t, g in zip(truth, guess):
        counts[t, g] += 1
    return counts


def equalize_histogram(image: Array) -> Array:
    counts = np.bincount(image.ravel(), minlength=256)
    below = counts.cumsum()
    levels = (below - below.min()) * 255 / (below.max() - below.min())
    return levels[image].astype(np.uint8)


def to_gray(image: Array) -> Array:
    gray = 0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]
    return np.clip(gray, 0, 255).astype(np.uint8)


def resize(image: Array, height: int, width: int) -> Array:
    y = np.linspace(0, image.shape[0] - 1, height)
    x = np.linspace(0, image.shape[1] - 1, width)
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    bottom, right = np.minimum(top + 1, image.shape[0] - 1), np.minimum(left + 1, image.shape[1] - 1)
    down, across = (y - top)[:, None], (x - left)[None, :]
    above = image[top][:, left] * (1 - across) + image[top][:, right] * across
    below = image[bottom][:, left] * (1 - across) + image[bottom][:, right] * across
    return above * (1 - down) + below * down


def convolve(x: Array, kernel: Array) -> Array:
    out = np.zeros(len(x) - len(kernel) + 1)
    for k in range(len(kernel)):
        out += kernel[k] * x[k : k + len(out)]
    return out


def convolve_image(image: Array, kernel: Array) -> Array:
    height, width = kernel.shape
    out = np.zeros((image.shape[0] - height + 1, image.shape[1] - width + 1))
    for i in range(height):
        for j in range(width):
            out += kernel[i, j] * image[i : i + out.shape[0], j : j + out.shape[1]]
    return out


def game_of_life(world: Array) -> Array:
    neighbors = np.zeros(world.shape, dtype=int)
    for down in (-1, 0, 1):
        for across in (-1, 0, 1):
            if (down, across) != (0, 0):
                neighbors += np.roll(world, (down, across), axis=(0, 1))
    return ((neighbors == 3) | ((world == 1) & (neighbors == 2))).astype(world.dtype)


def nearest_neighbors(points: Array, labels: Array, queries: Array, k: int) -> Array:
    out = np.empty(len(queries), dtype=labels.dtype)
    for i, query in enumerate(queries):
        distances = ((points - query) ** 2).sum(axis=1)
        nearest = np.argsort(distances)[:k]
        out[i] = np.bincount(labels[nearest]).argmax()
    return out


def principal_components(x: Array, count: int) -> Array:
    centered = x - x.mean(axis=0)
    _, _, directions = np.linalg.svd(centered, full_matrices=False)
    return centered @ directions[:count].T


def bootstrapped_mean(x: Array, rng: Any, rounds: int) -> tuple[Any, Any]:
    means = np.empty(rounds)
    for i in range(rounds):
        means[i] = rng.choice(x, len(x)).mean()
    return np.percentile(means, 2.5), np.percentile(means, 97.5)


def running_median(x: Array, width: int) -> list[Any]:
    out = []
    for i in range(len(x) - width + 1):
        out.append(np.median(x[i : i + width]))
    return out


# Linear algebra and models --------------------------------------------------------------------------------------------


def gram_schmidt(a: Array) -> Array:
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for i in range(j):
            v -= (q[:, i] @ a[:, j]) * q[:, i]
        q[:, j] = v / np.linalg.norm(v)
    return q


def power_iteration(a: Array, iterations: int) -> tuple[Any, Array]:
    v = np.ones(len(a))
    for _ in range(iterations):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v @ a @ v, v


def matrix_power(a: Array, n: int) -> Array:
    result = np.eye(len(a))
    while n:
        if n % 2:
            result = result @ a
        a = a @ a
        n //= 2
    return result


def kalman_step(x: Array, p: Array, z: Array, f: Array, h: Array, q: Array, r: Array) -> tuple[Array, Array]:
    x = f @ x
    p = f @ p @ f.T + q
    gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + r)
    return x + gain @ (z - h @ x), (np.eye(len(x)) - gain @ h) @ p


def logistic_step(w: Array, x: Array, y: Array, rate: float) -> Array:
    p = 1 / (1 + np.exp(-(x @ w)))
    gradient = x.T @ (p - y) / len(y)
    return w - rate * gradient


def rk4_step(f: Any, y: Array, t: float, h: float) -> Array:
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def decay(t: float, y: Array) -> Array:
    return -y + np.cos(t)


# Numbers --------------------------------------------------------------------------------------------------------------


def newton(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def bisect(low: float, high: float, tolerance: float) -> float:
    while high - low > tolerance:
        middle = (low + high) / 2
        if middle**3 - middle - 2 < 0:
            low = middle
        else:
            high = middle
    return low


def trapezoid(a: float, b: float, n: int) -> float:
    h = (b - a) / n
    total = 0.5 * (a * a + b * b)
    for i in range(1, n):
        x = a + i * h
        total += x * x
    return h * total


def primes(n: int) -> list[int]:
    is_prime = [True] * (n + 1)
    found = []
    for i in range(2, n + 1):
        if is_prime[i]:
            found.append(i)
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
    return found


def gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def queens(n: int, row: int = 0, columns: int = 0, left: int = 0, right: int = 0) -> int:
    if row == n:
        return 1
    count = 0
    free = ~(columns | left | right) & ((1 << n) - 1)
    while free:
        bit = free & -free
        free ^= bit
        count += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def smooth(x: Array, share: float) -> Array:
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = share * x[i] + (1 - share) * out[i - 1]
    return out


def rolling_max(x: Array, width: int) -> Array:
    out = np.empty(len(x) - width + 1)
    for i in range(len(out)):
        out[i] = x[i : i + width].max()
    return out


# Objects --------------------------------------------------------------------------------------------------------------


def caesar(text: str, shift: int) -> str:
    out = ""
    for letter in text:
        if letter.isalpha():
            out += chr((ord(letter) - 97 + shift) % 26 + 97)
        else:
            out += letter
    return out


def count_words(words: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def run_lengths(x: list[int]) -> list[tuple[int, int]]:
    runs = []
    i = 0
    while i < len(x):
        j = i
        while j < len(x) and x[j] == x[i]:
            j += 1
        runs.append((x[i], j - i))
        i = j
    return runs


def mean_and_spread(x: list[float]) -> tuple[float, float]:
    mean = sum(x) / len(x)
    variance = sum((each - mean) ** 2 for each in x) / (len(x) - 1)
    return mean, variance**0.5


# What each is called with ---------------------------------------------------------------------------------------------

_RNG = np.random.default_rng(0)


def _normal(*shape: int) -> Any:
    return _RNG.normal(size=shape)


def _image(*shape: int) -> Any:
    return _RNG.integers(0, 256, shape, dtype=np.uint8)


def _kalman(n: int) -> tuple[Any, ...]:
    return np.zeros(n), np.eye(n), np.ones(n // 2), np.eye(n), np.eye(n)[: n // 2], 0.1 * np.eye(n), np.eye(n // 2)


def _words(count: int) -> list[str]:
    return [f"word{n}" for n in _RNG.integers(0, 50, count).tolist()]


def _stochastic(n: int) -> Any:
    return np.full((n, n), 1 / n)


def _generator() -> Any:
    return np.random.default_rng(1)


ARGUMENTS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "softmax": ((_normal(10),), (_normal(500, 100),)),
    "layer_norm": ((_normal(4, 16), np.ones(16), np.zeros(16)), (_normal(256, 512), np.ones(512), np.zeros(512))),
    "standardize": ((_normal(20, 3),), (_normal(10_000, 20),)),
    "pairwise_distances": ((_normal(5, 3),), (_normal(300, 3),)),
    "moving_average": ((_normal(20), 5), (_normal(100_000), 50)),
    "cosine_similarity": ((_normal(3), _normal(3)), (_normal(100_000), _normal(100_000))),
    "one_hot": ((_RNG.integers(0, 4, 5), 4), (_RNG.integers(0, 10, 10_000), 10)),
    "confusion_matrix": ((*_RNG.integers(0, 3, (2, 8)), 3), (*_RNG.integers(0, 10, (2, 10_000)), 10)),
    "equalize_histogram": ((_image(8, 8),), (_image(480, 640),)),
    "to_gray": ((_image(8, 8, 3),), (_image(480, 640, 3),)),
    "resize": ((_normal(4, 4), 8, 8), (_normal(240, 320), 480, 640)),
    "convolve": ((_normal(20), _normal(3)), (_normal(100_000), _normal(15))),
    "convolve_image": ((_normal(8, 8), _normal(3, 3)), (_normal(240, 320), _normal(5, 5))),
    "game_of_life": ((_RNG.integers(0, 2, (8, 8)),), (_RNG.integers(0, 2, (200, 200)),)),
    "nearest_neighbors": (
        (_normal(20, 2), _RNG.integers(0, 3, 20), _normal(3, 2), 3),
        (_normal(2000, 8), _RNG.integers(0, 3, 2000), _normal(50, 8), 5),
    ),
    "principal_components": ((_normal(10, 3), 2), (_normal(500, 50), 10)),
    "bootstrapped_mean": ((_normal(10), _generator(), 5), (_normal(1000), _generator(), 200)),
    "running_median": ((_normal(10), 3), (_normal(500), 21)),
    "gram_schmidt": ((_normal(4, 3),), (_normal(100, 40),)),
    "power_iteration": ((_stochastic(3), 10), (_stochastic(200), 50)),
    "matrix_power": ((_stochastic(3), 10), (_stochastic(100), 100)),
    "kalman_step": (_kalman(4), _kalman(40)),
    "logistic_step": (
        (np.zeros(3), _normal(10, 3), np.ones(10), 0.1),
        (np.zeros(50), _normal(5000, 50), np.ones(5000), 0.1),
    ),
    "rk4_step": ((decay, _normal(3), 0.0, 0.1), (decay, _normal(100_000), 0.0, 0.1)),
    "newton": ((2.0,), (1e200,)),
    "bisect": ((1.0, 2.0, 1e-3), (-1e6, 1e6, 1e-9)),
    "trapezoid": ((0.0, 1.0, 10), (0.0, 1.0, 10_000)),
    "primes": ((30,), (20_000,)),
    "gcd": ((48, 36), (3**200, 2**300 + 1)),
    "queens": ((4,), (7,)),
    "smooth": ((_normal(10), 0.3), (_normal(10_000), 0.3)),
    "rolling_max": ((_normal(10), 3), (_normal(2000), 50)),
    "caesar": (("hello", 3), ("the quick brown fox " * 100, 3)),
    "count_words": ((_words(5),), (_words(5000),)),
    "run_lengths": (([1, 1, 2, 3, 3],), (_RNG.integers(0, 2, 5000).tolist(),)),
    "mean_and_spread": ((_normal(5).tolist(),), (_normal(5000).tolist(),)),
}
