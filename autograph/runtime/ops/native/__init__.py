"""How ops are lowered to machine code, on numbers and on elements of arrays.

`scalars.py` has Python's operators, `math_functions.py` the functions of `math`, `numpy_scalars.py` NumPy's functions
of numbers. `ufunc_rules.py` has what NumPy's inner loops do with one element.
"""
