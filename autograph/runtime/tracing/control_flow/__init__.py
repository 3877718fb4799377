"""Branches and loops with staged conditions.

`cond.py` traces bodies into blocks, and joins those of an `if`; `loop.py` finds the loop-carried values, and stages a
loop. `python_loops.py` and `speculation.py` decide between plain Python, unrolling and a staged loop; `merge.py` is the
merge lattice of a variable where paths meet.
"""
