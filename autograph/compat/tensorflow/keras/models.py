"""`tf.keras.models`: layers one after another, and models of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograph.compat.tensorflow import saved_model
from autograph.compat.tensorflow.keras.layer import InputLayer, Layer, takes_training
from autograph.compat.tensorflow.keras.training import Training
from autograph.compat.tensorflow.keras.utils import summary_of

__all__ = ["Model", "Sequential", "load_model", "save_model"]


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

    def save(self, filepath: Any) -> None:
        """Write the model to a file, with its optimizer; see `load_model`."""
        saved_model.write(self, Path(filepath))

    def save_weights(self, filepath: Any) -> None:
        """Write the arrays of the variables to a file."""
        with Path(filepath).open("wb") as file:
            np.savez(file, *self.get_weights())

    def load_weights(self, filepath: Any) -> None:
        """Assign to the variables what `save_weights` has written."""
        with np.load(filepath) as found:
            self.set_weights(list(found.values()))


def save_model(model: Model, filepath: Any) -> None:
    """Write a model to a file."""
    model.save(filepath)


def load_model(filepath: Any) -> Any:
    """The model that has been written to a file; classes of the user's are to be found where they were."""
    return saved_model.read(Path(filepath))


class Sequential(Model):
    """Layers one after another."""

    def __init__(self, layers: Sequence[Layer] = (), name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self._stack: list[Layer] = []
        self._first: Any = None  # the shape of what comes in
        for layer in layers:
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Put a layer at the end."""
        if not self._stack:
            self._first = self._first or layer.batch_input_shape
        if not isinstance(layer, InputLayer):
            self._stack.append(layer)
        self.built = False
        if self._first is not None:
            self.build(self._first)

    def pop(self) -> None:
        """Take away the last layer."""
        self._stack.pop()

    def build(self, input_shape: Any) -> None:
        shape = tuple(input_shape)
        for layer in self._stack:
            layer.ensure_built(shape)
            layer.output_shape = shape = layer.compute_output_shape(shape)
        self.built = bool(self._stack)

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
