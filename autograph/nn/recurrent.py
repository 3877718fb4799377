"""Recurrent cells: one step of a recurrent network, for the user's own loop, or for `RNN`, which has that loop.

    h, c = cell.initial_state(len(xs[0]))
    for x in xs:
        h, c = cell(x, (h, c))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.nn.activations import sigmoid
from autograph.nn.initializers import Rng, glorot_uniform, orthogonal
from autograph.variables import Variable

__all__ = ["RNN", "GRUCell", "LSTMCell", "SimpleRNNCell"]

Activation = Callable[[Any], Any]


class RNN(Module):
    """Runs a cell over sequences, and returns its outputs.

    Args:
        cell: a cell such as `LSTMCell`; its output is its state, or the first part of the state.
        sequences: whether to return all outputs instead of the last one.
        backwards: whether to go from the last item to the first; the outputs are in the order of the steps.

    Example:
        >>> rnn = nn.RNN(nn.LSTMCell(8, 16, rng=0))
        >>> rnn(np.ones((4, 10, 8))).shape          # the last output for each of 4 sequences
        (4, 16)
    """

    def __init__(self, cell: Any, sequences: bool = False, backwards: bool = False) -> None:
        self.cell = cell
        self.sequences = sequences
        self.backwards = backwards

    def __call__(self, x: Any, state: Any = None) -> Any:
        """The outputs, of shape (batch, units), or (batch, time, units) with `sequences`.

        Args:
            x: of shape (batch, time, inputs), with at least one item.
            state: to begin with; by default `cell.initial_state(batch)`.
        """
        if state is None:
            state = self.cell.initial_state(len(x))
        outputs = []
        for at in range(x.shape[1]):
            state = self.cell(x[:, x.shape[1] - 1 - at if self.backwards else at], state)
            if self.sequences:
                outputs.append(_output_of(state))
        return np.stack(outputs, axis=1) if self.sequences else _output_of(state)


def _output_of(state: Any) -> Any:
    return state[0] if isinstance(state, tuple) else state


class _Cell(Module):
    """A cell with matrices `w` and `u`, for inputs and state, and a bias; each has a block of columns for each gate.

    Attributes:
        _biases: the initial bias of each gate.
    """

    _biases: tuple[int, ...]

    def __init__(
        self,
        inputs: int,
        units: int,
        rng: Rng = None,
        dtype: Any = float,
        activation: Activation = np.tanh,
        gate: Activation = sigmoid,
    ) -> None:
        self._make_variables(inputs, units, rng, dtype)
        self.activation = activation
        self.gate = gate

    def _make_variables(self, inputs: int, units: int, rng: Rng, dtype: Any) -> None:
        rng, gates = np.random.default_rng(rng), len(self._biases)
        self.w = Variable(glorot_uniform((inputs, gates * units), rng, dtype))
        self.u = Variable(np.concatenate([orthogonal((units, units), rng, dtype) for _ in range(gates)], axis=1))
        self.b = Variable(np.repeat(np.array(self._biases, dtype), units))

    def initial_state(self, batch: int) -> Any:
        """The zero state.

        Args:
            batch: the number of sequences.
        """
        return np.zeros((batch, self.u.shape[0]), self.u.dtype)


class SimpleRNNCell(_Cell):
    """activation(x @ w + h @ u + b) (Elman, 1990).

    Args:
        inputs, units: the numbers of features: x has shape (batch, inputs), the state `h` has shape (batch, units).
        rng: a `np.random.Generator` or a seed; without one, each layer begins with other numbers.
        dtype: of the variables.
        activation: a function.

    Example:
        >>> cell = nn.SimpleRNNCell(3, 5, rng=0)
        >>> cell(np.ones((2, 3)), cell.initial_state(2)).shape
        (2, 5)
    """

    _biases = (0,)

    def __init__(
        self, inputs: int, units: int, rng: Rng = None, dtype: Any = float, activation: Activation = np.tanh
    ) -> None:
        self._make_variables(inputs, units, rng, dtype)
        self.activation = activation

    def __call__(self, x: Any, h: Any) -> Any:
        return self.activation(x @ self.w + self.b + h @ self.u)


class LSTMCell(_Cell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; with a forget gate, Gers and others, 2000).

    The columns of its matrices belong to the input, forget, cell and output gates. The bias of the forget gate begins
    with 1 (Jozefowicz and others, 2015).

    Args:
        inputs, units: the numbers of features: x has shape (batch, inputs), both parts of the state, `(h, c)`, have
            shape (batch, units).
        rng: a `np.random.Generator` or a seed; without one, each layer begins with other numbers.
        dtype: of the variables.
        activation: of the candidate.
        gate: the activation of the gates.

    Example:
        >>> cell = nn.LSTMCell(3, 5, rng=0)
        >>> h, c = cell(np.ones((2, 3)), cell.initial_state(2))
        >>> h.shape, c.shape
        ((2, 5), (2, 5))
    """

    _biases = (0, 1, 0, 0)

    def initial_state(self, batch: int) -> tuple[Any, Any]:
        """The zero state.

        Args:
            batch: the number of sequences.
        """
        return super().initial_state(batch), super().initial_state(batch)

    def __call__(self, x: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        h, c = state
        gates = x @ self.w + h @ self.u + self.b
        n = self.u.shape[0]
        parts = gates[..., :n], gates[..., n : 2 * n], gates[..., 2 * n : 3 * n], gates[..., 3 * n :]
        return lstm_step(parts, c, self.activation, self.gate)


def lstm_step(gates: Any, c: Any, activation: Activation = np.tanh, gate: Activation = sigmoid) -> tuple[Any, Any]:
    """The next state `(h, c)` of an LSTM.

    Args:
        gates: the inputs of the input, forget, cell and output gates: four arrays of shape (batch, units).
        c: the cell state.
    """
    into, forget, new, out = gates
    c = gate(forget) * c + gate(into) * activation(new)
    return gate(out) * activation(c), c


class GRUCell(_Cell):
    """Gated recurrent unit (Cho and others, 2014), in the form of cuDNN, PyTorch and Keras (`reset_after`).

    The columns of its matrices belong to the reset gate, the update gate and the candidate.

    Args:
        inputs, units: the numbers of features: x has shape (batch, inputs), the state `h` has shape (batch, units).
        rng: a `np.random.Generator` or a seed; without one, each layer begins with other numbers.
        dtype: of the variables.
        activation: of the candidate.
        gate: the activation of the gates.

    Example:
        >>> cell = nn.GRUCell(3, 5, rng=0)
        >>> cell(np.ones((2, 3)), cell.initial_state(2)).shape
        (2, 5)
    """

    _biases = (0, 0, 0)

    def _make_variables(self, inputs: int, units: int, rng: Rng, dtype: Any) -> None:
        super()._make_variables(inputs, units, rng, dtype)
        self.c = Variable(np.zeros(3 * units, dtype))

    def __call__(self, x: Any, h: Any) -> Any:
        n = self.u.shape[0]
        of_x, of_h = x @ self.w + self.b, h @ self.u + self.c
        x, old = [(of[..., :n], of[..., n : 2 * n], of[..., 2 * n :]) for of in (of_x, of_h)]
        update, new = gru_gates(x, old, self.activation, self.gate)
        return new + update * (h - new)


def gru_gates(x: Any, h: Any, activation: Activation = np.tanh, gate: Activation = sigmoid) -> tuple[Any, Any]:
    """The share of the state that a GRU keeps, and the candidate that replaces the rest.

    Args:
        x, h: the parts of the reset gate, the update gate and the candidate that the input and the state give: three
            arrays each.
    """
    update = gate(x[1] + h[1])
    return update, activation(x[2] + gate(x[0] + h[0]) * h[2])
