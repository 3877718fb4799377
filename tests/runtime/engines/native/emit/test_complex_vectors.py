"""Vectors and small matrices of complex numbers in loops, and products of small matrices, without a call of Python."""

import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.comparing import result_or_error
from tests.runtime.engines.native.emit.test_products import native, outcome, same
from tests.runtime.engines.native.programs import regions

RANDOM = np.random.default_rng(21)
LENGTHS = [0, 1, 2, 7, 33]
DTYPES = ["D", "F", "d", "f", "i4", "?"]


def draw(shape, dtype):
    numbers = RANDOM.normal(size=shape) * 3
    with np.errstate(all="ignore"):
        return (numbers + 1j * RANDOM.normal(size=shape) if dtype in "FD" else numbers).astype(dtype)


def sums(x, y, n, a):
    for k in range(n):
        x[k] += a * y[k]
        x[k] = -y[k] * x[k] + x[k - 1] * 0.5
        x[k] -= np.square(x[k - 1]) - np.conjugate(y[k])


def columns(x, y, n, a):
    for k in range(n):
        x[1:, k] = y[1:, k] * a
        x[1:, k] -= 2 * x[:-1, k]
        x[::2, k] *= x[::2, k]
        x[::-1, k] *= x[:, k]


def filled(x, y, n, a):
    for k in range(n):
        x[k, 3:] = a
        x[k, -2:] = 0
        x[k, :1] = 2.5j
        x[k] += 1
        x[k] = x[k] * x[k, 0] + True


def kept(x, y, n, a):
    found = []
    for k in range(n):
        z = x[k] * a
        found.append(z)
        z += y[k - 1]
        y = x[:, ::-1] + y[k]
    return found, y


def products(x, y, n, a):
    total = 0
    for k in range(n):
        total = total + (x[k] * a) @ x[k - 1]
    return total


FUNCTIONS = [sums, columns, filled, kept, products]


def layouts(rows, length, dtype):
    numbers, wide = draw((rows, length), dtype), draw((2 * rows, 3 * length), dtype)
    return [numbers, np.asfortranarray(numbers), wide[::2, ::3], wide[::-2, : 2 * length][:, ::-2]]


def outcomes(function, staged, *args):
    """What a function and its machine code give, with their arguments after it; all NaNs are alike."""
    found = []
    for each in (function, staged):
        given = [arg.copy("K") if isinstance(arg, np.ndarray) else arg for arg in args]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = result_or_error(each, *given, names=[function.__name__])
        parts = [*given, *tree(result)]
        others = [str(part) for part in parts if not isinstance(part, (np.ndarray, np.generic))]
        arrays = [bits(part) for part in parts if isinstance(part, (np.ndarray, np.generic))]
        found.append((arrays, type(result), others, [str(each.message) for each in warned]))
    return found


def tree(result):
    return [leaf for part in result for leaf in tree(part)] if isinstance(result, (list, tuple)) else [result]


def bits(array):
    parts = np.ascontiguousarray(array)
    parts = parts.view(parts.real.dtype) if parts.dtype.kind == "c" else parts
    return array.dtype, array.shape, np.where(parts != parts, np.nan, parts).tobytes()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["D", "F"])
def test_each_bit_is_that_of_numpy(function, dtype):
    staged = native(function)
    for length in LENGTHS:
        length += 4 * (function is columns)
        for x, y in zip(layouts(4, length, dtype), layouts(4, length, dtype)[::-1]):
            for a in (0.5, 1 - 2j):
                one, other = outcomes(function, staged, x, y, 4, a)
                assert one == other, (length, x.strides, y.strides, a)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("a", [2, np.complex128(0.3j), np.complex64(1j), np.float32(3), True])
def test_factors(function, a):
    for dtype in "DF":
        one, other = outcomes(function, native(function), draw((4, 5), dtype), draw((4, 5), dtype), 4, a)
        assert one == other


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtypes", [("D", each) for each in DTYPES] + [("F", "D"), ("F", "f"), ("F", "i4"), ("d", "D")])
def test_dtypes(function, dtypes):
    one, other = outcomes(function, native(function), draw((4, 5), dtypes[0]), draw((4, 5), dtypes[1]), 4, 1 - 2j)
    assert one == other


@pytest.mark.parametrize("special", [np.inf, complex(0, np.nan), complex(np.inf, -np.inf), 1e308, 1e200j, -0.0, 1e-300])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_numpy_warns_of(special, function):
    staged = native(function)
    for dtype in "DF":
        x, y = draw((4, 6), dtype), draw((4, 6), dtype)
        with np.errstate(all="ignore"):
            x[2, -1], y[1, 0] = special, special
        for a in (0.5, special):
            for how in ("warn", "raise"):
                with np.errstate(over=how, invalid=how, under="ignore"):
                    one, other = outcomes(function, staged, x, y, 4, a)
                assert one == other, (dtype, a, how)


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", [sums, columns, filled])
def test_nothing_calls_python(function):
    staged = ag.function(function, engine="native", strict="native_callback")
    for dtype in "DF":
        x, y = draw((4, 5), dtype), draw((4, 5), dtype)
        ours, theirs = x.copy(), x.copy()
        staged(ours, y, 4, 1j)
        function(theirs, y, 4, 1j)
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("function", [sums, columns, filled, kept])
def test_python_goes_on_wherever_the_code_is_left(fuel, function):
    args, staged = (draw((3, 5), "D"), draw((3, 5), "D")), native(function)
    theirs = [each.copy() for each in args]
    expected = outcome(function, *theirs, 3, 1 - 2j)
    for nodes in range(1, 60, 2):
        fuel.value, ours = nodes, [each.copy() for each in args]
        assert outcome(staged, *ours, 3, 1 - 2j) == expected
        assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]


def test_read_only_and_unaligned_arrays():
    for dtype in "DF":
        x, y = draw((4, 5), dtype), draw((4, 5), dtype)
        fixed, size = x.copy(), x.itemsize
        fixed.flags.writeable = False
        same(sums, fixed, y, 4, 1j)
        for offset in (1, size // 2):       # not aligned; aligned as its parts are
            for function in (sums, columns, filled):
                rooms = [np.zeros(20 * size + offset, np.uint8) for _ in range(2)]
                ours, theirs = (room[offset:].view(dtype).reshape(4, 5) for room in rooms)
                ours[:] = theirs[:] = x / 4
                staged = native(function)
                for _ in range(2):
                    staged(ours, y, 2, 1j)
                    function(theirs, y, 2, 1j)
                    assert ours.tobytes() == theirs.tobytes()


# Small matrices -------------------------------------------------------------------------------------------------------


def energies(a, b, c, n):
    """As in npbench's `scattering_self_energies`."""
    for i in range(n):
        for j in range(n):
            if j >= i:
                left = a[i] @ b[j]
                right = b[i] * a[j, 0, 1]
                c[i] += left @ right
    return c


def chained(a, b, c, n):
    for i in range(n):
        c[i] = a[i] @ b[i] @ a[i - 1]
        b[i] -= c[i] @ b[i]
        c[i, 0] = a[i] @ b[i, 0]
    return c


def returned(a, b, c, n):
    found = []
    for i in range(n):
        d = a[i] @ b[i]
        found.append(d)
        d += c[i]
        c[i] = d @ d
    return found, d


SMALL = [energies, chained, returned]


@pytest.mark.parametrize("dtype", ["D", "F", "d", "i8"])
@pytest.mark.parametrize("function", SMALL)
@pytest.mark.parametrize("size", [1, 3, 8, 9])
def test_products_of_small_matrices(function, dtype, size):
    with np.errstate(all="ignore"):
        a, b, c = (draw((3, size, size), dtype) / 4 for _ in range(3)) if size > 1 else (
            draw((3, 2, 2), dtype)[:, :1] for _ in range(3))     # fmt: skip
        a, b, c = (each.astype(dtype) for each in (a, b, c))
        same(function, a, b, c, 3)
        same(function, np.asfortranarray(a), b[::-1], c.transpose(0, 2, 1), 3)


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("dtype", ["D", "d"])
@pytest.mark.parametrize("function", [energies, chained])
def test_products_without_python(function, dtype):
    args = [draw((3, 3, 3), dtype) / 4 for _ in range(3)]
    staged = ag.function(function, engine="native", strict="native_callback")
    for _ in range(3):
        ours, theirs = ([each.copy() for each in args] for _ in range(2))
        assert staged(*ours, 3).tobytes() == function(*theirs, 3).tobytes()
        assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]


@pytest.mark.parametrize("special", [np.inf, np.nan, 1e200, -0.0])
@pytest.mark.parametrize("function", SMALL)
def test_products_that_warn(special, function):
    for dtype in "Dd":
        a, b, c = (draw((3, 3, 3), dtype) for _ in range(3))
        a[1, 2, 0] = b[2, 0, 1] = special
        staged = native(function)
        for how in ("warn", "raise"):
            with np.errstate(over=how, invalid=how):
                one, other = outcomes(function, staged, a, b, c, 3)
            assert one == other


@pytest.mark.parametrize("function", SMALL)
def test_products_that_are_left_anywhere(fuel, function):
    args, staged = [draw((3, 2, 2), "D") for _ in range(3)], native(function)
    theirs = [each.copy() for each in args]
    expected = outcome(function, *theirs, 3)
    for nodes in range(1, 50, 2):
        fuel.value, ours = nodes, [each.copy() for each in args]
        assert outcome(staged, *ours, 3) == expected
        assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]


def test_lengths_that_do_not_fit():
    a, b, c = draw((3, 3, 2), "d"), draw((3, 3, 3), "d"), draw((3, 3, 3), "d")
    for function in SMALL:
        same(function, a, b, c, 3)
        same(function, b, b, draw((3, 2, 2), "d"), 3)
        same(function, b, b, c, 4)


def test_arrays_of_another_shape():
    """One trace may get arrays of several shapes, and code that has constants for them must not take these."""

    def reshaped(a, b, c, n, shape):
        a.shape = b.shape = c.shape = shape
        for i in range(n):
            for j in range(n):
                c[i] += a[i] @ b[j]
        return c

    for function, more in ((energies, [()]), (reshaped, [((3, 3, 3),), ((3, 9, 1),), ((3, 1, 9),), ((3, 3, 3),)])):
        for shape in ((3, 3, 3), (4, 3, 3), (3, 3, 3), (3, 4, 4), (3, 3, 3)):
            for rest in more:
                args = [draw(shape, "d") for _ in range(3)]
                same(function, *args, 3, *rest)


def test_who_calls_the_code_checks_shapes():
    staged = native(energies)
    args = [draw((3, 3, 3), "d") for _ in range(3)]
    for _ in range(3):
        staged(*[each.copy() for each in args], 3)
    (region,) = regions(staged)
    (version,) = region.compiled
    assert set(version.shapes.values()) == {(3, 3, 3)} and not region.reshaped
    given = [draw((4, 2, 2), "d") if place in version.shapes else range(3) for place in range(len(region.values))]
    for count, call in enumerate((region, version.entry), 1):
        ours, theirs = ([each.copy() if isinstance(each, np.ndarray) else each for each in given] for _ in range(2))
        call(*ours)
        energies(*theirs[2:], 3)
        assert region.reshaped == count
        assert [each.tobytes() for each in ours[2:]] == [each.tobytes() for each in theirs[2:]]
