"""Graphs call functions that recurse as deep as the data say, in their staged form, and see all that these change."""

from __future__ import annotations

import gc
import linecache
import sys
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common.cpython_internals import RECURSION_LEFT
from tests import outcomes

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not RECURSION_LEFT, reason="recursion stays in Python, whose counter has another place")

LOG: list[int] = []
SETTINGS = {"step": 1}


def fibonacci(n: Any) -> Any:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def once(n: Any) -> Any:
    return fibonacci(n) + 1


def often(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += fibonacci(i)
    return total


def both(n: Any) -> Any:
    return fibonacci(n) if n % 2 else -fibonacci(n + 1)


def partition(xs: Any, low: int, high: int) -> int:
    pivot, i = xs[high], low - 1
    for j in range(low, high):
        if xs[j] <= pivot:
            i += 1
            xs[i], xs[j] = xs[j], xs[i]
    xs[i + 1], xs[high] = xs[high], xs[i + 1]
    return i + 1


def sort(xs: Any, low: int, high: int) -> None:
    if low < high:
        middle = partition(xs, low, high)
        sort(xs, low, middle - 1)
        sort(xs, middle + 1, high)


def sorts(xs: Any) -> Any:
    first = xs[0]
    sort(xs, 0, len(xs) - 1)
    return xs, first, xs[0]


def sorts_own(n: int) -> Any:
    xs = [i * 7 % 11 for i in range(n)]
    found = sort(xs, 0, n - 1)
    return xs, found


def sorts_twice(xs: Any, ys: Any) -> Any:
    sort(xs, 0, len(xs) - 1)
    before = list(ys)
    sort(ys, 0, len(ys) - 1)
    return before, xs is ys


def length(n: int, known: dict[int, int]) -> int:
    if n in known:
        return known[n]
    known[n] = found = 1 + length(3 * n + 1 if n & 1 else n // 2, known)
    return found


def longest(n: int) -> Any:
    known, most = {1: 0}, (0, 0)
    for i in range(1, n):
        most = max(most, (length(i, known), i))
    return most, len(known)


def appends(xs: Any, n: int) -> int:
    if n == 0:
        return len(xs)
    xs.append(n)
    LOG.append(n)
    return appends(xs, n - SETTINGS["step"])


def keeps_a_log(xs: Any, n: int) -> Any:
    LOG.clear()
    count = appends(xs, n)
    return count, LOG, xs


def fails(n: int) -> float:
    if n == 0:
        raise KeyError("end")
    return fails(n - 1) + 1


def divides(n: int, x: float) -> float:
    if n == 0:
        return 1 / x
    return divides(n - 1, x) + 1


def raises(n: int, x: float) -> float:
    try:
        return divides(n, x) + (fails(n) if x > 5 else 0)
    except KeyError:
        return -1.0


def raises_outside(n: int, x: float) -> float:
    y = x * 2
    return divides(n, y) + (fails(n) if x > 5 else 0)


def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


def is_odd(n: int) -> bool:
    return False if n == 0 else is_even(n - 1)


def parities(n: int) -> Any:
    return is_even(n), is_odd(n)


def with_defaults(n: int, step: int = 1, *, seen: Any = (1, 2)) -> Any:
    return seen if n <= 0 else with_defaults(n - step, seen=seen)


def calls_with_defaults(n: int) -> Any:
    return with_defaults(n), with_defaults(n, 2), with_defaults(n=n, seen=[n])


def leaves(tree: Any) -> Any:
    return [tree] if not isinstance(tree, list) else [leaf for part in tree for leaf in leaves(part)]


def flattened(tree: Any) -> Any:
    return leaves(tree)


def is_safe(board: list[int], row: int, column: int) -> bool:
    for i in range(row):
        if board[i] == column or abs(board[i] - column) == row - i:
            return False
    return True


def placed(board: list[int], row: int, size: int) -> int:
    """The rows of the calls are constants for the tracer: 0, 1, 2, …"""
    if row == size:
        return 1
    count = 0
    for column in range(size):
        if is_safe(board, row, column):
            board[row] = column
            count += placed(board, row + 1, size)
    return count


def queens(size: int) -> Any:
    board = [-1] * size
    return placed(board, 0, size), board


def counted(x: float, depth: int) -> int:
    return 0 if x < 1 else depth + counted(x / 2, depth + 1)


def counts(x: float) -> int:
    return counted(x, 0)


def bounded(x: float, depth: int) -> float:
    """Only the constant ends it, which the tracer knows."""
    if depth == 0:
        return x
    return bounded(x - 1, depth - 1) if x > 5 else -bounded(x + 1, depth - 1)


def bounds(x: float) -> float:
    return bounded(x, 3) + bounded(x, 9)


def yields(n: int) -> Any:
    if n > 0:
        yield n
        yield from yields(n - 1)


def from_generators(n: int) -> Any:
    return list(yields(n))


class Node:
    def __init__(self, value: float, *children: Node) -> None:
        self.value, self.children, self.seen = value, children, 0

    def total(self) -> float:
        self.seen += 1
        return self.value + sum([child.total() for child in self.children])


def total_of(node: Node) -> float:
    node.seen += 1
    found = node.value
    for child in node.children:
        found += total_of(child)
    return found


def of_objects(node: Node) -> Any:
    return node.total(), total_of(node), node.seen


CALLS: list[tuple[Any, list[str]]] = [
    (once, ["12", "12.0", "True", "np.int64(9)", "0", "'a'", "None", "2**70"]), (often, ["9", "0", "-1", "2.5"]),
    (both, ["7", "8"]),
    (sorts, ["[5, 2, 9, 1, 5]", "[2.5, 1, 0.5]", "[True, 2.5, 1]", "[3, 'a', 1]", "np.array([3, 1, 2])", "[]",
             "np.arange(9)[::-2]", "[2**70, 1, -2**70]", "[float('nan'), 1.0, 0.5]", "(1, 2)", "['b', 'a']"]),
    (sorts_own, ["0", "1", "40"]), (sorts_twice, ["[3, 1], [2, 1]", "*[[3, 1, 2]] * 2"]), (longest, ["1", "60"]),
    (keeps_a_log, ["[], 5", "[1], 0", "[], 40"]), (raises, ["3, 2.0", "3, 0.0", "3, 9.0", "0, 1"]),
    (raises_outside, ["3, 2.0", "3, 0.0", "3, 9.0", "0, 1"]), (parities, ["6", "0"]),
    (calls_with_defaults, ["3", "-1"]), (flattened, ["[1, [2, [3.5, 'a']], []]", "5", "[]"]),
    (from_generators, ["4", "0"]), (queens, ["0", "1", "6", "5"]), (bounds, ["4.5", "7", "-1"]),
    (counts, ["0.5", "1e9", "1e300", "float('inf')", "'a'"]),
    (of_objects, ["Node(1.5, Node(2), Node(3, Node(0.5)))", "Node(1)"]),
]  # fmt: skip


@pytest.mark.parametrize("options", [{"engine": "native"}, {"engine": "numpy"}, {}], ids=["native", "numpy", "tiers"])
@pytest.mark.parametrize(("function", "calls"), CALLS, ids=lambda each: getattr(each, "__name__", ""))
def test_helpers(function: Any, calls: list[str], options: Any) -> None:
    staged = ag.function(function, **options)
    names = {"Node": Node, "np": np}
    for call in [each for call in calls for each in (call, call)] + calls:
        wanted, actual = outcomes.run(function, call, names), outcomes.run(staged, call, names)
        assert actual == wanted, call
        assert actual.raised_at == wanted.raised_at, call


@pytest.mark.parametrize(("function", "value"), [(queens, 6), (counts, 1e9)])
def test_constants_that_count_the_levels(function: Any, value: Any) -> None:
    staged = ag.function(function, engine="native")
    for _ in range(2):
        assert staged(value) == function(value)
    assert not any(trace.plain for trace in staged.traces)


@pytest.mark.parametrize("function", [once, often])
def test_helpers_are_machine_code(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(function, engine="native")
    wanted = function(12)
    for _ in range(3):
        assert staged(12) == wanted
    (trace,) = staged.traces
    assert not trace.plain

    def refused(n: Any) -> Any:
        raise AssertionError("a level ran in Python")

    monkeypatch.setattr(fibonacci, "__code__", refused.__code__)
    with pytest.raises(AssertionError):      # new code is met at once
        staged(12)


def test_another_function_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(once, engine="native")
    assert staged(10) == 56
    monkeypatch.setitem(globals(), "fibonacci", lambda n: -n)
    assert staged(10) == -9
    monkeypatch.undo()
    assert staged(10) == 56


def test_helpers_warn_of_nothing() -> None:
    """They may be traced often; the user has not decorated them."""
    staged = ag.function(calls_with_defaults, engine="native")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(4):
            assert staged(n) == calls_with_defaults(n)


def test_recursion_is_about_as_deep_as_in_python() -> None:
    staged = ag.function(raises_outside, engine="native")
    deep = sys.getrecursionlimit() - 250
    for _ in range(2):
        assert staged(deep, 2.0) == raises_outside(deep, 2.0)
        with pytest.raises(RecursionError):
            staged(10 * deep, 2.0)


def test_calls_may_be_refused() -> None:
    staged = ag.function(once, engine="native", strict=["callback"])
    assert staged(5) == once(5)


def test_other_defaults_are_met(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(calls_with_step, engine="native")
    assert staged(6) == calls_with_step(6)
    monkeypatch.setattr(with_step, "__defaults__", (3,))
    assert staged(6) == calls_with_step(6)


def with_step(n: Any, step: Any = 1) -> Any:
    return 0 if n <= 0 else step + with_step(n - step)


def calls_with_step(n: Any) -> Any:
    return with_step(n) * 2


def test_a_staged_helper_is_called_itself() -> None:
    staged = ag.function(calls_staged, engine="native")
    for _ in range(3):
        assert staged(10) == 110
    assert staged_fibonacci.traces


@ag.function(engine="native")
def staged_fibonacci(n: Any) -> Any:
    return n if n < 2 else staged_fibonacci(n - 1) + staged_fibonacci(n - 2)


def calls_staged(n: Any) -> Any:
    return staged_fibonacci(n) * 2


def test_helpers_are_freed() -> None:
    names: dict[str, Any] = {"ag": ag}
    source = "def count(n):\n    return 0 if n == 0 else 1 + count(n - 1)\ndef main(n):\n    return count(n) + 1\n"
    linecache.cache["<helpers>"] = len(source), None, source.splitlines(keepends=True), "<helpers>"
    exec(compile(source, "<helpers>", "exec"), names)
    staged, known = ag.function(names["main"], engine="native"), weakref.ref(names["count"])
    assert [staged(9), staged(9)] == [10, 10]
    del staged
    names.clear()
    gc.collect()
    assert known() is None
