"""Short vectors in loops: compared, unpacked, made of numbers, taken row by row, and NumPy's functions of them."""

import sys
import tracemalloc

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.runtime.engines.native.emit.test_products import native, same

RANDOM = np.random.default_rng(15)


def springs(x, y, n):
    for i in range(1, n):
        a, b = x[i, :2] - x[i - 1, :2]
        force = np.array([a * b, b - 1])
        y[i, :2] -= force
        y[i - 1, 2:4] += force
        y[0, :2] = y[-1, :2] = 0, 1.5
        first, second = x[i, 1:3]
        y[i, 0] = first + second + x[i][0]
    return y


def swaps(x, y, n):
    for i in range(n):
        x[[i, -1]] = x[[-1, i]]
        y[[0, i, i - 1]] = x[[i, 0, 1]]
        y[i] = x[i, [0, 1, -1, i]][0] + y[0]
    return x


def counts(x, y, n):
    count = 0
    for i in range(n):
        if (x[i] > y[i]).all() or np.isnan(x[i] - y[i]).any():
            count += 1
        chosen = (x[i] != y[0]) & (x[i] >= 0.5) | ~(y[i] < x[i, 0])
        count += chosen.sum() + (np.sqrt(x[i]) <= 1).sum()
        x[i] = (x[i] > 0) * y[i]
        if ((1, 0, 1, 0, 2) == np.floor(x[i])).all() or np.maximum(x[i], [0, 1, 2, 3, 4.5]).any():
            count += 1
    return count


def functions(x, y, n):
    for i in range(n):
        x[i] = np.exp(-x[i]) + np.sin(y[i]) // 0.3
        y[i] = np.arctan2(x[i], y[i]) % 2 - np.log(np.abs(x[i]) + 1) * np.hypot(x[i], 2)
        x[i, 1:] += np.cbrt(y[:-1, i]) * 3
    return x


def integers(x, y, n):
    for i in range(n):
        x[i] = (x[i] // 3) ^ (y[i] % 7) | (x[i] << 1)
        y[i] &= x[i] >> 1
        y[i] -= x[i] // y[i]
    return x


FUNCTIONS = [springs, swaps, counts, functions, integers]


@pytest.mark.parametrize("dtype", ["d", "f", "i8", "i4", "u1"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy(function, dtype):
    with np.errstate(all="ignore"):
        x, y = (RANDOM.normal(size=(2, 5, 5)) * 3).astype(dtype)
        same(function, x, y, 4)
        same(function, np.asfortranarray(x)[::-1], y[:, ::-1], 4)
        same(function, x, x, 4)


@pytest.mark.parametrize("special", [np.inf, 1e308, 0.0, -0.0])
@pytest.mark.parametrize("function", FUNCTIONS[:-1])
def test_what_numpy_warns_of(function, special):
    x, y = RANDOM.normal(size=(2, 5, 5))
    x[1, 2] = special
    same(function, x, y, 4)
    with np.errstate(all="raise"):
        same(function, y, x, 4)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors(function):
    x, y = RANDOM.normal(size=(2, 5, 5))
    same(function, x, y, 7)
    same(function, x[:, :1].copy(), y[:, :1].copy(), 3)
    same(function, x[:3].copy(), y, 3)
    x.flags.writeable = y.flags.writeable = False
    same(function, x, y, 3)


def rest(x, y, n):
    for i in range(n):
        x[i] += [2]
        y[i] = (x[i, 0],)
        a, b = x[i, :2]
        x[i] = y[i][0] + b - a
        x[[0, i]] = y[[i, 0]]
    return x


def test_complex_numbers_and_single_items():
    for dtype in ("D", "F", "d", "i8"):
        x, y = (RANDOM.normal(size=(2, 5, 70)) * 9).astype(dtype)
        same(rest, x, y, 5)
    same(rest, x, RANDOM.normal(size=(5, 70, 2)), 5)


def test_elements_chosen_by_lists_are_copies_until_they_are_stored():
    def function(x, n):
        for i in range(n):
            x[[1, 1]] += 1
            x[[0, i]] *= 2
        return x

    for dtype in ("d", "i8"):
        for _ in range(2):
            x = np.arange(5).astype(dtype)
            assert native(function)(x.copy(), 3).tolist() == function(x, 3).tolist()


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", [springs, functions, integers])
def test_nothing_calls_python(function):
    x, y = RANDOM.normal(size=(2, 5, 5)) ** 2 + 1
    if function is integers:
        x, y = (x * 9).astype(int), (y * 9).astype(int)
    staged = ag.function(function, engine="native", strict="native_callback")
    assert repr(staged(x.copy(), y.copy(), 4)) == repr(function(x.copy(), y.copy(), 4))


def test_no_memory_is_leaked():
    x, y = RANDOM.normal(size=(2, 200, 200))
    for function in (springs, swaps, functions):
        staged = native(function)
        for _ in range(3):
            staged(x.copy(), y.copy(), 4)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            staged(x.copy(), y.copy(), 4)
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
        tracemalloc.stop()
        assert sys.getrefcount(x) == 2
