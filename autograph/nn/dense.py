"""The dense layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.modules import Module
from autograph.nn.initializers import Rng, glorot_uniform
from autograph.variables import Variable


class Dense(Module):
    """activation(x @ w + b).

    Args:
        inputs, outputs: x has shape (…, inputs), what comes out has shape (…, outputs).
        activation: a function, if any.
        bias: whether there is a `b`, which begins with zeros.
        init: makes `w`; see `initializers`.
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
