"""Layers of several inputs: sums, products, concatenations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from autograph.compat.tensorflow.keras.layer import Layer
from autograph.compat.tensorflow.ops import array_ops, math_ops, reduce_ops

__all__ = [
    "Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract", "add", "average",
    "concatenate", "maximum", "minimum", "multiply", "subtract",
]  # fmt: skip


class _Merge(Layer):
    """Combines tensors by a function of two, one after another."""

    infers_shapes = False
    combine: Callable[[Any, Any], Any]

    def call(self, inputs: Sequence[Any]) -> Any:
        return reduce(type(self).combine, inputs)


def _merging(name: str, combine: Callable[[Any, Any], Any], what: str) -> Any:
    return type(name, (_Merge,), {"combine": staticmethod(combine), "__doc__": what, "__module__": __name__})


Add = _merging("Add", math_ops.add, "The sum of its inputs.")
Subtract = _merging("Subtract", math_ops.subtract, "The difference of two inputs.")
Multiply = _merging("Multiply", math_ops.multiply, "The product of its inputs, element by element.")
Maximum = _merging("Maximum", math_ops.maximum, "The largest of its inputs, element by element.")
Minimum = _merging("Minimum", math_ops.minimum, "The smallest of its inputs, element by element.")


class Average(_Merge):
    """The mean of its inputs."""

    combine = staticmethod(math_ops.add)

    def call(self, inputs: Sequence[Any]) -> Any:
        return super().call(inputs) / len(inputs)


class Concatenate(Layer):
    """Joins its inputs along an axis."""

    infers_shapes = False

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Sequence[Any]) -> Any:
        return array_ops.concat(list(inputs), self.axis)


class Dot(Layer):
    """The dot products of two inputs along an axis of each example."""

    infers_shapes = False

    def __init__(self, axes: int, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            raise ValueError(f"axes must be one number, not {axes!r}")
        self.axes = axes
        self.normalize = normalize

    def call(self, inputs: Sequence[Any]) -> Any:
        x, y = inputs
        if x.shape.rank != 2 or y.shape.rank != 2:
            raise ValueError(f"Dot takes two inputs of rank 2, not of shapes {x.shape} and {y.shape}")
        if self.normalize:
            x, y = (each / math_ops.sqrt(reduce_ops.reduce_sum(each * each, self.axes, True)) for each in (x, y))
        return reduce_ops.reduce_sum(x * y, self.axes, True)


def _function(layer: Any) -> Callable[..., Any]:
    return lambda inputs, **options: layer(**options)(inputs)


add, subtract, multiply, average = map(_function, (Add, Subtract, Multiply, Average))
maximum, minimum, concatenate = map(_function, (Maximum, Minimum, Concatenate))
