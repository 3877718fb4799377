"""Products of matrices: small ones by NumPy's loop, large ones tiled or by BLAS, whichever measures faster."""
