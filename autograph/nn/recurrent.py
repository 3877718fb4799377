"""Recurrent cells: one step of a recurrent network, for the user's own loop.

    h, c = cell.initial_state(len(xs[0]))
    for x in xs:
        h, c = cell(x, (h, c))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.nn.activations import sigmoid
from autograph.nn.initializers import Rng, glorot_uniform, orthogonal
from autograph.variables import Variable


class LSTMCell(Module):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; with a forget gate, Gers and others, 2000).

    The columns of its matrices are those of the input, forget, cell and output gates. The bias of the forget gate
    begins with 1 (Jozefowicz and others, 2015).

    Args:
        inputs, units: x has shape (batch, inputs); both parts of the state, `(h, c)`, have shape (batch, units).
    """

    def __init__(self, inputs: int, units: int, rng: Rng = None, dtype: Any = float) -> None:
        rng = np.random.default_rng(rng)
        self.w = Variable(glorot_uniform((inputs, 4 * units), rng, dtype))
        self.u = Variable(np.concatenate([orthogonal((units, units), rng, dtype) for _ in range(4)], axis=1))
        self.b = Variable(np.repeat(np.array([0, 1, 0, 0], dtype), units))

    def initial_state(self, batch: int) -> tuple[Any, Any]:
        """Zeros."""
        shape = batch, self.u.shape[0]
        return np.zeros(shape, self.u.dtype), np.zeros(shape, self.u.dtype)

    def __call__(self, x: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        h, c = state
        gates = x @ self.w + h @ self.u + self.b
        n = self.u.shape[0]
        i, f, g, o = gates[..., :n], gates[..., n : 2 * n], gates[..., 2 * n : 3 * n], gates[..., 3 * n :]
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c


class GRUCell(Module):
    """Gated recurrent unit (Cho and others, 2014), in the form of cuDNN, PyTorch and Keras (`reset_after`).

    The columns of its matrices are those of the reset gate, the update gate and the candidate.

    Args:
        inputs, units: x has shape (batch, inputs), the state `h` has shape (batch, units).
    """

    def __init__(self, inputs: int, units: int, rng: Rng = None, dtype: Any = float) -> None:
        rng = np.random.default_rng(rng)
        self.w = Variable(glorot_uniform((inputs, 3 * units), rng, dtype))
        self.u = Variable(np.concatenate([orthogonal((units, units), rng, dtype) for _ in range(3)], axis=1))
        self.b = Variable(np.zeros(3 * units, dtype))
        self.c = Variable(np.zeros(3 * units, dtype))

    def initial_state(self, batch: int) -> Any:
        """Zeros."""
        return np.zeros((batch, self.u.shape[0]), self.u.dtype)

    def __call__(self, x: Any, h: Any) -> Any:
        n = self.u.shape[0]
        of_x, of_h = x @ self.w + self.b, h @ self.u + self.c
        reset = sigmoid(of_x[..., :n] + of_h[..., :n])
        update = sigmoid(of_x[..., n : 2 * n] + of_h[..., n : 2 * n])
        new = np.tanh(of_x[..., 2 * n :] + reset * of_h[..., 2 * n :])
        return new + update * (h - new)
