"""LLVM: the text that goes in, the object code that comes out, and CPython's layouts in machine code.

`target.py` asks LLVM, `function_builder.py` and `syntax.py` write its text, `cpython_abi.py` looks into Python objects.
"""
