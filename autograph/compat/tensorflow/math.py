"""`tf.math`."""

# ruff: noqa: F401, F403  (names of TensorFlow's)

from autograph.compat.tensorflow.bitwise import *
from autograph.compat.tensorflow.more_math import *
from autograph.compat.tensorflow.nn import l2_loss, log_sigmoid, log_softmax, softmax, softplus, top_k
from autograph.compat.tensorflow.ops.math_ops import *
from autograph.compat.tensorflow.ops.math_ops import angle, conj, imag, real
from autograph.compat.tensorflow.ops.reduce_ops import *
