"""Dense, embedding, dropout and sequential layers."""

from __future__ import annotations

import numpy as np
import pytest

from autograph import nn
from tests.comparing import compare

NAMES = {"np": np, "nn": nn}


def twice(layer, x):
    return layer(x), layer(x)


@pytest.mark.parametrize(
    "layer",
    [
        "nn.Dense(4, 2, rng=0)", "nn.Dense(4, 2, nn.relu, bias=False, rng=0, init=nn.he_normal, dtype='f4')",
        "nn.Dropout(0.5, rng=0)", "nn.Dropout(0.5, rng=0).eval()", "nn.Dropout(0)", "nn.Sequential()",
        "nn.Sequential(nn.Dense(4, 3, rng=0), np.tanh, nn.Dropout(0.1, rng=1), nn.Dense(3, 2, nn.softmax, rng=2))",
    ],
)  # fmt: skip
def test_the_same_staged(layer):
    calls = ["np.linspace(-1, 1, 12).reshape(3, 4)", "np.ones(4)", "np.ones((2, 3, 4), 'f4')"]
    compare(twice, *(f"{layer}, {x}" for x in calls), names=NAMES)


def test_dense():
    layer, x = nn.Dense(4, 2, nn.relu, rng=0), np.random.default_rng(1).normal(size=(3, 4))
    layer.b.assign([1, -1])
    assert np.allclose(layer(x), np.maximum(x @ layer.w.value + [1, -1], 0))
    assert list(layer.named_variables()) == ["w", "b"]
    assert list(nn.Dense(4, 2, bias=False).named_variables()) == ["w"]
    assert nn.Dense(4, 2, dtype="f4")(x.astype("f4")).dtype == np.float32


def test_embedding():
    layer = nn.Embedding(5, 3, rng=0)
    numbers = np.array([[1, 2], [0, 4]])
    assert layer(numbers).shape == (2, 2, 3) and np.array_equal(layer(numbers)[1, 1], layer.table[4])
    compare(twice, "nn.Embedding(5, 3, rng=0), np.array([[1, 2], [0, 4]])", "nn.Embedding(5, 3, rng=0), 2", names=NAMES)


def test_dropout_keeps_the_mean():
    layer, x = nn.Dropout(0.25, rng=0), np.ones(100_000)
    y = layer(x)
    assert set(np.unique(y).round(6)) == {0, round(4 / 3, 6)} and abs(y.mean() - 1) < 0.01
    assert layer.eval()(x) is x
    with pytest.raises(ValueError, match=r"at least 0 and less than 1, not 1\.0"):
        nn.Dropout(1.0)


def test_sequential_names_its_layers():
    model = nn.Sequential(nn.Dense(2, 3), nn.relu, nn.Dense(3, 1))
    assert list(model.named_variables()) == ["layers.0.w", "layers.0.b", "layers.2.w", "layers.2.b"]
