"""Clipping of gradients."""

from __future__ import annotations

import numpy as np
import pytest

from autograph import optim
from tests.comparing import compare

GRADIENTS = {"w": np.array([3.0, 0.0]), "b": (np.array([[4.0]]), np.zeros(2))}


def test_by_value():
    clipped = optim.clip_by_value(GRADIENTS, -1, 2)
    assert clipped["w"].tolist() == [2, 0] and clipped["b"][0].tolist() == [[2]] and type(clipped["b"]) is tuple


def test_by_norm():
    clipped = optim.clip_by_norm(GRADIENTS, 3.5)
    assert clipped["w"].tolist() == [3, 0] and clipped["b"][0].tolist() == [[3.5]]
    assert clipped["b"][1].tolist() == [0, 0]


def test_by_global_norm():
    assert optim.global_norm(GRADIENTS) == 5
    clipped = optim.clip_by_global_norm(GRADIENTS, 1)
    assert np.allclose(clipped["w"], [0.6, 0]) and np.allclose(clipped["b"][0], [[0.8]])
    assert optim.global_norm(optim.clip_by_global_norm(GRADIENTS, 6)) == 5
    single = optim.clip_by_global_norm(np.array([3, 4], "f4"), 1)
    assert single.dtype == np.float32


def clips(gradients, norm):
    found = optim.global_norm(gradients)
    return optim.clip_by_value(gradients, -1, 1), optim.clip_by_norm(gradients, norm), found


@pytest.mark.parametrize("function", [clips, optim.clip_by_global_norm])
def test_the_same_staged(function):
    names = {"np": np, "G": GRADIENTS}
    compare(function, "G, 2", "[np.ones(2, 'f4'), np.zeros(3, 'f4')], 0.5", "np.ones(4), 1.0", names=names)
