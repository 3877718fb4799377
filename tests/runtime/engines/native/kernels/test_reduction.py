"""What is reduced may lie in an array already: in one that comes in, or in one that comes out besides."""

import numpy as np
import pytest

import autograph as ag


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
def test_each_bit_is_numpys(function, columns):
    staged = ag.function(function, engine="native")
    for dtype in (np.float64, np.float32):
        x = np.random.default_rng(columns).normal(size=(3, columns)).astype(dtype)
        for each in (x, x[:, ::2], np.asfortranarray(x), x[:1]):
            for found, wanted in zip(staged(each), function(each)):
                assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.strides == wanted.strides
                assert found.tobytes() == wanted.tobytes()
