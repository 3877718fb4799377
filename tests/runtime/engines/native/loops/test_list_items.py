"""All items of a list at once: `sum`, `min`, `max`, `count`, `sort` and `sorted` of numbers, and of anything else."""

import random
import sys

import pytest

import autograph as ag
from tests.outcomes import run
from tests.runtime.engines.native.programs import regions

NAN = float("nan")


class Ordered(int):
    """A subclass with an order of its own."""

    def __lt__(self, other):
        return int(self) > int(other)

    def __radd__(self, other):
        return other + 100


LISTS = {
    "empty": [], "one": [5], "integers": [3, -1, 2**29, 0, -(2**30) + 1, 3], "one_digit_more": [2**30, 1, -(2**31)],
    "large": [2**62, 2**62, 2**62], "huge": [2**70, 1], "floats": [2.5, -1.0, 1e300, 3.25], "zeros": [0.0, -0.0, 0.0],
    "minus_zero": [-0.0, -0.0], "infinities": [float("inf"), 1.0, -float("inf")], "nan": [1.0, NAN, 0.5],
    "truths": [True, 0, False, 1], "mixed": [1, 1.0, True, 0.5], "rounded": [0.1] * 10, "many": [*range(40, 0, -1)],
    "full": [float(i * 7 % 24) for i in range(24)], "texts": ["b", "a"], "unordered": [1, "a"], "none": [None, 1],
    "own": [Ordered(2), Ordered(5), 1], "last": [1, 2, Ordered(7)], "equal": [1000, 500 * 2, 999, 3000 // 3],
}  # fmt: skip


def added(xs, n):
    found = []
    for _ in range(n):
        found.append(sum(xs))
    return found


def extremes(xs, n):
    found = []
    for _ in range(n):
        found.append((min(xs), max(xs)))
    return found


def sorted_in_place(xs, n):
    for i in range(n):
        ys = xs[i % 3 :]
        ys.sort()
    return ys


def sorted_copy(xs, n):
    for i in range(n):
        ys = sorted(xs[i % 3 :])
    return ys, xs


def counted(xs, n):
    found = []
    for i in range(n):
        found.append((xs.count(i - 1), xs.count(0.5 * i), xs.count(True)))
    return found


def displays(xs, n):
    found = 0
    for i in range(n):
        a = xs[i % len(xs)]
        found += sum([a, i, i > 1]) + sum([a, a]) + sum([i])
    return found


def raises_half_way(xs, n):
    found = []
    for i in range(n):
        if i == n - 2:
            xs.append(None)
        found.append(max(xs))
        found.append(sum(xs))
        xs.sort()
    return found


FUNCTIONS = [added, extremes, sorted_in_place, sorted_copy, counted, displays, raises_half_way]


@pytest.mark.parametrize("engine", ["numpy", "native", "default"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_and_errors_are_pythons(function, engine):
    """One function gets all lists, so that its code expects numbers and meets other objects."""
    staged = ag.function(function) if engine == "default" else ag.function(function, engine=engine)
    names = {"LISTS": LISTS}
    for name in [*LISTS, *reversed(LISTS)]:
        text = f"LISTS[{name!r}][:], 7"
        wanted, actual = run(function, text, names), run(staged, text, names)
        assert actual == wanted, name
        assert actual.raised_at == wanted.raised_at, name


@pytest.mark.parametrize("function", [sorted_in_place, sorted_copy])
@pytest.mark.parametrize("name", LISTS)
def test_sorting_is_stable_and_keeps_the_objects(function, name):
    staged = ag.function(function, engine="native")
    for _ in range(3):
        try:
            wanted = function(LISTS[name], 4)
        except TypeError:
            return
        assert [*map(id, *_list(staged(LISTS[name], 4)))] == [*map(id, *_list(wanted))]


def _list(found):
    return found[:1] if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 9, 23, 24, 25, 60])
def test_lists_of_each_size_are_sorted(size):
    draw, staged = random.Random(size), ag.function(sorted_copy, engine="native")
    for _ in range(20):
        for xs in ([draw.randrange(-9, 9) for _ in range(size)], [draw.choice([0.0, -0.0, 1.5]) for _ in range(size)]):
            found, same = staged(xs, 3)
            assert repr(found) == repr(sorted(xs[2:])) and same is xs


@pytest.mark.parametrize("function", [extremes, sorted_in_place, sorted_copy])
def test_numbers_need_no_callbacks(function):
    staged = ag.function(function, engine="native")
    for xs in ([3, 1, 2] * 3, [0.5, 0.25, 2.0] * 3):
        for _ in range(3):
            staged(xs, 50)
    assert not any(each.count.value for region in regions(staged) for each in region.callbacks.values())


def references(n):
    table = [[i, i + 1000, 5000 - i] for i in range(n)]
    total = 0
    for row in table:
        row.sort()
        total += sum(row) + max(row) + row.count(1000) + len(sorted(row[1:]))
    return total, table


def test_references_are_kept():
    staged = ag.function(references, engine="native")
    for _ in range(3):
        total, table = staged(300)
        assert (total, table) == references(300)
        counts = {sys.getrefcount(each) for row in table for each in row if each > 300}
        assert counts <= {sys.getrefcount(each) for row in references(300)[1] for each in row if each > 300}
