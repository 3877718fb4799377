"""`//` and `%` of arrays of floats: each bit is NumPy's, which takes the remainder of `fmod`."""

import numpy as np
import pytest

from tests.runtime.engines.native.kernels.test_fusion import kernels, native, outcome

RANDOM = np.random.default_rng(4)
SIZE = 3000


def both(x, y):
    return x // y, x % y, (x + 1) // y * 2, np.floor_divide(y, x + 0.3), np.remainder(x, y) - x


def by_numbers(x, y):
    return x // 3.7, 3.7 // (y + 9), x % -0.7, 2 // (y + 9), x // 2, -x % 1


def in_place(x, y):
    x //= y
    y[x > 0] = y[x > 0] % 3 + x[x > 0]
    x %= 0.7
    return x


NUMBERS = {
    "normal": lambda: RANDOM.normal(size=SIZE) * 30,
    "integers": lambda: RANDOM.integers(-60, 60, SIZE) * 1.0,
    "tenths": lambda: RANDOM.integers(-60, 60, SIZE) * 0.1,
    "near one": lambda: RANDOM.integers(-3, 4, SIZE) * (1 + RANDOM.integers(-2, 3, SIZE) * 2.0**-52),
    "near one, single": lambda: RANDOM.integers(-3, 4, SIZE) * (1 + RANDOM.integers(-2, 3, SIZE) * 2.0**-23),
    "subnormal": lambda: RANDOM.integers(-5, 6, SIZE) * RANDOM.choice([5e-324, 1e-310, 1e-45, 1e-40], SIZE),
    "of both signs": lambda: np.where(RANDOM.random(SIZE) < 0.3, RANDOM.choice([0.0, -0.0], SIZE), 0.1),
}


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("divisors", NUMBERS)
@pytest.mark.parametrize("dividends", NUMBERS)
def test_each_bit_is_that_of_numpy(dividends, divisors, dtype):
    x, y = NUMBERS[dividends]().astype(dtype), NUMBERS[divisors]().astype(dtype)
    y[y == 0] = 1.5
    staged = native(lambda x, y: (x // y, x % y))
    with np.errstate(all="ignore"):
        is_small = np.abs(x / y) < 2**19
        x[~is_small] = 7.25
        y[~is_small] = -0.125
        for _ in range(3):
            wanted = x // y, x % y
            assert [each.tobytes() for each in staged(x, y)] == [each.tobytes() for each in wanted]
    assert sum(version.failures for version in kernels(staged)) == 0 and kernels(staged)


@pytest.mark.parametrize("dtype", ["d", "f"])
def test_multiples_and_their_neighbors(dtype):
    y = NUMBERS["normal"]().astype(dtype)
    y[y == 0] = 1.5
    x = y * RANDOM.integers(-(2**18), 2**18, SIZE).astype(dtype)
    for to in (x, np.nextafter(x, np.inf, dtype=dtype), np.nextafter(x, -np.inf, dtype=dtype)):
        staged = native(both)
        for _ in range(3):
            assert outcome(staged, to, y) == outcome(both, to, y)


@pytest.mark.parametrize("special", [0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 2.0**50, 5e-324])
@pytest.mark.parametrize("function", [both, by_numbers, in_place])
def test_special_numbers_and_warnings(function, special):
    for place in (0, 1):
        args = [RANDOM.normal(size=40) + 3 for _ in range(2)]
        args[place][::7] = special
        staged = native(function)
        for _ in range(3):
            ours, theirs = ([each.copy() for each in args] for _ in range(2))
            assert outcome(staged, *ours) == outcome(function, *theirs)
            assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]
