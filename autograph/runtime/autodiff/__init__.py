"""Derivatives of graphs: reverse mode, and forward mode as the reverse of the reverse.

`transforms.py` is on top. `activity.py` says which values matter; `reverse.py` walks backwards, with rules for ops
(`reverse_ops.py`), blocks (`reverse_control_flow.py`) and mutation (`reverse_mutation.py`); `shadow.py` holds the
gradients of what is mutated; `strong_zeros.py` keeps infinities of values that do not count out of gradients.
"""
