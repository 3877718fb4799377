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
from functools import cache

from autograph.common.probes import agrees
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I64, TRUE
from autograph.runtime.engines.native.llvm.target import vectors
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL

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


def nearest(emit: Emitter, x: Number, exponent: float) -> tuple[Number, Number]:
    """The correctly rounded power, and whether `pow` may return another number, unless the exponent is a positive
    integer, and the base is zero.
    """
    b = emit.b
    found, off, scale = _power(emit, x, exponent)
    bits = b.cast("bitcast", emit.function("fabs", found).ref, I64)
    # The largest power of two that is less than the result: of a power of two, the numbers below are nearer.
    unit = Number(x.type, b.cast("bitcast", b.and_(b.sub(bits, 1), _EXPONENT), DOUBLE))
    most = emit.emit(x.type, "fmul", unit, emit.constant(_CLEAR * _EPSILON, x.type))
    if scale is not None:
        most = emit.emit(x.type, "fmul", emit.function("fabs", scale), most)
    far = b.icmp("uge", b.sub(bits, _LEAST), _MOST - _LEAST)
    clear = emit.compare("le", emit.function("fabs", off), most)
    return found, Number(BOOL, b.or_(far, b.xor(clear.ref, TRUE)))


def _power(emit: Emitter, x: Number, exponent: float) -> tuple[Number, Number, Number | None]:
    """A power, its error times a number, and that number; None for one."""
    size = abs(exponent)
    if exponent == 0.5:
        found = emit.function("sqrt", x)
        return found, _fma(emit, found, found, emit.negative(x)), emit.emit(x.type, "fadd", found, found)
    begin: tuple[Number, Number | None] = _root(emit, x) if size % 1 else (x, None)
    found, rest = _product(emit, x, *begin, count=int(size - (size % 1 == 0)))
    if exponent < 0:
        one = emit.constant(1.0, x.type)
        inverse = emit.emit(x.type, "fdiv", one, found)
        off = _fma(emit, emit.negative(inverse), found, one)
        return inverse, off if rest is None else _fma(emit, emit.negative(inverse), rest, off), found
    assert rest is not None
    signed = emit.function("copysign", found, x) if size % 2 == 1 else found     # the sum of -0.0 and 0.0 is 0.0
    return signed, rest, None


def _root(emit: Emitter, x: Number) -> tuple[Number, Number]:
    """The square root, and its error."""
    root = emit.function("sqrt", x)
    off = _fma(emit, emit.negative(root), root, x)
    return root, emit.emit(x.type, "fdiv", off, emit.emit(x.type, "fadd", root, root))


def _product(
    emit: Emitter, x: Number, found: Number, rest: Number | None, count: int
) -> tuple[Number, Number | None]:
    """The product of a number of twice the digits, given as a sum, and `count` times `x`; and its error."""
    for _ in range(count):
        product = emit.emit(x.type, "fmul", found, x)
        error = _fma(emit, found, x, emit.negative(product))
        if rest is None:
            found, rest = product, error
            continue
        rest = _fma(emit, rest, x, error)
        found = emit.emit(x.type, "fadd", product, rest)
        rest = emit.emit(x.type, "fsub", rest, emit.emit(x.type, "fsub", found, product))
    return found, rest


def _fma(emit: Emitter, a: Number, b: Number, c: Number) -> Number:
    return emit.function("fma", a, b, c)
