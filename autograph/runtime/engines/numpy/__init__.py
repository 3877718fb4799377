"""The NumPy engine: compiles a graph to one function of Python and NumPy.

Begin with `engine.py`. `schedule.py` makes a `plan.py` of the nodes, `coalescing.py` chooses the variables,
`releases.py` deletes those of large arrays, `statements.py` and `expressions.py` generate the code. By `line_table.py`,
`tracebacks.py` and `user_locals.py`, errors show the user's program.
"""
