"""Inner loops of ufuncs in machine code: calls of NumPy's, and loops of our own around functions of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder

WIDTH = 8
FLOATS, WORDS, BITS = (ir.vector(WIDTH, each) for each in (ir.DOUBLE, ir.I64, ir.I1))
NO_VECTORS = ir.loop_hints(unroll_disable=True, vectorize_enable=False)    # a loop has few iterations, or vectors
Elementwise: TypeAlias = Callable[[ir.Value], ir.Value]


@dataclass(frozen=True)
class Loop:
    """An inner loop that computes each element on its own.

    Attributes:
        name: of the function.
        handed: its arguments other than arrays; `{name}_{argument}` is the name of the address of each.
        steady: whether an element of a row has the same bits if all other operands have a stride of 0.
        costly: whether an element takes several nanoseconds.
        define: defines the function and one for a vector, `{name}_of`, if the loop is one of ours.
        body: emits the body of a function of a number or vector, if the loop is one of ours.
        in_blocks: whether several floats in a row have the bits that each has by itself.
    """

    name: str
    handed: tuple[str, ...]
    steady: bool
    costly: bool
    define: Callable[[ir.Module], None] | None = None
    body: Callable[[Builder], None] | None = None
    in_blocks: bool = False

    def call(self, b: Builder, arrays: ir.Value, size: ir.Value, strides: Sequence[int]) -> None:
        """Call it.

        Args:
            arrays: the address of the addresses of operands and result.
            size: the address of the number of elements.
        """
        module = b.function.module
        name = f"strides_{'_'.join(map(str, strides))}"
        steps = module.constant(name, ir.constant(ir.array(len(strides), ir.I64), list(strides)))
        context, more = (*(module.outside(f"{self.name}_{each}") for each in self.handed), ir.NULL, ir.NULL)[:2]
        b.call_outside(self.name, ir.I32, context, arrays, size, steps, more)


def inner_loop(module: ir.Module, name: str) -> tuple[Builder, list[ir.Value]]:
    """Begin a function with the signature of NumPy's inner loops. Returns its builder and parameters.

    These are the context, the addresses of the arrays, of their length and of their strides, and one more.
    """
    params = [ir.Parameter(each, ir.PTR) for each in ("context", "arrays", "size", "steps", "more")]
    function = module.define(name, ir.I32, *params, words="internal", attributes="noinline")
    return Builder(function), list(params)


def elementwise(module: ir.Module, name: str, *params: ir.Parameter) -> tuple[Builder, ir.Function]:
    """Begin an inlined function of vectors."""
    function = module.define(name, FLOATS, *params, words="internal", attributes="alwaysinline")
    return Builder(function), function


def all_of(b: Builder, bits: ir.Value) -> ir.Value:
    """Whether all bits of a vector are set."""
    return b.intrinsic("vector.reduce.and", bits, result=ir.I1)


def map_row(
    b: Builder,
    function: Elementwise,
    source: ir.Value,
    target: ir.Value,
    count: ir.Value,
    fill: ir.Constant,
    hints: ir.Metadata | None = None,
) -> None:
    """Apply a function to contiguous numbers, a vector at a time.

    Args:
        fill: the elements of the last vector after the last number.
    """
    with b.loop(0, b.and_(count, -WIDTH), WIDTH, predicate="ult", hints=hints) as loop:
        x = b.load(FLOATS, b.gep(source, loop.index, of=ir.DOUBLE), align=8)
        b.store(function(x), b.gep(target, loop.index, of=ir.DOUBLE), align=8)
    rest = b.sub(count, loop.index)
    with b.if_then(b.icmp("ne", rest, 0)):
        here, there = (b.gep(each, loop.index, of=ir.DOUBLE) for each in (source, target))
        mask = b.intrinsic("get.active.lane.mask", ir.constant(ir.I64, 0), rest, result=BITS, overload=[BITS, ir.I64])
        align, memory = ir.constant(ir.I32, 8), [FLOATS, ir.PTR]
        found = function(b.intrinsic("masked.load", here, align, mask, fill, result=FLOATS, overload=memory))
        b.intrinsic("masked.store", found, there, align, mask, result=ir.VOID, overload=memory)
