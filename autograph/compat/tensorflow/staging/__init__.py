"""`tf.function`, control flow, gradient tapes: how TensorFlow's spelling is staged."""
