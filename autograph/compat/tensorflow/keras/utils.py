"""`tf.keras.utils`: `to_categorical`, and the summary of models."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compat.tensorflow.keras.layer import Layer, count

_WIDTH, _COLUMNS = 65, (29, 55, 65)  # of a summary, as in TensorFlow


def to_categorical(y: Any, num_classes: int | None = None) -> Any:
    """One-hot arrays of class numbers."""
    numbers = np.asarray(y, int)
    return np.eye(num_classes or numbers.max() + 1, dtype=np.float32)[numbers]


def summary_of(model: Layer) -> str:
    """The table of the layers of a model."""

    def row(*fields: Any) -> str:
        line = ""
        for field, end in zip(fields, _COLUMNS):
            line = f"{line}{field}"[:end].ljust(end)
        return line

    thin, thick = "_" * _WIDTH, "=" * _WIDTH
    lines = [f'Model: "{model.name}"', thin, row("Layer (type)", "Output Shape", "Param #"), thick]
    for at, layer in enumerate(model.layers):
        shape = "multiple" if layer.output_shape is None else str(tuple(layer.output_shape))
        lines += [row(f"{layer.name} ({type(layer).__name__})", shape, layer.count_params())]
        lines += [thin if at + 1 < len(model.layers) else thick]
    trained, rest = count(model.trainable_weights), count(model.non_trainable_weights)
    lines += [f"Total params: {trained + rest:,}", f"Trainable params: {trained:,}"]
    return "\n".join([*lines, f"Non-trainable params: {rest:,}", thin])


def summary(model: Any, line_length: Any = None, positions: Any = None, print_fn: Any = None) -> None:
    """Print a table of the layers."""
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or by calling the model "
            "on a batch of data."
        )
    (print_fn or print)(summary_of(model))
