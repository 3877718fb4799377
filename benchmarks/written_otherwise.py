"""The programs of `as_written.py` as others write them: with other containers, methods and idioms."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

# Random numbers -------------------------------------------------------------------------------------------------------


def option_price(paths, steps):
    total, dt, rate, volatility = 0.0, 1 / steps, 0.05, 0.2
    for _ in range(paths):
        price = 100
        for _ in range(steps):
            drift = (rate - 0.5 * volatility**2) * dt
            price *= math.exp(drift + volatility * math.sqrt(dt) * random.gauss(0, 1))
        total += max(price - 100, 0)
    return math.exp(-rate) * total / paths


def random_walk(steps):
    position, seen = 0, [0]
    for _ in range(steps):
        position += random.choice([-1, 1])
        seen.append(position)
    return max(seen), min(seen), seen[-1]


def walks_on_a_grid(walks, steps):
    total = 0
    for _ in range(walks):
        x = y = 0
        for _ in range(steps):
            dx, dy = random.choice([(0, 1), (0, -1), (1, 0), (-1, 0)])
            x, y = x + dx, y + dy
        total += x * x + y * y
    return total / walks


def dice(rolls):
    counts = {}
    for _ in range(rolls):
        total = random.randint(1, 6) + random.randint(1, 6)
        counts[total] = counts.get(total, 0) + 1
    return counts


def dice_by_default(rolls):
    counts = defaultdict(int)
    for _ in range(rolls):
        counts[random.randint(1, 6) + random.randint(1, 6)] += 1
    return dict(counts)


def birthdays(parties):
    shared = 0
    for _ in range(parties):
        seen = set()
        for _ in range(23):
            day = random.randrange(365)
            if day in seen:
                shared += 1
                break
            seen.add(day)
    return shared / parties


def value_of(hand):
    total, aces = sum(hand), hand.count(11)
    while total > 21 and aces:
        total, aces = total - 10, aces - 1
    return total


def blackjack_with_a_deck(hands):
    won = 0
    for _ in range(hands):
        deck = [2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11] * 4
        random.shuffle(deck)
        mine, dealers = [deck.pop(), deck.pop()], [deck.pop(), deck.pop()]
        while value_of(mine) < 17:
            mine.append(deck.pop())
        if value_of(mine) > 21:
            continue
        while value_of(dealers) < 17:
            dealers.append(deck.pop())
        if value_of(dealers) > 21 or value_of(mine) > value_of(dealers):
            won += 1
    return won / hands


def snakes_by_membership(board, games):
    rolls = 0
    for _ in range(games):
        square = 0
        while square < 30:
            square += random.randint(1, 6)
            if square in board:
                square = board[square]
            rolls += 1
    return rolls / games


# Lists ----------------------------------------------------------------------------------------------------------------


def knapsack_in_a_row(weights, values, capacity):
    best = [0] * (capacity + 1)
    for i in range(len(weights)):
        for room in range(capacity, weights[i] - 1, -1):
            best[room] = max(best[room], best[room - weights[i]] + values[i])
    return best[capacity]


def median_of_slices(signal, width):
    half, found = width // 2, []
    for i in range(len(signal)):
        window = sorted(signal[max(0, i - half) : min(len(signal), i + half + 1)])
        found.append(window[len(window) // 2])
    return found


def median_of_pixels(image):
    found = [row[:] for row in image]
    for i in range(1, len(image) - 1):
        for j in range(1, len(image[0]) - 1):
            window = []
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    window.append(image[i + di][j + dj])
            window.sort()
            found[i][j] = window[4]
    return found


def bins(values, count):
    low, high = min(values), max(values)
    width, found = (high - low) / count, [0] * count
    for value in values:
        found[min(int((value - low) / width), count - 1)] += 1
    return found


def is_safe(board, row, column):
    for i in range(row):  # noqa: SIM110 -- as people write it
        if board[i] == column or abs(board[i] - column) == row - i:
            return False
    return True


def placed(board, row, size):
    if row == size:
        return 1
    count = 0
    for column in range(size):
        if is_safe(board, row, column):
            board[row] = column
            count += placed(board, row + 1, size)
    return count


def queens_by_a_helper(size):
    return placed([-1] * size, 0, size)


def queens_with_sets(size):
    columns, rising, falling = set(), set(), set()

    def place(row):
        if row == size:
            return 1
        count = 0
        for column in range(size):
            if column in columns or row + column in rising or row - column in falling:
                continue
            columns.add(column)
            rising.add(row + column)
            falling.add(row - column)
            count += place(row + 1)
            columns.remove(column)
            rising.remove(row + column)
            falling.remove(row - column)
        return count

    return place(0)


# Arrays and objects ---------------------------------------------------------------------------------------------------


def sobel_by_windows(image):
    kernel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    found = np.zeros_like(image)
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            window = image[y - 1 : y + 2, x - 1 : x + 2]
            found[y, x] = np.hypot(np.sum(window * kernel), (window * kernel.T).sum())
    return found


def lorenz(state):
    x, y, z = state
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


def runge_kutta_of_lists(steps, h):
    state = [1.0, 1.0, 1.0]
    for _ in range(steps):
        k1 = lorenz(state)
        k2 = lorenz([a + h / 2 * b for a, b in zip(state, k1)])
        k3 = lorenz([a + h / 2 * b for a, b in zip(state, k2)])
        k4 = lorenz([a + h * b for a, b in zip(state, k3)])
        state = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(state, k1, k2, k3, k4)]
    return state


class Moon:
    def __init__(self, x, y, vx, vy, mass):
        self.x, self.y, self.vx, self.vy, self.mass = x, y, vx, vy, mass

    def pull(self, other, dt):
        dx, dy = other.x - self.x, other.y - self.y
        distance = math.sqrt(dx * dx + dy * dy) + 1e-3
        force = other.mass / distance**3
        self.vx += dx * force * dt
        self.vy += dy * force * dt

    def move(self, dt):
        self.x += self.vx * dt
        self.y += self.vy * dt


def moons(bodies, steps):
    for _ in range(steps):
        for a in bodies:
            for b in bodies:
                if a is not b:
                    a.pull(b, 0.01)
        for body in bodies:
            body.move(0.01)
    return [(body.x, body.y) for body in bodies]


@dataclass
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def length(self):
        return math.hypot(self.x, self.y)


@dataclass
class Star:
    position: Vector
    speed: Vector
    mass: float


def stars(bodies, steps):
    for _ in range(steps):
        for i, a in enumerate(bodies):
            force = Vector(0.0, 0.0)
            for j, b in enumerate(bodies):
                if i != j:
                    way = b.position - a.position
                    force = force + way * (b.mass / (way.length() ** 3 + 1e-3))
            a.speed = a.speed + force * 0.01
        for body in bodies:
            body.position = body.position + body.speed * 0.01
    return [body.position.x for body in bodies]


class Roads:
    def __init__(self, lengths):
        self.lengths = lengths

    def shorten(self):
        lengths = self.lengths
        for k in range(len(lengths)):
            for i in range(len(lengths)):
                for j in range(len(lengths)):
                    if lengths[i][k] + lengths[k][j] < lengths[i][j]:
                        lengths[i][j] = lengths[i][k] + lengths[k][j]


def shortest_roads(roads):
    roads.shorten()
    return roads.lengths


def programs() -> list[tuple[Any, tuple[Any, ...]]]:
    """Functions, with arguments."""
    draw = random.Random(0)
    board = {3: 22, 5: 8, 11: 26, 20: 29, 17: 4, 19: 7, 21: 9, 27: 1}
    weights, values = [draw.randint(1, 30) for _ in range(60)], [draw.randint(1, 100) for _ in range(60)]
    pixels = [[draw.randrange(256) for _ in range(60)] for _ in range(60)]
    moving = [[draw.uniform(-1, 1) for _ in range(5)] for _ in range(6)]
    return [
        (option_price, (200, 100)), (random_walk, (5_000,)), (walks_on_a_grid, (200, 100)), (dice, (10_000,)),
        (dice_by_default, (10_000,)), (birthdays, (1_000,)), (blackjack_with_a_deck, (500,)),
        (snakes_by_membership, (board, 1_000)), (knapsack_in_a_row, (weights, values, 500)),
        (median_of_slices, ([draw.random() for _ in range(2_000)], 5)), (median_of_pixels, (pixels,)),
        (bins, ([draw.gauss(0, 1) for _ in range(10_000)], 20)), (queens_by_a_helper, (7,)), (queens_with_sets, (7,)),
        (sobel_by_windows, (np.array(pixels, float),)), (runge_kutta_of_lists, (2_000, 0.01)),
        (moons, ([Moon(*each) for each in moving], 200)),
        (stars, ([Star(Vector(a, b), Vector(c, d), abs(e)) for a, b, c, d, e in moving], 100)),
        (shortest_roads, (Roads([[float(draw.randint(1, 100)) for _ in range(40)] for _ in range(40)]),)),
    ]  # fmt: skip
