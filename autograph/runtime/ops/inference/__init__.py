"""How the types of results are inferred.

A rule of an op computes with shapes and dtypes; `infer.py` makes of it an inference that answers for all arguments.
`shape_rules.py` is what rules are written in; `numpy_probe.py` asks NumPy itself; `declare.py` declares many ops by one
rule.
"""
