"""Products of matrices, of which each bit is NumPy's.

`small.py` calls the loop of `np.matmul` without NumPy's preparations. For larger matrices, `autotune.py` tries whether
BLAS or the loop in `tiled.py` is faster.
"""
