"""`tf.bitwise`."""

# ruff: noqa: F401  (names of TensorFlow's)

from autograph.compat.tensorflow.ops.math_ops import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)
