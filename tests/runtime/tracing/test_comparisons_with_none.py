"""Comparisons with None or a text, where only the graph knows what is compared, and no assignment tells that."""

from __future__ import annotations

import pytest

import autograph as ag


def first_above(x, n):
    for i in range(n):
        if x * i > 1:
            return x * i


def of_helper(x, n):
    found = first_above(x, n)
    if found is None:
        found = x
    return found * x


def of_walrus(x, n):
    total = 0.0
    for i in range(n):
        if (found := first_above(x, i)) is not None:
            total += found * x
    return total


def weighted(x, weight=None):
    if weight is None:
        weight = x * 2
    return x * weight


def of_parameter(x, n):
    weight = None
    for _ in range(n):
        weight = weighted(x, weight)
    return x if weight is None else weight


class Mean:
    def __init__(self):
        self.value = None

    def add(self, x):
        self.value = x if self.value is None else 0.9 * self.value + 0.1 * x
        return self.value


def of_attribute(x, n):
    mean = Mean()
    for i in range(n):
        x = x - 0.1 * mean.add(x * i)
    return x


def stepped(state, x):
    return x if state == "start" else state * x


def of_text(x, n):
    state = "start"
    for _ in range(n):
        state = stepped(state, x)
    return x if state in ("start", "end") else state


def of_equality(x, n):
    found = b""
    for _ in range(n):
        found = x if found == b"" else found * x
    return x if found == b"" or found == None else found  # noqa: E711


@pytest.mark.parametrize("function", [of_helper, of_walrus, of_parameter, of_attribute, of_text, of_equality])
def test_comparisons_of_which_no_assignment_tells_are_staged(function):
    staged, gradient = ag.function(function, strict=True), ag.grad(function)
    for x, n in ((0.7, 3), (0.7, 0), (0.4, 2), (-0.5, 4)):
        assert staged(x, n) == function(x, n)
        step = 1e-6
        wanted = (function(x + step, n) - function(x - step, n)) / (2 * step)
        assert gradient(x, n) == pytest.approx(wanted, abs=1e-6)
