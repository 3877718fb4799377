"""The graph: typed values, nodes with ops, and blocks; and the declarations of ops.

Read `types.py`, `graph.py` and `opdef.py` first. `effects.py` computes what a node reads and mutates, `aliasing.py`
which values may share memory; `signature.py` describes the call that a graph is for, `operands.py` how ops are lowered
to machine code.
"""
