"""Derivatives of ops, and the ops that only derivatives use.

Rules are written with `toolkit.py`. `elementwise.py`, `reductions.py` and `data_movement.py` hold the rules that
functions, methods and ufuncs share. `adjoint_ops.py` and `shadow_ops.py` declare the ops that gradients consist of.
"""
