"""Reductions of elements that are in memory: in an operand, or in another result."""

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.emit import combiner
from autograph.runtime.engines.native.kernels.schedule import shown


def powers(x):
    e = np.exp(x)
    return e, e.sum(axis=1)


def doubled(x):
    e = np.exp(x) * 2
    return e, e.max(axis=1, keepdims=True), x


def of_what_came(x):
    return np.sin(x), x.sum(axis=-1)


def logarithms(x):
    e = np.log(np.abs(x) + 1)
    return e, e.mean(axis=1)


def above_one(x):
    e = np.exp(x)
    return e, (e > 1).any(axis=1)


def whole(x):
    e = np.exp(x)
    return e, e.sum()


def of_another_dtype(x):
    e = np.exp(x)
    return e, e.astype(np.float32).sum(axis=1)


def of_what_is_in_between(x):
    e = np.exp(x)
    return e * 2, e.min(axis=1)


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 128, 129, 300, 1030, 9000])
@pytest.mark.parametrize(
    "function",
    [powers, doubled, of_what_came, logarithms, above_one, whole, of_another_dtype, of_what_is_in_between],
)
def test_each_bit_is_that_of_numpy(function, columns):
    staged = ag.function(function, engine="native")
    for dtype in (np.float64, np.float32):
        x = np.random.default_rng(columns).normal(size=(3, columns)).astype(dtype)
        for each in (x, x[:, ::2], np.asfortranarray(x), x[:1]):
            for found, wanted in zip(staged(each), function(each)):
                assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.strides == wanted.strides
                assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("columns", [1, 1024, 1025, 5000])
def test_sums_in_parts_as_numpy_before_2_3(columns, monkeypatch):
    """It filled a buffer, summed that, and added it to what was there; here with a smaller one."""
    monkeypatch.setattr(combiner, "SUMMED_AT_ONCE", 1024)

    def in_parts(x):
        parts = [np.add.reduce(x[:, begin:][:, :1024] * 3, axis=1) for begin in range(0, columns, 1024)]
        return np.add.accumulate(np.array(parts))[-1]

    staged = ag.function(lambda x: (x * 3).sum(axis=1), engine="native")
    x = np.random.default_rng(columns).normal(size=(3, columns))
    assert staged(x).tobytes() == in_parts(x).tobytes()
    (kernel,) = staged.traces[0].executable.native.kernels
    assert "in parts of 1024" in shown(kernel.compiled[0].schedule)
