"""TensorFlow's internal modules that programs import."""
