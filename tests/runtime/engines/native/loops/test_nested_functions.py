"""Nested functions that call themselves as deep as the data say: machine code gets what they capture."""

from __future__ import annotations

import copy
import gc
import linecache
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common.cpython_internals import RECURSION_LEFT
from autograph.runtime.graph.graph import walk
from autograph.runtime.graph.recursion import helper_in

pytestmark = pytest.mark.skipif(not RECURSION_LEFT, reason="Python's counter of frames is not where it is known to be")

PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], bool]] = []
GRID = [[int((i * j * 7 + i * 3) % 5 > 0) for j in range(9)] for i in range(9)]


def program(*calls: tuple[Any, ...], lifts: bool = True) -> Callable[..., Any]:
    """Let a function be compared on some arguments; `lifts`: whether its graph calls a lifted function."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, calls, lifts))
        return function

    return add


@program((4,), (6,), (1,), (0,), (True,))
def queens(n):
    columns, one, other = set(), set(), set()

    def place(row):
        if row == n:
            return 1
        total = 0
        for c in range(n):
            if c in columns or row + c in one or row - c in other:
                continue
            columns.add(c)
            one.add(row + c)
            other.add(row - c)
            total += place(row + 1)
            columns.remove(c)
            one.remove(row + c)
            other.remove(row - c)
        return total

    return place(0), columns, list(one), list(other)


@program((5,), (3,), (0,))
def counted(n):
    count, calls = 0, 0.5
    used = [False] * n

    def go(i):
        nonlocal count, calls
        calls += 1
        if i == n:
            count += 1
            return
        for v in range(n):
            if not used[v]:
                used[v] = True
                go(i + 1)
                used[v] = False

    go(0)
    first = count
    count *= 2
    go(0)
    return first, count, calls, used


@program((4,), (5,), (0,))
def solutions(n):
    found, board = [], []

    def safe(row, column):
        for i in range(row):
            if board[i] == column or abs(board[i] - column) == row - i:
                return False
        return True

    def place(row):
        if row == n:
            found.append(board[:])
            return
        for column in range(n):
            if safe(row, column):
                board.append(column)
                place(row + 1)
                board.pop()

    place(0)
    return found, len(found), board


@program(([3, 34, 4, 12, 5, 2], 9), ([], 0), ([1.5, 2.5, 1], 4.0), ([2**62, 2**62, 1], 2**63), ([True, 2], 3))
def subsets(xs, target):
    found, now = [], []

    def go(i, left):
        if left == 0:
            found.append(list(now))
            return
        if i == len(xs) or left < 0:
            return
        now.append(xs[i])
        go(i + 1, left - xs[i])
        now.pop()
        go(i + 1, left)

    go(0, target)
    return found


@program((GRID,), ([[1]],), ([[0, 1], [1, 1]],))
def islands(grid):
    height, width, seen = len(grid), len(grid[0]), set()

    def fill(r, c):
        if r < 0 or c < 0 or r >= height or c >= width or grid[r][c] == 0 or (r, c) in seen:
            return 0
        seen.add((r, c))
        return 1 + fill(r + 1, c) + fill(r - 1, c) + fill(r, c + 1) + fill(r, c - 1)

    best = 0
    for r in range(height):
        for c in range(width):
            best = max(best, fill(r, c))
    return best, seen


@program(
    (np.array(GRID),), (np.array(GRID, np.float32),), (np.array(GRID, bool)[::2, ::-1],), (np.array(GRID, np.int32).T,)
)
def painted(image):
    height, width = image.shape

    def fill(r, c, depth=0):
        if r < 0 or c < 0 or r >= height or c >= width or image[r, c] != 1:
            return depth
        image[r, c] = 0
        return max(fill(r + 1, c, depth + 1), fill(r, c + 1, depth + 1), fill(r - 1, c), fill(r, c - 1))

    return fill(1, 1), fill(8, 8), image


@program((12,), (90,), (95,), (1,), (2.5,))
def remembered(n):
    known = {}
    calls = 0

    def fibonacci(k):
        nonlocal calls
        calls += 1
        if k < 2:
            return k
        if k in known:
            return known[k]
        found = fibonacci(k - 1) + fibonacci(k - 2)
        known[k] = found
        return found

    return fibonacci(n), calls, list(known.items())


@program(([5, 3, 0, 2], 0), ([1], 0), ([5, 9, 9], 1), (["a"], 0), ([4, "a"], 0), ([4, 5.5, 2**70], 0), ([1], -2))
def raises_half_way(xs, start):
    seen = set()
    total = 0

    def go(i):
        nonlocal total
        seen.add(i)
        total += xs[i]
        if i in (7, -2):
            return total
        return go(i + 1)

    return go(start)


@program(([4, 2, 0],), ([4, 2, 1],), lifts=False)
def divides_half_way(xs):
    out = []

    def go(i, k):
        out.append(k)
        if i == len(xs):
            return k // (k - k)
        return go(i + 1, k // xs[i])

    try:
        return go(0, 100)
    except ZeroDivisionError as error:
        return str(error), out


@program((5,), (400,), (10**6,))
def too_deep(n):
    seen = []

    def go(k):
        if k == 0:
            return len(seen)
        seen.append(k)
        return go(k - 1)

    return go(n)


@program((6,), (9,), lifts=False)
def mutual(n):
    seen = []

    def even(k):
        seen.append(k)
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), seen


@program((7,), lifts=False)
def by_keyword(n):
    def go(k):
        return 0 if k <= 0 else go(k=k - 2) + 1

    return go(n)


@program((7,), lifts=False)
def handed_on(n):
    def go(k):
        return [0] if k <= 0 else list(map(go, [k - 2])) + [k]

    return go(n)


@program((7,), (0,), lifts=False)
def wrong_arguments(n):
    def go(k):
        return 0 if k <= 0 else go(k - 2, 1) + 1

    return go(n)


@program((7,), lifts=False)
def rebound_by_another(n):
    step = 1

    def faster():
        nonlocal step
        step += 1

    def go(k):
        if k <= 0:
            return 0
        faster()
        return step + go(k - step)

    return go(n), step


@program((7,), lifts=False)
def unbound(n):
    def go(k):
        return late if k <= 0 else go(k - 1)

    if n > 5:
        return go(n)
    late = 3
    return late


@program((7,), (8,), lifts=False)
def kept(n):
    makers = []

    def go(k):
        makers.append(lambda: go)
        return len(makers) if k <= 0 else go(k - 1)

    return go(n)


@program((6, [1, 2]), (2, [3]))
def one_list_twice(n, xs):
    ys = xs

    def go(k):
        if k <= 0:
            return len(xs)
        ys.append(k)
        return go(k - 1) + len(xs)

    return go(n), xs, ys is xs


@program((9,))
def called_in_a_loop(n):
    total, last = 0, -1

    def go(k):
        nonlocal last
        last = k
        return k if k < 2 else go(k - 1) + go(k - 2)

    for i in range(n):
        total += go(i)
        if last == 1:
            total += 100
    return total, last


@program(([[1, 9, 2], [7, 3, 1], [2, 2, 2]],), ([[1.5]],), ([[2, 2**63]],), lifts=False)
def best_path(grid):
    best, cheapest = None, None
    path = []

    def go(r, c, cost):
        nonlocal best, cheapest
        cost += grid[r][c]
        path.append((r, c))
        if r == len(grid) - 1 and c == len(grid[0]) - 1:
            if cheapest is None or cost < cheapest:
                cheapest, best = cost, list(path)
        else:
            if r + 1 < len(grid):
                go(r + 1, c, cost)
            if c + 1 < len(grid[0]):
                go(r, c + 1, cost)
        path.pop()

    go(0, 0, 0)
    return cheapest, best, path


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    given = copy.deepcopy(args)
    try:
        found = repr(function(*given))
    except Exception as error:
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == __file__]
        lines = [(each.name, each.lineno) for each in frames[1:] if not str(each.line).startswith(("def", "@"))]
        found = repr((type(error), str(error), lines[:3] if isinstance(error, RecursionError) else lines))
    return found, repr(given)


@pytest.mark.parametrize(
    ("function", "calls", "lifts"), PROGRAMS, ids=lambda each: getattr(each, "__name__", "")
)
@pytest.mark.parametrize("options", [{}, {"engine": "native"}, {"engine": "numpy"}], ids=repr)
def test_nested_functions(function, calls, lifts, options):
    staged = ag.function(function, **options)
    for args in calls:
        wanted = outcome(function, args)
        for _ in range(3):
            assert outcome(staged, args) == wanted, args
    if options == {"engine": "native"} and lifts:
        graphs = [trace.graph for trace in staged.traces if trace.graph is not None]
        assert any(helper_in(node) for graph in graphs for node in walk(graph.block))


def test_side_exits(fuel):
    for function, calls, _ in PROGRAMS[:7]:
        staged = ag.function(function, engine="native")
        for args in calls[:2]:
            wanted = outcome(function, args)
            for at in (-1, 0, 1, 2, 5, 11, 30, 100):
                fuel.value = at
                assert outcome(staged, args) == wanted, (args, at)


def test_references():
    thing = [[1.5, 2.5], [3.5]]

    def total(rows):
        done = []

        def go(i):
            if i == len(rows):
                return 0.0
            done.append(rows[i])
            return sum(rows[i]) + go(i + 1)

        return go(0), done

    staged = ag.function(total, engine="native")
    counts = []
    for _ in range(20):
        assert staged(thing) == total(thing)
        gc.collect()    # `go` refers to itself
        counts.append((sys.getrefcount(thing), sys.getrefcount(thing[0])))
    assert len({*counts[5:]}) == 1


def test_other_globals_and_codes():
    text = "def f(n):\n    def go(k):\n        return WITH if k <= 0 else go(k - 1) + WITH\n    return go(n)\n"
    linecache.cache["<nested>"] = len(text), None, text.splitlines(keepends=True), "<nested>"
    code = compile(text, "<nested>", "exec")
    for value in (1, 2.5, "a"):
        names: dict[str, Any] = {"WITH": value}
        exec(code, names)
        staged = ag.function(names["f"], engine="native")
        assert staged(4) == staged(4) == names["f"](4)
        names["WITH"] = [7]
        assert staged(4) == names["f"](4)
