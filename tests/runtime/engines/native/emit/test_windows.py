"""Small parts of an image in loops: `(x[i - 1:i + 2, j - 1:j + 2] * kernel).sum()`."""

import contextlib

import numpy as np
import pytest

import autograph as ag
from autograph.common import numpy_internals
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.runtime.engines.native.emit.test_products import native
from tests.runtime.engines.native.kernels.test_fusion import outcome

RANDOM = np.random.default_rng(21)


def sobel(x, k, out):
    turned = k.T
    for i in range(1, out.shape[0] - 1):
        for j in range(1, out.shape[1] - 1):
            window = x[i - 1 : i + 2, j - 1 : j + 2]
            out[i, j] = np.hypot(np.sum(window * k), (turned * window).sum()) + np.max(window + turned)


def sums(x, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            window = x[i : i + len(k), j : j + k.shape[1]]
            out[i, j] = window.sum() + np.mean(x[max(0, i - 1) : i + 1, max(0, j - 1) : j + 2])


def steps(x, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i::2, j:].sum() + np.sum(x[:, j : j + 1]) + x[i, ::-1].sum() - x[::-1, j:].sum()


def moments(x, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            window = x[i : i + 3, j : j + 3]
            m = window.mean()
            out[i, j] = np.mean((window - m) ** 2) + window.std() + np.var(x[i, j : j + 4] * k[0, 0]) + np.std(x[i])


def medians(x, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            part = x[i, max(0, j - 2) : j + 3]
            out[i, j] = np.median(x[i : i + 3, j : j + 3]) + np.median(part) * 10 + np.median(part + k[0, 0]) * 100
            out[i, j] += np.median(x[:, j : j + 1]) + np.median([x[0, 0], x[i, j]])


FUNCTIONS = [sobel, sums, steps, moments, medians]


def same(function, x, k, size, staged=None):
    """Compare the outcomes of a function and of its machine code, for arrays as they are in memory."""
    staged = staged or native(function)
    for _ in range(2):
        ours, theirs = np.zeros((size, size)), np.zeros((size, size))
        assert outcome(staged, x, k, ours) == outcome(function, x, k, theirs)
        assert bits(ours) == bits(theirs)


def bits(array):
    """The bits of an array, with all NaNs alike: of two in a sum, the compiler may take the one or the other."""
    return np.where(array != array, np.nan, array).tobytes()


def layouts(size, dtype):
    wide = (RANDOM.normal(size=(3 * size, 3 * size)) * 9).astype(dtype)
    numbers = wide[:size, :size].copy()
    return [numbers, wide[:size, :size], np.asfortranarray(numbers), wide[::3, 1::3], wide.T[:size, ::3]]


@pytest.mark.parametrize("dtype", ["d", "f", "i8", "u1", "?"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy_for_all_layouts(function, dtype):
    kernels = layouts(3, dtype if dtype != "?" else "d")
    pairs = list(zip(layouts(14, dtype), kernels[2:] + kernels[:2]))
    for x, k in pairs if dtype == "d" else pairs[:2]:
        same(function, x, k, 12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_kernels_that_are_broadcast_or_do_not_fit(function):
    x = RANDOM.normal(size=(14, 14))
    staged = native(function)
    for shape in ((1, 3), (3, 1), (1, 1), (2, 3), (0, 3), (7, 2)):
        for k in (RANDOM.normal(size=shape), RANDOM.normal(size=shape[::-1]).T):
            same(function, x, k, 12, staged)
    same(function, x, np.broadcast_to(np.arange(3.0), (3, 3)), 12)
    same(function, np.lib.stride_tricks.as_strided(x, (14, 9), (8, 16)), np.ones((3, 3)), 12)
    same(function, np.broadcast_to(x[0], (14, 14)), np.ones((3, 3)), 12)


@pytest.mark.parametrize("special", [np.inf, np.nan, 1.7e308, -0.0, 5e-324])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_numpy_warns_of(function, special):
    x, k = RANDOM.normal(size=(14, 14)), RANDOM.normal(size=(3, 3))
    x[2, 3] = x[3, 3] = special
    staged = native(function)
    same(function, x, k, 12, staged)
    x[3, 4] = special if np.isnan(special) else -special        # the sign of a NaN may be that of either operand
    for state in ("ignore", "raise"):
        with np.errstate(all=state):
            same(function, x, k, 12, staged)
    same(function, np.full((14, 14), special), k, 12, staged)


def large(x, n):
    found = []
    for k in range(n):
        found.append(x[k:, 1:].sum())
    return found


def test_parts_of_any_size():
    staged = native(large)
    for shape in ((3, 3), (40, 20), (64, 129), (64, 130), (2, 9000), (300, 40), (9000, 2)):
        x = RANDOM.normal(size=shape)
        for each in (x, x.astype("f")):
            assert repr(staged(each, 2)) == repr(large(each, 2))


@contextlib.contextmanager
def buffers_of(size):
    before = np.setbufsize(size)
    try:
        yield
    finally:
        np.setbufsize(before)


def test_buffers_of_another_size():
    x, staged = RANDOM.normal(size=(30, 31)), native(large)
    for size in (8192, 16, 160, 8192):
        with buffers_of(size):
            assert repr(staged(x, 2)) == repr(large(x, 2))


def test_numpy_does_sums_whose_order_is_not_known(monkeypatch):
    monkeypatch.setattr("autograph.runtime.engines.native.emit.vector_reductions.sums_of_parts_are_known", lambda _: 0)
    same(sums, RANDOM.normal(size=(14, 14)), np.ones((3, 3)), 12)


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", FUNCTIONS[:2])
def test_nothing_calls_python(function):
    if not numpy_internals.sums_of_parts_are_known(np.dtype("d")):
        pytest.skip("the order of the sums of parts is not known")
    x, k = RANDOM.normal(size=(30, 30)), RANDOM.normal(size=(3, 3))
    ours, theirs = np.zeros((28, 28)), np.zeros((28, 28))
    ag.function(function, engine="native", strict="native_callback")(x, k, ours)
    function(x, k, theirs)
    assert ours.tobytes() == theirs.tobytes()


def of_columns(x, n):
    return [np.median(x[:n, j]) for j in range(x.shape[1])]


def of_rows(x, n):
    return [(np.median(row), np.std(row[:n])) for row in x]


@pytest.mark.parametrize("dtype", "dfbhiqBHIQ?")
def test_medians_of_any_length(dtype):
    x = (RANDOM.integers(0, 9, size=(140, 7)) * RANDOM.choice([-1, -0.0, 1], size=(140, 7))).astype(dtype)
    for function in (of_columns, of_rows):
        staged = native(function)
        for n in (1, 2, 3, 8, 64, 127, 128, 129, 140, 0):
            for each in (x, x.T, x[::2], x[::-1]):
                if n or function is of_rows:
                    assert outcome(staged, each, n) == outcome(function, each, n)


def test_medians_of_large_integers():
    x = RANDOM.integers(-(2**63), 2**63 - 1, size=(9, 6))
    for each in (x, x.view("u8")):
        assert repr(native(of_columns)(each, 8)) == repr(of_columns(each, 8))
