"""Analyses and decisions of a conversion, before it rewrites.

`base.py` has the context of all converters and the walk over expressions. `known.py` and `movable.py` look at names and
code, `staging.py` and `plain.py` decide which statements stay plain, `owners.py` and `bodies.py` make bodies share
their state.
"""
