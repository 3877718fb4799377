"""Analyses and decisions of a conversion before it rewrites.

`base.py` has the context that all converters share and the walk over expressions. `known.py` and `movable.py` look at
names and code, `staging.py` and `plain.py` decide what stays plain, `owners.py` and `bodies.py` find the state that
blocks share.
"""
