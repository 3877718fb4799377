"""The engine that compiles loops to machine code, and fuses operations on whole arrays.

`engine.py` is on top: `loops/` compiles loops of the graph, `kernels/` operations on whole arrays, `matmul/` products.
Below: `emit/` (from lowered operations to code), `abi/` (how Python calls it), `libmath/`, `llvm/` (text, object code)
and `analysis/` (facts about a loop). `listing.py` shows machine code beside the user's lines.
"""
