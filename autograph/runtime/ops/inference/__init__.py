"""Type inference: the types of the results of ops.

A rule computes with shapes and dtypes; `infer.py` makes of it an inference that answers for all arguments. Rules are
written with `shape_rules.py`; `numpy_probe.py` asks NumPy itself; `declare.py` declares several ops by one rule.
"""
