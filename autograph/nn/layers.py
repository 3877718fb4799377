"""Layers: dense, embedding, dropout, attention, and sequences of layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.nn.activations import softmax
from autograph.nn.initializers import Rng, glorot_uniform, standard_normal
from autograph.variables import Variable

__all__ = ["Dense", "Dropout", "Embedding", "MultiHeadAttention", "Sequential", "flatten"]


class Dense(Module):
    """A fully connected layer: activation(x @ w + b).

    Args:
        inputs, outputs: the numbers of features: of x, whose shape is (…, inputs), and of the result, (…, outputs).
        activation: a function of the result; None for none.
        bias: whether to add `b`, which is zero at first.
        init: makes `w`, of shape (inputs, outputs); see `initializers`.
        rng: a `np.random.Generator` or a seed; without one, each layer begins with other numbers.
        dtype: of the variables.

    Raises:
        ValueError: when it is called, if the last dimension of x is not `inputs` long.

    Example:
        >>> nn.Dense(2, 1, init=nn.ones)(np.array([[1.0, 2.0]]))
        array([[3.]])
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
    """Looks up a vector for each number in a table (Bengio and others, 2003).

    Args:
        size: the number of vectors. Negative numbers count from the end, as in NumPy.
        features: the length of a vector: numbers of shape (…) give an array of shape (…, features).
        init: makes the table, of shape (size, features); see `initializers`.
        rng: a `np.random.Generator` or a seed; without one, each layer begins with other numbers.
        dtype: of the variables.

    Raises:
        IndexError: when it is called, if a number is not less than `size`.

    Example:
        >>> nn.Embedding(10, 4)(np.array([1, 1, 7])).shape
        (3, 4)
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
    """Sets random elements to 0 during training, and scales the others so that the mean stays.

    After `eval()` it returns its argument (Srivastava and others, 2014).

    Args:
        rate: the share of elements that become 0, at least 0 and less than 1.
        rng: a `np.random.Generator` or a seed; without one, each layer draws other numbers.

    Raises:
        ValueError: the rate is out of range.

    Example:
        >>> nn.Dropout(0.5).eval()(np.array([1.0, 2.0]))
        array([1., 2.])
    """

    def __init__(self, rate: float, rng: Rng = None) -> None:
        if not 0 <= rate < 1:
            raise ValueError(f"the rate of dropout is at least 0 and less than 1, not {rate}")
        self.rate = rate
        self.rng = np.random.default_rng(rng)

    def __call__(self, x: Any) -> Any:
        if not self.training or self.rate == 0:
            return x
        mask = self.rng.random(np.shape(x)) >= self.rate
        return np.where(mask, x / (1 - self.rate), 0)


class Sequential(Module):
    """Calls layers, or other functions, one after another, each with the result of the previous one.

    Args:
        layers: the functions.

    Example:
        >>> model = nn.Sequential(nn.Dense(2, 3, nn.relu, rng=0), nn.Dense(3, 1, rng=1))
        >>> model(np.ones((5, 2))).shape
        (5, 1)
    """

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        self.layers = list(layers)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def flatten(x: Any) -> Any:
    """Reshape all dimensions but the first to one: (batch, …) becomes (batch, features).

    Args:
        x: an array with at least one dimension.

    Returns:
        an array with two dimensions.

    Example:
        >>> nn.flatten(np.ones((2, 3, 4))).shape
        (2, 12)
    """
    return np.reshape(x, (len(x), -1))


class MultiHeadAttention(Module):
    """Scaled dot-product attention with several heads (Vaswani and others, 2017).

    Args:
        features: the number of features of arguments and results; a multiple of `heads`.
        heads: the number of heads.
        bias: whether the four dense layers have a bias.
        rng: a `np.random.Generator` or a seed; without one, each layer begins with other numbers.
        dtype: of the variables.

    Raises:
        ValueError: the number of features is no multiple of the number of heads.

    Example:
        >>> attention = nn.MultiHeadAttention(8, heads=2, rng=0)
        >>> attention(np.ones((5, 3, 8)), mask=np.tri(3, dtype=bool)).shape
        (5, 3, 8)
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
        """Average the values, weighted by how well their keys match each query.

        Args:
            queries: of shape (…, m, features).
            keys: of shape (…, n, features); by default the queries.
            values: of the same shape as the keys; by default the keys.
            mask: true where a query may look at a key, broadcast to (…, heads, m, n): `np.tri(n, dtype=bool)` lets each
                look at the earlier ones only.

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
        """Reshape (…, n, features) to (…, heads, n, features / heads)."""
        shape = np.shape(x)
        return np.swapaxes(x.reshape((*shape[:-1], self.heads, shape[-1] // self.heads)), -2, -3)
