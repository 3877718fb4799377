"""Sums over other axes than the last, of arrays that are computed in the same kernel."""

import itertools

import numpy as np
import pytest

from tests.runtime.engines.native.kernels.test_fusion import described, kernels, native, outcome, reported

SHAPES = [(3, 4, 5, 6), (9, 1, 3, 2), (1, 1, 1, 3), (2, 130, 1, 17), (3, 4, 5, 1), (1, 7, 2, 2)]
SHAPES += [(2, 0, 3, 2), (2, 3, 4, 0)]
AXES = [0, 1, (0,), (1, 2), (0, 1, 2), (2, 0), (0, 2), -2, (-4, 1), 3, (1, 3), (), None, (0, 1, 2, 3)]


def sums(axis, keepdims):
    def f(x, y):
        return np.sum(x * y, axis=axis, keepdims=keepdims), (x - y).sum(axis)

    return f


def arrays(shape, dtype, order="C"):
    rng = np.random.default_rng(0)
    found = [rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3, shape) for _ in range(2)]
    return [np.array(each * (1 if np.dtype(dtype).kind == "f" else 9), order=order).astype(dtype) for each in found]


@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "bool", "uint64", "complex64"])
def test_bits_are_those_of_numpy(axis, dtype):
    if dtype == "bool":
        def f(x, y):
            return np.sum(x & y, axis), (x | y).sum(axis)
    else:
        f = sums(axis, dtype == "int8")
    staged = native(f)
    for shape in SHAPES:
        args = arrays(shape, dtype)
        assert outcome(staged, *args) == outcome(f, *args), shape


def test_layouts():
    f = sums((0, 2), False)
    staged, (x, y) = native(f), arrays((6, 7, 8, 9), "float64")
    parts = [np.s_[:], np.s_[1:4], np.s_[:, ::2], np.s_[..., ::2], np.s_[::-1], np.s_[..., ::-1]]
    parts += [np.s_[:, :1], np.s_[..., :1]]
    for (a, b), order in itertools.product(itertools.product(parts, repeat=2), "CF"):
        args = [np.array(each[part], order=order) if order == "F" else each[part] for each, part in ((x, a), (y, b))]
        assert outcome(staged, *args) == outcome(f, *args), (a, b, order)
    for axes in itertools.permutations(range(4)):
        assert outcome(staged, x.transpose(axes), y.transpose(axes)) == outcome(f, x.transpose(axes), y.transpose(axes))


def test_warnings_zeros_and_numbers_that_are_none():
    f = sums((0, 1), False)
    staged = native(f)
    for number in (-0.0, np.inf, -np.inf, np.nan, 1e200, 1e308, 5e-324):
        x = np.full((3, 2, 4), 2.0)
        x[:, 1, 2] = number
        for other in (x, -x, np.ones_like(x)):
            assert outcome(staged, x, other) == outcome(f, x, other), number


def convolution(x, weights):
    size, (count, height, width, _) = len(weights), x.shape
    made = np.empty((count, height - size + 1, width - size + 1, weights.shape[3]), x.dtype)
    for i in range(height - size + 1):
        for j in range(width - size + 1):
            products = x[:, i : i + size, j : j + size, :, None] * weights[None, :, :, :]
            made[:, i, j, :] = np.sum(products, axis=(1, 2, 3))
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_a_convolution(dtype):
    staged = native(convolution)
    for shape, filters in (((2, 6, 7, 3), (2, 2, 3, 4)), ((2, 6, 7, 3), (3, 3, 3, 1)), ((1, 3, 3, 1), (1, 1, 1, 5))):
        (x, _), (weights, _) = arrays(shape, dtype), arrays(filters, dtype)
        for _ in range(2):
            assert described(staged(x, weights)) == described(convolution(x, weights))
    assert "2 operations on arrays (lines" in reported(staged) and kernels(staged)


def test_large_sums_are_added_in_order():
    """By one thread: the parts of several threads would overlap."""
    f = sums(0, True)
    staged, args = native(f), arrays((3000, 40, 30), "float64")
    assert described(staged(*args)) == described(f(*args))


def test_only_the_sums_are_numpys_if_arrays_are_in_fortrans_order():
    def f(x, y):
        return np.sum(np.sqrt(x * y + 9), axis=0)

    staged, (x, y) = native(f), arrays((40, 50), "float64", "F")
    for _ in range(20):
        assert described(staged(abs(x), abs(y))) == described(f(abs(x), abs(y)))
    assert [len(version.schedule) for version in kernels(staged)] == [1]
    assert "3 operations on arrays are one loop" in reported(staged)
