"""Division by one float for each row, which is done without dividing."""

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath.division import LEAST, MOST, NAME, is_supported


def divided(x, by):
    return x / by * 1.0


def text(staged):
    """The text of its only kernel."""
    (kernel,) = staged.traces[-1].executable.native.kernels
    return kernel.compiled[0].code.text


def divisors(rng, count):
    """With those next to powers of two."""
    found = rng.uniform(1, 2, count)
    found[:9] = 1 + np.arange(9) * 2.0**-52
    found[9:18] = 2 - np.arange(1, 10) * 2.0**-52
    return found[:, None]


def dividends(rng, by, count):
    """So that quotients lie next to what is in the middle between two floats, or just anywhere."""
    middle = rng.uniform(0.5, 2, (len(by), count)).astype(np.longdouble) + np.longdouble(2) ** -54
    near = (middle * by).astype(float) + rng.integers(-2, 3, middle.shape) * 2.0**-52
    near[:, ::3] = rng.uniform(1, 2, near[:, ::3].shape)
    near[:, :9] = 2 - np.arange(1, 10) * 2.0**-52
    return near


def test_each_quotient_is_rounded():
    rng, staged = np.random.default_rng(0), ag.function(divided, engine="native")
    for _ in range(20):
        by = divisors(rng, 200)
        x = dividends(rng, by, 1000)
        for scale, other in ((1, 1), (2.0**390, 2.0**-390), (-(2.0**-390), 2.0**390)):
            assert staged(x * scale, by * other).tobytes() == divided(x * scale, by * other).tobytes()


@pytest.mark.parametrize("columns", [*range(1, 18), 1000])
def test_what_is_no_usual_number(columns):
    rng, staged = np.random.default_rng(0), ag.function(divided, engine="native")
    strange = [0.0, -0.0, 5e-324, -1e-310, LEAST / 2, MOST, 1e300, np.inf, -np.inf, np.nan, 3.0]
    x = rng.normal(size=(len(strange), columns))
    x[rng.random(x.shape) < 0.2] = rng.choice(strange)
    for by in (np.array(strange)[:, None], np.full((len(strange), 1), -7.0)):
        with np.errstate(all="ignore"):
            assert staged(x, by).tobytes() == divided(x, by).tobytes()


def test_what_numpy_warns_of():
    staged = ag.function(divided, engine="native")
    for x, by, message in ((1.0, 0.0, "divide by zero"), (0.0, 0.0, "invalid value"), (1e300, 1e-300, "overflow")):
        with pytest.warns(RuntimeWarning, match=message):
            staged(np.full((3, 9), x), np.full((3, 1), by))


@pytest.mark.skipif(not is_supported(), reason="this processor does not fuse")
def test_who_is_not_divided():
    """Only what lies in memory, by what is the same for a row."""
    x, by = np.ones((3, 40)), np.ones((3, 1))
    for function, given, wanted in (
        (divided, (x, by), True),
        (divided, (x, x), False),
        (divided, (by, x), False),
        (divided, (x.astype(np.float32), by.astype(np.float32)), False),
        (lambda x, by: (x - by) / by, (x, by), False),
        (lambda x, by: (x / by).sum(axis=1), (x, by), False),
    ):
        staged = ag.function(function, engine="native")
        staged(*given)
        assert (f"@{NAME}(" in text(staged)) is wanted


def test_strides_and_places():
    """Rows that stand apart, or whose elements do, and a result in the place of what is divided."""
    rng, staged = np.random.default_rng(0), ag.function(divided, engine="native")
    x, by = rng.normal(size=(20, 50)), rng.uniform(1, 2, (20, 1))
    for given in (x[::2], x[::2, ::3], x[::2, 7:30], np.asfortranarray(x)[::2], np.broadcast_to(x[0], (10, 50))):
        assert staged(given, by[::2]).tobytes() == divided(given, by[::2]).tobytes()
