"""The state of one trace: the block being recorded, and what has changed since its beginning.

`trace.py` records. `undo_log.py` can take back what was changed outside the graph; `staged_containers.py`,
`iterators.py` and `element_types.py` know the containers of the program; `exceptions.py` and `graph_break_policy.py`
say what becomes of errors and interruptions.
"""
