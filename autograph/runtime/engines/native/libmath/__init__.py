"""Mathematical functions in machine code, to the last bit what the C library or NumPy gives.

Begin with `ufunc_loops.py`, which finds the inner loop of a ufunc: NumPy's own, or one of ours with the same bits.
Those are `exponential.py` (by the algorithms in `exp_algorithms.py`) and `division.py`, built for vectors
(`vectors.py`). `libm.py` finds functions of the C library.
"""
