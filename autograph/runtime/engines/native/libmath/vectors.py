"""Functions of vectors, and around each the loop that machine code calls in the place of one of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    I1,
    I32,
    I64,
    PTR,
    VOID,
    Constant,
    Function,
    Metadata,
    Module,
    Parameter,
    Value,
    constant,
    loop_hints,
    vector,
)

WIDTH = 8
FLOATS, WORDS, BITS = (vector(WIDTH, each) for each in (DOUBLE, I64, I1))
ALONE = loop_hints(unroll_disable=True, vectorize_enable=False)    # of few iterations, or of vectors already
Elementwise: TypeAlias = Callable[[Value], Value]


def inner_loop(module: Module, name: str) -> tuple[Builder, list[Value]]:
    """Begin a function that is called as an inner loop of NumPy's is. Gives what builds it, and its parameters.

    These are the context, the addresses of the arrays, and where their length and their strides are, and something
    more.
    """
    params = [Parameter(each, PTR) for each in ("context", "arrays", "size", "steps", "more")]
    function = module.define(name, I32, *params, words="internal", attributes="noinline")
    return Builder(function), list(params)


def elementwise(module: Module, name: str, *params: Parameter) -> tuple[Builder, Function]:
    """Begin a function of vectors, which is inlined."""
    function = module.define(name, FLOATS, *params, words="internal", attributes="alwaysinline")
    return Builder(function), function


def all_of(b: Builder, bits: Value) -> Value:
    """Whether all of some bits are set."""
    return b.intrinsic("vector.reduce.and", bits, result=I1)


def map_row(
    b: Builder,
    function: Elementwise,
    source: Value,
    target: Value,
    count: Value,
    fill: Constant,
    hints: Metadata | None = None,
) -> None:
    """Apply a function to numbers that lie side by side, a vector at a time.

    Args:
        fill: what the last vector has behind the last number.
        hints: of the loop.
    """
    with b.loop(0, b.and_(count, -WIDTH), WIDTH, predicate="ult", hints=hints) as loop:
        x = b.load(FLOATS, b.gep(source, loop.index, of=DOUBLE), align=8)
        b.store(function(x), b.gep(target, loop.index, of=DOUBLE), align=8)
    rest = b.sub(count, loop.index)
    with b.if_then(b.icmp("ne", rest, 0)):
        here, there = (b.gep(each, loop.index, of=DOUBLE) for each in (source, target))
        mask = b.intrinsic("get.active.lane.mask", constant(I64, 0), rest, result=BITS, overload=[BITS, I64])
        align, memory = constant(I32, 8), [FLOATS, PTR]
        found = function(b.intrinsic("masked.load", here, align, mask, fill, result=FLOATS, overload=memory))
        b.intrinsic("masked.store", found, there, align, mask, result=VOID, overload=memory)
