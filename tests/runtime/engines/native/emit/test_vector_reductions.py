"""Reductions of vectors in loops: the bits, classes, warnings and errors of NumPy, without a call of Python."""

import itertools
import tracemalloc

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.emit import combiner, vector_reductions
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.runtime.engines.native.emit.test_products import native, same

RANDOM = np.random.default_rng(3)
LENGTHS = (1, 2, 7, 8, 9, 31, 128, 129, 300, 1030)


def sums(x, found, n):
    for k in range(n):
        found.append((x[k].sum(), np.sum(x[k, 1:]), x[k, ::2].sum(axis=0), np.sum(x[k, ::-1], axis=-1)))


def columns(x, found, n):
    for k in range(n):
        found.append((x[:, k].sum(), x[:, k].max(), x[::-1, k].min(), np.argmax(x[:, k])))


def extremes(x, found, n):
    for k in range(n):
        found.append((x[k].max(), np.min(x[k]), np.amax(x[k, ::-1]), x[k, ::2].min()))


def places(x, found, n):
    for k in range(n):
        found.append((x[k].argmax(), np.argmin(x[k]), np.argmax(x[k, ::-1]), x[k, ::2].argmin()))


def truths(x, found, n):
    for k in range(n):
        found.append((x[k].any(), np.all(x[k]), np.any(x[k, ::-2]), x[k, 1:].all()))


def means(x, found, n):
    for k in range(n):
        found.append((x[k].mean(), np.mean(x[k, ::2])))


def running(x, found, n):
    for k in range(n):
        found.append((np.cumsum(x[k]), x[:, k].cumprod(), np.cumsum(x[k, ::-1], axis=0), x[k, 1:0].cumsum()))


FUNCTIONS = [sums, columns, extremes, places, truths, means, running]


def matrix(dtype, columns, special=None):
    numbers = RANDOM.normal(size=(4, columns)) * 3
    if special is not None:
        numbers[RANDOM.random(numbers.shape) < 0.5] = 0.0
        numbers[RANDOM.random(numbers.shape) < 0.5] *= -1.0
        numbers[2, columns // 2] = special
    with np.errstate(all="ignore"):
        return numbers.astype(dtype)


@pytest.mark.parametrize("dtype", "dfbhiqBHIQ?")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_number_is_that_of_numpy(function, dtype):
    staged = native(function)
    for columns in LENGTHS if dtype in "df" else (1, 15, 100):
        x, wide = matrix(dtype, columns), matrix(dtype, 3 * columns)
        for x in (x, np.asfortranarray(x), wide[:, ::3]):
            ours, theirs = [], []
            staged(x, ours, min(x.shape))
            function(x, theirs, min(x.shape))
            assert repr(ours) == repr(theirs)
            assert [type(each) for row in ours for each in row] == [type(each) for row in theirs for each in row]


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 1e308, -0.0])
def test_numbers_that_numpy_warns_of_or_picks(special):
    for function, dtype in itertools.product(FUNCTIONS, "df"):
        for columns in (1, 5, 20, 130):
            same(lambda x, n, function=function: collected(function, x, n), matrix(dtype, columns, special), 1)
    for function in (sums, means):
        x = matrix("d", 9)
        x[1, 2:4] = special, -special
        x[3] = 1.7e308
        same(lambda x, n, function=function: collected(function, x, n), x, 4)


def collected(function, x, n):
    found = []
    function(x, found, n)
    return found


def test_vectors_without_elements():
    for function in (*FUNCTIONS, total):
        for shape in ((3, 0), (0, 3)):
            same(lambda x, n, function=function: collected(function, x, n), np.zeros(shape), 2)


def total(x, found, n):
    for k in range(n):
        found.append((np.sum(x[k] * x[k - 1]), (x[k] - x[k, 0]).max(), np.argmax(x[:, 0] * 2.0), (x[k] / 3.0).mean()))


def stored(x, found, n):
    for k in range(n):
        found[k] = x[k].sum() + np.max(x[k] - x[k - 1]) + x[k].argmin() + np.mean(x[k] * 0.5) + x[k].any()


def test_computed_vectors():
    for columns, dtype in itertools.product(LENGTHS, "df"):
        same(stored, matrix(dtype, columns), np.zeros(4), 4)
        same(lambda x, n: collected(total, x, n), matrix(dtype, columns), min(4, columns))


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
def test_nothing_calls_python():
    x, ours, theirs = matrix("d", 40), np.zeros(4), np.zeros(4)
    ag.function(stored, engine="native", strict="native_callback")(x, ours, 4)
    stored(x, theirs, 4)
    assert ours.tobytes() == theirs.tobytes()


def test_python_goes_on_wherever_the_code_is_left(fuel):
    x, theirs, staged = matrix("d", 20), np.zeros(4), native(stored)
    stored(x, theirs, 4)
    for nodes in range(1, 80):
        fuel.value, ours = nodes, np.zeros(4)
        staged(x, ours, 4)
        assert ours.tobytes() == theirs.tobytes()


def test_numpy_does_sums_whose_order_is_not_known(monkeypatch):
    monkeypatch.setattr(vector_reductions, "sums_are_known", lambda dtype: False)
    same(stored, matrix("d", 40), np.zeros(4), 4)


def test_numpy_before_2_3_does_sums_of_many_elements(monkeypatch):
    monkeypatch.setattr(combiner, "SUMMED_AT_ONCE", 64)
    same(stored, matrix("d", 60), np.zeros(4), 4)
    same(stored, matrix("d", 70), np.zeros(4), 4)


def test_buffers_are_freed():
    x, found, staged = matrix("d", 5000), np.zeros(4), native(stored)
    staged(x, found, 4)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for special in (1.0, np.nan, np.inf, 1e308):
        x[3, 7:9] = special, -special
        with np.errstate(all="ignore"):
            for _ in range(3):
                staged(x, found, 4)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 1_000_000


@pytest.mark.parametrize("dtype", "dfbhilBHIL?")
def test_running_totals_of_vectors_of_any_length(dtype):
    def total(x):
        return x[::-1].cumsum()[::-1]

    staged = native(total)
    for length in (0, 1, 5, 100_000):
        x = (RANDOM.normal(size=length) * 3).astype(dtype)
        for _ in range(2):
            found, wanted = staged(x), total(x)
            assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
            assert found.strides == wanted.strides and found.base.flags.owndata
    assert "one piece of machine code" in str(staged.explain(x))


def test_running_totals_that_numpy_warns_of():
    def total(x):
        return np.cumsum(x * 1.0), np.cumprod(x)

    for special in (1e308, np.inf, -np.inf, np.nan, -0.0):
        same(total, np.array([special, 1.0, special, 2.0, -special]), calls=3)


def test_running_totals_of_matrices_are_numpys():
    staged, x = native(lambda x: np.cumsum(x, axis=1)), np.ones((3, 4))
    assert (staged(x) == np.cumsum(x, axis=1)).all() and "kernel" not in staged.traces[0].source
