"""TensorFlow's inner modules, as far as programs import from them."""
