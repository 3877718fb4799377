"""How ops are lowered to machine code, on numbers and on elements of arrays.

`number_rules.py` has one family of rules for numbers of one dtype, in the flavor of Python's operators or of NumPy's
inner loops. Who uses them finds the dtype: `scalars.py` for Python's operators, `math_functions.py` for the functions
of `math`, `numpy_scalars.py` for NumPy's functions of numbers, kernels for elements of arrays.
"""
