"""The algorithms of libraries for `exp` of `float64`, with numbers of Python or vectors of LLVM.

With n = 2**steps, x is (whole + rest) ln 2 / n: a table has the powers of 2**(1/n), a polynomial gives the exponential
of the rest (Tang, "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", 1989).
The constants and the steps are those of the libraries, and so is where multiplications and additions are fused; so each
bit is theirs.
"""

from __future__ import annotations

import ctypes
import decimal
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from autograph.runtime.engines.native.libmath.vectors import FLOATS, WIDTH, WORDS
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import I32, I64, Value, array, constant, vector

SHIFT = 1.5 * 2**52     # to add it rounds to a whole number, which is then in the lower bits
LOG2_E = float.fromhex("0x1.71547652b82fep0")


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How a library computes it.

    Attributes:
        steps: how many of the lower bits of the whole number choose an entry of the table.
        split: the logarithm of 2, as the sum of two floats.
        polynomial: its coefficients, from that of the first power on.
        series: computes the polynomial, and adds what the entry of the table has lost to rounding.
        limit: the algorithm is for numbers of an absolute value below.
        is_wide: whether it is for vectors of AVX-512, which can round down as they add, with the table in registers.
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
        """Compute the exponential by the steps of `Numbers` or `Vectors`."""
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
GNU = Algorithm(
    7,
    (float.fromhex("0x1.62e42fefa0000p-1"), float.fromhex("0x1.cf79abc9e3b3ap-40")),
    _floats("0x1.ffffffffffdbdp-2 0x1.555555555543cp-3 0x1.55555cf172b91p-5 0x1.1111167a4d017p-7"),
    _gnu,
    512.0,
    False,
)
# That of Intel's library for vectors, of which NumPy has a part (`svml_z0_exp_d_ha.s`).
SVML = Algorithm(
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
    """For each power its relative rounding error, and the power."""
    with decimal.localcontext() as context:
        context.prec = 45
        ln2 = decimal.Decimal(2).ln()
        exact = [(ln2 * step / 2**steps).exp() for step in range(2**steps)]
        powers = list(map(float, exact))
        return [float(each / decimal.Decimal(power) - 1) for each, power in zip(exact, powers)], powers


class Numbers:
    """Computes steps with Python's floats."""

    constant = float

    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm

    def add(self, a: float, b: float) -> float:
        return a + b

    def multiply(self, a: float, b: float) -> float:
        return a * b

    def fused(self, a: float, b: float, c: float) -> float:
        return float(_library()(a, b, c))

    def parts(self, x: float) -> tuple[float, float, float]:
        """The whole number; of its power, what has been lost, and what is left."""
        exact = Fraction(x) * Fraction(self._algorithm.scale)
        whole = math.floor(exact) if self._algorithm.is_wide else round(exact)
        lost, power = (column[whole % 2**self._algorithm.steps] for column in table(self._algorithm.steps))
        return float(whole), lost, math.ldexp(power, whole >> self._algorithm.steps)


@cache
def _library() -> Any:
    """The C library's `fma`."""
    fma = ctypes.CDLL(None).fma
    fma.restype, fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return fma


class Vectors:
    """Builds steps for vectors."""

    def __init__(self, algorithm: Algorithm, b: Builder) -> None:
        self._algorithm, self._b = algorithm, b
        lost, powers = table(algorithm.steps)
        # The powers without the lower bits of the whole number, see `parts`.
        reduced = [_bits(power) - (step << 52 - algorithm.steps) for step, power in enumerate(powers)]
        self._columns = [list(map(_bits, lost)), reduced]

    def constant(self, value: float) -> Value:
        return constant(FLOATS, value)

    def add(self, x: Value, y: Value) -> Value:
        return self._b.binary("fadd", x, y)

    def multiply(self, x: Value, y: Value) -> Value:
        return self._b.binary("fmul", x, y)

    def fused(self, x: Value, y: Value, z: Value) -> Value:
        return self._b.intrinsic("fma", x, y, z)

    def parts(self, x: Value) -> tuple[Value, Value, Value]:
        """The whole number; of its power, what has been lost, and what is left.

        Its lower bits are the place in the table; those above belong into the exponent, to which they are added with
        the lower ones, that the table has taken off.
        """
        b, steps, (scale, shift) = self._b, self._algorithm.steps, map(self.constant, (self._algorithm.scale, SHIFT))
        if self._algorithm.is_wide:
            shifted: Value = b.call_outside(f"{_AVX512}vfmadd.pd.512", FLOATS, x, scale, shift, constant(I32, _DOWN))
        else:
            shifted = self.fused(scale, x, shift)
        whole = b.binary("fsub", shifted, shift)
        bits = b.cast("bitcast", shifted, WORDS)
        lost, power = self._permuted(bits) if self._algorithm.is_wide else self._loaded(bits)
        raised = b.add(power, b.binary("shl", bits, 52 - steps))
        return whole, b.cast("bitcast", lost, FLOATS), b.cast("bitcast", raised, FLOATS)

    def _permuted(self, places: Value) -> list[Value]:
        """What is at some places of the columns, of which the processor looks at as many bits as there are."""
        halves = [[constant(WORDS, column[begin:][:WIDTH]) for begin in (0, WIDTH)] for column in self._columns]
        name = f"{_AVX512}vpermi2var.q.512"
        return [self._b.call_outside(name, WORDS, first, places, second) for first, second in halves]

    def _loaded(self, bits: Value) -> list[Value]:
        """The same, of a table of pairs in memory. (LLVM would compute the addresses one by one.)"""
        b, entries = self._b, [each for pair in zip(*self._columns) for each in pair]
        pairs = b.function.module.constant("exp_table", constant(array(len(entries), I64), entries), align=16)
        places = b.and_(b.binary("shl", bits, 4), 2**self._algorithm.steps - 1 << 4)
        below, above = (self._pairs(pairs, places, begin) for begin in range(0, WIDTH, 4))
        return [b.shuffle(first, second, [*range(WIDTH)]) for first, second in zip(below, above)]

    def _pairs(self, pairs: Value, places: Value, begin: int) -> list[Value]:
        """Of the pairs at four of the places the firsts and the seconds."""
        b = self._b
        addresses = [b.gep(pairs, b.extract_element(places, begin + lane)) for lane in (0, 2, 1, 3)]
        first, second, third, fourth = (b.load(vector(2, I64), each, align=16) for each in addresses)
        even, odd = (b.shuffle(*each, [*range(4)]) for each in ((first, second), (third, fourth)))
        return [b.shuffle(even, odd, lanes) for lanes in ((0, 4, 2, 6), (1, 5, 3, 7))]


_AVX512 = "llvm.x86.avx512."
_DOWN = 11      # towards zero, and thus down, as what is shifted is more than zero


def _bits(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])
