"""`tf.keras`: layers, models, losses, metrics and optimizers, in terms of TensorFlow's spelling."""

from autograph.compat.tensorflow.keras import (
    activations,
    backend,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    utils,
)
from autograph.compat.tensorflow.keras.layers import Input
from autograph.compat.tensorflow.keras.models import Model, Sequential

__all__ = [
    "Input",
    "Model",
    "Sequential",
    "activations",
    "backend",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "optimizers",
    "utils",
]
