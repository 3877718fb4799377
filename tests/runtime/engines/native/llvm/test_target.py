"""From LLVM's text to object code."""

from __future__ import annotations

from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I32, I64, VOID, Module, constant
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import names_outside


def test_names_outside() -> None:
    """Of functions and memory that others have, whatever the text is like."""
    module = Module()
    b = Builder(module.define("f", VOID))
    assert names_outside(printed(module)) == set()
    module.constant("own", constant(I64, 1))
    b.intrinsic("fabs", constant(DOUBLE, 1.0))
    b.ret()
    assert names_outside(printed(module)) == set()
    b.call_outside("fetestexcept", I32, constant(I32, 1))
    module.outside("ag_numpy_exp_dd_context")
    assert names_outside(printed(module)) == {"fetestexcept", "ag_numpy_exp_dd_context"}
