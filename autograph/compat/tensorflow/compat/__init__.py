"""`tf.compat`: the names of other versions."""

# ruff: noqa: F401  (names of TensorFlow's)

from autograph.compat.tensorflow.compat import v1
