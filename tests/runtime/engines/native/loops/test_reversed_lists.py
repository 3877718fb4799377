"""Loops over `reversed(xs)`, whose iterator machine code reads and sets."""

import pytest

import autograph as ag
from tests.outcomes import run


def summed(xs, n):
    out, total = [], 0
    for k in range(n):
        for x in reversed(xs):
            total += x
            out.append((k, total))
        for i, x in enumerate(reversed(xs)):
            total += i * x
        for a, b in zip(reversed(xs), (1, 2, 3)):
            total += a * b
        for i, x in enumerate((k, total, 0.5) if k else (1, 2)):
            out.append((i, x))
    return out, total


def changing(xs, n):
    seen = []
    for k in range(n):
        for x in reversed(xs):
            seen.append(x)
            if x == k:
                xs.pop()
            if x == 5:
                xs.append(k)
            if x == 1:
                xs.clear()
    return seen, xs


def left(xs, n):
    out = []
    for k in range(n):
        rest = reversed(xs)
        for x in rest:
            if x > k:
                break
        out.append(list(rest))
        out.append(next(rest, None))
    return out


LISTS = [[], [1], [3, 4, 5, 6], [2.5, 1, 2**70, -0.0], [1, 2, 3, "a", 4], [0, 1, 2, 3, 4, 5, 6, 7]]


@pytest.mark.parametrize("engine", ["native", "numpy", None])
@pytest.mark.parametrize("function", [summed, changing, left])
def test_reversed_lists_are_those_of_python(function, engine):
    staged = ag.function(function, **({} if engine is None else {"engine": engine}))
    for _ in range(2):
        for xs in LISTS:
            names, others = {"xs": list(xs)}, {"xs": list(xs)}
            found, wanted = run(staged, "xs, 4", names), run(function, "xs, 4", others)
            assert found == wanted and found.raised_at == wanted.raised_at, xs
            assert repr(names) == repr(others)


def test_they_do_not_call_python():
    def backward(n):
        total = 0
        for k in range(n):
            trail = [k, k + 1]
            for x in reversed(trail):
                total = total * 3 % 1009 + x
        return total

    staged = ag.function(backward, engine="native")
    assert [staged(n) for n in (3, 50)] == [backward(n) for n in (3, 50)]
    assert "runs in Python" not in str(staged.explain(3))
