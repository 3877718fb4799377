"""`x ** 2`, `x ** 3`, `x ** -1`, `x ** 0.5` and others of numbers, without the C library's `pow`.

Python and NumPy's numbers call `pow`, which takes ten times as long as a multiplication, and need not round correctly.
That of the GNU C library computes `exp(y * log(x))` since version 2.28 (`sysdeps/ieee754/dbl-64/e_pow.c`); its errors
are at most 0.511 ulp, and 0.00003 ulp more for each power of two in the result. A product or a root is rounded
correctly, and `fma` computes its error; of several products, to twice the digits. If that error is at most 0.485 ulp,
and the result is between 2**-64 and 2**64, the error of any other result would exceed that of `pow`, so `pow` returns
this one. Otherwise, in one of thirty cases, the code calls `pow`.
"""

from __future__ import annotations

import math
import os
import random
from functools import cache, partial

from autograph.common.probes import agrees
from autograph.runtime.engines.native.libmath.libm import PREFIX
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I64
from autograph.runtime.engines.native.llvm.target import vectors

POWERS = 0.5, 1.5, 2.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -0.5, -1.0, -1.5, -2.0, -3.0
_CLEAR = 0.485          # ulp: the largest error of a result that is surely that of `pow`
_EXPONENT = 0x7FF << 52     # the bits of a float's exponent
_LEAST, _MOST = ((1023 + each) << 52 for each in (-64, 64))     # the bits of the results for which that holds
_TRIES = 400
_EPSILON = 2.0**-52     # an ulp of 1.0
_SCALE = 60


@cache
def are_known() -> bool:
    """Whether `pow` has the expected errors, and the processor has an `fma`."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        is_new = tuple(map(int, version.split(".")[:2])) >= (2, 28)
    except (AttributeError, ValueError, OSError):       # not a GNU system
        return False
    return name == "glibc" and is_new and vectors() is not None and _is_near()


def _is_near() -> bool:
    """Whether `pow` rounds powers correctly for which its error bound implies that."""
    draw, samples = random.Random(1), []
    for _ in range(_TRIES):
        x, count = draw.uniform(1, 2) * 2.0 ** draw.randint(-7, 7), draw.randint(2, 8)
        if _is_clear(_exact(x, count)):
            samples.append((x, count))
    return agrees(math.pow, lambda x, count: float(_exact(x, count)) * 2.0 ** (-_SCALE * count), samples)


def _exact(x: float, count: int) -> int:
    """The power of a float that is a multiple of `2 ** -_SCALE`, times `2 ** (_SCALE * count)`."""
    whole: int = int(x * 2.0**_SCALE) ** count
    return whole


def _is_clear(whole: int) -> bool:
    """Whether an integer is not about half-way between two floats."""
    bits = whole.bit_length() - 53
    return abs((whole & (1 << bits) - 1) / (1 << bits) - 0.5) >= 0.5 - _CLEAR


def function_of(module: ir.Module, exponent: float) -> ir.Function:
    """The function of a number that computes a power of it as `pow` does, in a module; it has `Module.vectors`."""
    name = f"ag_power_{exponent:g}".replace(".", "_").replace("-", "minus_")
    if name not in module.functions:
        module.vectors[_define(module, exponent, name, 0)] = partial(_of_vectors, module, exponent, name)
    return module.functions[name]


def _of_vectors(module: ir.Module, exponent: float, name: str, count: int) -> ir.Function:
    """The same function of vectors of so many numbers."""
    return module.functions.get(f"{name}_of_{count}") or _define(module, exponent, f"{name}_of_{count}", count)


def _define(module: ir.Module, exponent: float, name: str, count: int) -> ir.Function:
    x = ir.Parameter("x", ir.vector(count, DOUBLE) if count else DOUBLE)
    attributes = "noinline" if count else "alwaysinline"
    function = module.define(name, x.type, x, words="internal", attributes=attributes)
    b = Builder(function)
    found, doubtful = _nearest(b, x, exponent)
    if exponent > 0 and not exponent % 1:
        doubtful = b.and_(doubtful, b.fcmp("une", x, 0.0))
    if count:
        some = b.intrinsic("vector.reduce.or", doubtful, result=ir.I1)
        b.ret(b.if_else(some, lambda: _by_library(b, x, found, doubtful, exponent), lambda: found))
    else:
        b.ret(b.if_else(doubtful, lambda: _library(b, x, exponent), lambda: found, False))
    return function


def _by_library(b: Builder, x: ir.Value, found: ir.Value, doubtful: ir.Value, exponent: float) -> ir.Value:
    """The powers, those that are doubtful by the C library."""
    bases, powers = (b.room(x.type, 64) for _ in range(2))
    b.store(x, bases, 64)
    b.store(found, powers, 64)
    bits = b.cast("bitcast", doubtful, f"i{ir.count_of(x.type)}")
    with b.loop(0, ir.count_of(x.type)) as loop:
        bit = b.binary("lshr", b.cast("zext", bits, I64), loop.index)
        with b.if_then(b.icmp("ne", b.and_(bit, 1), 0), False):
            base, power = (b.gep(each, loop.index, DOUBLE) for each in (bases, powers))
            b.store(_library(b, b.load(DOUBLE, base), exponent), power)
    return b.load(x.type, powers, 64)


def _library(b: Builder, x: ir.Value, exponent: float) -> ir.Value:
    return b.call_outside(f"{PREFIX}pow", DOUBLE, x, ir.constant(DOUBLE, exponent))


def _nearest(b: Builder, x: ir.Value, exponent: float) -> tuple[ir.Value, ir.Value]:
    """The correctly rounded power of a number or vector, and whether `pow` may return another number, unless the
    exponent is a positive integer, and the base is zero.
    """
    found, off, scale = _power(b, x, exponent)
    words = ir.like(x.type, I64)
    bits = b.cast("bitcast", b.intrinsic("fabs", found), words)
    # The largest power of two that is less than the result: of a power of two, the numbers below are nearer.
    unit = b.cast("bitcast", b.and_(b.sub(bits, 1), _EXPONENT), x.type)
    most: ir.Value = b.binary("fmul", unit, _CLEAR * _EPSILON)
    if scale is not None:
        most = b.binary("fmul", b.intrinsic("fabs", scale), most)
    far = b.icmp("uge", b.sub(bits, _LEAST), _MOST - _LEAST)
    return found, b.or_(far, b.fcmp("ugt", b.intrinsic("fabs", off), most))


def _power(b: Builder, x: ir.Value, exponent: float) -> tuple[ir.Value, ir.Value, ir.Value | None]:
    """A power, its error times a number, and that number; None for one."""
    size = abs(exponent)
    if exponent == 0.5:
        found = b.intrinsic("sqrt", x)
        return found, _fma(b, found, found, b.fneg(x)), b.binary("fadd", found, found)
    begin: tuple[ir.Value, ir.Value | None] = _root(b, x) if size % 1 else (x, None)
    power, rest = _product(b, x, *begin, count=int(size - (size % 1 == 0)))
    if exponent < 0:
        one = ir.constant(x.type, 1.0)
        inverse = b.binary("fdiv", one, power)
        off = _fma(b, b.fneg(inverse), power, one)
        return inverse, off if rest is None else _fma(b, b.fneg(inverse), rest, off), power
    assert rest is not None
    signed = b.intrinsic("copysign", power, x) if size % 2 == 1 else power      # the sum of -0.0 and 0.0 is 0.0
    return signed, rest, None


def _root(b: Builder, x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The square root, and its error."""
    root = b.intrinsic("sqrt", x)
    off = _fma(b, b.fneg(root), root, x)
    return root, b.binary("fdiv", off, b.binary("fadd", root, root))


def _product(
    b: Builder, x: ir.Value, found: ir.Value, rest: ir.Value | None, count: int
) -> tuple[ir.Value, ir.Value | None]:
    """The product of a number of twice the digits, given as a sum, and `count` times `x`; and its error."""
    for _ in range(count):
        product = b.binary("fmul", found, x)
        error = _fma(b, found, x, b.fneg(product))
        if rest is None:
            found, rest = product, error
            continue
        rest = _fma(b, rest, x, error)
        found = b.binary("fadd", product, rest)
        rest = b.binary("fsub", rest, b.binary("fsub", found, product))
    return found, rest


def _fma(b: Builder, *args: ir.Value) -> ir.Value:
    return b.intrinsic("fma", *args)
