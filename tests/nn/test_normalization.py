"""Layers that normalize."""

from __future__ import annotations

import numpy as np
import pytest

from autograph import nn
from tests.comparing import compare

NAMES = {"np": np, "nn": nn}
X = np.random.default_rng(0).normal(3, 2, (50, 4))


def used(layer, x):
    first, second = layer(x), layer(x + 1)
    layer.eval()
    third = layer(x)
    layer.train()
    return first, second, third, layer.state_dict()


@pytest.mark.parametrize("layer", ["nn.LayerNorm(4)", "nn.BatchNorm(4)", "nn.BatchNorm(4, 0.5, dtype='f4')"])
def test_the_same_staged(layer):
    calls = ["X", "X[:7]", "X.reshape(5, 10, 4).astype('f4')"]
    compare(used, *(f"{layer}, {x}" for x in calls), names={**NAMES, "X": X})


def test_layer_norm():
    y = nn.LayerNorm(4)(X)
    assert np.allclose(y.mean(axis=-1), 0) and np.allclose(y.std(axis=-1), 1, atol=1e-2)


def test_batch_norm():
    layer = nn.BatchNorm(4, momentum=0.9)
    y = layer(X)
    assert np.allclose(y.mean(axis=0), 0) and np.allclose(y.std(axis=0), 1, atol=1e-4)
    assert np.allclose(layer.mean, 0.1 * X.mean(axis=0)) and np.allclose(layer.variance, 0.9 + 0.1 * X.var(axis=0))
    for _ in range(200):
        layer(X)
    assert np.allclose(layer.eval()(X), y, atol=1e-4)
    assert [path for path, v in layer.named_variables().items() if v.trainable] == ["scale", "shift"]


def test_scale_and_shift():
    for layer in (nn.LayerNorm(4), nn.BatchNorm(4)):
        y = layer(X)
        layer.scale.assign([1, 2, 3, 4])
        layer.shift.assign([0, 1, 0, 1])
        assert np.allclose(layer(X), y * [1, 2, 3, 4] + [0, 1, 0, 1])
