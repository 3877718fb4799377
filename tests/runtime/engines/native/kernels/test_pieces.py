"""Rows of narrow numbers of any length: the last vector is shifted inwards, and computes some elements twice."""

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.kernels.schedule import shown
from tests.runtime.engines.native.kernels.test_fusion import kernels, native, outcome

LENGTHS = [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 190]


def around(cells):
    beside = cells[1:-1, :-2] + cells[1:-1, 2:]
    return cells[:-2, 1:-1] + cells[2:, 1:-1] + beside


def shares(x, row, column):
    return (x & row) + column, x > row


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32"])
def test_rows_of_all_lengths(dtype):
    """With rows that are broadcast, and of which each is one element."""
    rng = np.random.default_rng(0)
    functions = {plain: native(plain) for plain in (around, shares)}
    for length in LENGTHS:
        cells = rng.integers(0, 50, (7, length + 2)).astype(dtype)
        x = cells[:, 1:-1]
        for plain, args in {around: (cells,), shares: (x, x[0].copy(), x[:, :1].copy())}.items():
            assert outcome(functions[plain], *args) == outcome(plain, *args), (plain, length)


def test_what_is_written_elsewhere_may_be_computed_twice():
    @ag.function(engine="native")
    def f(x, out):
        out[:, 1:] = x[:, :-1] * 2 + x[:, 1:]
        return out

    rng = np.random.default_rng(0)
    for length in LENGTHS:
        x, out = (rng.integers(0, 50, (5, length + 1)).astype("uint8") for _ in range(2))
        expected = np.hstack([out[:, :1], x[:, :-1] * 2 + x[:, 1:]])
        assert f(x, out).tobytes() == expected.tobytes()
    assert all("shifted inwards" in shown(version.schedule) for version in kernels(f))


def test_what_is_written_where_it_is_read_is_computed_once():
    @ag.function(engine="native")
    def f(x, y):
        x += x * 2 + y
        return x

    rng = np.random.default_rng(0)
    for length in LENGTHS:
        room, y = rng.integers(0, 50, (5, length + 1)).astype("uint8"), rng.integers(0, 50, length).astype("uint8")
        expected = room[:, 1:] * 3 + y
        assert f(room[:, 1:], y).tobytes() == expected.tobytes()
    assert not any("shifted inwards" in shown(version.schedule) for version in kernels(f))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "bool"])
def test_pieces_are_vectors_however_little_is_done(dtype):
    """Also those of 16 bytes."""

    def f(x, y):
        return (x[:, 1:] ^ y[:, 1:]) | x[:, :-1]

    x, y = (np.random.default_rng(seed).integers(0, 2, (9, 64)).astype(dtype) for seed in (1, 2))
    staged = native(f)
    for width in (64, 41, 17 * x.itemsize):
        assert outcome(staged, x[:, :width], y[:, :width]) == outcome(f, x[:, :width], y[:, :width])
    assert f"<{16 // x.itemsize} x i{8 * x.itemsize}>" in staged.lower(x, y).llvm
