"""Functions of numbers that call an inner loop of a ufunc for one element, and the same functions of vectors.

Machine code of loops calls them. They depend on nothing but their arguments and change nothing, except that NumPy's
loops may raise or clear the processor's floating-point flags. So `simd` may run several iterations at once, which calls
the inner loop once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from autograph.runtime.engines.native.libmath.vectors import Loop
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.memory import load_number, store_number


def function_of(module: ir.Module, loop: Loop, dtypes: Sequence[np.dtype[Any]]) -> ir.Function:
    """The function of numbers of a loop, in a module. If the loop can be used `in_blocks`, it has `Module.vectors`."""
    name = f"{loop.name}_number"
    if name not in module.functions:
        made = _define(module, loop, dtypes, name, 0)
        if loop.in_blocks:
            module.vectors[made] = partial(_of_vectors, module, loop, dtypes)
    return module.functions[name]


def _of_vectors(module: ir.Module, loop: Loop, dtypes: Sequence[np.dtype[Any]], count: int) -> ir.Function:
    """The same function of vectors of so many numbers."""
    name = f"{loop.name}_{count}"
    return module.functions.get(name) or _define(module, loop, dtypes, name, count)


def _define(module: ir.Module, loop: Loop, dtypes: Sequence[np.dtype[Any]], name: str, count: int) -> ir.Function:
    *kinds, result = (ir.vector(count, llvm_type(each)) if count else llvm_type(each) for each in dtypes)
    params = [ir.Parameter(f"x{place}", each) for place, each in enumerate(kinds)]
    function = module.define(name, result, *params, words="internal", attributes="noinline")
    _fill(Builder(function), loop, dtypes, count)
    return function


def _fill(b: Builder, loop: Loop, dtypes: Sequence[np.dtype[Any]], count: int) -> None:
    """Emit the body: the operands go into memory, and the loop gets their addresses.

    Args:
        count: the length of the vectors; 0 for numbers.
    """
    if loop.body is not None:
        loop.body(b)
        return
    params, result, align = b.function.parameters, b.function.result, 64 if count else 8
    *cells, found = (b.alloca(each, align) for each in (*(each.type for each in params), result))
    arrays = b.alloca(ir.array(len(dtypes), ir.PTR))
    for place, cell in enumerate((*cells, found)):
        b.store(cell, b.gep(arrays, place, ir.PTR))
    for cell, param, dtype in zip(cells, params, dtypes):
        b.store(param, cell, align) if count else store_number(b, cell, dtype, param)
    size = b.function.module.constant(f"count_{count}", ir.constant(ir.I64, count or 1))
    steps = [each.itemsize if count else 0 for each in dtypes[:-1]]     # as NumPy does for numbers
    loop.call(b, arrays, size, [*steps, dtypes[-1].itemsize])
    b.ret(b.load(result, found, align) if count else load_number(b, found, dtypes[-1]))
