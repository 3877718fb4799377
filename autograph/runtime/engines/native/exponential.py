"""`exp` of `float64`, as the GNU C library computes it, and with it NumPy, but eight at a time.

2**(1/128) to the power of a whole number comes out of a table, and what remains from a polynomial. The constants are
that library's (`sysdeps/ieee754/dbl-64/e_exp.c`), and so are the steps, where multiplications and additions are fused.
So each bit is the same. Whether NumPy has just that here, tries show; NumPy has other ways on some processors.

The code is called as NumPy's own loop would be. It is written for vectors: left to itself, LLVM takes the way to the
table for addresses, which it computes one by one.
"""

from __future__ import annotations

import ctypes
import decimal
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from autograph.runtime.engines.native.libm import FLAGS
from autograph.runtime.engines.native.spelling import literal

NAME = "ag_exp"
WIDTH = 8
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


def text() -> str:
    """The machine code: a function like a loop of NumPy's, of context, arrays, count, strides, and more."""
    near, far = _Steps("n"), _Steps("f")
    words = {"near_steps": near, "far_steps": far, "near": near.near("%x"), "far": far.far("%x")}
    words |= {"entries": ", ".join(f"i64 {each}" for each in table()), "size": len(table()), "limit": _all(-SMALL)}
    return _CODE.format(name=NAME, v=_FLOATS, bits=_BITS, w=WIDTH, flags=FLAGS, **words)


_FLOATS, _WORDS, _BITS = (f"<{WIDTH} x {kind}>" for kind in ("double", "i64", "i1"))


class _Steps:
    """Writes the steps of `reference` for a vector."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def near(self, x: str) -> str:
        """Of numbers between `SMALL` and its negative."""
        scale, found = self._parts(x)
        return self._fused(scale, found, scale)

    def far(self, x: str) -> str:
        """Of any; sets `%worse` if it must not be used."""
        size = self._emit(f"call {_FLOATS} @llvm.fabs.v{WIDTH}f64({_FLOATS} {x})")
        near = self._emit(f"fcmp olt {_FLOATS} {size}, {_all(FAR)}")
        nothing = self._emit(f"fcmp olt {_FLOATS} {x}, {_all(NOTHING)}")
        known = self._emit(f"or {_BITS} {near}, {nothing}")
        every = self._emit(f"call i1 @llvm.vector.reduce.and.v{WIDTH}i1({_BITS} {known})")
        self._lines.append(f"  %worse = xor i1 {every}, true")
        x = self._emit(f"select {_BITS} {near}, {_FLOATS} {x}, {_FLOATS} zeroinitializer")
        scale, found = self._parts(x)
        twice = self._emit(f"fadd {_FLOATS} {self._emit(f'fmul {_FLOATS} {scale}, {found}')}, {scale}")
        small = self._emit(f"fcmp ole {_FLOATS} {x}, {_all(SMALL)}")
        fused = self._fused(scale, found, scale)
        last = self._emit(f"select {_BITS} {small}, {_FLOATS} {twice}, {_FLOATS} {fused}")
        return self._emit(f"select {_BITS} {nothing}, {_FLOATS} zeroinitializer, {_FLOATS} {last}")

    def _parts(self, x: str) -> tuple[str, str]:
        """The power, and what it is to be multiplied with, less one."""
        shifted = self._fused(_all(SCALE), x, _all(SHIFT))
        whole = self._emit(f"fsub {_FLOATS} {shifted}, {_all(SHIFT)}")
        rest = self._fused(whole, _all(LOW), self._fused(whole, _all(HIGH), x))
        bits = self._emit(f"bitcast {_FLOATS} {shifted} to {_WORDS}")
        bytes = self._emit(f"and {_WORDS} {self._emit(f'shl {_WORDS} {bits}, {_each(4)}')}, {_each(2**STEPS - 1 << 4)}")
        tail, power = self._looked_up(bytes)
        raised = self._emit(f"add {_WORDS} {power}, {self._emit(f'shl {_WORDS} {bits}, {_each(52 - STEPS)}')}")
        c2, c3, c4, c5 = map(_all, POLYNOMIAL)
        square = self._emit(f"fmul {_FLOATS} {rest}, {rest}")
        found = self._fused(square, self._fused(rest, c3, c2), self._emit(f"fadd {_FLOATS} {tail}, {rest}"))
        found = self._fused(self._emit(f"fmul {_FLOATS} {square}, {square}"), self._fused(rest, c5, c4), found)
        return self._emit(f"bitcast {_WORDS} {raised} to {_FLOATS}"), found

    def _emit(self, text: str) -> str:
        self._lines.append(f"  %{self._name}{len(self._lines)} = {text}")
        return f"%{self._name}{len(self._lines) - 1}"

    def _fused(self, a: str, b: str, c: str) -> str:
        return self._emit(f"call {_FLOATS} @llvm.fma.v{WIDTH}f64({_FLOATS} {a}, {_FLOATS} {b}, {_FLOATS} {c})")

    def _looked_up(self, places: str) -> tuple[str, str]:
        """Of the pairs at some places in the table the first, as floats, and the second."""
        halves = [self._pairs(places, begin) for begin in range(0, WIDTH, 4)]
        firsts, seconds = (self._shuffled(4, half, range(WIDTH)) for half in zip(*halves))
        return self._emit(f"bitcast {_WORDS} {firsts} to {_FLOATS}"), seconds

    def _pairs(self, places: str, begin: int) -> list[str]:
        """Of the pairs at four of the places the firsts and the seconds."""
        pairs = []
        for lane in (0, 2, 1, 3):
            place = self._emit(f"extractelement {_WORDS} {places}, i64 {begin + lane}")
            pointer = self._emit(f"getelementptr i8, ptr @exp_table, i64 {place}")
            pairs.append(self._emit(f"load <2 x i64>, ptr {pointer}, align 16"))
        even, odd = (self._shuffled(2, pairs[begin : begin + 2], range(4)) for begin in (0, 2))
        return [self._shuffled(4, (even, odd), lanes) for lanes in ((0, 4, 2, 6), (1, 5, 3, 7))]

    def _shuffled(self, size: int, vectors: Sequence[str], lanes: Sequence[int]) -> str:
        given = ", ".join(f"<{size} x i64> {each}" for each in vectors)
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self._emit(f"shufflevector {given}, <{len(lanes)} x i32> <{mask}>")


def _all(value: float) -> str:
    return f"<{', '.join([f'double {literal(value, np.dtype(float))}'] * WIDTH)}>"


def _each(value: int) -> str:
    return f"<{', '.join([f'i64 {value}'] * WIDTH)}>"


# The last of the numbers are done once more, as a whole vector, if there are some that fill none. Where numbers do not
# lie side by side, or there are fewer than a vector has, they go by way of a buffer.
_CODE = """@exp_table = internal constant [{size} x i64] [{entries}], align 16
declare {v} @llvm.fma.v{w}f64({v}, {v}, {v})
declare {v} @llvm.fabs.v{w}f64({v})
declare i1 @llvm.vector.reduce.and.v{w}i1({bits})
define internal {v} @{name}_far({v} %x, ptr %doubts) noinline cold {{
{far_steps}
  br i1 %worse, label %doubt, label %done
doubt:
  store i1 true, ptr %doubts
  br label %done
done:
  ret {v} {far}
}}
define internal {v} @{name}_of({v} %x, ptr %doubts) alwaysinline {{
  %size = call {v} @llvm.fabs.v{w}f64({v} %x)
  %small = fcmp olt {v} %size, {limit}
  %every = call i1 @llvm.vector.reduce.and.v{w}i1({bits} %small)
  br i1 %every, label %near, label %far
near:
{near_steps}
  ret {v} {near}
far:
  %found = call {v} @{name}_far({v} %x, ptr %doubts)
  ret {v} %found
}}
define internal i32 @{name}(ptr %context, ptr %arrays, ptr %size, ptr %steps, ptr %more) {{
start:
  %buffer = alloca {v}
  %doubts = alloca i1
  store i1 false, ptr %doubts
  %from = load ptr, ptr %arrays
  %results = getelementptr ptr, ptr %arrays, i64 1
  %to = load ptr, ptr %results
  %n = load i64, ptr %size
  %step = load i64, ptr %steps
  %dense = icmp eq i64 %step, 8
  %many = icmp sge i64 %n, {w}
  %direct = and i1 %many, %dense
  br i1 %direct, label %whole, label %head
whole:
  %most = sub i64 %n, {w}
  %end.from = getelementptr double, ptr %from, i64 %most
  %end.to = getelementptr double, ptr %to, i64 %most
  %end.x = load {v}, ptr %end.from, align 8
  br label %turn
turn:
  %i = phi i64 [ 0, %whole ], [ %next, %turn ]
  %there = getelementptr double, ptr %from, i64 %i
  %x = load {v}, ptr %there, align 8
  %found = call {v} @{name}_of({v} %x, ptr %doubts)
  %here = getelementptr double, ptr %to, i64 %i
  store {v} %found, ptr %here, align 8
  %next = add i64 %i, {w}
  %again = icmp sle i64 %next, %most
  br i1 %again, label %turn, label %rest
rest:
  %none = icmp eq i64 %next, %n
  br i1 %none, label %look, label %last
last:
  %end.found = call {v} @{name}_of({v} %end.x, ptr %doubts)
  store {v} %end.found, ptr %end.to, align 8
  br label %look
head:
  %begin = phi i64 [ 0, %start ], [ %after, %given ]
  %left = sub i64 %n, %begin
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %clear, label %look
clear:
  %full = icmp sge i64 %left, {w}
  %m = select i1 %full, i64 {w}, i64 %left
  store {v} zeroinitializer, ptr %buffer
  br label %take
take:
  %j = phi i64 [ 0, %clear ], [ %j1, %take ]
  %place = add i64 %begin, %j
  %away = mul i64 %place, %step
  %one = getelementptr i8, ptr %from, i64 %away
  %taken = load double, ptr %one
  %slot = getelementptr double, ptr %buffer, i64 %j
  store double %taken, ptr %slot
  %j1 = add i64 %j, 1
  %another = icmp slt i64 %j1, %m
  br i1 %another, label %take, label %work
work:
  %buffered = load {v}, ptr %buffer
  %kept = call {v} @{name}_of({v} %buffered, ptr %doubts)
  store {v} %kept, ptr %buffer
  %goal = getelementptr double, ptr %to, i64 %begin
  br label %give
give:
  %k = phi i64 [ 0, %work ], [ %k1, %give ]
  %source = getelementptr double, ptr %buffer, i64 %k
  %each = load double, ptr %source
  %target = getelementptr double, ptr %goal, i64 %k
  store double %each, ptr %target
  %k1 = add i64 %k, 1
  %further = icmp slt i64 %k1, %m
  br i1 %further, label %give, label %given
given:
  %after = add i64 %begin, %m
  br label %head
look:
  %doubt = load i1, ptr %doubts
  br i1 %doubt, label %raise, label %done
raise:
  call i32 @feraiseexcept(i32 {flags})
  br label %done
done:
  ret i32 0
}}
"""
