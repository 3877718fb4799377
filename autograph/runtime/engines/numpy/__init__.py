"""The engine that is always there: a graph becomes one function of Python and NumPy.

`engine.py` is on top. `schedule.py` orders the nodes, `statements.py` and `expressions.py` write them, `coalescing.py`
names the variables, `line_table.py`, `tracebacks.py` and `user_locals.py` let errors show the user's program.
"""
