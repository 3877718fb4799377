"""How libraries compute `exp` of `float64`, step by step, with numbers of Python's or vectors of LLVM's.

2**(1/n) to the power of a whole number comes out of a table of n, and what remains from a polynomial. The constants
are those of the libraries, and so are the steps, where multiplications and additions are fused; so each bit is theirs.
"""

from __future__ import annotations

import ctypes
import decimal
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from autograph.runtime.engines.native.llvm.syntax import literal

WIDTH = 8
SHIFT = 1.5 * 2**52     # to add it rounds to a whole number, which is then in the lower bits
LOG2_E = float.fromhex("0x1.71547652b82fep0")


@dataclass(frozen=True, slots=True)
class Way:
    """How a library does it.

    Attributes:
        steps: the table has so many bits of the whole number.
        split: the logarithm of 2, in two parts that are added.
        polynomial: its coefficients, from that of the first power on.
        series: what the polynomial comes to, and with it what the table has lost to rounding.
        limit: of which size numbers must be less, that nothing else may be needed.
        is_wide: whether it is for vectors of AVX-512, which round down as they add, and have the table in registers.
    """

    steps: int
    split: tuple[float, float]
    polynomial: tuple[float, ...]
    series: Callable[[Any, Any, list[Any], Any], Any]
    limit: float
    is_wide: bool

    @property
    def scale(self) -> float:
        return math.ldexp(LOG2_E, self.steps)

    def of(self, do: Any, x: Any) -> Any:
        """Go the steps, which `Numbers` or `Vectors` do."""
        whole, lost, power = do.parts(x)
        high, low = (do.constant(math.ldexp(-part, -self.steps)) for part in self.split)
        rest = do.fused(whole, low, do.fused(whole, high, x))
        return do.fused(power, self.series(do, rest, list(map(do.constant, self.polynomial)), lost), power)


def _gnu(do: Any, x: Any, c: list[Any], lost: Any) -> Any:
    square = do.multiply(x, x)
    found = do.fused(square, do.fused(x, c[1], c[0]), do.add(lost, x))
    return do.fused(do.multiply(square, square), do.fused(x, c[3], c[2]), found)


def _svml(do: Any, x: Any, c: list[Any], lost: Any) -> Any:
    square = do.multiply(x, x)
    found = do.fused(square, do.fused(x, c[5], c[4]), do.fused(x, c[3], c[2]))
    return do.fused(do.fused(square, found, do.fused(x, c[1], c[0])), x, lost)


def _floats(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))


# The GNU C library's (`sysdeps/ieee754/dbl-64/e_exp.c`).
GNU = Way(
    7,
    (float.fromhex("0x1.62e42fefa0000p-1"), float.fromhex("0x1.cf79abc9e3b3ap-40")),
    _floats("0x1.ffffffffffdbdp-2 0x1.555555555543cp-3 0x1.55555cf172b91p-5 0x1.1111167a4d017p-7"),
    _gnu,
    512.0,
    False,
)
# That of Intel's library for vectors, of which NumPy has a part (`svml_z0_exp_d_ha.s`).
SVML = Way(
    4,
    (float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")),
    _floats(
        """0x1.fffffffffff70p-1 0x1.000000000d008p-1 0x1.5555553939732p-3
        0x1.55557242d68fep-5 0x1.1101cbbc265c0p-7 0x1.7411836940c04p-10"""
    ),
    _svml,
    707.0,
    True,
)


@cache
def table(steps: int) -> tuple[list[float], list[float]]:
    """For each power what its rounding has lost, in units of itself, and the power."""
    with decimal.localcontext() as context:
        context.prec = 45
        ln2 = decimal.Decimal(2).ln()
        exact = [(ln2 * step / 2**steps).exp() for step in range(2**steps)]
        powers = list(map(float, exact))
        return [float(each / decimal.Decimal(power) - 1) for each, power in zip(exact, powers)], powers


class Numbers:
    """Does steps with Python's floats."""

    constant = float

    def __init__(self, way: Way) -> None:
        self._way = way

    def add(self, a: float, b: float) -> float:
        return a + b

    def multiply(self, a: float, b: float) -> float:
        return a * b

    def fused(self, a: float, b: float, c: float) -> float:
        return float(_library()(a, b, c))

    def parts(self, x: float) -> tuple[float, float, float]:
        """The whole number; of its power, what has been lost, and what is left."""
        exact = Fraction(x) * Fraction(self._way.scale)
        whole = math.floor(exact) if self._way.is_wide else round(exact)
        lost, power = (column[whole % 2**self._way.steps] for column in table(self._way.steps))
        return float(whole), lost, math.ldexp(power, whole >> self._way.steps)


@cache
def _library() -> Any:
    """The C library's `fma`."""
    fma = ctypes.CDLL(None).fma
    fma.restype, fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return fma


FLOATS, WORDS, BITS = (f"<{WIDTH} x {kind}>" for kind in ("double", "i64", "i1"))


class Vectors:
    """Writes steps, for vectors.

    Attributes:
        lines: what has been written.
        outside: what goes with it outside of the function.
    """

    def __init__(self, way: Way) -> None:
        self._way = way
        self.lines: list[str] = []
        self.outside = [f"declare {FLOATS} @llvm.fma.v{WIDTH}f64({', '.join([FLOATS] * 3)})"]
        self._lost, powers = table(way.steps)
        self._powers = [_bits(power) - (step << 52 - way.steps) for step, power in enumerate(powers)]   # see `parts`
        if way.is_wide:
            self.outside.append(f"declare {FLOATS} @llvm.x86.avx512.vfmadd.pd.512({', '.join([FLOATS] * 3)}, i32)")
            self.outside.append(f"declare {WORDS} @llvm.x86.avx512.vpermi2var.q.512({', '.join([WORDS] * 3)})")
        else:
            entries = ", ".join(f"i64 {each}" for pair in zip(map(_bits, self._lost), self._powers) for each in pair)
            self.outside.append(f"@exp_table = internal constant [{2 << way.steps} x i64] [{entries}], align 16")

    def constant(self, value: float) -> str:
        return f"<{', '.join([f'double {literal(value, np.dtype(float))}'] * WIDTH)}>"

    def add(self, a: str, b: str) -> str:
        return self._emit(f"fadd {FLOATS} {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        return self._emit(f"fmul {FLOATS} {a}, {b}")

    def fused(self, a: str, b: str, c: str) -> str:
        return self._emit(f"call {FLOATS} @llvm.fma.v{WIDTH}f64({FLOATS} {a}, {FLOATS} {b}, {FLOATS} {c})")

    def parts(self, x: str) -> tuple[str, str, str]:
        """The whole number; of its power, what has been lost, and what is left.

        Its lower bits are the place in the table; those above belong into the exponent, to which they are added with
        the lower ones, that the table has taken off.
        """
        scale, shift = map(self.constant, (self._way.scale, SHIFT))
        if self._way.is_wide:
            given = f"{FLOATS} {x}, {FLOATS} {scale}, {FLOATS} {shift}, i32 {_DOWN}"
            shifted = self._emit(f"call {FLOATS} @llvm.x86.avx512.vfmadd.pd.512({given})")
        else:
            shifted = self.fused(scale, x, shift)
        whole = self._emit(f"fsub {FLOATS} {shifted}, {shift}")
        bits = self._emit(f"bitcast {FLOATS} {shifted} to {WORDS}")
        lost, power = self._permuted(bits) if self._way.is_wide else self._loaded(bits)
        raised = self._emit(f"add {WORDS} {power}, {self._emit(f'shl {WORDS} {bits}, {_each(52 - self._way.steps)}')}")
        return whole, self._floats(lost), self._floats(raised)

    def _emit(self, text: str) -> str:
        self.lines.append(f"  %n{len(self.lines)} = {text}")
        return f"%n{len(self.lines) - 1}"

    def _floats(self, words: str) -> str:
        return self._emit(f"bitcast {WORDS} {words} to {FLOATS}")

    def _permuted(self, places: str) -> list[str]:
        """What is at some places of the columns, of which the processor looks at as many bits as there are."""
        found = []
        for column in (list(map(_bits, self._lost)), self._powers):
            halves = (", ".join(f"i64 {each}" for each in column[begin:][:WIDTH]) for begin in (0, WIDTH))
            first, second = (f"{WORDS} <{half}>" for half in halves)
            given = f"{first}, {WORDS} {places}, {second}"
            found.append(self._emit(f"call {WORDS} @llvm.x86.avx512.vpermi2var.q.512({given})"))
        return found

    def _loaded(self, bits: str) -> list[str]:
        """The same, of a table of pairs in memory. (LLVM would compute the addresses one by one.)"""
        mask = _each(2**self._way.steps - 1 << 4)
        places = self._emit(f"and {WORDS} {self._emit(f'shl {WORDS} {bits}, {_each(4)}')}, {mask}")
        halves = [self._pairs(places, begin) for begin in range(0, WIDTH, 4)]
        return [self._shuffled(4, half, range(WIDTH)) for half in zip(*halves)]

    def _pairs(self, places: str, begin: int) -> list[str]:
        """Of the pairs at four of the places the firsts and the seconds."""
        pairs = []
        for lane in (0, 2, 1, 3):
            place = self._emit(f"extractelement {WORDS} {places}, i64 {begin + lane}")
            pointer = self._emit(f"getelementptr i8, ptr @exp_table, i64 {place}")
            pairs.append(self._emit(f"load <2 x i64>, ptr {pointer}, align 16"))
        even, odd = (self._shuffled(2, pairs[begin : begin + 2], range(4)) for begin in (0, 2))
        return [self._shuffled(4, (even, odd), lanes) for lanes in ((0, 4, 2, 6), (1, 5, 3, 7))]

    def _shuffled(self, size: int, vectors: Sequence[str], lanes: Sequence[int]) -> str:
        given = ", ".join(f"<{size} x i64> {each}" for each in vectors)
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self._emit(f"shufflevector {given}, <{len(lanes)} x i32> <{mask}>")


_DOWN = 11      # towards zero, and thus down, as what is shifted is more than zero


def _each(value: int) -> str:
    return f"<{', '.join([f'i64 {value}'] * WIDTH)}>"


def _bits(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])
