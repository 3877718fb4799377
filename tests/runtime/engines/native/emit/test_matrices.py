"""Operations on small matrices in loops, without a call of Python: `a[1:-1] += b * c[:, None]`."""

import itertools

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.runtime.engines.native.emit.test_products import native, same

RANDOM = np.random.default_rng(15)


def products(x, y, n):
    for k in range(n):
        x += y[k] * y[:, k][:, None]
        x[1:] -= x[:-1] * 0.5
        y[:, 1:] = x[:, :-1] / 3
    return x


def neighbors(x, y, n):
    for _ in range(n):
        x[1:-1, 1:-1] = (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] - x[1:-1, :-2] + x[1:-1, 2:]) * 0.25
        y[0] = x[1]
        y[:, 0] = -x[:, 1]


def made(x, y, n):
    z = x
    for k in range(n):
        z = x * y + k
        x[:] = y[k]
        x[:, ::-1] += z[0]
    return z


def sums(x, y, n):
    total = 0
    for k in range(n):
        total = total + (x * y).sum() + np.max(x[1:]) + x.min() + (x[:, None] * y[k]).sum() + np.argmax(x - y)
        y[k] += x[k, ::-1]
    return total


def steps(x, y, n):
    for _ in range(n):
        x[::-1, ::2] = y[::-1, ::2] + x[:, ::2]
        y[...] = x
        y[:, None] *= x[..., :1][:, None]
        y[::-2] = y[0, ::-1] + y[-1, -2::-3][0:1]
    return y


def cubes(x, y, n):
    for k in range(n):
        c = x[:, :, None] * y[None]
        x += c[:, 0] - c[k]
    return c


FUNCTIONS = [products, neighbors, made, sums, steps, cubes]


def layouts(dtype, size):
    wide = (RANDOM.normal(size=(2 * size, 3 * size)) * 3).astype(dtype)
    numbers = wide[:size, :size].copy()
    return [numbers, np.asfortranarray(numbers), wide[::2, ::3], wide[::-2, : 2 * size][:, ::-2]]


@pytest.mark.parametrize("dtype", ["d", "f", "i8", "u1"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy_for_all_layouts(function, dtype):
    with np.errstate(all="ignore"):
        for size in (1, 2, 5, 9) if dtype == "d" else (3,):
            several = layouts(dtype, size)
            for x, y in zip(several, several[1:] + several[:1]):
                same(function, x, y, min(size, 3))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_results_have_the_strides_of_numpys(function):
    for x, y in itertools.product(layouts("d", 3), repeat=2):
        theirs = function(x.copy("K"), y.copy("K"), 3)
        ours = native(function)(x.copy("K"), y.copy("K"), 3)
        assert getattr(ours, "strides", None) == getattr(theirs, "strides", None)


@pytest.mark.parametrize("special", [np.inf, np.nan, 1e308, -0.0, 5e-324])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_numpy_warns_of(function, special):
    x, y = RANDOM.normal(size=(2, 4, 4))
    x[2, 3] = special
    same(function, x, y, 3)
    y[1, 1] = -special
    with np.errstate(all="raise"):
        same(function, x, y, 3)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_shapes_and_overlaps(function):
    x, y = RANDOM.normal(size=(2, 4, 4))
    same(function, x, x, 3)
    for shape in ((4, 5), (1, 4), (4, 1), (4,), (2, 4, 4), (0, 4)):
        same(function, x, RANDOM.normal(size=shape), 1)
    same(function, np.ones((0, 4)), np.ones((0, 4)), 0)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        native(function)(y, y, 2)


def test_elements_that_share_memory():
    ours, theirs = (np.lib.stride_tricks.as_strided(np.arange(10.0), (4, 4), (8, 16)) for _ in range(2))
    x = RANDOM.normal(size=(4, 4))
    for function in (products, made):
        native(function)(ours, x.copy(), 2)
        function(theirs, x.copy(), 2)
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_calls_python(function):
    x, y = RANDOM.normal(size=(2, 5, 5))
    staged = ag.function(function, engine="native", strict="native_callback")
    found = staged(x.copy(), y.copy(), 3)
    assert repr(found) == repr(function(x.copy(), y.copy(), 3))
