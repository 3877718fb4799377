"""Calls in traced code: traced into, recorded as an op or a callback, or run.

`dispatch.py` decides. `stand_ins.py` and `modules.py` have the stand-ins for functions and modules;
`special_methods.py` and `user_operators.py` trace the methods that Python itself calls for the user's classes.
`handed_functions.py` analyzes effects of callbacks, `bounds.py` limits recursion and the tracing of packages.
"""
