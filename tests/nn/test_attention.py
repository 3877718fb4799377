"""Attention with several heads, against its formula written out."""

from __future__ import annotations

import numpy as np
import pytest

from autograph import nn
from tests.comparing import compare

NAMES = {"np": np, "nn": nn}
RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 5, 6)), RNG.normal(size=(2, 5, 6))


def written_out(layer, q, k, v, mask):
    q, k, v = layer.query(q), layer.key(k), layer.value(v)
    heads = []
    for at in range(0, 6, 2):
        scores = q[..., at : at + 2] @ k[..., at : at + 2].swapaxes(-1, -2) / np.sqrt(2)
        heads.append(nn.softmax(np.where(mask, scores, -1e30)) @ v[..., at : at + 2])
    return layer.out(np.concatenate(heads, axis=-1))


def test_formula():
    layer = nn.MultiHeadAttention(6, 3, rng=0)
    assert np.allclose(layer(Q, K, V), written_out(layer, Q, K, V, True))
    assert np.allclose(layer(Q), written_out(layer, Q, Q, Q, True))
    mask = RNG.random((3, 5)) > 0.5
    mask[:, 0] = True
    assert np.allclose(layer(Q, K, V, mask), written_out(layer, Q, K, V, mask))
    assert np.allclose(layer(Q, K), written_out(layer, Q, K, K, True))


def test_causal():
    layer, mask = nn.MultiHeadAttention(6, 3, rng=0), np.tri(5, dtype=bool)
    later = K.copy()
    later[:, 3:] = 0
    assert np.allclose(layer(K, mask=mask)[:, :3], layer(later, mask=mask)[:, :3])


def attends(layer, q, k=None, v=None, mask=None):
    return layer(q, k, v, mask)


def test_the_same_staged():
    layer = "nn.MultiHeadAttention(6, 3, rng=0)"
    calls = ["Q", "Q, K, V", "K, mask=np.tri(5, dtype=bool)", "Q[0]", "Q[:1]"]
    compare(attends, *(f"{layer}, {call}" for call in calls), names={**NAMES, "Q": Q, "K": K, "V": V})


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="6 features cannot be divided among 4 heads"):
        nn.MultiHeadAttention(6, 4)
