"""`tf.keras`: layers, models, losses, metrics and optimizers.

Layers translate Keras's arguments, names and shapes, and compute by `tf.nn`. Convolutions, pooling, recurrent steps and
initializers are those of `autograph.nn`, optimizers and schedules those of `autograph.optim`. `layer.py` has the base
class, `functional.py` models as graphs of layers, `models.py` the training.
"""

# ruff: noqa: F401  (names of Keras's)

from types import SimpleNamespace as _SimpleNamespace

from autograph.compat.tensorflow.keras import (
    activations,
    backend,
    callbacks,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    saving,
    utils,
)
from autograph.compat.tensorflow.keras.layers import Input
from autograph.compat.tensorflow.keras.models import Model, Sequential

datasets = _SimpleNamespace(
    mnist=_SimpleNamespace(load_data=utils.load_mnist),
    fashion_mnist=_SimpleNamespace(load_data=utils.load_fashion_mnist),
)
