"""Several iterations done at once: what comes of them, what is warned of and where, is as without."""

import numpy as np
import pytest

from autograph.runtime.engines.native.emit import simd
from tests.runtime.engines.native.emit.test_speculation import check, lu
from tests.runtime.engines.native.programs import regions

INF, NAN, BIG = np.inf, np.nan, 1e308


@pytest.fixture(params=[(16, 8), simd.SIZES], autouse=True)
def sizes(request, monkeypatch):
    monkeypatch.setattr(simd, "SIZES", request.param)


def are_at_once(native):
    return ["\nlanes" in version.code.text for region in regions(native) for version in region.compiled]


@pytest.mark.parametrize("size", [1, 4, 5, 16, 17, 39])
@pytest.mark.parametrize("value", [1.0, 0.0, BIG, INF, NAN])
def test_rows_of_matrices(size, value):
    def make():
        a = np.random.default_rng(0).random((size, size)) + 10 * np.eye(size)
        a[size // 2, size // 3] = value
        return (a,)

    native = check(lu, make)
    assert size < 16 or are_at_once(native) == [True]       # few iterations are written out


def scaled(x, y, a, n):
    for i in range(n):
        x[i] = y[i] * a + 1


@pytest.mark.parametrize("places", [(), (0,), (3, 21), (37,), (69,), range(70)])
@pytest.mark.parametrize("values", [(BIG, -BIG), (INF, INF), (INF, -INF), (NAN, NAN), (1e200, 1e300), (-1.7e308, 1e10)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_strange_numbers(places, values, dtype):
    """Also those whose sum is strange, though they are not."""
    def make():
        y = np.linspace(0, 1, 70).astype(dtype)
        with np.errstate(all="ignore"):
            for number, place in enumerate(places):
                y[place] = values[number % 2]
        return np.zeros(70, dtype), y, 4.0, 70

    assert all(are_at_once(check(scaled, make, lambda: (*make()[:2], 1.0, 70))))


@pytest.mark.parametrize("by", [*range(-20, 21), -129, 129])
def test_arrays_that_overlap(by):
    """The number of iterations, and the bytes, by which one array is ahead of another."""
    def elements():
        z = np.linspace(0, 1, 400)
        return z[150 : 150 + 60], z[150 + by : 150 + by + 60], 1.5, 60

    def bytes_apart():
        z = np.zeros(4000, "u1")
        x, y = (z[begin : begin + 480].view("f8") for begin in (1600, 1600 + by))
        return x, y, 1.5, 60

    check(scaled, elements, bytes_apart)


def several(x, y, z, n):
    for i in range(n):
        x[i] = y[i] * 2 + z[3]
        z[i] = x[i + 1] - y[i]


def later(x, y, z, n):
    for i in range(n):
        x[i] = y[i] * 2.0
        z[i] = x[i] + y[i]


@pytest.mark.parametrize("function", [several, later])
@pytest.mark.parametrize(
    "starts", [(0, 100, 200), (0, 1, 200), (1, 0, 200), (0, 100, 2), (2, 100, 0), (5, 5, 4), (0, 0, 0), (0, 39, 20)]
)
def test_several_arrays(function, starts):
    def make():
        w = np.linspace(0, 1, 300)
        return (*(w[start : start + 50] for start in starts), 45)

    assert are_at_once(check(function, make)) == [function is several]


def mixed(x, y, z, flags, n):
    for i in range(n):
        found = np.sqrt(y[i] * y[i]) + z[i]
        x[i] = found * 1.5
        flags[i] = found > y[i]


@pytest.mark.parametrize("dtypes", [("f8", "f8", "f8"), ("f4", "f8", "i4"), ("f8", "f4", "i8"), ("f4", "f4", "u1")])
def test_dtypes(dtypes):
    def make(value=3):
        x, y, z = (np.linspace(0, 100, 45).astype(dtype) for dtype in dtypes)
        y[30] = value
        return x, y, z, np.zeros(45, bool), 45

    assert all(are_at_once(check(mixed, make, lambda: make(1e38), lambda: make(NAN))))


def halves(x, y, n):
    for i in range(n):
        x[i] = int(y[i]) * 2 - i


def test_integers_that_overflow():
    def make(value=7):
        x, y = np.zeros(40, np.int64), np.arange(40)
        y[33] = value
        return x, y, 40

    assert all(are_at_once(check(halves, make, lambda: make(2**62), lambda: make(-(2**63)))))


def backwards(x, y, n):
    for i in range(n - 1, -1, -1):
        x[i] = y[i] * 2.0


def columns(x, y, n):
    for i in range(n):
        x[i, 1] = y[i] * 2.0


def summed(x, y, n):
    total = 0.0
    for i in range(n):
        total += y[i]
        x[i] = total
    return total


def gathered(x, y, n):
    for i in range(n):
        x[i] = y[int(y[i]) % 3] * 2.0


@pytest.mark.parametrize("function", [backwards, columns, summed, gathered])
def test_what_is_not_done_at_once(function):
    x = np.zeros((40, 3) if function is columns else 40)
    native = check(function, lambda: (x.copy(), np.linspace(0, 1, 40), 40))
    assert not any(are_at_once(native))
