"""The ops of `tf.math` that `tf` itself does not have, and two that are composed of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor, matched
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, apply, name_ops
from autograph.compat.tensorflow.ops import array_ops, indexing, math_ops, reduce_ops
from autograph.compat.tensorflow.ops.math_ops import binary, unary
from autograph.compat.tensorflow.staging.control import Assert
from autograph.runtime.ops.mathematics import special

__all__ = [  # the names of `tf.math`
    "confusion_matrix", "count_nonzero", "erf", "in_top_k", "l2_normalize", "multiply_no_nan", "nextafter", "polyval",
    "reciprocal_no_nan", "reduce_euclidean_norm", "rint", "softsign", "unsorted_segment_sum", "xdivy", "xlog1py",
    "xlogy", "zero_fraction",
]  # fmt: skip

# Counting and summing -------------------------------------------------------------------------------------------------


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    x = convert_to_tensor(input)
    return reduce_ops.reduce_sum(math_ops.cast(math_ops.not_equal(x, x - x), dtype), axis, keepdims)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of elements that are zero."""
    x = convert_to_tensor(value)
    return reduce_ops.reduce_mean(math_ops.cast(math_ops.equal(x, x - x), dtypes.float32))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Tensor:
    return math_ops.sqrt(reduce_ops.reduce_sum(math_ops.square(input_tensor), axis, keepdims))


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Count the examples with each pair of label (row) and prediction (column)."""
    labels, predictions = (math_ops.cast(each, dtypes.int64) for each in (labels, predictions))
    count = num_classes
    if count is None:
        count = math_ops.maximum(reduce_ops.reduce_max(labels), reduce_ops.reduce_max(predictions)) + 1
    counts = math_ops.cast(array_ops.ones_like(labels) if weights is None else weights, dtype)
    positions = array_ops.stack([labels, predictions], axis=1)
    shape = array_ops.stack([count, count]) if num_classes is None else [count, count]
    return indexing.scatter_nd(positions, counts, shape)


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Sum the rows of each segment."""
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    shape = array_ops.concat([[num_segments], array_ops.shape(data)[1:]], 0)
    return indexing.scatter_nd(array_ops.expand_dims(ids, -1), data, shape)


def in_top_k(targets: Any, predictions: Any, k: int, name: str | None = None) -> Tensor:
    """Whether the predictions for the targets are among the `k` largest."""
    predictions, targets = convert_to_tensor(predictions), convert_to_tensor(targets)
    target_predictions = array_ops.expand_dims(indexing.gather(predictions, targets, batch_dims=1), -1)
    larger = reduce_ops.reduce_sum(math_ops.cast(math_ops.greater(predictions, target_predictions), dtypes.int32), -1)
    return math_ops.less(larger, k)


# Elements -------------------------------------------------------------------------------------------------------------


def _promoted(op: str, x: Any, y: Any, kinds: str) -> list[Tensor]:
    return matched(op, x, y)


rint = unary("Rint", np.rint, "f")
erf = unary("Erf", special.erf, "f")
softsign = unary("Softsign", lambda x: x / (1 + np.abs(x)), "f")
nextafter = binary("NextAfter", np.nextafter, "f")
# These give zero where one operand is zero, even if the other is infinite or NaN.
reciprocal_no_nan = unary("ReciprocalNoNan", lambda x: np.where(x == 0, 0, 1 / np.where(x == 0, 1, x)))
xdivy = binary("Xdivy", lambda x, y: np.where(x == 0, 0, x / np.where(x == 0, 1, y)), "fc")
xlog1py = binary("Xlog1py", lambda x, y: np.where(x == 0, 0, x * np.log1p(np.where(x == 0, 1, y))), "fc")
xlogy = binary("Xlogy", lambda x, y: np.where(x == 0, 0, x * np.log(np.where(x == 0, 1, y))), operands=_promoted)
multiply_no_nan = binary(
    "MulNoNan", lambda x, y: np.where(y == 0, 0, np.where(y == 0, 0, x) * y), operands=_promoted
)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Tensor:
    """Scale tensors to norm 1."""
    x = convert_to_tensor(x)
    norm = math_ops.maximum(reduce_ops.reduce_sum(x * x, axis, keepdims=True), epsilon)
    return math_ops.multiply(x, math_ops.rsqrt(norm))


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The value of a polynomial; the coefficient of the highest power comes first."""
    x = convert_to_tensor(x)
    result = array_ops.zeros_like(x)
    for each in coeffs:
        result = result * x + each
    return result


# Shapes ---------------------------------------------------------------------------------------------------------------


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """The coordinates of all points of a grid."""
    tensors = matched("Meshgrid", *args)
    points: Any = np.meshgrid
    return [
        apply("Meshgrid", lambda *values, n=n: points(*values, indexing=indexing)[n], *tensors, dtype=each.dtype)
        for n, each in enumerate(tensors)
    ]


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return a tensor, or raise an error unless it has that shape."""
    tensor, wanted = convert_to_tensor(x), TensorShape(shape)
    if not tensor.shape.is_compatible_with(wanted):
        raise ValueError(f"Shape of tensor ({tensor.shape}) is not compatible with expected shape {wanted}")
    if not tensor.shape.is_subtype_of(wanted):
        for number, size in enumerate(wanted):
            if size is not None:
                Assert(math_ops.equal(array_ops.shape(tensor)[number], size), [array_ops.shape(tensor)])
    result = array_ops.identity(tensor)
    result.set_shape(wanted)
    return result


name_ops(globals())
