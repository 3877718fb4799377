"""`ag.set_loop_options(unroll=…, budget=…)`: the number of iterations that are unrolled, and the report of it."""

from __future__ import annotations

import itertools

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


def test_numbers_that_the_iterations_hinge_on_become_part_of_the_signature():
    assert scaled(np.ones(2), 3).tolist() == [6.0, 6.0]
    assert scaled(np.ones(2), 4).tolist() == [24.0, 24.0]
    assert loops(scaled, np.ones(2), 3) == 0
    report = scaled.explain(np.ones(2), 3)
    assert "3 iterations" in str(report.where(kind="iterations", line=scaled.__code__.co_firstlineno + 2))


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


def test_a_number_of_iterations():
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


def test_loops_over_plain_values_are_reported():
    def f(x):
        for scale in (1, 2, 3):
            x = x * scale
        return x

    line = f.__code__.co_firstlineno + 1
    reported = str(ag.function(f).explain(1.0).where(kind="unroll", line=line))
    assert "3 iterations of this loop take 3 operations" in reported
    with pytest.raises(ag.errors.AutographError, match="is strict about 'unroll'"):
        ag.function(f, strict="unroll")(1.0)


# Without options ------------------------------------------------------------------------------------------------------


def correlate(a, w, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for p in range(w.shape[0]):
                for q in range(w.shape[1]):
                    for c in range(w.shape[2]):
                        out[i, j] += a[i + p, j + q, c] * w[p, q, c]
    return out


def short_while_loops(x, n):
    i = 0
    while i < 5:
        j = 0
        while j < 6:
            k = 0
            while k < 7:
                x = x * 0.5 + (i + j * k) % 3
                k += 1
            j += 1
        i += 1
    return x + n


def repeated(x, n):
    for _ in itertools.repeat(None, n):
        x = x * 0.5 + 1
    return x


def repeated_until(x, n):
    for step in itertools.repeat(0.5, n):
        x = x * step + 1
        if x < 1.5:
            return x, "early"
    return x, "late"


def repeated_twice(x, n):
    steps = itertools.repeat(0.5, n)
    for step in steps:
        x = x * step + 1
    for step in steps:
        x = x * step + 100
    return x, next(steps, None)


def growing(n):
    xs = [n]
    for x in xs:
        if x > 1:
            xs.append(x // 2)
            xs.append(x // 3)
    return len(xs), sum(xs)


def combined(xs, limit):
    found = []
    for a, b, c in itertools.combinations(xs, 3):
        if a * b % (c + 1) > limit:
            found.append((a, b, c))
    return len(found), found[:2]


def permuted(xs):
    best = 10**9
    for order in itertools.permutations(range(len(xs))):
        length = 0
        for i in range(len(order) - 1):
            length += abs(xs[order[i]] - xs[order[i + 1]])
        best = min(best, length)
    return best


class Item:
    def __init__(self, weight):
        self.weight = weight


def weighed(items, x):
    for item in items:
        x = x * 0.5 + item.weight
        if x > 1e6:
            break
    return x


def weights(shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize(
    ("function", "make"),
    [
        (correlate, lambda: (weights((8, 8, 3)), weights((4, 4, 3)), np.zeros((5, 5)))),
        (short_while_loops, lambda: (1.5, 2)),
        (repeated, lambda: (3.0, 30_000)),
        (repeated, lambda: (3.0, 0)),
        (repeated_until, lambda: (64.0, 3_000)),
        (repeated_until, lambda: (64.0, 3)),
        (repeated_twice, lambda: (3.0, 2_000)),
        (growing, lambda: (10_000,)),
        (combined, lambda: (list(range(40)), 5)),
        (permuted, lambda: ([3, 1, 4, 1, 5, 9],)),
        (weighed, lambda: ([Item(n) for n in range(6_000)], 1.0)),
    ],
)
def test_no_program_is_refused(function, make, engine):
    if engine == "native":
        pytest.importorskip("llvmlite")
    staged, given, expected = ag.function(function, engine=engine), make(), make()
    for _ in range(2):
        assert repr(staged(*given)) == repr(function(*expected))
    assert all(np.array_equal(one, other) for one, other in zip(given, expected) if isinstance(one, np.ndarray))


def test_short_loops_in_one_another_are_staged():
    arguments = weights((8, 8, 3)), weights((4, 4, 3)), np.zeros((5, 5))
    assert loops(ag.function(correlate), *arguments) == 3     # around two that are unrolled
    assert loops(ag.function(short_while_loops), 1.5, 2) == 2
    assert loops(ag.function(repeated), 3.0, 30_000) == 1


def test_a_function_that_takes_too_much_runs_plain_and_is_reported():
    def f(x):
        for name in ("real", "imag") * 3_000:
            x = x + getattr(x, name)
        return x

    staged = ag.function(f)
    assert staged(1.5) == f(1.5)
    reported = staged.explain(1.5).where(kind="plain")
    assert "takes more than 5000 operations" in str(reported)
    assert str(reported).endswith(f", line {f.__code__.co_firstlineno + 1}")
    with pytest.raises(ag.errors.StrictError, match="takes more than 5000 operations"):
        ag.function(f, strict="plain")(1.5)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"unrol": 3}, "there is no option 'unrol'"),
        ({"unroll": "all"}, "unroll= is True, False or how many iterations"),
        ({"unroll": -1}, "unroll= is True, False or how many iterations"),
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
