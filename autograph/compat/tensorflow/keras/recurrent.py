"""Layers of `tf.keras.layers` for sequences: `SimpleRNN`, `LSTM`, `GRU`, by the steps of `autograph.nn`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograph.compat.tensorflow.keras import activations, initializers
from autograph.compat.tensorflow.keras.layer import Layer
from autograph.compat.tensorflow.ops import array_ops, math_ops
from autograph.compat.tensorflow.ops.tensor_array import TensorArray
from autograph.compat.tensorflow.staging.control import while_loop
from autograph.nn.recurrent import gru_gates, lstm_step

__all__ = ["GRU", "LSTM", "SimpleRNN"]


class _Recurrent(Layer):
    """A layer with a state, which each item of a sequence updates.

    Attributes:
        gates: the number of gates; each has `units` numbers.
        parts: the number of tensors in the state; the first one is the output.
    """

    gates: int
    parts = 1

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform", recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros", return_sequences: bool = False, return_state: bool = False,
        go_backwards: bool = False, **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.use_bias = use_bias
        self.initializers: tuple[Any, ...] = kernel_initializer, recurrent_initializer, bias_initializer
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        kernel, recurrent, bias = self.initializers
        width = self.gates * self.units
        self.kernel = self.add_weight("kernel", (input_shape[-1], width), initializer=kernel)
        self.recurrent_kernel = self.add_weight("recurrent_kernel", (self.units, width), initializer=recurrent)
        if self.use_bias:
            self.bias = self.add_weight("bias", self.bias_shape, initializer=bias)

    @property
    def bias_shape(self) -> tuple[int, ...]:
        return (self.gates * self.units,)

    def input_gates(self, inputs: Any) -> Any:
        """The part of the gates that depends on the inputs only, for all items at once."""
        result = math_ops.matmul(inputs, self.kernel)
        return result if self.bias is None else result + self.bias

    def step(self, x: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """The next state, from the part of the gates that one item gives, and the state."""
        raise NotImplementedError(f"the layer {self.name} has no method step")

    def call(self, inputs: Any, initial_state: Any = None) -> Any:
        steps = array_ops.transpose(self.input_gates(inputs), [1, 0, 2])
        count, state = array_ops.shape(steps)[0], initial_state
        if state is None:
            zeros = array_ops.zeros([array_ops.shape(inputs)[0], self.units], steps.dtype)
            state = [zeros] * self.parts
        state = tuple(state) if isinstance(state, (list, tuple)) else (state,)
        outputs = TensorArray(steps.dtype, count if self.return_sequences else 0, element_shape=[None, self.units])

        def iteration(number: Any, state: Any, outputs: Any) -> Any:
            state = self.step(steps[count - 1 - number if self.go_backwards else number], state)
            return number + 1, state, outputs.write(number, state[0]) if self.return_sequences else outputs

        _, state, outputs = while_loop(lambda number, *_: number < count, iteration, (0, state, outputs))
        result = array_ops.transpose(outputs.stack(), [1, 0, 2]) if self.return_sequences else state[0]
        if self.return_sequences:
            result.set_shape([*inputs.shape[:2], self.units])
        return [result, *state] if self.return_state else result

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (*input_shape[: 2 if self.return_sequences else 1], self.units)


class SimpleRNN(_Recurrent):
    """activation(inputs @ kernel + bias + state @ recurrent_kernel)."""

    gates = 1

    def step(self, x: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.activation(x + math_ops.matmul(state[0], self.recurrent_kernel)),)


class LSTM(_Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); see `nn.LSTMCell`."""

    gates, parts = 4, 2

    def __init__(self, units: int, *args: Any, unit_forget_bias: bool = True, **kwargs: Any) -> None:
        super().__init__(units, *args, **kwargs)
        *others, bias = self.initializers
        if unit_forget_bias:
            self.initializers = (*others, functools.partial(_remembering, initializers.get(bias)))

    def step(self, x: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        gates = x + math_ops.matmul(state[0], self.recurrent_kernel)
        return lstm_step(array_ops.split(gates, 4, axis=1), state[1], self.activation, self.recurrent_activation)


def _remembering(initializer: Any, shape: Any, dtype: Any) -> Any:
    """The initial bias of an LSTM, with 1 for the forget gate (Jozefowicz and others, 2015)."""
    return initializer(shape, dtype) + np.repeat([0.0, 1.0, 0.0, 0.0], shape[0] // 4).astype(dtype)


class GRU(_Recurrent):
    """Gated recurrent unit (Cho and others, 2014); see `nn.GRUCell`."""

    gates = 3

    @property
    def bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units)

    def input_gates(self, inputs: Any) -> Any:
        result = math_ops.matmul(inputs, self.kernel)
        return result if self.bias is None else result + self.bias[0]

    def step(self, x: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        before = math_ops.matmul(state[0], self.recurrent_kernel)
        before = before if self.bias is None else before + self.bias[1]
        keep, *others = array_ops.split(x, 3, axis=1)
        old_keep, *old = array_ops.split(before, 3, axis=1)
        gates = [others[0], keep, others[1]], [old[0], old_keep, old[1]]
        update, candidate = gru_gates(*gates, self.activation, self.recurrent_activation)
        return (update * state[0] + (1.0 - update) * candidate,)
