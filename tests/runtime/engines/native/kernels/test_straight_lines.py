"""Statements on small arrays, one after the other, as one piece of machine code."""

import gc
import sys

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.kernels.test_fusion import outcome

RANDOM = np.random.default_rng(27)


def laplacian(x, h):
    found = np.zeros_like(x)
    found[1:] = (4 / 3) * x[:-1]
    found[0] = (4 / 3) * x[1]
    found[:-1] += (4 / 3) * x[1:]
    found[-1] += (4 / 3) * x[0]
    found += -2.5 * x
    return found / h


def corners(x, h):
    dx, dy = x[1:, 1:] - x[:-1, 1:], x[1:, 1:] - x[1:, :-1]
    x[0] = dx[0, 0] * h
    x[1:, 1:] *= dy
    return dx * dx + dy * dy, x[-1], (dx > dy)


def in_place(x, h):
    x *= h
    x[1:] += x[:-1]
    x[::2] -= 1
    x /= h
    return x


def totals(x, h):
    scaled = x * h
    scaled[1:] -= x[:-1]
    mean = scaled.sum() / len(x)
    x[...] = scaled - mean
    return mean, scaled.max(), x.argmin()


def chosen(x, h):
    low, high = x[x < 0.5] * h, x[(x >= 0.5) & (x < 1.5)] - h
    none = x[x > 1e300]
    x[1:] -= h
    return low.sum() + high.sum(), none.sum(), np.sum(high * (low.sum() + high) + 1), x[x != x[0]] / 2


def parts(x, h):
    inner = ((x + h) * x)[1:]
    both = (inner - x[:-1])[::-1]
    return both[0] + inner[-1], both * inner, inner.max()


def shifted(x, h):
    x[..., 1:] = x[..., :-1]
    return x


def grown(x, h):
    x[1:] += h * x[:-1]
    return x


def extreme(x, h):
    return x.max()


def integers(x, h):
    doubled = x * 2
    doubled[::-1] += x // 3
    doubled[1:] %= 7
    x[:] = doubled
    return doubled, x[0] + x[-1]


FLOATS = [
    *((laplacian, (length,)) for length in (9, 2, 1, 700)),
    *((corners, shape) for shape in ((4, 6), (2, 2), (1, 3))),
    *((in_place, shape) for shape in ((7,), (3, 4), (0,))),
    *((totals, (length,)) for length in (12, 150)),
    *((chosen, (length,)) for length in (1, 12, 150, 600)),
    *((parts, shape) for shape in ((2,), (9,), (600,), (4, 5))),
    *((function, shape) for function in (shifted, grown, extreme) for shape in ((1,), (9,), (4, 5), (3, 3, 3))),
]


def native(function):
    return ag.function(function, engine="native")


def layouts(shape, dtype):
    """Functions that make an array in some layout; each makes equal arrays."""
    numbers = RANDOM.normal(size=shape).astype(dtype)
    yield lambda: numbers.copy()
    yield lambda: np.asfortranarray(numbers).copy(order="K")
    yield lambda: numbers.copy()[::-1]
    yield lambda: np.repeat(np.repeat(numbers, 2, axis=0), 2, axis=-1)[(slice(None, None, 2),) * len(shape)]


def same(staged, function, make, *args):
    x, other = make(), make()
    assert outcome(staged, x, *args) == outcome(function, other, *args)
    assert x.tobytes() == other.tobytes()


@pytest.mark.parametrize("dtype", "df")
@pytest.mark.parametrize("function, shape", FLOATS)
def test_results_and_arguments_are_those_of_numpy(function, shape, dtype):
    staged = native(function)
    for make in [*layouts(shape, dtype)] * 2:
        for h in (0.5, np.float32(3), 7, -0.0):
            same(staged, function, make, h)


@pytest.mark.parametrize("dtype", "bhilBHIL")
def test_integers(dtype):
    staged = native(integers)
    for _ in range(3):
        same(staged, integers, RANDOM.integers(0, 100, 11).astype(dtype).copy, 1)


def test_they_are_one_piece():
    several = (laplacian, (9,)), (in_place, (7,)), (totals, (12,)), (chosen, (9,)), (parts, (9,))
    single = (shifted, (3, 3, 3)), (grown, (4, 5)), (extreme, (9,))
    for function, shape in (*several, *single):
        staged, x = native(function), np.ones(shape)
        staged(x, 0.5)
        assert "are one piece of machine code" in str(staged.explain(x, 0.5))
        assert "region" in staged.traces[0].source and "kernel" not in staged.traces[0].source


def test_larger_arrays_and_single_statements_are_left_to_kernels():
    for function, x in ((laplacian, np.ones(5000)), (lambda x, h: x * h + 1, np.ones(4))):
        staged = native(function)
        staged(x, 0.5)
        assert "one piece" not in str(staged.explain(x, 0.5))


def test_a_statement_beside_others_on_arrays_is_left_to_their_kernel():
    def function(x, h):
        return np.sin(x * h) + 1

    staged, x = native(function), np.ones(300)
    staged(x, 0.5)
    assert "3 operations on arrays are one loop" in str(staged.explain(x, 0.5))


@pytest.mark.parametrize("function, shape", FLOATS)
def test_python_goes_on_from_each_node(function, shape, fuel):
    staged, x = native(function), RANDOM.normal(size=shape)
    for nodes in range(40):
        for _ in range(2):
            fuel.value = nodes
            same(staged, function, x.copy, 0.5)
    fuel.value = -1
    same(staged, function, x.copy, 0.5)


def test_warnings_and_errors_come_where_they_do_in_numpy():
    def function(x, y):
        x[1:] /= y[1:]
        y[:-1] += x[1:]
        x *= y
        return x[3], y / x

    staged = native(function)
    for y in (np.ones(5), np.array([1.0, 0, 1, 1, 1]), np.ones(5) * 1e308, np.array([np.nan, 0, np.inf, 1, 2])):
        for length in (5, 5, 3):
            given, other = ([np.arange(1.0, length + 1), y[:length].copy()] for _ in range(2))
            assert outcome(staged, *given) == outcome(function, *other)
            assert [each.tobytes() for each in given] == [each.tobytes() for each in other]
    read_only = np.ones(5)
    read_only.flags.writeable = False
    for x, y in ((read_only, np.ones(5)), (np.ones(5), read_only), (np.ones(5), np.ones(4))):
        assert outcome(staged, x.copy() if x.flags.writeable else x, y) == outcome(function, x, y)


def test_warnings_of_results_that_nothing_reads():
    def function(x, y):
        x[1:] += y[:-1]
        x / y
        y *= 2
        kept = x - y
        return x * y, kept.sum()

    def loop(x, y):
        for i in range(len(x)):
            x[i] += y[i]
            x[i] / y[i]
            y[i] *= 2
        return x

    for each, shape in ((function, 5), (loop, (3, 4))):
        x, y = np.ones(shape), np.zeros(shape)
        staged = native(each)
        for _ in range(3):
            assert outcome(staged, x.copy(), y.copy()) == outcome(each, x.copy(), y.copy())


def test_code_that_is_always_left_is_given_up():
    def function(x, y):
        z = x * 2
        z[1:] += x[:-1]
        z /= y
        return z - x

    staged, x, y = native(function), np.ones(5), np.zeros(5)
    with np.errstate(all="ignore"):
        for _ in range(5000):
            staged(x, y)
            if not staged.traces[0].executable.native.regions[0].compiled:
                break
    assert "it is left to Python too often" in str(staged.explain(x, y))
    assert outcome(staged, x, y) == outcome(function, x, y) and outcome(staged, y, x) == outcome(function, y, x)


def test_arguments_that_overlap():
    numbers = RANDOM.normal(size=30)

    def function(x, y):
        x[1:] += y[:-1]
        y[2:] = x[2:] * y[1:-1]
        x -= y
        return x + y

    staged = native(function)
    for begin in range(-3, 4):
        one, other = numbers.copy(), numbers.copy()
        found, wanted = (f(each[5:15], each[5 + begin : 15 + begin]) for f, each in ((staged, one), (function, other)))
        assert found.tobytes() == wanted.tobytes() and one.tobytes() == other.tobytes()


def test_results_are_arrays_of_their_own_and_nothing_leaks():
    staged, x = native(laplacian), np.arange(9.0)
    first, second = staged(x, 2.0), staged(x, 2.0)
    references = sys.getrefcount(first)
    assert first is not second and first.flags.owndata and first.base is None and references == 2
    gc.collect()
    before, count = sys.getrefcount(x), len(gc.get_objects())
    for _ in range(100):
        staged(x, 2.0)
    assert abs(len(gc.get_objects()) - count) < 5
    assert sys.getrefcount(x) == before


def test_numbers_that_are_compared_by_identity_stay_python_numbers():
    def function(x, a):
        b = a
        x[1:] += x[:-1]
        x *= 2
        x -= b
        return b is a

    staged = native(function)
    assert staged(np.ones(4), 1.5) is function(np.ones(4), 1.5)
