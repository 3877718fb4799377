"""Tensors, dtypes, shapes and errors of TensorFlow's spelling, and the graph that is being made."""
