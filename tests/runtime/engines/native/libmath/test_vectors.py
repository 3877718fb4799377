"""Functions of vectors that are written in the low-level IR, and the loops around them."""

from __future__ import annotations

import ctypes
from functools import partial

import numpy as np
import pytest

from autograph.common.numpy_internals import LOOP_TYPE
from autograph.runtime.engines.native.libmath import division, exponential
from autograph.runtime.engines.native.libmath.exp_algorithms import GNU, SVML
from autograph.runtime.engines.native.libmath.vectors import FLOATS, WIDTH, Loop, inner_loop, map_row
from autograph.runtime.engines.native.llvm.ir import I64, PTR, Module, constant
from autograph.runtime.engines.native.llvm.ir_verifier import verify_module
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import machine

DEFINITIONS = {
    "quotient": division.define,
    "GNU": partial(exponential.define, algorithm=GNU, inner=Loop("numpys", ("context",), True, True)),
    "SVML": partial(exponential.define, algorithm=SVML, inner=Loop("numpys", ("context", "more"), True, True)),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_are_well_formed(name):
    module = Module()
    DEFINITIONS[name](module)
    verify_module(module)


@pytest.mark.parametrize("count", [0, 1, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH, 3 * WIDTH + 5])
def test_each_number_of_a_row_is_computed_and_nothing_else(count):
    module = Module()
    b, (_, arrays, size, _, _) = inner_loop(module, "f")
    source, target = (b.load(PTR, b.gep(arrays, place, of=PTR)) for place in range(2))
    map_row(b, lambda x: b.binary("fadd", x, 1.0), source, target, b.load(I64, size), constant(FLOATS, 0.0))
    b.ret(0)
    module.functions["f"].words = ""
    verify_module(module)
    engine = machine().linked(machine().object(printed(module)))
    x, found = np.arange(count + 1.0), np.full(count + 1, -9.0)
    data, length = (ctypes.c_void_p * 2)(x.ctypes.data, found.ctypes.data), ctypes.c_ssize_t(count)
    LOOP_TYPE(engine.get_function_address("f"))(None, ctypes.addressof(data), ctypes.addressof(length), None, None)
    assert found.tolist() == [*(x[:count] + 1), -9.0]
