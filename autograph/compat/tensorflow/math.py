"""`tf.math`."""

# ruff: noqa: F401, F403  (names of TensorFlow's)

from autograph.compat.tensorflow.more_math import (
    confusion_matrix,
    count_nonzero,
    erf,
    in_top_k,
    l2_normalize,
    multiply_no_nan,
    polyval,
    reduce_euclidean_norm,
    unsorted_segment_sum,
    xlogy,
    zero_fraction,
)
from autograph.compat.tensorflow.nn import l2_loss, log_sigmoid, log_softmax, softmax, softplus, top_k
from autograph.compat.tensorflow.ops.math_ops import *
from autograph.compat.tensorflow.ops.math_ops import sigmoid as sigmoid
from autograph.compat.tensorflow.ops.reduce_ops import *
