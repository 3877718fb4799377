"""`tf.keras.models`: `Sequential`, and the base class of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow import saved_model
from autograph.compat.tensorflow.keras import losses, optimizers, training
from autograph.compat.tensorflow.keras import metrics as metrics_
from autograph.compat.tensorflow.keras.layer import InputLayer, Layer, takes_training
from autograph.compat.tensorflow.keras.training import History, Progress, in_columns
from autograph.compat.tensorflow.keras.utils import summary_of
from autograph.compat.tensorflow.ops.array_ops import concat, shape
from autograph.compat.tensorflow.staging.function import function
from autograph.compat.tensorflow.staging.tape import GradientTape

__all__ = ["Model", "Sequential", "load_model", "save_model"]


class Model(Layer):
    """A layer that can be trained; subclasses define `call`."""

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = (), run_eagerly: bool = False,
        jit_compile: bool | None = None, steps_per_execution: int = 1,
    ) -> None:
        """Set optimizer, loss and metrics."""
        self.optimizer = optimizers.get(optimizer)
        self.loss = losses.get(loss)
        self._mean = metrics_.Mean(name="loss")
        self._measured = [metrics_.get(each) for each in metrics or ()]
        self.run_eagerly = run_eagerly
        self._stage()

    def _stage(self) -> None:
        stage: Callable[..., Any] = (lambda step: step) if self.run_eagerly else function
        self._train, self._test = stage(self.train_step), stage(self.test_step)

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name not in ("_train", "_test")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "optimizer" in state:
            self._stage()

    @property
    def metrics(self) -> list[Any]:
        """The metrics that training reports: the mean loss, and those that `compile` got."""
        return [self._mean, *self._measured]

    def train_step(self, data: Any) -> dict[str, Any]:
        """Train on one batch."""
        x, y = in_columns(data)
        with GradientTape() as tape:
            predicted = _predict_batch(self, x, True)
            loss = self.loss(y, predicted)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return _measure(self, y, predicted, loss)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate one batch."""
        x, y = in_columns(data)
        predicted = _predict_batch(self, x, False)
        return _measure(self, y, predicted, self.loss(y, predicted))

    def fit(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: Any = "auto",
        validation_data: Any = None, validation_split: float = 0.0, shuffle: bool = True,
    ) -> History:
        """Train on all examples, `epochs` times.

        Args:
            verbose: whether to show the progress.
            validation_data: `(x, y)`, or a dataset, to evaluate after each epoch.
            validation_split: the share of the examples, at their end, to use as validation data, not for training.
        """
        if validation_split:
            train_count = int(training.count_examples(x) * (1 - validation_split))
            validation_data = training.subset((x, y), slice(train_count, None))
            x, y = training.subset((x, y), slice(train_count))
        result = History()
        for epoch in range(epochs):
            if verbose:
                print(f"Epoch {epoch + 1}/{epochs}")
            _reset(self.metrics)
            logs = self._run(self._train, x, y, batch_size, shuffle, Progress(bool(verbose)), validation_data)
            result.epoch.append(epoch)
            for name, value in logs.items():
                result.history.setdefault(name, []).append(value)
        self.history = result
        return result

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: Any = "auto",
        return_dict: bool = False,
    ) -> Any:
        """Compute the loss and the metrics of examples."""
        _reset(self.metrics)
        logs = self._run(self._test, x, y, batch_size, False, Progress(bool(verbose)))
        if return_dict:
            return logs
        values = list(logs.values())
        return values if len(values) > 1 else values[0]

    def predict(self, x: Any, batch_size: int | None = None, verbose: Any = "auto") -> Any:
        """Compute the outputs of the model for examples; returns an array."""
        given = training.batches(x, None, batch_size or 32, False)
        return concat([_predict_batch(self, in_columns(inputs), False) for inputs, _ in given], 0).numpy()

    def _run(
        self, step: Any, x: Any, y: Any, batch_size: int | None, shuffle: bool, bar: Progress, validation: Any = None
    ) -> dict[str, float]:
        """Take a step for each batch, and show the progress."""
        logs: dict[str, Any] = {}
        total = training.count_batches(x, batch_size or 32)
        for number, batch in enumerate(training.batches(x, y, batch_size or 32, shuffle), 1):
            logs = step(batch)
            bar.show(number, total, logs)
        values = {name: float(value) for name, value in logs.items()}
        if validation is not None:
            _reset(self.metrics)
            x, y = validation if isinstance(validation, tuple) else (validation, None)
            other = self._run(self._test, x, y, batch_size, False, Progress(False))
            values.update({f"val_{name}": value for name, value in other.items()})
        bar.end(values)
        return values

    # Files ------------------------------------------------------------------------------------------------------------

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print a table of the layers."""
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or by calling the model "
                "on a batch of data."
            )
        print_fn(summary_of(self))

    def save(self, filepath: Any) -> None:
        """Write the model, with its optimizer, to a file that `load_model` reads."""
        saved_model.write(self, Path(filepath))

    def save_weights(self, filepath: Any) -> None:
        """Write the arrays of the variables to a file."""
        with Path(filepath).open("wb") as file:
            np.savez(file, *self.get_weights())

    def load_weights(self, filepath: Any) -> None:
        """Set the variables to the arrays that `save_weights` wrote."""
        with np.load(filepath) as arrays:
            self.set_weights(list(arrays.values()))


def _predict_batch(model: Model, x: Any, training: bool) -> Any:
    return model(x, training=training) if takes_training(model) else model(x)


def _measure(model: Model, y: Any, predicted: Any, loss: Any) -> dict[str, Any]:
    """Update the metrics with a batch, and return their values by name."""
    model._mean.update_state(loss, sample_weight=shape(pytree.flatten(predicted)[0])[0])
    for each in model._measured:
        each.update_state(y, predicted)
    return {each.name: each.result() for each in model.metrics}


def _reset(metrics: list[Any]) -> None:
    for each in metrics:
        each.reset_state()


def save_model(model: Model, filepath: Any) -> None:
    """Write a model to a file."""
    model.save(filepath)


def load_model(filepath: Any) -> Any:
    """Read a model from a file; the modules of the user's classes must be importable."""
    return saved_model.read(Path(filepath))


class Sequential(Model):
    """Calls layers one after another."""

    def __init__(self, layers: Sequence[Layer] = (), name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self._stack: list[Layer] = []
        self._first: Any = None  # the shape of the inputs
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
        """Remove the last layer."""
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
