"""`tf.keras.metrics`: means over all batches since the last reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import float32, int64
from autograph.compat.tensorflow.keras import losses
from autograph.compat.tensorflow.keras.layer import Layer
from autograph.compat.tensorflow.ops import array_ops, math_ops, reduce_ops


class Metric(Layer):
    """A base class; subclasses define `update_state` and `result`."""

    is_shown = False

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"the metric {self.name} has no method update_state")

    def result(self) -> Any:
        raise NotImplementedError(f"the metric {self.name} has no method result")

    def reset_state(self) -> None:
        """Set all variables to zero."""
        for variable in self.variables:
            variable.assign(array_ops.zeros(variable.shape, variable.dtype))

    def reset_states(self) -> None:
        self.reset_state()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.update_state(*args, **kwargs)
        return self.result()


class Mean(Metric):
    """The mean of numbers."""

    total: Any
    count: Any

    def __init__(self, name: str | None = "mean", dtype: Any = "float32") -> None:
        super().__init__(name=name, dtype=dtype)
        _begin(self)

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        _accumulate(self, values, sample_weight)

    def result(self) -> Any:
        return math_ops.divide_no_nan(self.total, self.count)


class Sum(Metric):
    """The sum of numbers."""

    total: Any

    def __init__(self, name: str | None = "sum", dtype: Any = "float32") -> None:
        super().__init__(name=name, dtype=dtype)
        _begin(self)

    update_state = Mean.update_state

    def result(self) -> Any:
        return self.total.read_value()


class MeanMetricWrapper(Metric):
    """The mean of a function of targets and predictions."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = "float32", **options: Any) -> None:
        super().__init__(name=name or fn.__name__, dtype=dtype)
        _begin(self)
        self._fn = fn
        self._options = options

    def update_state(self, y_true: Any, y_pred: Any = None, sample_weight: Any = None) -> None:
        if self._fn is not accuracy_by_shape:
            y_true, y_pred = losses.of_one_rank(y_true, y_pred)
        _accumulate(self, self._fn(y_true, y_pred, **self._options), sample_weight)

    result = Mean.result


def _begin(metric: Any) -> None:
    """Make the variables that a mean accumulates."""
    metric.total = metric.add_weight("total", initializer="zeros", trainable=False)
    metric.count = metric.add_weight("count", initializer="zeros", trainable=False)


def _accumulate(metric: Any, values: Any, sample_weight: Any) -> None:
    """Add values, with their weights, to a mean."""
    values = math_ops.cast(convert_to_tensor(values), float32)
    weight = array_ops.ones_like(values)
    if sample_weight is not None:
        weight = weight * math_ops.cast(convert_to_tensor(sample_weight), float32)
    metric.total.assign_add(reduce_ops.reduce_sum(values * weight))
    metric.count.assign_add(reduce_ops.reduce_sum(weight))


def accuracy(y_true: Any, y_pred: Any) -> Any:
    true, predicted = losses.of_one_rank(y_true, y_pred)
    return math_ops.cast(math_ops.equal(math_ops.cast(true, predicted.dtype), predicted), float32)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    return reduce_ops.reduce_mean(accuracy(y_true, math_ops.cast(math_ops.greater(y_pred, threshold), float32)), -1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    return accuracy(reduce_ops.argmax(y_true, -1), reduce_ops.argmax(y_pred, -1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    return accuracy(math_ops.cast(convert_to_tensor(y_true), int64), reduce_ops.argmax(y_pred, -1))


def _wrapper(title: str, fn: Callable[..., Any]) -> Any:
    def __init__(self: Any, name: str | None = None, dtype: Any = "float32", **options: Any) -> None:
        MeanMetricWrapper.__init__(self, fn, name, dtype, **options)

    return type(title, (MeanMetricWrapper,), {"__init__": __init__, "__doc__": f"The mean of `{fn.__name__}`."})


Accuracy = _wrapper("Accuracy", accuracy)
BinaryAccuracy = _wrapper("BinaryAccuracy", binary_accuracy)
CategoricalAccuracy = _wrapper("CategoricalAccuracy", categorical_accuracy)
SparseCategoricalAccuracy = _wrapper("SparseCategoricalAccuracy", sparse_categorical_accuracy)
MeanSquaredError = _wrapper("MeanSquaredError", losses.mean_squared_error)
MeanAbsoluteError = _wrapper("MeanAbsoluteError", losses.mean_absolute_error)
BinaryCrossentropy = _wrapper("BinaryCrossentropy", losses.binary_crossentropy)
CategoricalCrossentropy = _wrapper("CategoricalCrossentropy", losses.categorical_crossentropy)
SparseCategoricalCrossentropy = _wrapper("SparseCategoricalCrossentropy", losses.sparse_categorical_crossentropy)

_NAMES = {
    "mse": MeanSquaredError, "mean_squared_error": MeanSquaredError, "mae": MeanAbsoluteError,
    "mean_absolute_error": MeanAbsoluteError, "binary_accuracy": BinaryAccuracy,
    "categorical_accuracy": CategoricalAccuracy, "sparse_categorical_accuracy": SparseCategoricalAccuracy,
    "binary_crossentropy": BinaryCrossentropy, "categorical_crossentropy": CategoricalCrossentropy,
    "sparse_categorical_crossentropy": SparseCategoricalCrossentropy,
}  # fmt: skip


def accuracy_by_shape(y_true: Any, y_pred: Any) -> Any:
    """The accuracy that fits the shapes: of one output, of class numbers, or of one-hot classes."""
    true, predicted = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    fewer = len(predicted.shape) - len(true.shape)
    if predicted.shape[-1] == 1:
        return binary_accuracy(*losses.of_one_rank(true, predicted))
    if fewer > 0 or true.shape[-1] == 1:
        return sparse_categorical_accuracy(*losses.of_one_rank(true, predicted))
    return categorical_accuracy(true, predicted)


def get(identifier: Any) -> Metric:
    """The metric of that name; a function of the user is averaged."""
    if isinstance(identifier, Metric):
        return identifier
    if callable(identifier):
        return MeanMetricWrapper(identifier)
    if identifier in ("accuracy", "acc"):
        return MeanMetricWrapper(accuracy_by_shape, identifier)
    if identifier not in _NAMES:
        raise ValueError(f"Unknown metric function: {identifier!r}; known are {', '.join(_NAMES)}")
    return _NAMES[identifier](name=identifier)  # type: ignore[no-any-return]
