"""The native engine: compiles loops to machine code, and fuses operations on whole arrays.

`engine.py` is on top: `loops/` compiles loops of the graph, `kernels/` operations on whole arrays, `matmul/` products.
Below: `emit/` (from lowered operations to code), `abi/` (how Python calls it), `libmath/`, `llvm/` (the low-level IR,
object code, listings) and `analysis/` (of loops).
"""
