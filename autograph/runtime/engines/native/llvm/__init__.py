"""LLVM: from the low-level IR to object code, and CPython's objects in machine code.

`ir.py` has functions, blocks and instructions; `builder.py` builds them, `ir_verifier.py` checks them, and `printer.py`
prints LLVM's assembly. `unroll.py` copies blocks of short loops. `cpython_abi.py` accesses Python objects, `memory.py`
cells and the frame. `target.py` compiles, and `listing.py` shows the result.
"""
