"""The verifier of the low-level IR names the function, block and instruction that are wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    FLOAT,
    I1,
    I32,
    I64,
    PTR,
    VOID,
    Function,
    Instruction,
    Module,
    Parameter,
    constant,
    structure,
    vector,
)
from autograph.runtime.engines.native.llvm.ir_verifier import InvalidIR, verify


def begun() -> Builder:
    """A function of an integer, a float and a pointer."""
    parameters = Parameter("n", I64), Parameter("x", DOUBLE), Parameter("p", PTR)
    return Builder(Module().define("f", I64, *parameters))


def parts(b: Builder) -> tuple[Parameter, ...]:
    return tuple(b.function.parameters)


def wrong(function: Function) -> str:
    with pytest.raises(InvalidIR) as found:
        verify(function)
    return str(found.value)


def test_a_sound_function_passes() -> None:
    b = begun()
    n, x, _ = parts(b)
    with b.loop(0, n, carried=[x]) as loop:
        loop.carry(b.binary("fmul", loop.carried[0], 2.0))
    b.ret(b.cast("fptosi", loop.results[0], I64))
    verify(b.function)


def test_what_it_says() -> None:
    b = begun()
    n, x, _ = parts(b)
    b.emit(I64, "add", (n, x))
    b.ret(0)
    assert wrong(b.function) == "function @f, block entry1: %t2 = add i64 %n, %x: operands of other types"


MISTAKES: list[tuple[str, Callable[[Builder], Instruction]]] = [
    ("there is no fadd of i64", lambda b: b.binary("fadd", parts(b)[0], parts(b)[0])),
    ("there is no add of double", lambda b: b.add(parts(b)[1], parts(b)[1])),
    ("operands of other types", lambda b: b.icmp("eq", parts(b)[0], constant(I32, 1))),
    ("olt of i64", lambda b: b.icmp("olt", parts(b)[0], 1)),
    ("slt of double", lambda b: b.fcmp("slt", parts(b)[1], 1.0)),
    ("from i64 to i32", lambda b: b.cast("zext", parts(b)[0], I32)),
    ("there is no trunc from double to float", lambda b: b.cast("trunc", parts(b)[1], FLOAT)),
    ("from double to i32", lambda b: b.cast("bitcast", parts(b)[1], I32)),
    ("only between pointers and integers", lambda b: b.cast("inttoptr", parts(b)[1], PTR)),
    ("operands of other types", lambda b: b.select(constant(I1, True), parts(b)[0], parts(b)[1])),
    ("no pointer", lambda b: b.load(I64, parts(b)[0])),
    ("no pointer", lambda b: b.store(parts(b)[0], parts(b)[1])),
    ("no pointer, or index", lambda b: b.gep(parts(b)[2], parts(b)[1])),
    ("no double in <2 x i64>", lambda b: b.emit(DOUBLE, "extractelement", (constant(vector(2, I64), 0), parts(b)[0]))),
    ("operands of other types", lambda b: b.emit(
        vector(2, I64), "shufflevector", (constant(vector(2, I64), 0),) * 2 + (constant(vector(4, I32), 0),))),
    ("no part of { i64, i1 }", lambda b: b.emit(
        I64, "extractvalue", (b.intrinsic("sadd.with.overflow", *parts(b)[:1] * 2, result=structure(I64, I1)),), 1)),
    ("it takes (i64) and gives i64", lambda b: b.call(b.function.module.declare("g", I64, I64), parts(b)[1])),
    ("@f is not declared so", lambda b: b.call(Module().define("f", VOID))),
    ("no instruction is called mad", lambda b: b.emit(I64, "mad", parts(b)[:1] * 2)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "make"), MISTAKES, ids=[what for what, _ in MISTAKES])
def test_types_of_operands(what: str, make: Callable[[Builder], Instruction]) -> None:
    b = begun()
    make(b)
    b.ret(0)
    assert wrong(b.function).endswith(f": {what}")


def test_a_result_of_another_type() -> None:
    b = begun()
    b.ret(parts(b)[1])
    assert wrong(b.function).endswith("the function gives i64")


def test_a_block_without_an_end() -> None:
    b = begun()
    b.add(parts(b)[0], 1)
    assert wrong(b.function) == "function @f, block entry1: it has no terminator"


def test_instructions_behind_the_end() -> None:
    b = begun()
    b.ret(0)
    b.ret(1)
    assert wrong(b.function).endswith("ret i64 0: a terminator before the end")


def test_a_block_that_has_not_begun() -> None:
    b = begun()
    b.br(b.function.new_block("elsewhere"))
    assert "block elsewhere2 is not in the function" in wrong(b.function)


def test_a_value_of_one_path_only() -> None:
    b = begun()
    n, _, _ = parts(b)
    with b.if_then(b.icmp("sgt", n, 0)):
        found = b.add(n, 1)
    b.ret(found)
    assert wrong(b.function).endswith(f"{found} is used before it is computed")


def test_a_value_that_is_used_before_it_is_computed() -> None:
    b = begun()
    first, second = b.add(parts(b)[0], 1), b.add(parts(b)[0], 2)
    b.ret(first)
    first.operands = second, second
    assert wrong(b.function).endswith(f"{second} is used before it is computed")


def test_a_value_of_another_function() -> None:
    b, other = begun(), begun()
    b.ret(other.add(parts(other)[0], 1))
    assert "is nowhere in the function" in wrong(b.function)


def test_two_values_of_one_name() -> None:
    b = begun()
    first, second = b.add(parts(b)[0], 1), b.add(parts(b)[0], 2)
    second.ref = first.ref
    b.ret(second)
    assert wrong(b.function).endswith("there is another value of this name")


def test_a_phi_that_misses_a_block() -> None:
    b = begun()
    n, _, _ = parts(b)
    start, after = b.block, b.function.new_block("after")
    with b.if_then(b.icmp("sgt", n, 0)):
        pass
    b.br(after)
    b.begin(after)
    b.ret(b.phi(I64, (0, start)))
    assert "the blocks before it are after" in wrong(b.function)


def test_a_phi_behind_other_instructions() -> None:
    b = begun()
    n, _, _ = parts(b)
    before, after = b.block, b.function.new_block("after")
    b.br(after)
    b.begin(after)
    b.add(n, 1)
    b.ret(b.phi(I64, (n, before)))
    assert wrong(b.function).endswith("a phi behind other instructions")


def test_a_way_back_to_the_first_block() -> None:
    b = begun()
    b.br(b.block)
    assert wrong(b.function).endswith("it leads back to the first block")
