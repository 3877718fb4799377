"""`max`, `min` and `sum` of lists outside of loops."""

import pytest

import autograph as ag
from autograph.runtime.engines.native.abi.list_functions import entry_of
from tests.outcomes import run

LISTS = [
    [3, 1, 2], [2.5, -1.0, 2.5], [0.0, -0.0], [-0.0, 0.0], [-0.0], [], [True, False], [1, 2.0], [2**31, 2**40],
    [2**62] * 3,
    [2**70, 1], [float("nan"), 1.0], [1.0, float("nan")], ["b", "a"], [[1], [2]], [None, 1], [1, None], [0.1] * 10,
    [float("inf"), -float("inf")], [1e308, 1e308], [*range(3000)], [i / 7 for i in range(3000)],
]  # fmt: skip


class Raises:
    def __radd__(self, other):
        raise ValueError("added")

    def __gt__(self, other):
        raise ValueError("compared")

    __lt__ = __gt__


def largest(xs):
    return max(xs)


def smallest(xs):
    return min(xs)


def added(xs):
    return sum(xs)


@pytest.mark.parametrize("engine", ["native", "default"])
@pytest.mark.parametrize("function", [largest, smallest, added])
def test_results_and_errors_are_pythons(function, engine):
    staged = ag.function(function) if engine == "default" else ag.function(function, engine="native")
    for _ in range(3):
        for items in (*LISTS, [Raises(), Raises()], [1, Raises()]):
            wanted, actual = (run(each, "xs", {"xs": items}) for each in (function, staged))
            assert actual == wanted and actual.raised_at == wanted.raised_at
        staged([1.5] * 5000)


def test_extremes_are_the_items():
    xs = [float(i * 7 % 13) for i in range(5000)]
    for function in (largest, smallest):
        staged = ag.function(function, engine="native")
        for _ in range(5):
            assert staged(xs) is function(xs)


def test_machine_code_is_used():
    staged = ag.function(added, engine="native")
    for _ in range(5):
        staged([*range(5000)])
    (trace,) = staged.traces
    assert any(each is entry_of(sum) for each in trace.executable.run.__globals__.values()) and entry_of(sum) is not sum
