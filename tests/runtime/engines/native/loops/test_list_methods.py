"""Searches in lists of numbers: what is compared, and how often; exceptions of objects that compare themselves."""

import bisect
import copy

import numpy as np
import pytest

import autograph as ag
from tests.outcomes import run
from tests.runtime.engines.native.programs import regions


class Compares:
    """Counts comparisons, and raises an exception from some on."""

    def __init__(self, most=10**9):
        self.count, self.most = 0, most

    def __eq__(self, other):
        self.count += 1
        if self.count > self.most:
            raise ValueError(f"compared {self.count} times")
        return False

    def __hash__(self):
        return hash(1)

    def __repr__(self):
        return f"Compares({self.count})"


def found(xs, n):
    count = 0
    for i in range(n):
        if i in xs:
            count += xs.index(i)
    return count


def first(table, n):
    count = 0
    for i in range(n):
        if i % 3 == 1:
            count += table.get(1, 5)
        if i % 3 == 2 and 1 in table:
            count += table[1]
    return count


@pytest.mark.parametrize("most", [10**9, 0, 40])
@pytest.mark.parametrize("function, make", [(found, lambda x: [1, 2.0, 3, x, 70]), (first, lambda x: {x: 3, 5: 1})])
def test_objects_are_compared_as_often_as_by_python(function, make, most):
    staged = ag.function(function, engine="native")
    for _ in range(3):
        wanted, other = Compares(most), Compares(most)
        assert run(staged, "made(x), 80", {"made": make, "x": other}) == run(
            function, "made(x), 80", {"made": make, "x": wanted}
        )
        assert other.count == wanted.count


def test_a_search_stops_at_the_first_equal_item():
    """No item behind it is looked at."""
    xs = [*range(90), Compares(0)]
    staged = ag.function(found, engine="native")
    for _ in range(2):
        assert staged(xs, 90) == found(xs, 90) == sum(range(90))
    assert not any(each.count.value for region in regions(staged) for each in region.callbacks.values())


def windows(signal, width):
    window, medians = sorted(signal[:width]), []
    for i in range(width, len(signal)):
        del window[bisect.bisect_left(window, signal[i - width])]
        bisect.insort(window, signal[i])
        medians.append(window[width // 2])
    return medians


@pytest.mark.parametrize("signal", [[i * 7 % 31 + 0.5 for i in range(200)], [i * 7 % 31 for i in range(200)]])
def test_a_sorted_window_needs_no_callbacks(signal):
    staged = ag.function(windows, engine="native")
    for _ in range(2):
        assert staged(copy.copy(signal), 9) == windows(signal, 9)
    for region in regions(staged):
        assert not region.reasons and not any(each.count.value for each in region.callbacks.values())


def extremes(xs, ys):
    return min(xs), max(xs), max(ys)


def sums_of_extremes(rows):
    total = 0
    for row in rows:
        total += min(row) - max(row)
    return total


class Number(float):
    """A float that compares itself the other way round."""

    def __lt__(self, other):
        return float(self) > float(other)

    def __gt__(self, other):
        return float(self) < float(other)


NAN = float("nan")
LISTS = {
    "floats": [i * 7 % 31 + 0.5 for i in range(99)], "integers": [i * 7 % 31 - 9 for i in range(99)],
    "zeros": [0.0, -0.0] * 50, "other_zeros": [-0.0, 0.0] * 50, "nan first": [NAN, *range(3), 1.5, *[0.5] * 95],
    "nans": [NAN] * 70, "nan inside": [*[2.5] * 40, NAN, *[1.5, 3.5] * 30], "infinite": [float("-inf"), 1.0] * 40,
    "large": [2**62, -(2**63), 2**63 - 1] * 30, "huge": [*range(90), 2**70, -(2**80)], "bools": [True, False] * 40,
    "mixed": [*range(80), 1.5, -7], "mixed otherwise": [*[1.5] * 80, 1, -7], "texts": ["b", "a"] * 40,
    "no order": [*[1.5] * 80, None], "no order at first": [None, *[1.5] * 80], "empty": [],
    "of a subclass": [*[1.5] * 80, Number(0.5), Number(9.5), 4.5],
    "arrays": [1.5] * 70 + [np.float64(7.25), np.ones(2)],
    "rows": [[3, 4], [3], [5]] * 30, "tuples": [(1, 2), (0, 3)] * 40,
}  # fmt: skip


@pytest.mark.parametrize("engine", ["native", "numpy"])
@pytest.mark.parametrize("name", LISTS)
def test_extremes_are_the_items_that_python_finds(name, engine):
    for function, arguments in (
        (extremes, "xs, ys"), (extremes, "xs, xs"), (extremes, "[2.5] * 90, xs"), (sums_of_extremes, "[xs] * 5"),
        (sums_of_extremes, "[[1.5] * 80] * 3 + [xs] * 3"),
    ):  # fmt: skip
        staged = ag.function(function, engine=engine)
        names = {"xs": LISTS[name], "ys": LISTS["floats"]}
        for _ in range(3):
            wanted, actual = run(function, arguments, names), run(staged, arguments, names)
            assert (actual, actual.raised_at) == (wanted, wanted.raised_at)


def test_extremes_of_several_kinds_of_lists_one_after_the_other():
    staged = ag.function(extremes, engine="native")
    for _ in range(3):
        for xs in LISTS.values():
            assert run(staged, "xs, xs", {"xs": xs}) == run(extremes, "xs, xs", {"xs": xs})


def test_extremes_are_items_themselves():
    """They are no new objects, as the program may see."""
    staged = ag.function(extremes, engine="native")
    for xs in (LISTS["floats"], LISTS["nan inside"], LISTS["large"], LISTS["rows"]) * 2:
        for found, wanted in zip(staged(xs, xs), extremes(xs, xs), strict=True):
            assert found is wanted


def test_extremes_of_lists_are_machine_code():
    staged = ag.function(extremes, engine="native")
    xs = LISTS["floats"]
    for _ in range(3):
        staged(xs, xs)
    assert regions(staged)
    assert not any(each.count.value for region in regions(staged) for each in region.callbacks.values())
