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
from autograph.runtime.graph.operands import Complex, Number
from autograph.runtime.graph.types import TensorType, part_of, scalar


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
    *kinds, result = (ir.vector(count, llvm_type(each)) if count else _register(each) for each in dtypes)
    words = [word for kind, each in zip(kinds, dtypes) for word in _words(kind, each)]
    params = [ir.Parameter(f"x{place}", each) for place, each in enumerate(words)]
    function = module.define(name, result, *params, words="internal", attributes="noinline")
    _fill(Builder(function), loop, dtypes, count)
    return function


def _register(dtype: np.dtype[Any]) -> str:
    """The type of a result: of a complex number a vector of its parts."""
    return ir.vector(2, llvm_type(part_of(dtype))) if dtype.kind == "c" else llvm_type(dtype)


def _words(kind: str, dtype: np.dtype[Any]) -> list[str]:
    """The types of the parameters of an operand: a complex number has two."""
    return [ir.element_of(kind)] * 2 if dtype.kind == "c" else [kind]


def element_of(b: Builder, type: TensorType, found: ir.Value) -> Number | Complex:
    """The result of a function of numbers."""
    if type.dtype.kind != "c":
        return Number(type, found)
    real, imag = (Number(scalar(part_of(type.dtype)), b.extract_element(found, place)) for place in range(2))
    return Complex(type, (real, imag))


def _fill(b: Builder, loop: Loop, dtypes: Sequence[np.dtype[Any]], count: int) -> None:
    """Emit the body: the operands go into memory, and the loop gets their addresses.

    Args:
        count: the length of the vectors; 0 for numbers.
    """
    if loop.body is not None:
        loop.body(b)
        return
    words, result, align = iter(b.function.parameters), b.function.result, 64 if count else 8
    kinds = [ir.vector(count, llvm_type(each)) if count else llvm_type(each) for each in dtypes]
    *cells, found = (b.alloca(each, align) for each in kinds)
    arrays = b.alloca(ir.array(len(dtypes), ir.PTR))
    for place, cell in enumerate((*cells, found)):
        b.store(cell, b.gep(arrays, place, ir.PTR))
    for cell, dtype in zip(cells, dtypes):
        if count:
            b.store(next(words), cell, align)
        elif dtype.kind == "c":
            own = part_of(dtype)
            for at in range(2):
                store_number(b, b.gep(cell, at * own.itemsize), own, next(words))
        else:
            store_number(b, cell, dtype, next(words))
    size = b.function.module.constant(f"count_{count}", ir.constant(ir.I64, count or 1))
    steps = [each.itemsize if count else 0 for each in dtypes[:-1]]     # as NumPy does for numbers
    loop.call(b, arrays, size, [*steps, dtypes[-1].itemsize])
    is_vector = count or dtypes[-1].kind == "c"
    b.ret(b.load(result, found, align) if is_vector else load_number(b, found, dtypes[-1]))
