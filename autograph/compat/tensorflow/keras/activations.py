"""`tf.keras.activations`: functions that layers apply to their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.nn import elu, relu, sigmoid, softmax, softplus, tanh
from autograph.compat.tensorflow.ops.math_ops import exp as exponential

__all__ = ["elu", "exponential", "get", "linear", "relu", "sigmoid", "softmax", "softplus", "tanh"]


def linear(x: Any) -> Any:
    """Return x, as a tensor."""
    return convert_to_tensor(x)


def get(identifier: Any) -> Callable[[Any], Any]:
    """The activation of that name; functions are returned as they are, and `linear` for None."""
    if identifier is None or callable(identifier):
        return identifier or linear
    if identifier not in __all__:
        raise ValueError(f"Unknown activation function: {identifier!r}; known are {', '.join(__all__)}")
    result: Callable[[Any], Any] = globals()[identifier]
    return result
