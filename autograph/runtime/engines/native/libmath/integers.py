"""Functions of integers that need a loop."""

from __future__ import annotations

from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import I64

_GCD = "ag.gcd"


def gcd(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    """The greatest common divisor of two integers, neither of them negative."""
    return b.call(_gcd(b.function.module), x, y)


def _gcd(module: ir.Module) -> ir.Function:
    """Stein's algorithm ("Computational problems associated with Racah algebra", 1967): it halves and subtracts."""
    if _GCD in module.functions:
        return module.functions[_GCD]
    x, y = ir.Parameter("x", I64), ir.Parameter("y", I64)
    b = Builder(module.define(_GCD, I64, x, y, words="internal", attributes="noinline"))
    for one, other in ((x, y), (y, x)):
        with b.if_then(b.icmp("eq", one, 0)):
            b.ret(other)

    def odd(number: ir.Value) -> ir.Value:
        return b.binary("lshr", number, _twos(b, number))

    first, rest, twos = odd(x), b.alloca(I64), _twos(b, b.or_(x, y))
    least = b.alloca(I64)
    b.store(first, least)
    b.store(y, rest)
    again = b.new_block("again")
    b.br(again)
    b.begin(again)
    old, new = b.load(I64, least), odd(b.load(I64, rest))
    is_less = b.icmp("ult", old, new)
    low, high = b.select(is_less, old, new), b.select(is_less, new, old)
    difference = b.sub(high, low)
    b.store(low, least)
    b.store(difference, rest)
    done = b.new_block("done")
    b.cond_br(b.icmp("eq", difference, 0), done, again)
    b.begin(done)
    b.ret(b.binary("shl", low, twos))
    return module.functions[_GCD]


def _twos(b: Builder, number: ir.Value) -> ir.Value:
    """How often an integer other than 0 can be halved."""
    return b.intrinsic("cttz", number, ir.TRUE, result=I64)
