"""Short vectors that are sorted: `np.sort(x[i - h:i + h + 1])[h]`, without objects."""

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.emit.test_products import native
from tests.runtime.engines.native.kernels.test_fusion import outcome

RANDOM = np.random.default_rng(33)


def middles(x, h):
    found = np.empty_like(x)
    for i in range(x.size):
        window = x[max(0, i - h) : min(x.size, i + h + 1)]
        found[i] = np.sort(window)[window.size // 2]
    return found


def shapes(x, h):
    found = []
    for i in range(h, len(x) - h):
        window = x[i - h : h + i + 1]
        ordered, others = np.sort(window), np.sort(x[h::-1])
        found.append((ordered[-1] - ordered[0], len(window), window.shape, ordered.size, ordered.ndim, others[h // 2]))
    return found


def trimmed(x, h):
    total = 0.0
    for i in range(len(x) - h):
        ordered = np.sort(x[i : i + h])
        total += ordered[1:-1].sum() + np.sort(x[i : i + h] * 2)[0] + ordered.max()
    return total


def kept(x, h):
    found = []
    for i in range(len(x) - h):
        ordered = np.sort(x[i : h + i])
        found.append(ordered[0])
        found.append(ordered.tolist())
    return found


def changed(x, h):
    found = []
    for i in range(len(x) - h):
        ordered = np.sort(x[i : i + h])
        ordered[0] = 1
        found.append(ordered[0] + ordered[-1])
    return found


def beyond(x, h):
    last = []
    for i in range(len(x)):
        last.append(np.sort(x[i : i + h])[h - 1])       # an IndexError at the end
    return last


FUNCTIONS = [middles, shapes, trimmed, kept, changed, beyond]


@pytest.mark.parametrize("engine", ["native", "numpy", "auto"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_windows_of_any_width(function, engine):
    x = RANDOM.normal(size=150)
    staged = ag.function(function, engine=engine)
    for h in (3, 1, 2, 4, 11, 24, 0, 31, 32, 33, 64, 65, 70):
        for each in (x, x[::2], x[::-1]):
            assert outcome(staged, each, h) == outcome(function, each, h)


@pytest.mark.parametrize("dtype", "dfbhiqBHIQ?FDeM")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_windows_of_all_dtypes(function, dtype):
    x = RANDOM.integers(-9, 9, size=40).astype("m8[s]" if dtype == "M" else dtype)
    if dtype in "qQ":
        x = RANDOM.integers(-(2**63), 2**63 - 1, size=40).view(dtype)
    staged = native(function)
    for h in (3, 4):
        assert outcome(staged, x, h) == outcome(function, x, h)


@pytest.mark.parametrize("special", [[np.nan], [np.inf, -np.inf], [-0.0], [0.0, -0.0], [np.nan, 0.0, -0.0, np.inf]])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_numbers_whose_order_is_that_of_numpy(function, special):
    staged = native(function)
    for dtype in "df":
        for count in (1, 9):
            x = RANDOM.integers(-2, 3, size=60).astype(dtype)
            x[RANDOM.integers(0, 60, size=count)] = RANDOM.choice(special, size=count)
            for h in (2, 3, 9):
                assert outcome(staged, x, h) == outcome(function, x, h)


def of_seven(x):
    found = np.empty_like(x)
    for i in range(len(x)):
        window = x[max(0, i - 3) : i + 4]
        ordered = np.sort(window)
        found[i] = ordered[window.size // 2] - ordered[0]
    return found


def test_nothing_calls_python():
    x = RANDOM.normal(size=60)
    assert outcome(ag.function(of_seven, engine="native", strict="native_callback"), x) == outcome(of_seven, x)


def of_other_shapes(x, k):
    found = []
    for i in range(len(x)):
        row, part = x[i], x[i : i + k, 1:]
        found.append((row.size, len(part), part.shape, part.size, part.ndim, part.sum(), np.sort(part)[0, 0], x.size))
        found.append((np.sort(row)[k], np.sort(row[:k], axis=0)[0], np.sort(row, kind="stable")[1], row.T.shape))
    return found


def test_other_shapes_and_options():
    x, staged = RANDOM.normal(size=(7, 5)), native(of_other_shapes)
    for each in (x, x.T, x[::2], x.astype(int), np.asfortranarray(x), x[:, :2], x[:0]):
        for k in (2, 1, 4):
            assert outcome(staged, each, k) == outcome(of_other_shapes, each, k)
