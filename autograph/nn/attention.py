"""Attention with several heads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.nn.activations import softmax
from autograph.nn.dense import Dense
from autograph.nn.initializers import Rng


class MultiHeadAttention(Module):
    """Scaled dot-product attention with several heads (Vaswani and others, 2017).

    Args:
        features: of what comes in and goes out; a multiple of `heads`.
    """

    def __init__(self, features: int, heads: int, bias: bool = True, rng: Rng = None, dtype: Any = float) -> None:
        if features % heads:
            raise ValueError(f"{features} features cannot be divided among {heads} heads")
        rng = np.random.default_rng(rng)
        self.heads = heads
        self.query, self.key, self.value, self.out = [
            Dense(features, features, bias=bias, rng=rng, dtype=dtype) for _ in range(4)
        ]

    def __call__(self, queries: Any, keys: Any = None, values: Any = None, mask: Any = None) -> Any:
        """What each query makes of the values.

        Args:
            queries: of shape (…, m, features).
            keys: of shape (…, n, features); the queries, if not given.
            values: of the same shape; the keys, if not given.
            mask: where queries may look at keys, broadcast to (…, heads, m, n): `np.tri(n, dtype=bool)` lets each look
                at the earlier ones only.

        Returns:
            an array of shape (…, m, features).
        """
        keys = queries if keys is None else keys
        values = keys if values is None else values
        q, k, v = self._split(self.query(queries)), self._split(self.key(keys)), self._split(self.value(values))
        scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(np.shape(q)[-1])
        if mask is not None:
            scores = np.where(mask, scores, np.finfo(self.out.w.dtype).min)
        merged = np.swapaxes(softmax(scores) @ v, -2, -3)
        return self.out(merged.reshape(np.shape(queries)))

    def _split(self, x: Any) -> Any:
        """(…, n, features) as (…, heads, n, features of each)."""
        shape = np.shape(x)
        return np.swapaxes(x.reshape((*shape[:-1], self.heads, shape[-1] // self.heads)), -2, -3)
