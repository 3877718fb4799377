"""Automatic differentiation of graphs: reverse mode, and forward mode as the reverse of the reverse.

`transforms.py` is on top. `activity.py` finds the active values; `reverse.py` walks backwards, with rules for ops
(`reverse_ops.py`), blocks (`reverse_control_flow.py`) and mutation (`reverse_mutation.py`); `shadow.py` holds the
gradients of mutated objects; `strong_zeros.py` keeps infinities of unused values out of gradients.
"""
