"""Calls in traced code: traced into, recorded as an op, or run.

`dispatch.py` decides. `constructors.py`, `special_methods.py` and `user_operators.py` are about classes, `modules.py`
about functions and modules as values, `recursion.py` about functions that call themselves.
"""
