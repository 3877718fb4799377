"""The derivatives of ops, and the ops that only derivatives use.

`toolkit.py` is what rules are written in. `elementwise.py`, `reductions.py` and `data_movement.py` hold the rules that
functions, methods and ufuncs share. `adjoint_ops.py` and `shadow_ops.py` declare ops that gradients are made of.
"""
