"""The places of what is not zero, loops over these, and the objects of views that are returned."""

import sys
import warnings

import numpy as np
import pytest

import autograph as ag
from tests.comparing import result_or_error

RANDOM = np.random.default_rng(3)


def subpixel(x, i, j):
    """As in Pythran's `compute_subpix_2d_gaussian2`."""
    part = x[i - 1 : i + 2, j - 1 : j + 2]
    places = np.where(part < 0)
    for row, column in zip(places[0], places[1]):
        part[row, column] = 1e-6
    a = np.log(part[0, 0])
    b = a / 9
    return np.float32((b * a - 2 * b) / (4 * b * b - a**2)), part


def of_vectors(x, i, j):
    total, found = 0, []
    for k in range(i):
        places = np.where(x[0] > k)
        for place in places[0]:
            total += place
        (again,) = np.nonzero(x[:, j])
        total += again.sum() + len(np.flatnonzero(x[k % 2, k:]))
        found.append((places, again))
    return total, found


def of_shorter(x, i, j):
    total = 0
    for a, b in zip(x[0, i:], x[1, :j]):
        total += a * b
    for k, a in enumerate(x.nonzero()[1]):
        total += k * a
    for a, b, c in zip(x[0], np.arange(i), x[:, 0]):
        total += a - b * c
    return total


def views(x, i, j):
    total = 0
    for k in range(2):
        total += x[0, 0] * k
    y = x[i:j]
    for k in range(2):
        y[0, k] = k
    return total, y, x[i:j, 1:], x[:, j], x[::-1], y[:, ::2], y[0]


FUNCTIONS = [subpixel, of_vectors, of_shorter, views]


def facts(result):
    """All that a program can see of arrays."""
    if isinstance(result, (list, tuple)):
        return type(result), [facts(each) for each in result]
    if not isinstance(result, np.ndarray):
        return type(result), str(result)
    base = None if result.base is None else (result.base.shape, result.base.dtype)
    return type(result), result.flags.num, result.strides, result.shape, result.dtype, result.tobytes(), base


def check(function, staged, x, *args):
    found = []
    for each in (function, staged):
        own = x.copy("K") if x.flags.writeable else x
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = result_or_error(each, own, *args, names=[function.__name__])
        found.append((facts(result), own.tobytes(), [str(each.message) for each in warned]))
    assert found[0] == found[1], (x.dtype, x.shape, args)


def drawn(dtype, shape=(4, 6)):
    return (RANDOM.normal(size=shape) * 3).astype(dtype)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1", "?", "c16"])
def test_all_that_a_program_sees(function, dtype):
    staged = ag.function(function, engine="native")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = [drawn(dtype), np.asfortranarray(drawn(dtype)), drawn(dtype, (8, 12))[::2, ::2], drawn(dtype) * 0]
        given += [drawn(dtype, (2, 3)), drawn(dtype, (1, 1))]
    for _ in range(5):
        for x in given:
            for args in ((1, 2), (2, 1), (1, 3), (0, 0), (3, 1), (-1, 2)):
                check(function, staged, x, *args)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_short_calls(function):
    """After some hundred calls, the whole function is one piece."""
    staged, x = ag.function(function, engine="native"), abs(drawn("f4")) + 1
    for _ in range(400):
        staged(x.copy(), 1, 2)
    for given in (x, -x, x * 0, x[:, ::-1].copy(), drawn("f8"), drawn("f4", (40, 60))):
        for args in ((1, 2), (2, 1), (1, 3), (9, 9), (1, None), (1, 2.0)):
            check(function, staged, given, *args)
    fixed = x.copy()
    fixed.flags.writeable = False
    check(function, staged, fixed, 1, 2)
    check(function, ag.function(function, engine="native"), np.ma.array(x), 1, 2)


def test_references():
    staged, x = ag.function(views, engine="native"), drawn("f8")
    for _ in range(400):
        staged(x, 1, 3)
    before = sys.getrefcount(x), sys.getrefcount(x.dtype)
    for _ in range(1000):
        found = staged(x, 1, 3)
        assert found[1].base is x and found[5].base is x
    del found
    assert abs(sys.getrefcount(x) - before[0]) < 3 and abs(sys.getrefcount(x.dtype) - before[1]) < 50


@pytest.mark.parametrize("function", FUNCTIONS)
def test_python_goes_on_wherever_the_code_is_left(fuel, function):
    staged = ag.function(function, engine="native")
    for nodes in range(1, 40, 3):
        fuel.value = nodes
        check(function, staged, drawn("f4"), 1, 2)


def powers(x, y):
    found, total = np.zeros(len(x), "f4"), np.float32(0)
    for i in range(len(x)):
        found[i] = x[i] ** 2 + x[i] ** y[i] - y[i] ** 0.5 + x[i] ** 3 + 2 ** x[i] + x[i] ** -1
        total += x[i] ** 2
    return found, total


@pytest.mark.parametrize("special", [1.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, 1e-40, -2.0])
def test_powers_of_float32(special):
    staged = ag.function(powers, engine="native", passes={"cse": False})     # which saves warnings
    for scale in (1, 1e-3, 1e3):
        x, y = (abs(drawn("f4", 30)) * np.float32(scale) for _ in range(2))
        x[4] = y[7] = special
        for how in ("ignore", "warn", "raise"):
            with np.errstate(all=how, under="ignore"):
                check(powers, staged, x, y)


def test_the_whole_function_is_one_piece():
    staged, x = ag.function(subpixel, engine="native"), np.arange(1, 17, dtype="f4").reshape(4, 4)
    for _ in range(400):
        staged(x, 1, 1)
    report = str(staged.explain(x, 1, 1))
    assert "left to Python" not in report and "stays in Python" not in report, report
