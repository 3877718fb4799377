"""Axes that lie one behind the other in all arrays are one row, so that images of three colors have long rows."""

import itertools

import numpy as np
import pytest

from tests.runtime.engines.native.kernels.test_fusion import described, kernels, native, outcome, reported


def laplace(x):
    return abs(4 * x[1:-1, 1:-1] - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:])


def test_the_colors_of_pixels_are_one_row():
    staged = native(laplace)
    for shape in ((6, 7, 3), (6, 7, 3), (9, 4, 3), (5, 5, 1), (5, 3, 4), (4, 4, 0), (3, 3, 2), (2, 3, 3)):
        x = np.random.default_rng(0).normal(size=shape)
        assert described(staged(x)) == described(laplace(x))
    assert [key[1][2] for key in kernels_of(staged).versions][:1] == [2]


def kernels_of(staged):
    return staged.traces[0].executable.native.kernels[0]


LAYOUTS = {
    "whole": np.s_[:4, :3, :5, :2],
    "first": np.s_[1:5, :3, :5, :2],
    "middle": np.s_[:4, 1:4, :5, :2],
    "last": np.s_[:4, :3, 1:6, :2],
    "every second": np.s_[:4, :3, :5, ::2],
    "backwards": np.s_[:4, :3, 4::-1, :2],
    "one": np.s_[:4, :3, :5, :1],
    "column": np.s_[:4, :3, :1, :2],
    "rows": np.s_[0, :3, :5, :2],
    "row": np.s_[0, 0, :5, :2],
    "number": np.s_[0, 0, 0, :1],
}


@pytest.mark.parametrize("dtype", ["float64", "uint8", "complex64"])
@pytest.mark.parametrize("written", [False, True])
def test_layouts(dtype, written):
    def f(x, y):
        return (x + y) * x - 1

    def g(x, y):
        x += (x + y) * 2
        return x

    plain = g if written else f
    shapes, known = [(4, 3, 5, 2), (6, 5, 7, 4)], {}
    for (first, second), shape in itertools.product(itertools.product(LAYOUTS, repeat=2), shapes):
        def args():
            arrays = [(np.arange(np.prod(shape)) % each).reshape(shape).astype(dtype) for each in (7, 8)]
            return [array[LAYOUTS[name]] for array, name in zip(arrays, (first, second))]

        dims = tuple(array.ndim for array in args())
        staged = known[dims] if dims in known else known.setdefault(dims, native(plain))
        assert outcome(staged, *args()) == outcome(plain, *args()), (first, second, shape)
    assert all(map(kernels, known.values())) or written


def test_arrays_that_are_not_one_row_are_reduced_by_numpy():
    """Their elements are computed by a kernel all the same."""

    def f(x):
        y = x[1:, :-1] * 2 - x[:-1, 1:]
        return y, y.max(), y.sum(), (x * x[:1]).sum()

    staged, x = native(f), np.random.default_rng(0).normal(size=(30, 20))
    for _ in range(3):
        assert outcome(staged, x) == outcome(f, x)
    assert "2 operations on arrays are one loop of machine code" in reported(staged)
    assert "NumPy's" not in reported(staged)
