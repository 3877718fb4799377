"""`tf.keras.models`: layers one after another, and models of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograph.compat.tensorflow.keras.layer import Layer, takes_training
from autograph.compat.tensorflow.keras.training import Training
from autograph.compat.tensorflow.keras.utils import summary_of

__all__ = ["Model", "Sequential"]


class Model(Training, Layer):
    """A layer that can be trained; subclasses define `call`."""

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print a table of the layers."""
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or by calling the model "
                "on a batch of data."
            )
        print_fn(summary_of(self))


class Sequential(Model):
    """Layers one after another."""

    def __init__(self, layers: Sequence[Layer] = (), name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self._stack: list[Layer] = []
        for layer in layers:
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Put a layer at the end."""
        self._stack.append(layer)
        self.built = False
        if self._stack[0].batch_input_shape is not None:
            self.build(self._stack[0].batch_input_shape)

    def pop(self) -> None:
        """Take away the last layer."""
        self._stack.pop()

    def build(self, input_shape: Any) -> None:
        shape = tuple(input_shape)
        for layer in self._stack:
            layer.ensure_built(shape)
            layer.output_shape = shape = layer.compute_output_shape(shape)
        self.built = True

    @property
    def layers(self) -> list[Layer]:
        return list(self._stack)

    def compute_output_shape(self, input_shape: Any) -> Any:
        for layer in self._stack:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def call(self, inputs: Any, training: bool = False) -> Any:
        for layer in self._stack:
            inputs = layer(inputs, training=training) if takes_training(layer) else layer(inputs)
        return inputs
