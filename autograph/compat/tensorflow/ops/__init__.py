"""TensorFlow's ops on tensors, and its variables and tensor arrays.

An op checks and converts its operands (`core/convert.py`), and hands a function of NumPy arrays to `core/tensor.apply`.
"""
