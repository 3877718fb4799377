"""Mathematical functions in machine code, with the bits of the C library or of NumPy.

Begin with `ufunc_loops.py`, which finds the inner loop of a ufunc: NumPy's own, or one of ours with the same bits.
Those are `exponential.py` (by the algorithms in `exp_algorithms.py`) and `division.py`, built of vectors
(`vectors.py`). `element_functions.py` calls a loop for single numbers. `libm.py` finds functions of the C library, and
reads the floating-point flags.
"""
