"""Calls of machine code by Python.

`calling_convention.py` moves objects into the frame and back, `c_entry.py` builds the C functions that Python calls,
`jit.py` links object code. `list_functions.py` has C functions of whole lists.
"""
