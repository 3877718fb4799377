"""Products of matrices, with NumPy's bits.

`small.py` calls NumPy's inner loop without NumPy's preparations. For larger matrices, `autotune.py` chooses the faster
one of BLAS and the loop in `tiled.py`.
"""
