"""Initializers: their ranges and variances; the same seed, the same numbers."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from autograph import nn
from tests.comparing import compare, of_expression

SHAPE = (400, 600)


@pytest.mark.parametrize(
    "init, variance",
    [
        (nn.glorot_uniform, 2 / 1000), (nn.glorot_normal, 2 / 1000), (nn.he_uniform, 2 / 400),
        (nn.he_normal, 2 / 400), (functools.partial(nn.normal, stddev=0.1), 0.01), (nn.uniform, 0.1**2 / 12),
    ],
)  # fmt: skip
def test_means_and_variances(init, variance):
    drawn = init(SHAPE, rng=0)
    assert abs(drawn.mean()) < 1e-3 and np.isclose(drawn.var(), variance, rtol=0.02)
    assert np.array_equal(drawn, init(SHAPE, np.random.default_rng(0)))
    assert not np.array_equal(drawn, init(SHAPE, rng=1))
    assert init((2, 3), dtype=np.float32).dtype == np.float32


def test_orthogonal():
    for shape in ((5, 3), (3, 5), (4, 4)):
        q = nn.orthogonal(shape, rng=0)
        assert q.shape == shape
        assert np.allclose(q.T @ q if shape[0] >= shape[1] else q @ q.T, np.eye(min(shape)))


def test_convolutions_count_the_field():
    assert np.isclose(nn.he_normal((3, 3, 100, 100), rng=0).var(), 2 / 900, rtol=0.02)


@pytest.mark.parametrize("name", ["glorot_uniform", "he_normal", "orthogonal", "zeros", "ones"])
def test_the_same_staged(name):
    compare(of_expression("seed", f"nn.{name}((3, 4), seed, 'f4')", {"nn": nn}), "0", "1")
