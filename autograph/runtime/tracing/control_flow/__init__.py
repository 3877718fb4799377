"""Branches and loops with staged conditions.

`body.py` traces a body into a block; `cond.py` joins two, `loop.py` finds what a loop carries. `for_loop.py` and
`while_loop.py` decide between plain Python, unrolling and a staged loop; `merge.py` is the lattice of what a variable
may be where paths meet.
"""
