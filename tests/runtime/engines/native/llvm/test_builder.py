"""Functions that are built in the low-level IR, printed, compiled by LLVM and called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    FAST,
    FLOAT,
    I1,
    I8,
    I32,
    I64,
    PTR,
    Module,
    Parameter,
    array,
    constant,
    loop_hints,
    poison,
    structure,
    vector,
    zero,
)
from autograph.runtime.engines.native.llvm.ir_verifier import verify_module
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import machine

_C = {I64: ctypes.c_int64, DOUBLE: ctypes.c_double, PTR: ctypes.c_void_p}


def begun(result: str, *types: str) -> tuple[Module, Builder, list[Any]]:
    """A function `f` that is to be built, and its parameters."""
    module = Module()
    function = module.define("f", result, *(Parameter(f"x{place}", type) for place, type in enumerate(types)))
    return module, Builder(function), list(function.parameters)


def compiled(module: Module) -> Callable[..., Any]:
    """Its function `f`."""
    verify_module(module)
    engine = machine().linked(machine().object(printed(module)))
    function = module.functions["f"]
    kinds = (_C[function.result], *(_C[each] for each in function.takes))
    called = ctypes.CFUNCTYPE(*kinds)(engine.get_function_address("f"))
    return lambda *args: (called(*args), engine)[0]


@pytest.mark.parametrize("at_least_once", [False, True])
def test_a_loop_sums_an_array(at_least_once: bool) -> None:
    module, b, (x, n) = begun(DOUBLE, PTR, I64)
    with b.loop(0, n, carried=[constant(DOUBLE, 0.5)], at_least_once=at_least_once) as loop:
        element = b.load(DOUBLE, b.gep(x, loop.index, of=DOUBLE), align=8)
        loop.carry(b.binary("fadd", loop.carried[0], element))
    b.ret(loop.results[0])
    numbers = (ctypes.c_double * 4)(1, 2, 3, 4)
    assert compiled(module)(ctypes.addressof(numbers), 4) == 10.5


def test_loops_in_loops_with_paths_in_them() -> None:
    module, b, (n,) = begun(I64, I64)
    with b.loop(0, n, carried=[constant(I64, 0)], hints=loop_hints(unroll_disable=True)) as outer:
        with b.loop(n, outer.index, -1, carried=outer.carried, predicate="sgt") as inner:
            odd = b.cast("trunc", inner.index, I1)
            found = b.if_else(odd, lambda: b.add(inner.carried[0], 100), lambda: b.add(inner.carried[0], 1))
            assert found is not None
            inner.carry(found)
        outer.carry(inner.results[0])
    b.ret(outer.results[0])
    wanted = sum(100 if j % 2 else 1 for i in range(5) for j in range(5, i, -1))
    assert compiled(module)(5) == wanted


def test_what_runs_only_if_a_condition_holds() -> None:
    module, b, (x,) = begun(I64, I64)
    with b.if_then(b.icmp("slt", x, 0), likely=False):
        b.ret(-1)
    place = b.alloca(I64)
    b.store(x, place)
    with b.if_then(b.icmp("sgt", x, 10)):
        b.store(constant(I64, 10), place)
    b.ret(b.load(I64, place))
    assert list(map(compiled(module), (-5, 3, 30))) == [-1, 3, 10]


def test_vectors() -> None:
    module, b, (x, y) = begun(DOUBLE, PTR, DOUBLE)
    four = vector(4, DOUBLE)
    found = b.binary("fmul", b.load(four, x, align=8), b.splat(y, 4))
    turned = b.shuffle(found, poison(four), [3, 2, 1, 0])
    first = b.extract_element(turned, 0)
    large = b.fcmp("ogt", found, 100.0)
    some = b.intrinsic("vector.reduce.or", large, result=I1)
    b.ret(b.select(some, constant(DOUBLE, -1.0), first))
    numbers = (ctypes.c_double * 4)(1, 2, 3, 4)
    function = compiled(module)
    assert (function(ctypes.addressof(numbers), 2.0), function(ctypes.addressof(numbers), 50.0)) == (8.0, -1.0)


def test_calls_intrinsics_and_parts_of_structures() -> None:
    module, b, (x, y) = begun(I64, I64, I64)
    both = b.intrinsic("smul.with.overflow", x, y, result=structure(I64, I1))
    with b.if_then(b.extract_value(both, 1), likely=False):
        b.ret(0)
    halved = module.define("halved", I64, Parameter("x", I64), words="internal", attributes="noinline")
    inner = Builder(halved)
    inner.ret(inner.binary("sdiv", halved.parameters[0], 2))
    b.ret(b.call(halved, b.extract_value(both, 0)))
    function = compiled(module)
    assert (function(6, 7), function(2**62, 2)) == (21, 0)


def test_arithmetic_by_intrinsics_has_flags() -> None:
    module, b, (x, y) = begun(DOUBLE, DOUBLE, DOUBLE)
    b.ret(b.intrinsic("maximum", x, y, flags="nsz"))
    assert "call nsz double @llvm.maximum.f64(" in printed(module) and compiled(module)(1.0, 2.0) == 2.0


def test_a_switch_and_a_constant_in_memory() -> None:
    module, b, (x,) = begun(I64, I64)
    table = module.constant("table", constant(array(3, I64), [5, 6, 7]))
    blocks = [b.function.new_block("case") for _ in range(3)]
    b.switch(x, blocks[2], {10: blocks[0], 20: blocks[1]})
    for place, block in enumerate(blocks):
        b.begin(block)
        b.ret(b.load(I64, b.gep(table, place, of=I64)))
    assert list(map(compiled(module), (10, 20, 30))) == [5, 6, 7]


def test_the_text_is_llvms_assembly() -> None:
    module, b, (x, n) = begun(DOUBLE, PTR, I64)
    b.place = (("program.py", 3),)
    with b.loop(0, n, 2, [zero(DOUBLE)], flags="nuw nsw", hints=loop_hints(vectorize_enable=False)) as loop:
        loop.carry(b.binary("fadd", loop.carried[0], b.load(DOUBLE, x, align=8, volatile=True), FAST))
    b.ret(b.intrinsic("fabs", loop.results[0]))
    assert printed(module) == """\
declare double @llvm.fabs.f64(double)
define double @f(ptr %x0, i64 %x1) {
entry1:
  ;
  br label %loop2
loop2:
  ;
  %t4 = phi i64 [ 0, %entry1 ], [ %t10, %body6 ]
  %t5 = phi double [ 0x0000000000000000, %entry1 ], [ %t9, %body6 ]
  %t7 = icmp slt i64 %t4, %x1
  br i1 %t7, label %body6, label %end3
body6:
  ;
  %t8 = load volatile double, ptr %x0, align 8
  %t9 = fadd reassoc nsz arcp contract double %t5, %t8
  %t10 = add nuw nsw i64 %t4, 2
  br label %loop2, !llvm.loop !1000
end3:
  ;
  %t11 = call double @llvm.fabs.f64(double %t5)
  ret double %t11
}
!1000 = distinct !{!1000, !{!"llvm.loop.vectorize.enable", i1 false}}
"""


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (I1, True, "true"), (I8, -1, "-1"), (I32, 5, "5"), (DOUBLE, 1.5, "0x3FF8000000000000"),
        (FLOAT, 0.1, "0x3FB99999A0000000"), (DOUBLE, -0.0, "0x8000000000000000"), (PTR, None, "null"),
        (vector(2, I64), [1, 2], "<i64 1, i64 2>"), (vector(2, I1), True, "<i1 true, i1 true>"),
        (array(2, FLOAT), [0, 1], "[float 0x0000000000000000, float 0x3FF0000000000000]"),
    ],
)  # fmt: skip
def test_constants(type: str, value: Any, text: str) -> None:
    assert constant(type, value).ref == text
    assert constant(type, value) == constant(type, value)


def test_constants_of_different_types_differ() -> None:
    assert constant(I32, 1) != constant(I64, 1)
    assert len({constant(I64, 1), constant(I64, 1), constant(I64, 2)}) == 2
