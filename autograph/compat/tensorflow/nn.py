"""`tf.nn`: activations, losses and normalization, composed of other ops; convolutions and pooling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograph.compat.tensorflow import linalg, more_math
from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import apply_op, convert_to_tensor, matched, operand
from autograph.compat.tensorflow.core.dtypes import numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.tensor import Tensor, apply
from autograph.compat.tensorflow.more_math import in_top_k as in_top_k
from autograph.compat.tensorflow.more_math import l2_normalize as l2_normalize
from autograph.compat.tensorflow.more_math import zero_fraction as zero_fraction
from autograph.compat.tensorflow.ops import array_ops, indexing, math_ops, random_ops, reduce_ops
from autograph.compat.tensorflow.ops.convolution import *  # noqa: F403
from autograph.compat.tensorflow.ops.math_ops import sigmoid as sigmoid
from autograph.compat.tensorflow.ops.math_ops import tanh as tanh
from autograph.nn import activations


def relu(features: Any, name: str | None = None) -> Tensor:
    x = operand("Relu", features, "iuf")
    zero = numpy_dtype(x.dtype).type(0)
    return apply("Relu", lambda value: np.maximum(zero, value), x)  # in this order, the gradient at zero is zero


def relu6(features: Any, name: str | None = None) -> Tensor:
    return math_ops.minimum(relu(features), 6)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    x = convert_to_tensor(features)
    return math_ops.maximum(x, x * alpha)


def elu(features: Any, name: str | None = None) -> Tensor:
    return apply_op("Elu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), features)


def softplus(features: Any, name: str | None = None) -> Tensor:
    return apply_op("Softplus", activations.softplus, features)


def log_softmax(logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    x = operand("LogSoftmax", logits, "f")
    if x.shape.rank == 0:
        raise InvalidArgumentError("logits must have >= 1 dimension, got [] [Op:LogSoftmax]")
    return x - reduce_ops.reduce_logsumexp(x, axis, keepdims=True)


def softmax(logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    return math_ops.exp(log_softmax(logits, axis))


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Tensor:
    labels, logits = matched("SoftmaxCrossEntropyWithLogits", labels, logits)
    return math_ops.negative(reduce_ops.reduce_sum(labels * log_softmax(logits, axis), axis))


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Tensor:
    numbers, x = convert_to_tensor(labels), convert_to_tensor(logits)
    chosen = array_ops.one_hot(numbers, x.shape[-1], dtype=x.dtype)
    return softmax_cross_entropy_with_logits(chosen, x)


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Tensor:
    labels, logits = matched("SigmoidCrossEntropyWithLogits", labels, logits)
    return math_ops.add(relu(logits) - logits * labels, softplus(math_ops.negative(math_ops.abs(logits))))


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Tensor:
    """The rows of `params` at these indices, each scaled down to the norm `max_norm` if it is longer."""
    rows = indexing.gather(params, ids)
    if max_norm is None:
        return rows
    rank, of_ids = rows.shape.rank, convert_to_tensor(ids).shape.rank
    if rank is None or of_ids is None:
        raise ValueError("embedding_lookup needs `params` and `ids` of known ranks for `max_norm`")
    clipped: Tensor = linalg.clip_by_norm(rows, max_norm, [*range(of_ids, rank)])
    return clipped


class TopKV2(NamedTuple):
    """The largest elements, and their indices."""

    values: Tensor
    indices: Tensor


def top_k(input: Any, k: int = 1, sorted: bool = True, index_type: Any = None, name: str | None = None) -> TopKV2:
    """The `k` largest elements of each row, and their indices."""
    x = convert_to_tensor(input)
    if x.shape.rank == 0 or (x.shape.rank and isinstance(k, int) and (x.shape[-1] or k) < k):
        raise InvalidArgumentError(f"input must have at least k={k} columns. Had {x.shape} [Op:TopKV2]")
    where = reduce_ops.argsort(x, direction="DESCENDING", stable=True)[..., :k]
    values = apply("TopKV2", lambda v, at: np.take_along_axis(v, at, axis=-1), x, where)
    return TopKV2(values, math_ops.cast(where, index_type or dtypes.int32))


def bias_add(value: Any, bias: Any, data_format: Any = None, name: str | None = None) -> Tensor:
    value, bias = convert_to_tensor(value), convert_to_tensor(bias)
    if data_format is not None and data_format.startswith("NC"):
        bias = array_ops.reshape(bias, [-1, *[1] * (len(value.shape) - 2)])
    return math_ops.add(value, bias)


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    x = convert_to_tensor(t)
    return reduce_ops.reduce_sum(x * x) / 2


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """Mean and variance."""
    return reduce_ops.reduce_mean(x, axes, keepdims), reduce_ops.reduce_variance(x, axes, keepdims)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    return math_ops.negative(softplus(math_ops.negative(x)))


def silu(features: Any, beta: float = 1.0) -> Tensor:
    x = convert_to_tensor(features)
    return x * math_ops.sigmoid(x * beta)


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """x · Φ(x) for the distribution function Φ of normal numbers, or its approximation by tanh."""
    x = convert_to_tensor(features)
    if approximate:
        return x * 0.5 * (math_ops.tanh((x + x * x * x * 0.044715) * 0.7978845608028654) + 1.0)
    return x * 0.5 * (more_math.erf(x * 0.7071067811865476) + 1.0)


def selu(features: Any, name: str | None = None) -> Tensor:
    x = convert_to_tensor(features)
    return indexing.where(math_ops.greater(x, 0.0), x, elu(x) * 1.6732632423543772) * 1.0507009873554805


def softsign(features: Any, name: str | None = None) -> Tensor:
    x = convert_to_tensor(features)
    return x / (math_ops.abs(x) + 1)


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Tensor:
    """Sets a share `rate` of the elements to zero, and divides the others by 1 - rate."""
    x = convert_to_tensor(x)
    drawn = random_ops.uniform(array_ops.shape(x) if noise_shape is None else noise_shape, dtype=x.dtype, seed=seed)
    mask = math_ops.cast(math_ops.greater_equal(drawn, rate), x.dtype)
    return math_ops.divide(math_ops.multiply(x, mask), 1 - rate)


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float, name: str | None = None
) -> Tensor:
    """Shift and scale x so that `mean` becomes `offset`, and the standard deviation becomes `scale`."""
    factor = math_ops.rsqrt(convert_to_tensor(variance) + variance_epsilon)
    factor = factor if scale is None else factor * scale
    moved = convert_to_tensor(x) * factor - convert_to_tensor(mean) * factor
    return moved if offset is None else math_ops.add(moved, offset)


def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any, name: str | None = None) -> Tensor:
    labels, logits = matched("WeightedCrossEntropy", labels, logits)
    weight = (labels * (pos_weight - 1.0)) + 1.0
    rest = math_ops.log1p(math_ops.exp(math_ops.negative(math_ops.abs(logits)))) + relu(math_ops.negative(logits))
    return math_ops.add((1.0 - labels) * logits, weight * rest)


swish = silu
