"""The state of one trace: the open blocks, and the changes since its beginning.

`trace.py` records nodes. `undo_log.py` can undo changes of containers and objects; `staged_containers.py`,
`iterators.py` and `element_types.py` are about the program's containers, `mutation.py` changes them, `escape.py` finds
those that other code knows, `callbacks.py` notes what the graph calls as it is. `exceptions.py`, `blame.py` and
`graph_break_policy.py` handle errors and signals.
"""
