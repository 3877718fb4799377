"""Objects that only the graph knows: methods that call themselves, and variables that are an object or None."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag


class Queens:
    def __init__(self, size: int) -> None:
        self.size = size
        self.columns = [False] * size
        self.up = [False] * (2 * size - 1)
        self.down = [False] * (2 * size - 1)
        self.count = 0

    def place(self, row: int) -> None:
        if row == self.size:
            self.count += 1
            return
        for column in range(self.size):
            if self.columns[column] or self.up[row + column] or self.down[row - column + self.size - 1]:
                continue
            self.columns[column] = self.up[row + column] = self.down[row - column + self.size - 1] = True
            self.place(row + 1)
            self.columns[column] = self.up[row + column] = self.down[row - column + self.size - 1] = False


class Slotted(Queens):
    __slots__ = ("seen",)

    def place(self, row: int) -> None:
        self.seen = row
        super().place(row)


class Half(Queens):
    """It raises half-way, with attributes set."""

    def place(self, row: int) -> None:
        if self.count == 3:
            raise ValueError(f"enough at row {row}")
        Queens.place(self, row)


class Tree:
    __slots__ = ("key", "left", "right")

    def __init__(self, key: float) -> None:
        self.key, self.left, self.right = key, None, None

    def insert(self, key: float) -> bool:
        if key == self.key:
            return False
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
                return True
            return self.left.insert(key)
        if self.right is None:
            self.right = Tree(key)
            return True
        return self.right.insert(key)

    def depth(self) -> int:
        left = 0 if self.left is None else self.left.depth()
        right = 0 if self.right is None else self.right.depth()
        return 1 + max(left, right)


class Counter:
    limit = 3

    def __init__(self, start: int) -> None:
        self.start = start
        self.calls = 0

    @property
    def total(self) -> int:
        return self.start + self.calls

    def descend(self, n: int, step: int = 1) -> int:
        self.calls += 1
        if n <= self.limit:
            return self.total
        return self.descend(n - step, step=step) + self.climb(n - 2)

    def climb(self, n: int) -> int:
        self.calls += 1
        return n if n < 2 else self.descend(n - 1) - self.climb(n - 2)


class Fewer(Counter):
    limit = 5

    def climb(self, n: int) -> int:
        self.calls += 10
        return n


class Named:
    def __init__(self, name: str) -> None:
        self.name = name


class Player(Named):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.square = self.moves = 0

    def advance(self, roll: int) -> bool:
        self.moves += 1
        if self.square + roll <= 30:
            self.square += roll
        return self.square == 30


class Plain:
    def __init__(self, name: str, square: float = 0) -> None:
        self.name = name
        self.square = square


def queens(size: int) -> int:
    board = Queens(size)
    board.place(0)
    return board.count


def slotted(size: int) -> tuple[int, int, list[bool]]:
    board = Slotted(size)
    board.place(0)
    return board.count, board.seen, board.columns


def half_way(size: int) -> Any:
    board = Half(size)
    try:
        board.place(0)
    finally:
        LOG.append((board.count, board.columns))
    return board


LOG: list[Any] = []


def half_way_raises(board: Half) -> None:
    board.place(0)


def tree(keys: list[float]) -> tuple[int, int]:
    root, added = Tree(keys[0]), 1
    for key in keys[1:]:
        added += root.insert(key)
    return added, root.depth()


def given_tree(root: Tree, keys: list[float]) -> tuple[int, int]:
    added = 0
    for key in keys:
        if root.insert(key):
            added += 1
    return added, root.depth()


def counter(n: int, few: bool) -> tuple[int, int, int]:
    made = Fewer(n) if few else Counter(n)
    found = made.descend(n)
    made.start = found
    return found, made.calls, made.total


def given_counter(made: Counter, n: int) -> tuple[int, int]:
    first = made.calls
    return made.descend(n) - first, made.total


def players(games: int) -> tuple[dict[str, int], float]:
    wins, total = {"ann": 0, "bob": 0}, 0
    for _ in range(games):
        both = [Player("ann"), Player("bob")]
        winner = None
        while winner is None:
            for player in both:
                if player.advance(random.randint(1, 6)):
                    winner = player
                    break
        wins[winner.name] += 1
        total += winner.moves
    return wins, total / games


def changed_by_both_names(values: list[float]) -> tuple[float, float, bool, str]:
    one, other = Plain("one"), Plain("other", 1)
    best = None
    for value in values:
        if value > 0.5:
            best = one
        elif value < -0.5:
            best = other
        if best is not None:
            best.square += value
    return one.square, other.square, best is one, "none" if best is None else best.name


def kept(values: list[float]) -> list[Any]:
    found = []
    for value in values:
        made = Plain("kept", value)
        if value > 0:
            found.append(made)
            made.square = value * 2
    return [(each.name, each.square) for each in found]


def best_of(things: list[Plain], least: float) -> Plain | None:
    best = None
    for each in things:
        if each.square > least and (best is None or each.square > best.square):
            best = each
    return best


def given(first: Plain, second: Plain, values: list[float]) -> Plain | None:
    found = None
    for value in values:
        if value > second.square:
            found = first
        elif value < first.square:
            found = second
            found.square = value
    return found


def missing(values: list[float]) -> float:
    best = None
    for value in values:
        if value > 100:
            best = Plain("big", value)
    return best.square


def new_attribute(values: list[float]) -> Any:
    best = None
    for value in values:
        made = Plain("made", value)
        if best is None or made.square > best.square:
            best = made
            best.extra = value
    return best.extra, vars(best)


def sizes() -> list[int]:
    return [1, 4, 6]


def flat(thing: Any) -> Any:
    if hasattr(thing, "__slots__") and isinstance(thing, Tree):
        return [flat(getattr(thing, name)) for name in Tree.__slots__]
    if hasattr(thing, "__dict__"):
        return type(thing).__name__, flat(vars(thing))
    if isinstance(thing, dict):
        return {key: flat(part) for key, part in thing.items()}
    return type(thing)(map(flat, thing)) if isinstance(thing, (list, tuple)) else thing


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result or error, what became of the arguments, which of them is the result, and the state of `random`."""
    args = copy.deepcopy(args)
    random.seed(1)
    LOG.clear()
    try:
        found = function(*args)
    except Exception as error:
        lines, trace = [], error.__traceback__
        while trace is not None:
            lines.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        return type(error), str(error), [each for each in lines if each[0] != "outcome"][-1], flat(args), flat(LOG)
    parts = [part for each in args for part in (each if isinstance(each, list) else [each]) if isinstance(part, Plain)]
    return flat(found), [found is each for each in parts], flat(args), flat(LOG), random.random()


KEYS = [5.0, 2.0, 8.0, 1.0, 9.0, 2.0, 7.5, 3.0, -0.0, 0.0, float("inf"), 6.0]
WAVES = [0.1, 0.7, -0.2, 1.5, -0.9, float("nan"), 2.0, -3.0, 0.2]
CALLS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (queens, [(1,), (4,), (6,)]),
    (Queens.place, [(Queens(4), 0), (Queens(5), 1), (Slotted(5), 0)]),
    (slotted, [(4,), (6,)]),
    (half_way, [(4,), (6,)]),
    (half_way_raises, [(Half(4),), (Half(6),)]),
    (tree, [(KEYS,), (KEYS[:1],), ([3, 1.0, 2, 10**30],)]),
    (given_tree, [(Tree(4.0), KEYS), (Tree(4), [1, 2, 9])]),
    (counter, [(3, False), (9, False), (9, True), (12, False)]),
    (given_counter, [(Counter(2), 9), (Fewer(2), 9), (Counter(10**20), 8)]),
    (players, [(1,), (5,), (40,)]),
    (changed_by_both_names, [(WAVES,), ([],), ([1, 2, -3],), ([10**20, 0.0],)]),
    (kept, [(WAVES,), ([],), ([1],)]),
    (best_of, [([Plain("a", 1), Plain("b", 3), Plain("c", 3)], 0), ([], 0), ([Plain("a", 1.0)], 5)]),
    (given, [(Plain("a", 1), Plain("b", 2), WAVES), (Plain("a", 1.0), Plain("b", 2.0), [])]),
    (missing, [([1.0, 200.0],), ([1.0],), ([],)]),
    (new_attribute, [(WAVES,), ([1, 2],)]),
]


@pytest.mark.parametrize("options", [{"engine": "numpy"}, {"engine": "native"}, {}], ids=["numpy", "native", "default"])
@pytest.mark.parametrize(("function", "calls"), CALLS, ids=[each.__qualname__ for each, _ in CALLS])
def test_is_as_in_plain_python(function: Any, calls: list[tuple[Any, ...]], options: Any) -> None:
    staged = ag.function(function, **options)
    for _ in range(3):
        for args in calls:
            assert repr(outcome(staged, args)) == repr(outcome(function, args))


@pytest.mark.parametrize(
    ("function", "args"),
    [(queens, (5,)), (players, (5,)), (changed_by_both_names, (WAVES,)), (tree, (KEYS,)), (counter, (9, False))],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_is_staged(function: Any, args: tuple[Any, ...]) -> None:
    staged = ag.function(function, engine="native")
    outcome(staged, args)
    assert [each.plain for each in staged.traces if each.plain] == []


class Deep:
    def __init__(self) -> None:
        self.count = 0

    def go(self, n: int) -> int:
        self.count += 1
        return 0 if n < 0 else self.go(n + 1) + 1


def deep(n: int) -> int:
    return Deep().go(n)


def deep_given(thing: Deep, n: int) -> int:
    return thing.go(n)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_recursion_is_as_deep_as_in_plain_python(engine: str) -> None:
    for function, args in ((deep, (0,)), (deep_given, (Deep(), 0))):
        staged = ag.function(function, engine=engine)
        for _ in range(3):
            with pytest.raises(RecursionError):
                staged(*args)
    limit, thing = sys.getrecursionlimit(), Deep()
    staged = ag.function(deep_given, engine=engine)
    with pytest.raises(RecursionError):
        staged(thing, 0)
    assert limit - 400 < thing.count <= limit


def test_methods_that_the_program_replaces() -> None:
    class Chain:
        def __init__(self, next: Any) -> None:
            self.next, self.count = next, 0

        def length(self) -> int:
            self.count += 1
            return 1 if self.next is None else 1 + self.next.length()

    def length(chain: Any, n: int) -> int:
        return n + chain.length()

    def chain(n: int) -> Any:
        made = None
        for _ in range(n):
            made = Chain(made)
        return made

    for engine in ("numpy", "native"):
        staged = ag.function(length, engine=engine)
        for n in (3, 40, 41, 60):
            assert staged(chain(n), n) == 2 * n
        odd = chain(50)
        odd.next.next.length = lambda: 100
        assert staged(odd, 0) == 102
        before = Chain.length
        try:
            Chain.length = lambda self: 7
            assert staged(chain(50), 1) == 8
        finally:
            Chain.length = before
        assert staged(chain(50), 1) == 51


def test_attributes_that_run_code_of_the_class() -> None:
    class Watched:
        def __init__(self) -> None:
            self.log, self.level = [], 0

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "level":
                self.log.append(value)
            object.__setattr__(self, name, value)

        def go(self, n: int) -> int:
            self.level = n
            return n if n < 1 else self.go(n - 1) + self.level

    def run(n: int) -> Any:
        made, best = Watched(), None
        for k in range(n):
            if k % 3 == 1:
                best = made
                best.level = k
        return made.go(n), made.log, best is made

    for engine in ("numpy", "native"):
        staged = ag.function(run, engine=engine)
        for n in (0, 4, 30):
            assert staged(n) == run(n)


def test_arrays_in_attributes() -> None:
    class Grid:
        def __init__(self, n: int, dtype: Any) -> None:
            self.cells, self.steps = np.zeros((n, n), dtype), 0

        def fill(self, i: int, j: int, value: float) -> None:
            if not (0 <= i < len(self.cells) and 0 <= j < len(self.cells)) or self.cells[i, j] != 0:
                return
            self.cells[i, j] = value
            self.steps += 1
            self.fill(i + 1, j, value + 1)
            self.fill(i, j + 1, value + 1)
            self.fill(i - 1, j, value + 1)

    def run(n: int, dtype: Any, value: float) -> Any:
        grid = Grid(n, dtype)
        grid.fill(n // 2, n // 2, value)
        return grid.cells, grid.steps

    for engine in ("numpy", "native"):
        staged = ag.function(run, engine=engine)
        for dtype in (np.float64, np.int32, np.float32, np.complex128):
            for n in (1, 5, 9):
                (cells, steps), (wanted, count) = staged(n, dtype, 1), run(n, dtype, 1)
                assert cells.dtype == wanted.dtype and cells.tobytes() == wanted.tobytes() and steps == count
