"""`ag.set_loop_options(unroll=…, budget=…)`: how far loops are unrolled, and that this is told."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph.errors import StagingError


def loops(function, *args):
    """How many loops there are in the graph of a call."""
    return str(function.graph(*args)).count("for(") + str(function.graph(*args)).count("while(")


@ag.function
def scaled(x, n):
    for i in range(n):
        ag.set_loop_options(unroll=True)
        x = x * (i + 1)
    return x


def test_numbers_that_the_turns_hinge_on_become_part_of_the_signature():
    assert scaled(np.ones(2), 3).tolist() == [6.0, 6.0]
    assert scaled(np.ones(2), 4).tolist() == [24.0, 24.0]
    assert loops(scaled, np.ones(2), 3) == 0
    report = scaled.explain(np.ones(2), 3)
    assert "3 turns" in str(report.where(kind="turns", line=scaled.__code__.co_firstlineno + 2))


def test_arrays_are_unrolled_row_by_row():
    @ag.function
    def f(rows):
        total = 0.0
        for row in rows:
            ag.set_loop_options(unroll=True)
            total = total + row
            rows[-1] = 5
        return total

    x = np.arange(4.0)
    assert f(x) == 8.0 and x.tolist() == [0, 1, 2, 5]
    assert loops(f, np.arange(4.0)) == 0


def test_while_loops_are_unrolled():
    @ag.function
    def f(x, n):
        while n > 0:
            ag.set_loop_options(unroll=True)
            x, n = x + n, n - 1
        return x

    assert f(np.ones(1), 3).tolist() == [7.0]
    assert loops(f, np.ones(1), 3) == 0


def test_a_number_of_turns():
    @ag.function
    def f(x):
        for i in range(4):
            ag.set_loop_options(unroll=3)
            x = x + i
        for i in range(3):
            ag.set_loop_options(unroll=3)
            x = x + i
        for i in range(2):
            ag.set_loop_options(unroll=False)
            x = x + i
        return x

    assert f(np.zeros(1)).tolist() == [10.0]
    assert loops(f, np.zeros(1)) == 2


def test_what_hinges_on_an_array_cannot_be_unrolled():
    @ag.function
    def f(x):
        while x.sum() < 10:
            ag.set_loop_options(unroll=True)
            x = x + 1
        return x

    with pytest.raises(StagingError, match="to unroll this loop"):
        f(np.ones(2))


def test_budget():
    @ag.function
    def f(x):
        for i in range(100):
            ag.set_loop_options(unroll=True, budget=20)
            x = x + i
        return x

    with pytest.raises(StagingError, match=r"takes more than 20 operations.*set_loop_options\(budget=") as caught:
        f(np.ones(2))
    assert f"{__file__}:{f.__code__.co_firstlineno + 2}: " in str(caught.value)


def test_loops_over_plain_values_are_told_of():
    def f(x):
        for scale in (1, 2, 3):
            x = x * scale
        return x

    line = f.__code__.co_firstlineno + 1
    assert "3 turns of this loop take 3 operations" in str(ag.function(f).explain(1.0).where(kind="unroll", line=line))
    with pytest.raises(ag.errors.AutographError, match="is strict about 'unroll'"):
        ag.function(f, strict="unroll")(1.0)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"unrol": 3}, "there is no option 'unrol'"),
        ({"unroll": "all"}, "unroll= is True, False or how many turns"),
        ({"unroll": -1}, "unroll= is True, False or how many turns"),
        ({"budget": 0}, "budget= is how many operations"),
    ],
)
def test_bad_options(options, message):
    names = ", ".join(f"{name}={value!r}" for name, value in options.items())
    from tests.outcomes import execute

    text = f"def f(x):\n    for i in range(3):\n        ag.set_loop_options({names})\n        x = x + i\n    return x\n"
    f = ag.function(execute(text, f"<{names}>", {"ag": ag, "__name__": "m"})["f"])
    with pytest.raises(StagingError, match=message):
        f(1.0)
