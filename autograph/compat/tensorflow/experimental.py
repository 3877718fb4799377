"""`tf.experimental`."""

from autograph.compat.tensorflow.data.iterators import Optional

__all__ = ["Optional"]
