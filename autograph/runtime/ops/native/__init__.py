"""Lowerings: machine code of ops, for numbers and for elements of arrays.

`number_rules.py` has one family of rules for numbers of one dtype, in the flavor of Python's operators or of NumPy's
inner loops. Their callers find the dtype: `scalars.py` for Python's operators, `math_functions.py` for the functions of
`math`, `numpy_scalars.py` for NumPy's functions of numbers, kernels for elements of arrays. `products.py` takes
vectors, also those that are only a part of an array (`views.py`), and so does `vectors.py`, for arithmetic.
"""
