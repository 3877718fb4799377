"""A staged loop in a `try` or `with` that raises leaves containers and variables as plain Python does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph.transforms.staging  # noqa: F401  (gives loops their tracer)
from autograph.runtime.dispatch.options import can_compile
from autograph.transforms.loop_runner import LoopRunner
from autograph.transforms.loop_sites import MAY_BE_READ
from tests import outcomes

ENGINES = ["numpy", *["native"] * can_compile()]
WAYS = [(engine, first) for engine in ENGINES for first in (0, 1, 3)]


@pytest.fixture(params=WAYS, ids=lambda way: f"{way[0]}, after {way[1]} iterations")
def compare(request: pytest.FixtureRequest) -> Any:
    """Call a function plain and with its loops staged, each twice; all must do the same, on the same lines."""
    engine, first = request.param

    def check(function: Any, *calls: str) -> list[Any]:
        runner = LoopRunner(function, {"engine": engine}, 0, first)
        for call in [each for each in calls for _ in range(2)]:
            wanted, actual = outcomes.run(function, call), outcomes.run(runner.function, call)
            assert actual == wanted
            assert actual.places == wanted.places
        return sorted(runner.loops, key=lambda loop: loop.place or ())

    return check


def is_staged(loops: list[Any]) -> bool:
    return all(loop.tier > 0 for loop in loops)


def fills(out: Any, x: Any) -> Any:
    total = 0
    try:
        for i in range(len(x)):
            out[i] = total
            total += 1 / x[i]
    except (IndexError, ZeroDivisionError) as error:
        return type(error).__name__, total, i
    return total


def test_arrays_and_lists_are_filled_as_far_as_the_loop_came(compare: Any) -> None:
    x = "[1.5, 2.0, 4.0, 2.0, 0.0, 1.0]"
    assert is_staged(compare(fills, f"np.ones(6), {x}", f"np.ones(3), {x}", f"np.ones(4), {x}[:3]"))
    assert is_staged(compare(fills, f"[0.0] * 6, {x}", f"[0.0] * 3, {x}", f"[0.0] * 4, {x}[:3]"))


def grows(xs: list[float]) -> Any:
    made: list[float] = [1.0]
    k = 0
    try:
        while True:
            made.append(10 / xs[k])
            k += 1
    except (IndexError, ZeroDivisionError):
        return made, k


def test_a_list_is_as_long_as_the_loop_made_it(compare: Any) -> None:
    compare(grows, "[1.0, 2.0, 0.0, 4.0]", "[1.0, 2.0, 5.0, 4.0, 8.0]")


def shifts(x: Any, n: int) -> Any:
    left, right = x[:-1], x[1:]
    last = None
    try:
        for i in range(n):
            right[i] += left[i]
            last = right[i]
    except IndexError:
        print("as far as", last)
    return x


def test_arrays_that_share_memory(compare: Any) -> None:
    assert is_staged(compare(shifts, "np.arange(9.0), 5", "np.arange(9.0), 12"))


def in_a_manager(x: Any, n: int, manager: Any) -> Any:
    done = 0
    with manager:
        for i in range(n):
            x[i] = i * i
            done = i
    return x, done


class Forgiving:
    """A context manager that ends exceptions."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, *rest: Any) -> bool:
        print(kind)
        return True


def test_a_manager_that_ends_the_exception(compare: Any) -> None:
    assert is_staged(compare(in_a_manager, "np.zeros(5), 5, Forgiving()", "np.zeros(5), 8, Forgiving()"))


def products(grid: Any) -> Any:
    most = 0
    try:
        for i in range(len(grid)):
            for j in range(len(grid) - 1):
                most = max(most, grid[i][j] * grid[i][j + 1])
    except TypeError:
        print("after", most)
    return most


def test_a_table_of_numbers(compare: Any) -> None:
    rows = "[3, 5, 2], [4, 1, 8], [7, 7, 7]"
    assert is_staged(compare(products, f"[{rows}]", "[[3, 5, 2], [4, 1, 8], [1, {}, 2]]")[:1])


# Effects that cannot be put back --------------------------------------------------------------------------------------


class Talking:
    """A number that prints when it is multiplied."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __mul__(self, other: Any) -> int:
        print("times", other)
        return self.value * (other if isinstance(other, int) else other.value)


def test_operators_of_users_classes_run_once(compare: Any) -> None:
    table = "[[1, Talking(2), 3], [4, 5, 6], [7, Talking(8), None]]"
    compare(products, table)


def prints(out: Any, x: Any) -> Any:
    total = 0
    try:
        for i in range(len(x)):
            out[i] = total
            print(i)
            total += 1 / x[i]
    except ZeroDivisionError:
        return total
    return total


def test_what_is_printed_is_printed_once(compare: Any) -> None:
    loops = compare(prints, "np.ones(6), [1.0, 2.0, 2.0, 4.0, 0.0, 2.0]")
    assert [(loop.tier, loop.reason) for loop in loops] == [(0, MAY_BE_READ)]


def draws(out: Any, n: int) -> Any:
    np.random.seed(3)
    last = 0.0
    try:
        for i in range(n):
            last = np.random.rand()
            out[i] = last
    except IndexError:
        pass
    return last, np.random.rand()


def test_random_numbers_are_drawn_once(compare: Any) -> None:
    loops = compare(draws, "np.ones(3), 3", "np.ones(3), 5")
    assert [loop.reason for loop in loops] == [MAY_BE_READ]


class Tank:
    level = 0


def drains(tank: Any, n: int) -> Any:
    step = 0
    try:
        for i in range(n, -3, -1):
            tank.level += 12 // i
            step = i
    except ZeroDivisionError:
        return vars(tank), step
    return vars(tank)


def test_attributes_of_objects(compare: Any) -> None:
    compare(drains, "Tank(), 4")


def counts(words: list[str], seen: dict[str, int]) -> Any:
    last = ""
    try:
        for word in words:
            last = word
            seen[word] += 1
    except KeyError:
        return seen, last
    return seen


def test_dicts(compare: Any) -> None:
    compare(counts, "['a', 'b', 'a'], {'a': 0, 'b': 5}", "['a', 'b', 'c', 'a'], {'a': 0, 'b': 5}")
