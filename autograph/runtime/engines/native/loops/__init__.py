"""Loops of the graph as machine code.

`selection.py` picks the loops, `region.py` runs them, `lowering.py` compiles one for inputs of certain kinds, with
`block_versions.py` for what is known at each point. `python_calls.py` is what Python does on behalf of the code;
`tiering.py` decides whether compiling pays.
"""
