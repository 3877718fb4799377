"""LLVM: the low-level IR that goes in, the object code that comes out, and CPython's layouts in machine code.

`ir.py` is functions, blocks and instructions, which `builder.py` builds, `ir_verifier.py` checks and `printer.py` makes
LLVM's assembly of. `cpython_abi.py` looks into Python objects, `memory.py` knows cells and the frame.
`target.py` asks LLVM, and `listing.py` shows what it made.
"""
