"""`exp` of `float64`, as the GNU C library computes it, and with it NumPy, but several at a time.

2**(1/128) to the power of a whole number comes out of a table, and what remains from a polynomial. The constants are
that library's (`sysdeps/ieee754/dbl-64/e_exp.c`), and so are the steps, where multiplications and additions are fused.
So each bit is the same. Whether NumPy has just that here, tries show; NumPy has other ways on some processors.
"""

from __future__ import annotations

import ctypes
import decimal
import struct
from functools import cache
from typing import Any

import numpy as np

from autograph.runtime.operands import Number
from autograph.runtime.types import scalar

TYPE = scalar(float)
STEPS = 7               # the table has 2**7 entries
SHIFT = 1.5 * 2**52     # to add it rounds to a whole number, which is then in the lower bits
SCALE = float.fromhex("0x1.71547652b82fep0") * 2**STEPS
HIGH, LOW = float.fromhex("-0x1.62e42fefa0000p-8"), float.fromhex("-0x1.cf79abc9e3b3ap-47")
POLYNOMIAL = [
    float.fromhex(each)
    for each in ("0x1.ffffffffffdbdp-2", "0x1.555555555543cp-3", "0x1.55555cf172b91p-5", "0x1.1111167a4d017p-7")
]
FAR = 670.0             # beyond, not all that is computed on the way is a normal number
SMALL = -512.0          # up to here, that library does not fuse the last step
NOTHING = -746.0        # below, they are 0
_TRIES = 1000


@cache
def table() -> list[int]:
    """For each power what its rounding has lost, in units of itself, and its bits but those of the whole exponent."""
    with decimal.localcontext() as context:
        context.prec = 45
        found, ln2 = [], decimal.Decimal(2).ln()
        for step in range(2**STEPS):
            exact = (ln2 * step / 2**STEPS).exp()
            rounded = float(exact)
            lost = float(exact / decimal.Decimal(rounded) - 1)
            found += [_bits(lost), _bits(rounded) - (step << 52 - STEPS)]
    return found


@cache
def is_numpys() -> bool:
    """Whether NumPy computes the same."""
    x = np.random.default_rng(1).uniform(-FAR, FAR, _TRIES)
    x[: _TRIES // 4] /= 500
    x[-_TRIES // 4 :] = -FAR + np.abs(x[-_TRIES // 4 :]) % (FAR + SMALL)
    try:
        return bool(np.exp(x).tolist() == list(map(reference, x.tolist())))
    except (OSError, AttributeError, TypeError):    # a C library without `fma`, or Windows, which has no such library
        return False


def reference(x: float) -> float:
    """What the machine code computes, step by step."""
    shifted = _fused(SCALE, x, SHIFT)
    whole = shifted - SHIFT
    rest = _fused(whole, LOW, _fused(whole, HIGH, x))
    place = 2 * (_bits(shifted) % 2**STEPS)
    tail, power = _float(table()[place]), _float((table()[place + 1] + (_bits(shifted) << 52 - STEPS)) % 2**64)
    c2, c3, c4, c5 = POLYNOMIAL
    square = rest * rest
    found = _fused(square, _fused(rest, c3, c2), tail + rest)
    found = _fused(square * square, _fused(rest, c5, c4), found)
    return power * found + power if x <= SMALL else _fused(power, found, power)


@cache
def _library() -> Any:
    """The C library's `fma`."""
    fma = ctypes.CDLL(None).fma
    fma.restype, fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return fma


def _fused(a: float, b: float, c: float) -> float:
    return float(_library()(a, b, c))


def _bits(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def emit_exp(emit: Any, x: Number) -> Number:
    """The machine code; `emit` is a `Rows`."""

    def number(value: float) -> Number:
        return Number(TYPE, emit.constant(value, TYPE).ref)

    def fused(a: Number, b: Number, c: Number) -> Number:
        found: Number = emit.function("fma", a, b, c)
        return found

    none, shift = number(0.0), number(SHIFT)
    near = emit.compare("lt", emit.function("fabs", x), number(FAR))
    nothing = emit.compare("lt", x, number(NOTHING))
    emit.doubt_unless(emit.integer("or", near, nothing))
    x = emit.select(near, x, none)
    shifted = fused(number(SCALE), x, shift)
    whole = emit.floating("sub", shifted, shift)
    rest = fused(whole, number(LOW), fused(whole, number(HIGH), x))
    bits = emit.instruction(f"bitcast double {shifted.ref} to i64")
    place = emit.instruction(f"shl i64 {emit.instruction(f'and i64 {bits}, {2**STEPS - 1}')}, 1")
    lost, power = emit.entries("exp", table(), place, 2)
    tail = Number(TYPE, emit.instruction(f"bitcast i64 {lost} to double"))
    raised = emit.instruction(f"add i64 {power}, {emit.instruction(f'shl i64 {bits}, {52 - STEPS}')}")
    scale = Number(TYPE, emit.instruction(f"bitcast i64 {raised} to double"))
    c2, c3, c4, c5 = map(number, POLYNOMIAL)
    square = emit.floating("mul", rest, rest)
    found = fused(square, fused(rest, c3, c2), emit.floating("add", tail, rest))
    found = fused(emit.floating("mul", square, square), fused(rest, c5, c4), found)
    twice = emit.floating("add", emit.floating("mul", scale, found), scale)
    last = emit.select(emit.compare("le", x, number(SMALL)), twice, fused(scale, found, scale))
    result: Number = emit.select(nothing, none, last)
    return result
