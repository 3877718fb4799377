"""Operations on vectors element by element, whose results become arrays, numbers or parts of arrays."""

import sys
import tracemalloc

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.runtime.engines.native.emit.test_products import native, same

RANDOM = np.random.default_rng(6)
LENGTHS = (1, 2, 7, 8, 33, 130)


def power_method(x, y, n):
    for _ in range(n):
        y = x[0] - y * 0.5
        x[1] = y / np.sqrt(np.dot(y, y) + 1)
    return y


def moved(x, y, n):
    for i in range(n):
        total = np.zeros(len(y))
        for j in range(n):
            d = x[j] - x[i]
            total += d / (d @ d + 0.5)
        y -= total
    return total


def distances(x, y, n):
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            found[i, j] = np.linalg.norm(x[i] - x[j]) + np.linalg.norm(x[i, ::2]) + np.sum((x[i] + x[j]) ** 2)
    return found


def choices(x, y, n):
    for i in range(n):
        x[i] = np.minimum(x[i], x[i, 0] + x[i - 1])
        y += np.maximum(np.abs(x[i]), -x[i - 1])
    return np.abs(x[:, 0]).argmax()


def squares(x, y, n):
    for i in range(n):
        y = np.square(x[i]) + y
        x[i] += abs(y)
        x[i] *= 3
    return y


FUNCTIONS = [power_method, moved, distances, choices, squares]


def given(dtype, columns):
    numbers = RANDOM.normal(size=(5, columns)) * 3
    return numbers[:4].astype(dtype), numbers[4].astype(dtype)


@pytest.mark.parametrize("dtype", ["d", "f", "i8", "i4", "u1", "i2"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy(function, dtype):
    with np.errstate(all="ignore"):
        for columns in LENGTHS if dtype in "df" else (1, 40):
            x, y = given(dtype, columns)
            same(function, x, y, 4)
            same(function, np.asfortranarray(x), y[::-1], 4)


@pytest.mark.parametrize("special", [np.inf, np.nan, 1e308, -0.0])
def test_what_numpy_warns_of(special):
    for function in FUNCTIONS:
        x, y = given("d", 9)
        x[2, 3], y[4] = special, -special
        same(function, x, y, 4)
        with np.errstate(over="raise", invalid="raise"):
            same(function, x, y, 4)


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", [power_method, moved, choices, squares])
def test_nothing_calls_python(function):
    ours, theirs = ([each.copy() for each in args] for args in [given("d", 9)] * 2)
    found = ag.function(function, engine="native", strict="native_callback")(*ours, 4)
    assert np.asarray(found).tobytes() == np.asarray(function(*theirs, 4)).tobytes()
    assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_python_goes_on_wherever_the_code_is_left(fuel, function):
    args, staged = given("d", 5), native(function)
    theirs = [each.copy() for each in args]
    expected = np.asarray(function(*theirs, 3)).tobytes()
    for nodes in range(1, 90):
        fuel.value, ours = nodes, [each.copy() for each in args]
        assert np.asarray(staged(*ours, 3)).tobytes() == expected
        assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]


def nearest(x, y, n):
    found = np.zeros(n, dtype=np.int64)
    for i in range(n):
        found[i] = np.argmin(abs(x[i] - y) ** 2)
        x[i, 1:] += y[1:]
    return found


def test_complex_vectors_are_left_to_numpy():
    x, y = given("d", 12)
    same(nearest, x[:, :6] + 1j * x[:, 6:], y[:6] + 1j * y[6:], 4)


def kept(x, y, n):
    arrays = []
    for i in range(n):
        y = x[i] - y
        arrays.append(y)
        y += 1.0
    return arrays, y


def test_arrays_are_the_objects_that_python_has():
    x, y = given("d", 5)
    for _ in range(2):
        arrays, last = native(kept)(x, y, 4)
        assert last is arrays[-1] and len({id(each) for each in arrays}) == 4
        assert [each.tobytes() for each in arrays] == [each.tobytes() for each in kept(x, y, 4)[0]]
        assert all(each.flags.owndata and each.base is None for each in arrays)


def test_no_references_and_no_memory_are_lost():
    x, y = given("d", 3000)
    for function in (power_method, moved, squares):
        staged = native(function)
        for _ in range(3):
            found = staged(x.copy(), y, 4)
        assert sys.getrefcount(found) == 2
        before = sys.getrefcount(y)
        tracemalloc.start()
        memory = tracemalloc.get_traced_memory()[0]
        for special in (1.0, 1e308) * 3:
            x[2, 5:7] = special, -special
            with np.errstate(all="ignore"):
                staged(x.copy(), y, 4)
        grown = tracemalloc.get_traced_memory()[0] - memory
        tracemalloc.stop()
        assert sys.getrefcount(y) == before and grown < 100_000


def wrong(x, y, n):
    for i in range(n):
        y += x[i, :3]
    return y


def test_lengths_that_differ_and_casts_that_numpy_refuses():
    same(wrong, *given("d", 5), 4)
    same(wrong, given("d", 3)[0], np.arange(3), 4)
    same(wrong, given("f", 3)[0], np.arange(3.0), 4)
    same(wrong, given("d", 1)[0], np.arange(3.0), 4)
