"""TensorFlow's ops on tensors, and its variables and tensor arrays."""
