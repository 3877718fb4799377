"""`tf.math`."""

# ruff: noqa: F401, F403  (names of TensorFlow's)

from autograph.compat.tensorflow.math_ops import *
from autograph.compat.tensorflow.nn import l2_loss, log_softmax, softmax, softplus, top_k
from autograph.compat.tensorflow.reduce_ops import *
