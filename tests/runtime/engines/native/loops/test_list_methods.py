"""Searches in lists of numbers: what is compared, and how often; exceptions of objects that compare themselves."""

import bisect
import copy

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
