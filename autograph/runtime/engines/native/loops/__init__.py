"""Loops of the graph as machine code.

`selection.py` picks the loops, `region.py` runs them, `tiering.py` decides whether compiling pays. `lowering.py` walks
the graph of a loop for inputs of certain kinds; begin to read there. It emits into a `Flow` (`block_versions.py`),
which tracks values, versions of basic blocks and side exits. `counted_loops.py` counts, `fast_path.py` has loop
versioning, `python_calls.py` Python callbacks, `iterators.py` Python's iterators, `lists.py` items of lists,
`list_joins.py` their sums, `list_methods.py` and `containers.py` other operations on lists, dicts and strings, by the
calls of `c_calls.py`.
`examples.py` looks at the lists of the first call, to expect the right items.
"""
