"""Loops of the graph as machine code.

`selection.py` picks the loops, `region.py` runs them, `tiering.py` decides whether compiling pays. `lowering.py` walks
the graph of a loop for inputs of certain kinds; begin to read there. It writes into a `Flow` (`block_versions.py`):
where values are, basic-block versions, side exits. `counted_loops.py` counts, `fast_path.py` has loop versioning,
`python_calls.py` what Python does on behalf of the code, `iterators.py` Python's iterators.
"""
