"""Plain functions, as one writes them, and what to call them with: `demo.py` runs them as they are, and staged.

Nothing here knows of this library. Each program gives calls that can be made again and again; the data comes with
Python (its own sources, the language reference) or out of a formula.
"""

from __future__ import annotations

import heapq
import inspect
import itertools
import math
import textwrap
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Program:
    """A function, what it is about, and the arguments of each of its calls."""

    function: Callable[..., Any]
    title: str
    calls: Callable[[], Iterator[Arguments]]


PROGRAMS: list[Program] = []


def program(title: str, calls: Callable[[], Iterator[Arguments]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, title, calls))
        return function

    return add


def source() -> str:
    """A text that is always there."""
    return inspect.getsource(textwrap)


# Numbers --------------------------------------------------------------------------------------------------------------


@program("how long n takes to get to 1", lambda: ((n,) for n in range(837_790, 837_810)))
def collatz(n):
    """How many steps it takes to get from n to 1."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2      # n is even
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program("x such that x² = a, by Newton", lambda: ((a,) for a in [2, 10.0, 1e-9, 10**40, np.float32(3), -1.0, 0]))
def square_root(a):
    if a < 0:
        raise ValueError(f"{a} has no square root")
    x = a if a > 1 else 1.0
    for _ in range(200):
        if x == 0:
            return x
        better = (x + a / x) / 2
        if abs(better - x) <= 1e-15 * better:
            return better
        x = better
    return x


@program("x such that cos x = x·slope", lambda: ((slope, 0.0, 2.0) for slope in (1, 0.5, 3.25, -1)))
def bisection(slope, low, high):
    iterations = 0
    while high - low > 1e-12:
        iterations += 1
        middle = (low + high) / 2
        if math.cos(middle) > middle * slope:
            low = middle
        else:
            high = middle
    return (low + high) / 2, iterations


@program("the factors of n, one by one", lambda: ((n,) for n in (1, 97, 5040, 2**31 - 1, 600_851_475_143)))
def factors(n):
    found = []
    divisor = 2
    while divisor * divisor <= n:
        if n % divisor:
            divisor += 1
            continue
        n //= divisor
        print(f"{divisor} divides it, leaving {n}")
        found.append(divisor)
    if n > 1:
        found.append(n)
    return found


@program("the primes up to n, by Eratosthenes", lambda: ((n,) for n in (10, 2, 0, 30_000)))
def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i::i] = False
    return np.flatnonzero(prime)


# Texts and lists ------------------------------------------------------------------------------------------------------


def pairs_of_lines() -> Iterator[Arguments]:
    lines = [line.strip() for line in source().splitlines() if len(line) > 50]
    yield from itertools.pairwise(lines[:13])


@program("how many edits from one line to the next", pairs_of_lines)
def edit_distance(one, other):
    row = list(range(len(other) + 1))
    for i, a in enumerate(one):
        before, row[0] = i, i + 1
        for j, b in enumerate(other):
            before, row[j + 1] = row[j + 1], min(before + (a != b), row[j] + 1, row[j + 1] + 1)
    return row[-1]


@program("words, by how often they occur", lambda: ((source().split(), least) for least in (20, 8)))
def frequent(words, least):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    found = []
    for word, count in counts.items():
        if count >= least:
            found.append((word, count))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def maze(n: int) -> Any:
    """Walls where a formula says so."""
    y, x = np.mgrid[:n, :n]
    walls = (x * x * 3 + y * 7 + x * y) % 5 == 0
    walls[0, 0] = walls[-1, -1] = False
    return walls


@program("the shortest way through a maze", lambda: ((maze(n), (n - 1, n - 1)) for n in (8, 30)))
def shortest_way(walls, goal):
    distance = np.full(walls.shape, -1)
    distance[0, 0] = 0
    queue = deque([(0, 0)])
    while queue:
        y, x = queue.popleft()
        if (y, x) == goal:
            break
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            v, u = y + dy, x + dx
            if 0 <= v < walls.shape[0] and 0 <= u < walls.shape[1] and not walls[v, u] and distance[v, u] < 0:
                distance[v, u] = distance[y, x] + 1
                queue.append((v, u))
    return int(distance[goal])


@program("the k smallest of many, on a heap", lambda: (([pow(7, i, 10_007) for i in range(3000)], k) for k in (5, 40)))
def smallest(xs, k):
    heap = []
    for x in xs:
        if len(heap) < k:
            heapq.heappush(heap, -x)
        elif -x > heap[0]:
            heapq.heapreplace(heap, -x)
    return sorted(-x for x in heap)


@program("characters, in runs", lambda: ((text,) for text in (source()[:600], "aaab", "")))
def run_lengths(text):
    runs = []
    for letter in text:
        if runs and runs[-1][0] == letter:
            runs[-1][1] += 1
        else:
            runs.append([letter, 1])
    return "".join(f"{letter}{count if count > 1 else ''}" for letter, count in runs)


@program("numbers in place, by Hoare", lambda: ((np.array([pow(5, i, 1009) for i in range(n)]),) for n in (300, 7, 0)))
def quick_sort(xs):
    stack = [(0, len(xs) - 1)]
    while stack:
        low, high = stack.pop()
        if low >= high:
            continue
        pivot, i, j = xs[(low + high) // 2], low, high
        while i <= j:
            while xs[i] < pivot:
                i += 1
            while xs[j] > pivot:
                j -= 1
            if i <= j:
                xs[i], xs[j] = xs[j], xs[i]
                i, j = i + 1, j - 1
        stack.append((low, j))
        stack.append((i, high))
    return xs


@program("what a stack machine computes", lambda: ((code,) for code in ("2 3 + 4 *", "7 dup * 1 -", "1 0 /", "1 +")))
def stack_machine(code):
    stack = []
    for word in code.split():
        match word:
            case "+" | "-" | "*" | "/":
                if len(stack) < 2:
                    raise IndexError(f"{word!r} needs two numbers, not {len(stack)}")
                b, a = stack.pop(), stack.pop()
                stack.append(a + b if word == "+" else a - b if word == "-" else a * b if word == "*" else a / b)
            case "dup":
                stack.append(stack[-1])
            case number:
                stack.append(float(number))
    return stack


# Arrays ---------------------------------------------------------------------------------------------------------------


def words_that_follow() -> Iterator[Arguments]:
    """Which word of a text follows which."""
    words = source().split()[:700]
    known = {word: number for number, word in enumerate(dict.fromkeys(words))}
    links = np.zeros((len(known), len(known)))
    for one, other in itertools.pairwise(words):
        links[known[other], known[one]] += 1
    yield links / np.maximum(links.sum(axis=0), 1), 0.85, 1e-10
    yield links[:40, :40], 0.5, 0.0


@program("the importance of words, by their links", words_that_follow)
def page_rank(links, damping, tolerance):
    n = len(links)
    rank = np.full(n, 1 / n)
    for iteration in range(500):  # noqa: B007
        new = damping * (links @ rank) + (1 - damping) / n
        new /= new.sum()
        change = abs(new - rank).max()
        rank = new
        if change <= tolerance:
            break
    return iteration, rank


def lengths_of_lines() -> Iterator[Arguments]:
    lengths = np.array([len(line) for line in source().splitlines()], dtype=float)
    for keep in (3, 20):
        yield lengths, keep


@program("a signal of a few frequencies", lengths_of_lines)
def low_pass(signal, keep):
    spectrum = np.fft.rfft(signal - signal.mean())
    order = np.argsort(abs(spectrum))[::-1]
    for k in order[keep:]:
        spectrum[k] = 0
    smooth = np.fft.irfft(spectrum, len(signal)) + signal.mean()
    assert smooth.shape == signal.shape
    return smooth, np.sqrt(((smooth - signal) ** 2).mean())


@program("a base of the columns, by Gram and Schmidt", lambda: ((np.vander(np.arange(1.0, n), 6),) for n in (9, 30)))
def orthonormal(a):
    base = []
    for column in a.T:
        rest = column.copy()
        for vector in base:
            rest -= (vector @ column) * vector
        length = np.linalg.norm(rest)
        if length > 1e-9:
            base.append(rest / length)
    return np.array(base)


@program("drunkards, until they are far away", lambda: ((seed, 12, 400) for seed in (1, 2024)))
def random_walks(seed, far, limit):
    rng = np.random.default_rng(seed)
    iterations = []
    for _ in range(20):
        place, steps = np.zeros(2), 0
        while steps < limit and np.hypot(*place) < far:
            place += rng.choice([-1, 1], 2)
            steps += 1
        iterations.append(steps)
    return np.mean(iterations), iterations


def lines_as_points() -> Iterator[Arguments]:
    """Each line of a text: how far it is indented, and how long it is."""
    lines = [line for line in source().splitlines() if line]
    points = np.array([(len(line) - len(line.lstrip()), len(line)) for line in lines], dtype=float)
    for k in (3, 5):
        yield points, points[:: len(points) // k][:k].copy(), 50


@program("lines of code in k groups", lines_as_points)
def k_means(points, centers, limit):
    nearest = None
    for iteration in range(limit):  # noqa: B007
        distances = ((points[:, None] - centers) ** 2).sum(axis=2)
        now = distances.argmin(axis=1)
        if nearest is not None and (now == nearest).all():
            break
        nearest = now
        for k in range(len(centers)):
            members = points[nearest == k]
            if len(members) > 0:
                centers[k] = members.mean(axis=0)
    return centers, iteration


def system(n: int) -> Arguments:
    matrix = np.fromfunction(lambda i, j: 1 / (i + j + 1) + (i == j), (n, n))
    return matrix, matrix.sum(axis=1)


@program("a linear system, by elimination", lambda: (system(n) for n in (3, 40)))
def solve(a, b):
    a, x = a.copy(), b.copy()
    n = len(x)
    for i in range(n):
        pivot = i + np.argmax(np.abs(a[i:, i]))
        if a[pivot, i] == 0:
            raise np.linalg.LinAlgError("singular")
        if pivot != i:
            a[[i, pivot]] = a[[pivot, i]]
            x[[i, pivot]] = x[[pivot, i]]
        for j in range(i + 1, n):
            factor = a[j, i] / a[i, i]
            a[j, i:] -= factor * a[i, i:]
            x[j] -= factor * x[i]
    for i in reversed(range(n)):
        x[i] = (x[i] - a[i, i + 1:] @ x[i + 1:]) / a[i, i]
    return x


@program("the Lorenz system, by Runge and Kutta", lambda: ((np.array([1.0, 1.0, z]), 0.01, 500) for z in (1.0, 20.0)))
def lorenz(state, h, steps):
    def slope(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    path = []
    for _ in range(steps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state)
    return np.array(path)


GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""


def board() -> Any:
    """Gosper's gun, in the corner of an empty board."""
    cells = np.zeros((28, 56), dtype=int)
    for y, line in enumerate(GUN.split()):
        cells[y + 1, 2:2 + len(line)] = [mark == "O" for mark in line]
    return cells


@program("the game of life", lambda: ((board(), iterations) for iterations in (10, 100)))
def life(cells, iterations):
    for _ in range(iterations):
        around = np.zeros_like(cells)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    around += np.roll(cells, (dy, dx), (0, 1))
        cells = ((around == 3) | (cells == 1) & (around == 2)).astype(int)
    return cells


@program("iterations until a point escapes", lambda: ((width, 60) for width in (16, 72)))
def mandelbrot(width, limit):
    y, x = np.ogrid[-1.2:1.2:width // 3 * 1j, -2.2:0.9:width * 1j]
    c = x + 1j * y
    z, iterations = np.zeros_like(c), np.zeros(c.shape, dtype=int)
    for _ in range(limit):
        inside = abs(z) <= 2
        if not inside.any():
            break
        z[inside] = z[inside] ** 2 + c[inside]
        iterations += inside
    return iterations


# Objects --------------------------------------------------------------------------------------------------------------


class Account:
    def __init__(self, balance: float) -> None:
        self.balance = balance
        self.history: list[float] = []

    def deposit(self, amount):
        if self.balance + amount < 0:
            raise ValueError(f"only {self.balance:.2f} left, not {-amount:.2f}")
        self.balance += amount
        self.history.append(amount)


@program("an account, which may be overdrawn", lambda: ((Account(b), [10.5, -3, -20.25, 8]) for b in (20.0, 5.0)))
def book(account, amounts):
    for amount in amounts:
        account.deposit(amount)
        print(f"{amount:+8.2f} {account.balance:8.2f}")
    return account.balance, account.history
