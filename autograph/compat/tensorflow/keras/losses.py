"""`tf.keras.losses`: functions that return one number for each example, and classes that return the mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.compat.tensorflow import nn
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.keras.backend import epsilon, snake_case
from autograph.compat.tensorflow.keras.saving import configs
from autograph.compat.tensorflow.ops import array_ops, indexing, math_ops, reduce_ops


def _both(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    predicted = convert_to_tensor(y_pred)
    return math_ops.cast(convert_to_tensor(y_true), predicted.dtype), predicted


def of_one_rank(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Convert both to tensors, and drop a last dimension of 1 that only one of them has."""
    true, predicted = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if true.shape.rank is None or predicted.shape.rank is None:
        return true, predicted
    more = predicted.shape.rank - true.shape.rank
    if more == 1 and predicted.shape[-1] == 1:
        predicted = array_ops.squeeze(predicted, -1)
    elif more == -1 and true.shape[-1] == 1:
        true = array_ops.squeeze(true, -1)
    return true, predicted


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    true, predicted = _both(y_true, y_pred)
    return reduce_ops.reduce_mean(math_ops.squared_difference(predicted, true), -1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    true, predicted = _both(y_true, y_pred)
    return reduce_ops.reduce_mean(math_ops.abs(predicted - true), -1)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    true, predicted = _both(y_true, y_pred)
    error = math_ops.abs(predicted - true)
    near, far = error * error * 0.5, error * delta - 0.5 * delta * delta
    return reduce_ops.reduce_mean(indexing.where(math_ops.less_equal(error, delta), near, far), -1)


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    true, predicted = _both(y_true, y_pred)
    if from_logits:
        return reduce_ops.reduce_mean(nn.sigmoid_cross_entropy_with_logits(true, predicted), -1)
    p = math_ops.clip_by_value(predicted, epsilon(), 1 - epsilon())
    result = true * math_ops.log(p) + (1 - true) * math_ops.log(math_ops.subtract(1, p))
    return math_ops.negative(reduce_ops.reduce_mean(result, -1))


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    true, predicted = _both(y_true, y_pred)
    return nn.softmax_cross_entropy_with_logits(true, predicted if from_logits else _logits(predicted))


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    true, predicted = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if true.shape.rank == predicted.shape.rank:
        true = array_ops.squeeze(true, -1)
    numbers = math_ops.cast(true, "int64")
    return nn.sparse_softmax_cross_entropy_with_logits(numbers, predicted if from_logits else _logits(predicted))


def _logits(probabilities: Any) -> Any:
    """The logits of probabilities, whose sum may differ from 1 by rounding."""
    return math_ops.log(math_ops.clip_by_value(probabilities, epsilon(), 1 - epsilon()))


class Loss:
    """A base class; subclasses define `call`, which returns a number for each example."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return configs.noted(cls, args, kwargs)

    get_config = configs.config_of
    from_config = classmethod(configs.made_of)

    def __init__(self, reduction: str = "auto", name: str | None = None) -> None:
        self.name = name or snake_case(type(self).__name__)
        self.reduction = reduction

    def call(self, y_true: Any, y_pred: Any) -> Any:
        raise NotImplementedError(f"the loss {self.name} has no method call")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        each = self.call(y_true, y_pred)
        if sample_weight is not None:
            each = each * math_ops.cast(convert_to_tensor(sample_weight), each.dtype)
        if self.reduction == "none":
            return each
        return reduce_ops.reduce_sum(each) if self.reduction == "sum" else reduce_ops.reduce_mean(each)


class FunctionLoss(Loss):
    """A loss that reduces the results of a function of `y_true` and `y_pred`."""

    function: Callable[..., Any]

    def __init__(self, reduction: str = "auto", name: str | None = None, **options: Any) -> None:
        super().__init__(reduction, name)
        self._options = options

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return type(self).function(*of_one_rank(y_true, y_pred), **self._options)


class MeanSquaredError(FunctionLoss):
    function = mean_squared_error


class MeanAbsoluteError(FunctionLoss):
    function = mean_absolute_error


class Huber(FunctionLoss):
    function = huber


class BinaryCrossentropy(FunctionLoss):
    function = binary_crossentropy

    def __init__(self, from_logits: bool = False, reduction: str = "auto", name: str | None = None) -> None:
        super().__init__(reduction, name, from_logits=from_logits)


class CategoricalCrossentropy(FunctionLoss):
    function = categorical_crossentropy

    def __init__(self, from_logits: bool = False, reduction: str = "auto", name: str | None = None) -> None:
        super().__init__(reduction, name, from_logits=from_logits)


class SparseCategoricalCrossentropy(FunctionLoss):
    function = sparse_categorical_crossentropy

    def __init__(self, from_logits: bool = False, reduction: str = "auto", name: str | None = None) -> None:
        super().__init__(reduction, name, from_logits=from_logits)


_NAMES: dict[str, Callable[[], Loss]] = {
    "mse": MeanSquaredError, "mean_squared_error": MeanSquaredError, "mae": MeanAbsoluteError,
    "mean_absolute_error": MeanAbsoluteError, "huber": Huber, "binary_crossentropy": BinaryCrossentropy,
    "categorical_crossentropy": CategoricalCrossentropy,
    "sparse_categorical_crossentropy": SparseCategoricalCrossentropy,
}  # fmt: skip


def get(identifier: Any) -> Callable[..., Any]:
    """The loss of that name; a function of the user is reduced to the mean of its results."""
    if isinstance(identifier, Loss):
        return identifier
    if callable(identifier):
        return lambda y_true, y_pred: reduce_ops.reduce_mean(identifier(y_true, y_pred))
    if identifier not in _NAMES:
        raise ValueError(f"Unknown loss function: {identifier!r}; known are {', '.join(_NAMES)}")
    return _NAMES[identifier]()
