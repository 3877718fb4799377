"""Loops on their own call functions whose recursion depends on data, and see all that these change."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401  (in the text of calls)
import pytest

import autograph as ag
from tests.transforms.test_loop_runner import ITERATIONS, compare, tiers

CALLS: list[int] = []
MEMO: dict[int, int] = {1: 0}
STATE = {"depth": 0}


def steps(n: int) -> int:
    return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)


def memoized(n: int) -> int:
    if n not in MEMO:
        MEMO[n] = 1 + memoized(n // 2 if n % 2 == 0 else 3 * n + 1)
    return MEMO[n]


def printing(n: int) -> int:
    if n < 1:
        return 0
    print("at", n)
    return printing(n - 2) + 1


def appending(xs: list[int], n: int) -> None:
    if n > 0:
        xs.append(n)
        appending(xs, n - 1)


def setting(xs: Any, i: int, n: int) -> None:
    if n > 0:
        xs[i] += n
        setting(xs, i, n - 1)


def marking(graph: Any, v: int, seen: list[bool]) -> int:
    seen[v] = True
    count = 1
    for w in graph[v]:
        if not seen[w]:
            count += marking(graph, w, seen)
    return count


def failing(n: int) -> int:
    if n == 0:
        raise KeyError("end")
    return failing(n - 1)


def logging(n: int) -> int:
    if n > 0:
        CALLS.append(n)
        STATE["depth"] += 1
        return logging(n - 1) + 1
    return 0


class Tree:
    def __init__(self, *parts: Tree) -> None:
        self.parts = parts
        self.visits = 0

    def size(self) -> int:
        self.visits += 1
        return 1 + sum(part.size() for part in self.parts)

    def depth(self, n: int) -> int:
        return 1 + self.depth(n - 1) if n > 0 else 0


def is_even(n: int) -> bool:
    return n == 0 or is_odd(n - 1)


def is_odd(n: int) -> bool:
    return n != 0 and is_even(n - 1)


def flooding(grid: Any, i: int, j: int) -> int:
    if i < 0 or j < 0 or i >= len(grid) or j >= len(grid[0]) or not grid[i][j]:
        return 0
    grid[i][j] = 0
    return 1 + flooding(grid, i + 1, j) + flooding(grid, i, j + 1) + flooding(grid, i - 1, j) + flooding(grid, i, j - 1)


def listing(n: int) -> Any:
    if n > 0:
        yield n
        yield from listing(n - 1)


def endless(n: int) -> int:
    return endless(n + 1) if n >= 0 else 0


@ag.function
def decorated(n: int) -> int:
    return n if n < 2 else decorated(n - 1) + decorated(n - 2)


# Loops ----------------------------------------------------------------------------------------------------------------


def longest(n: int) -> Any:
    best = where = 0
    for i in range(1, n):
        found = steps(i)
        if found > best:
            best, where = found, i
    return best, where


def with_memo(n: int) -> Any:
    MEMO.clear()
    MEMO[1] = total = 0
    for i in range(1, n):
        total += memoized(i) + len(MEMO)
    return total


def prints(n: int) -> int:
    total = 0
    for i in range(n):
        print("before", i)
        total += printing(i)
        print("behind", total)
    return total


def grows(n: int) -> Any:
    xs = [0]
    seen = 0
    for i in range(n):
        xs.append(-i)
        appending(xs, i)
        seen += len(xs) + xs[-1]
    return xs, seen


def changes(xs: Any, n: int) -> Any:
    total = 0
    for i in range(n):
        xs[i] = xs[i] * 2
        setting(xs, i, i)
        total += xs[i]
    return total, xs


def components(graph: Any) -> Any:
    seen = [False] * len(graph)
    sizes = []
    for v in range(len(graph)):
        if not seen[v]:
            sizes.append(marking(graph, v, seen))
    return sizes, seen


def raises(n: int) -> Any:
    total = last = 0
    try:
        for i in range(n):
            last = i
            total += i
            if i > 2:
                total += failing(i)
    except KeyError as error:
        return "caught", error.args, last, total, i
    return total, last


def of_globals(n: int) -> Any:
    CALLS.clear()
    total = 0
    for i in range(n):
        before = len(CALLS), STATE["depth"]
        total += logging(i)
        total += len(CALLS) - before[0] + STATE["depth"] - before[1]
    return total, CALLS


def of_an_object(n: int) -> Any:
    tree = Tree(Tree(), Tree(Tree()))
    total = 0
    for i in range(n):
        tree.visits += 10
        total += tree.depth(i) + tree.visits
        total += tree.size() + tree.visits
    return total, tree.visits, tree.parts[0].visits


def hands_over_a_variable(n: int) -> Any:
    count = 0

    def deep(k: int) -> int:
        nonlocal count
        count += 1
        return deep(k - 1) + count if k > 0 else 0

    total = 0
    for i in range(n):
        total += deep(i) + count
    return total, count


def mutual(n: int) -> Any:
    return [i for i in range(n) if is_even(i)], sum(is_odd(i) for i in range(n))


def mutual_in_a_loop(n: int) -> int:
    total = 0
    for i in range(n):
        if is_even(i):
            total += i
    return total


def islands(grid: Any) -> Any:
    sizes = []
    for i in range(len(grid)):
        for j in range(len(grid[0])):
            if grid[i][j]:
                sizes.append(flooding(grid, i, j))
    return sizes, grid


def of_a_generator(n: int) -> Any:
    total = 0
    for i in range(n):
        for k in listing(i):
            total += k
    return total


def too_deep(n: int) -> Any:
    done = 0
    for i in range(n):
        try:
            endless(i - 2)
        except RecursionError:
            done += 1
    return done


def of_a_decorated_function(n: int) -> int:
    total = 0
    for i in range(n):
        total += decorated(i)
    return total


def of_a_lambda(n: int) -> int:
    power = lambda b, e: 1 if e == 0 else b * power(b, e - 1)  # noqa: E731
    total = 0
    for i in range(n):
        total += power(2, i)
    return total


def while_it_changes(n: int) -> Any:
    total, path = 0, []
    while n > 0:
        n -= 1
        appending(path, n)
        total += steps(n + 1) + len(path)
    return total, path


def arrays(x: Any) -> Any:
    for i in range(len(x)):
        setting(x, i, i)
        x[i] += steps(i + 1)
    return x.sum(), x


def permutations(items: list[int], found: list[Any], begin: int = 0) -> list[Any]:
    if begin == len(items):
        found.append(items[:])
    for i in range(begin, len(items)):
        items[begin], items[i] = items[i], items[begin]
        permutations(items, found, begin + 1)
        items[begin], items[i] = items[i], items[begin]
    return found


@ITERATIONS
@pytest.mark.parametrize(
    ("function", "call"),
    [
        (longest, "30"),
        (with_memo, "20"),
        (prints, "6"),
        (grows, "6"),
        (changes, "[1, 2, 3, 4, 5, 6], 6"),
        (changes, "np.arange(6), 6"),
        (components, "[[1], [0], [3, 4], [2], [], [5]]"),
        (raises, "7"),
        (of_globals, "6"),
        (of_an_object, "5"),
        (hands_over_a_variable, "6"),
        (permutations, "[1, 2, 3, 4], []"),
        (mutual, "9"),
        (mutual_in_a_loop, "9"),
        (islands, "[[1, 1, 0], [0, 0, 1], [1, 0, 1]]"),
        (islands, "np.eye(3)"),
        (of_a_generator, "5"),
        (too_deep, "4"),
        (of_a_decorated_function, "8"),
        (of_a_lambda, "70"),
        (while_it_changes, "6"),
        (arrays, "np.arange(6.0)"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_recursion_in_a_loop(function: Any, call: str, engine: str, first: int) -> None:
    compare(function, call, first=first, engine=engine)


def test_a_loop_that_calls_itself_by_data_is_staged() -> None:
    assert tiers(compare(longest, "30")) == [1]
