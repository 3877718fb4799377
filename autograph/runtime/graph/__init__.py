"""The graph: values with types, nodes with ops, blocks; and what is known of ops.

Read `types.py`, `graph.py` and `opdef.py` first. `effects.py` says what a node reads and changes, `aliasing.py` which
values may share memory, `signature.py` what a graph is traced for, `operands.py` how ops are lowered to machine code.
"""
