"""Facts about a loop of the graph that code is made from; nothing here emits code.

`structure.py` says how blocks nest, `range_analysis.py` between which bounds integers are, `induction_variables.py`
what iterations add to or halve, `if_conversion.py` which branches can be computed on both sides, `side_exits.py` how
code is left.
"""
