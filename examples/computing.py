"""Plain functions that compute for a while, as one writes them: `demo.py` times them as they are, and staged.

Many are well known from collections of benchmarks. The last two become no faster, and say why in docs/performance.md.
"""

from __future__ import annotations

import math

import numpy as np
from programs import Program, source


def random(*shape: int) -> np.ndarray:
    """Numbers from 1 to 9, always the same ones."""
    return np.random.default_rng(2024).uniform(1, 9, shape)


# Numbers --------------------------------------------------------------------------------------------------------------


def julia(width, height, limit):
    """How many steps each point takes to leave the circle of radius 2."""
    steps = np.zeros((height, width), dtype=int)
    for row in range(height):
        for column in range(width):
            x = 3.2 * (column + 0.5) / width - 1.6
            y = 2.0 * (row + 0.5) / height - 1.0
            n = 0
            while n < limit and x * x + y * y <= 4:
                x, y = x * x - y * y - 0.8, 2 * x * y + 0.156
                n += 1
            steps[row, column] = n
    return steps


def longest_collatz(limit):
    longest, best = 0, 1
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        if steps > longest:
            longest, best = steps, start
    return best, longest


def queens(n):
    """In how many ways n queens can be placed: bits are squares that are attacked, lists are stacks."""
    full = (1 << n) - 1
    columns, left, right, free = [0] * n, [0] * n, [0] * n, [0] * n
    free[0] = full
    row = found = 0
    while row >= 0:
        if free[row] == 0:
            row -= 1
            continue
        square = free[row] & -free[row]
        free[row] ^= square
        down, falling, rising = columns[row] | square, (left[row] | square) << 1, (right[row] | square) >> 1
        if down == full:
            found += 1
            continue
        row += 1
        columns[row], left[row], right[row] = down, falling, rising
        free[row] = full & ~(down | falling | rising)
    return found


# Lists of numbers -----------------------------------------------------------------------------------------------------


def fannkuch(n):
    """How many flips of pancakes the worst order of n numbers takes."""
    order, counts = list(range(n)), list(range(n))
    most, r = 0, n
    while True:
        while r > 1:
            counts[r - 1] = r
            r -= 1
        flips, pile = 0, order[:]
        while pile[0] != 0:
            low, high = 0, pile[0]
            while low < high:
                pile[low], pile[high] = pile[high], pile[low]
                low += 1
                high -= 1
            flips += 1
        most = max(most, flips)
        while True:
            if r == n:
                return most
            first = order[0]
            for i in range(r):
                order[i] = order[i + 1]
            order[r] = first
            counts[r] -= 1
            if counts[r] > 0:
                break
            r += 1


def spectral_norm(n):
    def element(i, j):
        return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)

    u, v = [1.0] * n, [0.0] * n
    for _ in range(4):
        w = [sum([element(i, j) * u[j] for j in range(n)]) for i in range(n)]
        v = [sum([element(j, i) * w[j] for j in range(n)]) for i in range(n)]
        w = [sum([element(i, j) * v[j] for j in range(n)]) for i in range(n)]
        u = [sum([element(j, i) * w[j] for j in range(n)]) for i in range(n)]
    return math.sqrt(sum([x * y for x, y in zip(u, v)]) / sum([y * y for y in v]))


def shortest_paths(distances):
    """Floyd and Warshall's algorithm on a list of lists."""
    n = len(distances)
    best = [row[:] for row in distances]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = best[i][k] + best[k][j]
                if through < best[i][j]:
                    best[i][j] = through
    return best


# Arrays ---------------------------------------------------------------------------------------------------------------


def n_body(places, speeds, masses, dt, steps):
    for _ in range(steps):
        for i in range(len(masses)):
            for j in range(len(masses)):
                if i != j:
                    dx = places[j, 0] - places[i, 0]
                    dy = places[j, 1] - places[i, 1]
                    pull = dt * masses[j] / (dx * dx + dy * dy) ** 1.5
                    speeds[i, 0] += dx * pull
                    speeds[i, 1] += dy * pull
        for i in range(len(masses)):
            places[i, 0] += dt * speeds[i, 0]
            places[i, 1] += dt * speeds[i, 1]
    return places


def blur(image, weights):
    height, width = image.shape
    blurred = np.zeros_like(image)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            total = 0.0
            for i in range(3):
                for j in range(3):
                    total += weights[i, j] * image[y + i - 1, x + j - 1]
            blurred[y, x] = total
    return blurred


def heat(rod, steps):
    for _ in range(steps):
        rod[1:-1] += 0.25 * (rod[2:] - 2 * rod[1:-1] + rod[:-2])
    return rod


def call_options(prices, strike, rate, volatility, years):
    """Black and Scholes, with a logistic function for the normal distribution."""
    root = volatility * math.sqrt(years)
    d1 = (np.log(prices / strike) + (rate + volatility * volatility / 2) * years) / root
    d2 = d1 - root
    return prices / (1 + np.exp(-1.702 * d1)) - strike * math.exp(-rate * years) / (1 + np.exp(-1.702 * d2))


def integral(path, n):
    """The loop is staged on its own, as files and handlers stay plain."""
    try:
        with open(path) as file:
            slope = float(file.read())
    except OSError:
        slope = 2.5
    total = 0.0
    for i in range(n):
        x = (i + 0.5) / n
        total += math.sqrt(1 + slope * x * x) / n
    return total


# No faster ------------------------------------------------------------------------------------------------------------


def digits_of_pi(n):
    """Gibbons's spigot: integers become longer than 64 bits."""
    q, r, t, k, m, x = 1, 0, 1, 1, 3, 3
    digits = []
    while len(digits) < n:
        if 4 * q + r - t < m * t:
            digits.append(m)
            q, r, m = 10 * q, 10 * (r - m * t), (10 * (3 * q + r)) // t - 10 * m
        else:
            q, r, t, k, m, x = q * k, (2 * q + r) * x, t * x, k + 1, (q * (7 * k + 2) + r * x) // (t * x), x + 2
    return "".join(map(str, digits))


def most_frequent(words):
    """A dict of texts."""
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return max(counts.values())


COMPUTING = [
    Program(julia, "a fractal, point by point", lambda: iter([(160, 90, 200)])),
    Program(longest_collatz, "the number that is furthest from 1", lambda: iter([(6000,)])),
    Program(queens, "9 queens that attack nobody", lambda: iter([(9,)])),
    Program(fannkuch, "pancakes, sorted by flips", lambda: iter([(8,)])),
    Program(spectral_norm, "the norm of a matrix, in lists", lambda: iter([(100,)])),
    Program(shortest_paths, "all shortest ways, in lists of lists", lambda: iter([(random(70, 70).tolist(),)])),
    Program(n_body, "bodies that attract each other", lambda: iter([(*random(2, 6, 2), random(6), 0.01, 500)])),
    Program(blur, "an image, blurred pixel by pixel", lambda: iter([(random(100, 80), random(3, 3))])),
    Program(heat, "heat in a rod, in slices of arrays", lambda: iter([(random(20_000), 500)])),
    Program(call_options, "prices of options, in whole arrays", lambda: iter([(random(300_000), 5.0, 0.01, 0.3, 1.5)])),
    Program(integral, "a sum, behind `try` and `with`", lambda: iter([("missing.txt", 50_000)])),
    Program(digits_of_pi, "400 digits of π, in long integers", lambda: iter([(400,)])),
    Program(most_frequent, "words, counted in a dict", lambda: iter([(source().split() * 20,)])),
]
