"""Layers: dense, embedding, dropout, attention; and layers one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.nn.activations import softmax
from autograph.nn.initializers import Rng, glorot_uniform, standard_normal
from autograph.variables import Variable


class Dense(Module):
    """A fully connected layer: activation(x @ w + b).

        layer = nn.Dense(3, 2, nn.relu, rng=0)
        layer(np.ones((5, 3))).shape                # (5, 2)

    Args:
        inputs, outputs: x has shape (…, inputs), the result has shape (…, outputs).
        activation: a function of the result, if any.
        bias: whether to add `b`, which begins with zeros.
        init: makes `w`, of shape (inputs, outputs); see `initializers`.
        rng: a generator or a seed, for `init`.
        dtype: of the variables. The result has the dtype that NumPy gives to `x @ w`.

    Raises:
        ValueError: when it is called, if the last dimension of x is not `inputs` long.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        activation: Callable[[Any], Any] | None = None,
        bias: bool = True,
        init: Callable[..., Any] = glorot_uniform,
        rng: Rng = None,
        dtype: Any = float,
    ) -> None:
        self.w = Variable(init((inputs, outputs), rng, dtype))
        self.b = Variable([0] * outputs, dtype=dtype) if bias else None
        self.activation = activation

    def __call__(self, x: Any) -> Any:
        y = x @ self.w
        if self.b is not None:
            y = y + self.b
        return y if self.activation is None else self.activation(y)


class Embedding(Module):
    """A table of vectors, one for each number (Bengio and others, 2003).

        layer = nn.Embedding(10, 4, rng=0)
        layer(np.array([[1, 2, 1]])).shape          # (1, 3, 4)

    Args:
        size: how many vectors there are. Negative numbers count from the end, as in NumPy.
        features: how long each is: integers of shape (…) give an array of shape (…, features).
        init: makes the table, of shape (size, features); see `initializers`.
        rng: a generator or a seed, for `init`.
        dtype: of the table and of the result.

    Raises:
        IndexError: when it is called, if a number is not below `size`.
    """

    def __init__(
        self,
        size: int,
        features: int,
        init: Callable[..., Any] = standard_normal,
        rng: Rng = None,
        dtype: Any = float,
    ) -> None:
        self.table = Variable(init((size, features), rng, dtype))

    def __call__(self, numbers: Any) -> Any:
        return self.table[numbers]


class Dropout(Module):
    """Sets elements to 0 at random while it is trained, and scales the others so that the mean stays.

    After `eval()` it returns its argument (Srivastava and others, 2014).

        layer = nn.Dropout(0.5, rng=0)
        layer(np.ones(4))                           # each element is 0 or 2
        layer.eval()(np.ones(4))                    # [1, 1, 1, 1]

    Args:
        rate: the share of elements that become 0, at least 0 and less than 1.
        rng: a generator or a seed; each call draws from it.

    Raises:
        ValueError: `rate` is not between 0 and 1.
    """

    def __init__(self, rate: float, rng: Rng = None) -> None:
        if not 0 <= rate < 1:
            raise ValueError(f"the rate of dropout is at least 0 and less than 1, not {rate}")
        self.rate = rate
        self.rng = np.random.default_rng(rng)

    def __call__(self, x: Any) -> Any:
        if not self.training or self.rate == 0:
            return x
        kept = self.rng.random(np.shape(x)) >= self.rate
        return np.where(kept, x / (1 - self.rate), 0)


class Sequential(Module):
    """Calls layers, and any other functions, one after the other: each with the result of the one before it.

        model = nn.Sequential(nn.Dense(4, 8, nn.relu, rng=0), nn.Dropout(0.1, rng=1), nn.Dense(8, 2, rng=2))
        model(np.ones((5, 4))).shape                # (5, 2)
    """

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        self.layers = list(layers)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def flatten(x: Any) -> Any:
    """Each example as one row of features: (batch, …) becomes (batch, features)."""
    return np.reshape(x, (len(x), -1))


class MultiHeadAttention(Module):
    """Scaled dot-product attention with several heads (Vaswani and others, 2017).

        layer = nn.MultiHeadAttention(8, heads=2, rng=0)
        x = np.ones((3, 5, 8))
        layer(x, mask=np.tri(5, dtype=bool)).shape  # (3, 5, 8); each item looks at the earlier ones only

    Args:
        features: of arguments and result; a multiple of `heads`.
        bias: whether the four dense layers have biases.
        rng: a generator or a seed, for the weights.
        dtype: of the variables.

    Raises:
        ValueError: `features` is not a multiple of `heads`.
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
        """For each query the mean of the values, weighted by how well its key fits.

        Args:
            queries: of shape (…, m, features).
            keys: of shape (…, n, features); the queries, if not given.
            values: of the same shape; the keys, if not given.
            mask: where queries may look at keys: truths that broadcast to (…, heads, m, n).

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
