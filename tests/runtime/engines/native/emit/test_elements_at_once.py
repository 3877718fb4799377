"""NumPy's functions of the numbers of several iterations at once, also if something is carried on between these."""

import numpy as np
import pytest

from autograph.runtime.engines.native.emit import simd
from tests.runtime.engines.native.emit.test_simd import are_at_once
from tests.runtime.engines.native.emit.test_speculation import check

BIG, SIZE = 1e300, 70


@pytest.fixture(params=[(16, 8), simd.SIZES], autouse=True)
def sizes(request, monkeypatch):
    monkeypatch.setattr(simd, "SIZES", request.param)


def stored(x, y):
    for i in range(len(x)):
        y[i] = np.log(x[i]) * 2.0 + np.arctan2(x[i], y[i])
    return y


def summed(x, y):
    total = 0.0
    for i in range(len(x)):
        total += np.exp(x[i]) * y[i]
    return total


def decaying(x, y):
    level, last, number = 1.0, 0.0, 0
    for i in range(len(x)):
        level = level * 0.5 + np.tanh(x[i])
        last = y[i]
        number += 2
    return level, last, number


def largest(x, y):
    best = 0.0
    for i in range(len(x)):
        value = np.sin(x[i])
        best = value if value > best else best
    return best


def swapped(x, y):
    one, other = 1.0, 2.0
    for i in range(len(x)):
        one, other = other, one + np.sqrt(np.exp(x[i]))
    return one, other


def running(x, y):
    total = 0.0
    for i in range(len(x)):
        total += np.cbrt(x[i])
        y[i] = total
    return y, total


def repeated(x, y):
    value = 0.5
    for i in range(len(x)):
        value = np.cos(value + x[i])
    return value


def guarded(x, y):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            total += np.log(x[i])
    return total


def scattered(x, y):
    rows = x[: len(x) // 5 * 5].reshape(-1, 5)
    total = 0.0
    for i in range(len(rows)):
        total += np.exp(rows[i, 1]) + np.log(y[::2][i]) * rows[min(3, len(rows) - 1), 2]
    for i in range(min(rows.shape)):
        total += np.tanh(rows[i, i])
    return total


FUNCTIONS = stored, summed, decaying, largest, swapped, running, repeated, guarded, scattered


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("value", [0.25, 0.0, -1.0, BIG, -BIG, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("places", [(0,), (37,), (3, SIZE - 1)])
def test_strange_numbers(function, value, places):
    """The answer, the class, the warnings and their lines are NumPy's, wherever the odd number is."""
    def make(size=SIZE):
        x = np.linspace(0.1, 2, size)
        x[[place for place in places if place < size]] = value
        return x, x[::-1].copy()

    check(function, make, lambda: make(5), lambda: make(0))


@pytest.mark.parametrize("function", [stored, summed, decaying])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_are_at_once(function, dtype):
    def make():
        x = np.linspace(0.1, 2, SIZE).astype(dtype)
        return x, x[::-1].copy()

    assert any(are_at_once(check(function, make, make)))


def test_elements_anywhere_are_at_once():
    def trace(a):
        total = 0.0
        for i in range(len(a)):
            total += np.tanh(a[i, i])
        return total

    def make(step=1):
        return (np.random.default_rng(1).normal(size=(70 * step, 70))[::step],)

    assert any(are_at_once(check(trace, make, lambda: make(2))))


def test_numbers_that_become_infinite_on_the_way():
    def make():
        return np.full(SIZE, 700.0), np.full(SIZE, 1e3)

    check(summed, make)


def test_powers_are_no_blocks():
    """For a number as exponent NumPy may only multiply, which gives other bits."""
    def powers(x, y):
        total = 0.0
        for i in range(len(x)):
            total += np.power(x[i], y[i])
        return total

    def make():
        return np.linspace(0.1, 2, 5000), np.resize([2.0, 0.5, 3.0, -1.0], 5000)

    assert not any(are_at_once(check(powers, make)))
