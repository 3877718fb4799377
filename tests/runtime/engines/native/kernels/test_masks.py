"""Writes under masks, of what is computed of the elements that the same mask chooses."""

import itertools

import numpy as np
import pytest

from tests.runtime.engines.native.kernels.test_fusion import described, kernels, native, outcome, reported


def run(function, *args):
    return outcome(function, *args), described(args)


def clipped(x, y, a):
    low = x < a
    x[low] = x[low] + a
    high = x > 2
    x[high] = x[high] * 2 - y[high]
    y[x == y] = 1
    return x, low


def numbers(dtype, shape=(6, 7)):
    rng = np.random.default_rng(0)
    return [rng.integers(0, 5, shape).astype(dtype) for _ in range(2)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "int64", "complex64", "bool", "float16"])
def test_dtypes(dtype):
    staged = native(clipped)
    for shape in ((6, 7), (6, 7), (1, 1), (0, 3), (40, 50)):
        for a in (1, -1, 3):
            x, y = numbers(dtype, shape)
            if dtype == "complex64":
                x, y = x.real.copy(), y * 1j
            assert run(staged, x.copy(), y.copy(), a) == run(clipped, x.copy(), y.copy(), a)


LAYOUTS = {
    "whole": np.s_[:, :, 0], "part": np.s_[1:, :, 0], "last": np.s_[2, :, :], "columns": np.s_[:, 1:, 1],
    "backwards": np.s_[::-1, :, 0], "transposed": None, "one": np.s_[:1, :1, 0], "row": np.s_[:1, :, 0],
}  # fmt: skip


def test_layouts():
    def f(x, y, mask):
        x[mask] = x[mask] / y[mask] + 1
        y[mask] = 3
        return x

    staged = native(f)
    for names in itertools.product(LAYOUTS, repeat=3):
        def args():
            rng = np.random.default_rng(1)
            arrays = [rng.integers(0, 3, (7, 7, 7)) for _ in "xym"]
            parts = [each[LAYOUTS[name]] if LAYOUTS[name] else each[0].T for each, name in zip(arrays, names)]
            return parts[0].astype(float), parts[1].astype(float), parts[2] > 0

        assert run(staged, *args()) == run(f, *args()), names
    assert kernels(staged)


def test_only_chosen_elements_warn():
    def f(x):
        mask = x > 0
        x[mask] = np.log2(1 / x[mask]) + np.sqrt(x[mask])
        other = x != 0
        x[other] = 1 / x[other]
        return x

    staged = native(f)
    for number in (1.0, 0.0, -1.0, 5e-324, np.inf, np.nan, 1e-309):
        for size in (1, 2, 9, 100):
            x = np.linspace(-3, 3, size)
            x[0] = number
            for _ in range(2):
                assert run(staged, x.copy()) == run(f, x.copy())


def test_divisions_by_zero_that_are_not_chosen_stay_machine_code():
    def f(x):
        mask = x > 0
        x[mask] = 1.0 / x[mask]
        return x

    staged = native(f)
    for _ in range(20):
        assert described(staged(np.arange(9.0) - 4)) == described(f(np.arange(9.0) - 4))
    (version,) = kernels(staged)
    assert not version.failures and "4 operations on arrays" in reported(staged)


@pytest.mark.parametrize("shape", [(4, 3), (4,), (3, 5), (1, 4), (3, 1), (5,), ()])
def test_masks_of_other_shapes(shape):
    def f(x, mask):
        x[mask] = x[mask] * 2 + 1
        x[mask] = 7
        return x

    staged = native(f)
    for _ in range(2):
        for mask in (np.ones((3, 4), bool), np.ones(shape, bool), np.ones(shape, int), np.eye(3, 4) > 0):
            assert run(staged, np.arange(12.0).reshape(3, 4), mask) == run(f, np.arange(12.0).reshape(3, 4), mask)


@pytest.mark.parametrize("value", [1, 2.5, True, 1j, 300, -1, 2**70, np.float32(2.5), np.int64(-1), np.bool_(True)])
def test_numbers(value):
    def f(x, mask, value):
        x[mask] = value
        return x

    staged = native(f)
    for dtype in ("float64", "float32", "uint8", "int64", "bool", "complex128"):
        for mask in (np.array([True, False, True]), np.zeros(3, bool)):
            assert run(staged, np.zeros(3, dtype), mask, value) == run(f, np.zeros(3, dtype), mask, value)


def test_arrays_that_overlap():
    def f(x, y, mask):
        x[mask] = y[mask] * 2 + 1
        return x

    staged = native(f)
    for make in (lambda x: (x[1:], x[:-1]), lambda x: (x, x[::-1]), lambda x: (x[:-1], x[1:]), lambda x: (x, x)):
        for kind in (float, int, bool):
            args = [make(np.arange(9).astype(kind)) for _ in range(2)]
            mask = np.arange(len(args[0][0])) % 3 > 0
            assert run(staged, *args[0], mask) == run(f, *args[1], mask)
    for view in (np.s_[:], np.s_[::-1]):
        args = [np.arange(9) % 2 > 0 for _ in range(2)]
        assert run(staged, args[0], args[0].copy(), args[0][view]) == run(f, args[1], args[1].copy(), args[1][view])


def test_the_order_of_effects():
    def f(x, mask, k, log):
        chosen = x[mask]
        log.append(k)
        x[mask] = chosen / 0 + x[mask]
        other = x[mask] / 0
        y = 10 // k
        x[mask] = other + y
        x[~mask] = x[~mask] + [1, 2, 3][k]
        return x, chosen

    staged = native(f)
    for k in (1, 0, 5, 2):
        for mask in (np.eye(3) > 0, np.eye(4) > 0):
            logs = [], []
            assert run(staged, np.ones((3, 3)), mask, k, logs[0])[0] == run(f, np.ones((3, 3)), mask, k, logs[1])[0]
            assert logs[0] == logs[1]


def test_what_is_read_only():
    def f(x, mask):
        x[mask] = x[mask] + 1
        x[mask] = 2
        return x

    staged = native(f)
    for writeable, chosen in itertools.product((True, False, True), (True, False)):
        x = np.ones(4)
        x.flags.writeable = writeable
        mask = np.full(4, chosen)
        assert run(staged, x, mask) == run(f, x, mask)
