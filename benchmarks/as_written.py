"""Programs as people write them, with lists, dicts, objects and random numbers: plain, by default, and in Numba.

    python benchmarks/run.py as_written

Each program gives the same answer in each way, in classes and in bits; random ones begin with the same seed. Numba gets
the same function where it compiles it, with arrays instead of lists; it is left out where it does not, or where it has
other random numbers. Times are the least of several rounds, of calls behind the first three, without that of copying
the arguments.
"""

from __future__ import annotations

import copy
import importlib.util
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import written_otherwise
from common import clock, duration, show

import autograph as ag

SETTLE, LONGEST = 0.3, 5.0      # seconds of calls before any is timed, in which a staged function measures what pays


class Program(NamedTuple):
    """A program, its arguments, and those that it gets from Numba, if Numba compiles it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    of_numba: tuple[Any, ...] | None = None


# Random numbers -------------------------------------------------------------------------------------------------------


def pi_by_random(count):
    inside = 0
    for _ in range(count):
        x, y = random.random(), random.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4 * inside / count


def pi_by_generator(rng, count):
    inside = 0
    for _ in range(count):
        x = rng.random()
        y = rng.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4 * inside / count


def blackjack(hands):
    won = 0
    for _ in range(hands):
        mine = dealers = 0
        while mine < 17:
            mine += min(random.randint(1, 13), 10)
        while dealers < 17:
            dealers += min(random.randint(1, 13), 10)
        if mine <= 21 and (dealers > 21 or mine > dealers):
            won += 1
    return won


def snakes_and_ladders(jumps, games):
    rolls = 0
    for _ in range(games):
        square = 0
        while square < 100:
            rolls += 1
            roll = random.randint(1, 6)
            if square + roll <= 100:
                square += roll
                square = jumps.get(square, square)
    return rolls / games


# Lists ----------------------------------------------------------------------------------------------------------------


def knapsack(weights, values, capacity):
    best = [[0] * (capacity + 1) for _ in range(len(weights) + 1)]
    for i in range(1, len(weights) + 1):
        for c in range(capacity + 1):
            best[i][c] = best[i - 1][c]
            if weights[i - 1] <= c:
                best[i][c] = max(best[i][c], best[i - 1][c - weights[i - 1]] + values[i - 1])
    return best[-1][-1]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        before, row[0] = row[0], i
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + cost)
    return row[-1]


def matrix_chain(sizes):
    count = len(sizes) - 1
    costs = [[0] * count for _ in range(count)]
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            j = i + length - 1
            costs[i][j] = 10**12
            for k in range(i, j):
                cost = costs[i][k] + costs[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if cost < costs[i][j]:
                    costs[i][j] = cost
    return costs[0][count - 1]


def queens(size):
    columns = [0] * size
    found = row = 0
    while row >= 0:
        column = columns[row]
        while column < size:
            free = True
            for before in range(row):
                distance = columns[before] - column
                if distance == 0 or distance == row - before or distance == before - row:
                    free = False
                    break
            if free:
                break
            column += 1
        if column == size:
            row -= 1
            if row >= 0:
                columns[row] += 1
        elif row == size - 1:
            found += 1
            columns[row] = column + 1
        else:
            columns[row] = column
            row += 1
            columns[row] = 0
    return found


def sudoku(cells):
    empty = [at for at in range(81) if cells[at] == 0]
    at = tries = 0
    while at < len(empty):
        cell = empty[at]
        row, column = cell // 9, cell % 9
        digit = cells[cell] + 1
        while digit < 10:
            fits = True
            for k in range(9):
                if cells[row * 9 + k] == digit or cells[k * 9 + column] == digit:
                    fits = False
                    break
                if cells[(row // 3 * 3 + k // 3) * 9 + column // 3 * 3 + k % 3] == digit:
                    fits = False
                    break
            if fits:
                break
            digit += 1
        tries += 1
        if digit == 10:
            cells[cell] = 0
            at -= 1
        else:
            cells[cell] = digit
            at += 1
    return tries


def median_filter(signal, width):
    window = sorted(signal[:width])
    medians = [window[width // 2]]
    for i in range(width, len(signal)):
        window.remove(signal[i - width])
        new = signal[i]
        low, high = 0, len(window)
        while low < high:
            middle = (low + high) // 2
            if window[middle] < new:
                low = middle + 1
            else:
                high = middle
        window.insert(low, new)
        medians.append(window[width // 2])
    return medians


def histogram(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def quicksort(xs):
    stack = [(0, len(xs) - 1)]
    while stack:
        low, high = stack.pop()
        if low >= high:
            continue
        pivot, i = xs[(low + high) // 2], low
        j = high
        while i <= j:
            while xs[i] < pivot:
                i += 1
            while xs[j] > pivot:
                j -= 1
            if i <= j:
                xs[i], xs[j] = xs[j], xs[i]
                i += 1
                j -= 1
        stack.append((low, j))
        stack.append((i, high))
    return xs


# Numbers, arrays and objects ------------------------------------------------------------------------------------------


def sobel(image):
    height, width = image.shape
    edges = np.zeros((height, width))
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            across = image[y - 1, x + 1] + 2 * image[y, x + 1] + image[y + 1, x + 1]
            across -= image[y - 1, x - 1] + 2 * image[y, x - 1] + image[y + 1, x - 1]
            down = image[y + 1, x - 1] + 2 * image[y + 1, x] + image[y + 1, x + 1]
            down -= image[y - 1, x - 1] + 2 * image[y - 1, x] + image[y - 1, x + 1]
            edges[y, x] = math.sqrt(across * across + down * down)
    return edges


def pendulum(angle, speed, step):
    return speed, -9.81 * math.sin(angle) - 0.1 * speed


def runge_kutta(steps, h):
    angle, speed = 1.0, 0.0
    for _ in range(steps):
        a1, b1 = pendulum(angle, speed, h)
        a2, b2 = pendulum(angle + h / 2 * a1, speed + h / 2 * b1, h)
        a3, b3 = pendulum(angle + h / 2 * a2, speed + h / 2 * b2, h)
        a4, b4 = pendulum(angle + h * a3, speed + h * b3, h)
        angle += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        speed += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
    return angle, speed


class Body:
    __slots__ = ("mass", "vx", "vy", "x", "y")

    def __init__(self, x, y, vx, vy, mass):
        self.x, self.y, self.vx, self.vy, self.mass = x, y, vx, vy, mass


def planets(bodies, steps):
    for _ in range(steps):
        for i in range(len(bodies)):
            a = bodies[i]
            for j in range(i + 1, len(bodies)):
                b = bodies[j]
                dx, dy = a.x - b.x, a.y - b.y
                distance = math.sqrt(dx * dx + dy * dy + 0.01)
                force = 0.001 / (distance * distance * distance)
                a.vx -= dx * b.mass * force
                a.vy -= dy * b.mass * force
                b.vx += dx * a.mass * force
                b.vy += dy * a.mass * force
        for body in bodies:
            body.x += 0.001 * body.vx
            body.y += 0.001 * body.vy
    return [(body.x, body.y) for body in bodies]


class Network:
    def __init__(self, lengths):
        self.lengths = lengths


def shortest_paths(network):
    count = len(network.lengths)
    for k in range(count):
        for i in range(count):
            for j in range(count):
                through = network.lengths[i][k] + network.lengths[k][j]
                if through < network.lengths[i][j]:
                    network.lengths[i][j] = through
    return sum(map(sum, network.lengths))


def programs() -> list[Program]:
    draw = random.Random(0)
    rng = np.random.default_rng(0)
    jumps = {1: 38, 4: 14, 9: 31, 16: 6, 21: 42, 28: 84, 36: 44, 47: 26, 49: 11, 51: 67, 56: 53, 62: 19, 64: 60, 71: 91,
             80: 100, 87: 24, 93: 73, 95: 75, 98: 78}
    weights, values = [draw.randint(1, 30) for _ in range(60)], [draw.randint(1, 100) for _ in range(60)]
    words = ["".join(draw.choices("abcd", k=150)) for _ in range(2)]
    letters = [[ord(letter) for letter in word] for word in words]
    sizes = [draw.randint(5, 60) for _ in range(50)]
    grid = [int(digit) for digit in "530070000600195000098000060800060003400803001700020006060000280000419005000080079"]
    signal, image = [draw.random() for _ in range(4000)], rng.random((120, 120))
    bodies = [Body(*(draw.uniform(-1, 1) for _ in range(4)), draw.uniform(0.1, 1)) for _ in range(8)]
    lengths = [[draw.randint(1, 100) for _ in range(60)] for _ in range(60)]
    return [
        Program(pi_by_random, (100_000,)),
        Program(pi_by_generator, (rng, 100_000), (rng, 100_000)),
        Program(blackjack, (5_000,)),
        Program(snakes_and_ladders, (jumps, 1_000)),
        Program(knapsack, (weights, values, 500), (np.array(weights), np.array(values), 500)),
        Program(edit_distance, (letters[0], letters[1]), tuple(map(np.array, letters))),
        Program(edit_distance, (words[0], words[1]), (words[0], words[1])),
        Program(matrix_chain, (sizes,), (np.array(sizes),)),
        Program(queens, (8,), (8,)),
        Program(sudoku, (grid,), (np.array(grid),)),
        Program(median_filter, (signal, 101)),
        Program(histogram, (draw.choices(range(100), k=20_000),)),
        Program(histogram, (draw.choices("the of and to in is it you that he".split(), k=20_000),)),
        Program(quicksort, ([draw.random() for _ in range(5_000)],), (rng.random(5_000),)),
        Program(sobel, (image,), (image,)),
        Program(runge_kutta, (5_000, 0.001)),
        Program(planets, (bodies, 300)),
        Program(shortest_paths, (Network(lengths),)),
        *(Program(function, args) for function, args in written_otherwise.programs()),
    ]


# Measuring ------------------------------------------------------------------------------------------------------------


def call(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], tuple[Any, float]]:
    """A call with the random numbers that follow the seed, and with arguments of its own: the result and seconds."""
    def work() -> tuple[Any, float]:
        copies = copy.deepcopy(args)
        random.seed(1)
        begin = clock()
        return function(*copies), clock() - begin

    return work


def smallest(functions: dict[str, Callable[..., Any]], args: dict[str, Any], rounds: int) -> dict[str, float]:
    """The least time of a call of each function, taking turns, without the time of copying the arguments."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            spent = 0.0
            while spent < 2e-3:
                copies = copy.deepcopy(args[name])
                random.seed(1)
                begin = clock()
                function(*copies)
                took = clock() - begin
                spent, best[name] = spent + took, min(best[name], took)
    return best


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def is_measuring(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether a staged function still compares ways to run such calls, or waits with its machine code."""
    reason = function.explain(*args).summary.reason if hasattr(function, "explain") else ""
    return "compared" in reason or "made when" in reason


def measured(program: Program, rounds: int) -> dict[str, float]:
    """What a call takes plain, by default, as machine code, and in Numba where it compiles it, in seconds."""
    functions = {"plain": program.function, "default": ag.function(program.function),
                 "native": ag.function(program.function, engine="native")}
    args = dict.fromkeys(functions, program.args)
    works = {name: call(function, program.args) for name, function in functions.items()}
    wanted, _ = works["plain"]()
    for name, work in works.items():
        spent = 0.0
        while spent < SETTLE or (spent < LONGEST and is_measuring(functions[name], program.args)):
            found, seconds = work()
            assert same(found, wanted), f"{program.function.__name__}: {name} gives another answer"
            spent += seconds
    if program.of_numba is not None and importlib.util.find_spec("numba"):
        import numba

        functions["Numba"], args["Numba"] = numba.njit(program.function), program.of_numba
        try:
            call(functions["Numba"], program.of_numba)()
        except numba.core.errors.NumbaError:
            del functions["Numba"]
    return smallest(functions, args, rounds)


def main(pattern: str = "", rounds: int = 7) -> None:
    rows, gains, behind = [], [], []
    for program in programs():
        name = program.function.__name__
        if pattern not in name:
            continue
        times = measured(program, rounds)
        gains.append(times["plain"] / times["default"])
        if "Numba" in times:
            behind.append(times["default"] / times["Numba"])
        ratio = f"{behind[-1]:.2f}" if "Numba" in times else ""
        cells = [duration(times[way]) if way in times else "" for way in ("plain", "default", "native", "Numba")]
        rows.append([name, *cells, f"{gains[-1]:.1f}", ratio])
    show("programs as people write them", ["program", "plain", "default", "native", "Numba", "plain/default",
                                           "default/Numba"], rows)
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    fast = sum(gain >= 10 for gain in gains)
    print(f"plain/default: geometric mean {mean:.1f}, at least 10 in {fast} of {len(gains)}")


if __name__ == "__main__":
    main()
