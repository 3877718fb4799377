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
from autograph.compat.tensorflow.ops.math_ops import (
    angle,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    conj,
    imag,
    left_shift,
    nextafter,
    real,
    reciprocal_no_nan,
    right_shift,
    rint,
    softsign,
    xdivy,
    xlog1py,
)
from autograph.compat.tensorflow.ops.reduce_ops import *
