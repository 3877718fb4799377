"""Products of each element of one vector with each of another, as parts of kernels."""

import warnings

import numpy as np
import pytest

import autograph as ag


def updated(a, u, v, x, y):
    a += np.outer(u, v) + np.outer(x, y)
    return a


def of_parts(a, u, v, x, y):
    return np.outer(u[1:-1], v[::2]) * 2 - np.outer(x[1:-1], y[::2]) + 1


def of_linalg(a, u, v, x, y):
    return np.linalg.outer(u, v) - 1 + np.multiply.outer(x, y)


def used_twice(a, u, v, x, y):
    c = np.outer(u, v)
    return c, (c + 1) * np.outer(x, y), (np.outer(y, x) * 2).sum(axis=1)


def alone(a, u, v, x, y):
    return np.outer(u, v), np.outer(x[1:], y)


def outcome(function, args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ag.errors.RetraceWarning)
        try:
            found = function(*args)
        except Exception as error:
            found = type(error), str(error)
    return repr(found), repr(args[0].tolist()), [(str(each.message), each.filename, each.lineno) for each in caught]


def vectors(dtype):
    draw = np.random.default_rng(1)
    for n, m in ((20, 30), (4, 3), (1, 1), (0, 3)):
        yield tuple((draw.random(size) * 200 - 100).astype(dtype) for size in (n, m, n, m))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u1", "c16", "?", ">f8", "O"])
@pytest.mark.parametrize("function", [updated, of_parts, of_linalg, used_twice, alone])
def test_vectors(function, dtype):
    staged = ag.function(function, engine="native")
    for given in vectors(dtype):
        reversed_ = given[0][::-1], np.repeat(given[1], 2)[::2], *given[2:]
        matrices = given[0].reshape(1, -1), *given[1:]
        for each in (given, reversed_, matrices) if function is not of_parts else (given, reversed_):
            for _ in range(3):
                made = [np.ones((given[0].size, given[1].size), dtype) for _ in range(2)]
                assert outcome(staged, (made[0], *each)) == outcome(function, (made[1], *each))


@pytest.mark.parametrize("function", [updated, of_parts, of_linalg, alone])
def test_warnings_are_at_the_places_of_numpy(function):
    staged = ag.function(function, engine="native")
    for u, v in (([1e200, 1, 2, 3], [1e200, 5, 6]), ([np.inf, 0, np.nan], [0.0, 1, np.inf]), ([1.0, 2, 3], [4.0, 5])):
        u, v = np.array(u), np.array(v)
        for _ in range(3):
            made = [np.ones((len(u), len(v))) for _ in range(2)]
            args = u, v, u + 1, v + 1
            assert outcome(staged, (made[0], *args)) == outcome(function, (made[1], *args))
