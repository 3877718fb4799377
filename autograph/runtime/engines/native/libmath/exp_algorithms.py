"""The algorithms by which mathematical libraries compute `exp` of `float64`.

With n = 2**steps, write x as (whole + rest) ln 2 / n. A table holds the powers of 2**(1/n), and a polynomial gives the
exponential of the rest (Tang, "Table-driven implementation of the exponential function in IEEE floating-point
arithmetic", 1989). Constants, order of operations and fused multiply-adds are those of the libraries, so the results
have the same bits.
"""

from __future__ import annotations

import decimal
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from autograph.runtime.engines.native.libmath.vectors import FLOATS, WIDTH, WORDS
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder

SHIFT = 1.5 * 2**52     # adding it rounds to a whole number, which is in the low bits of the sum
LOG2_E = float.fromhex("0x1.71547652b82fep0")


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How a library computes `exp`.

    Attributes:
        steps: the number of low bits of the whole number that choose an entry of the table.
        split: ln 2, as the sum of two floats.
        polynomial: its coefficients, from that of the first power on.
        series: evaluates the polynomial, and adds the rounding error of the table's entry.
        limit: the algorithm holds for numbers whose absolute value is below this.
        is_wide: whether it needs AVX-512, which rounds down as it adds, and keeps the table in registers.
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
        """Compute the exponential of x with the arithmetic of `do`, which is a `Vectors`."""
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


# The GNU C library (`sysdeps/ieee754/dbl-64/e_exp.c`).
GNU = Algorithm(
    7,
    (float.fromhex("0x1.62e42fefa0000p-1"), float.fromhex("0x1.cf79abc9e3b3ap-40")),
    _floats("0x1.ffffffffffdbdp-2 0x1.555555555543cp-3 0x1.55555cf172b91p-5 0x1.1111167a4d017p-7"),
    _gnu,
    512.0,
    False,
)
# Intel's vector library, a part of which NumPy contains (`svml_z0_exp_d_ha.s`).
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
    """The relative rounding errors of the powers, and the powers."""
    with decimal.localcontext() as context:
        context.prec = 45
        ln2 = decimal.Decimal(2).ln()
        exact = [(ln2 * step / 2**steps).exp() for step in range(2**steps)]
        powers = list(map(float, exact))
        return [float(each / decimal.Decimal(power) - 1) for each, power in zip(exact, powers)], powers


class Vectors:
    """The arithmetic of the algorithms, as instructions on vectors."""

    FLOATS = FLOATS
    FUSED = "llvm.x86.avx512.vfmadd.pd.512"

    def __init__(self, algorithm: Algorithm, b: Builder) -> None:
        self._algorithm, self._b = algorithm, b
        lost, powers = table(algorithm.steps)
        # The powers minus the low bits of the whole number, which `parts` adds to the exponent.
        reduced = [_bits(power) - (step << 52 - algorithm.steps) for step, power in enumerate(powers)]
        self._columns = [list(map(_bits, lost)), reduced]

    def constant(self, value: float) -> ir.Value:
        return ir.constant(self.FLOATS, value)

    def add(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self._b.binary("fadd", x, y)

    def multiply(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self._b.binary("fmul", x, y)

    def fused(self, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
        return self._b.intrinsic("fma", x, y, z)

    def parts(self, x: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
        """The whole number, and the rounding error and the value of its power of 2**(1/n).

        The low bits of the whole number index the table, and the bits above are added to the exponent. The low bits are
        added with them, so the table holds powers from which they are subtracted.
        """
        b, steps, (scale, shift) = self._b, self._algorithm.steps, map(self.constant, (self._algorithm.scale, SHIFT))
        if self._algorithm.is_wide:
            shifted: ir.Value = b.call_outside(self.FUSED, self.FLOATS, x, scale, shift, ir.constant(ir.I32, _DOWN))
        else:
            shifted = self.fused(scale, x, shift)
        whole = b.binary("fsub", shifted, shift)
        bits = b.cast("bitcast", shifted, ir.like(self.FLOATS, ir.I64))
        lost, power = self._entries(bits)
        raised = b.add(power, b.binary("shl", bits, 52 - steps))
        return whole, b.cast("bitcast", lost, self.FLOATS), b.cast("bitcast", raised, self.FLOATS)

    def _entries(self, bits: ir.Value) -> Sequence[ir.Value]:
        """The entries of both columns of the table whose places are in the low bits."""
        return self._permuted(bits) if self._algorithm.is_wide else self._loaded(bits)

    def _in_memory(self) -> ir.Value:
        """The table as pairs in memory."""
        entries = [each for pair in zip(*self._columns) for each in pair]
        values = ir.constant(ir.array(len(entries), ir.I64), entries)
        return self._b.function.module.constant("exp_table", values, align=16)

    def _permuted(self, places: ir.Value) -> list[ir.Value]:
        """The entries of both columns of the table, which lie in registers; the instruction ignores the higher bits."""
        registers = [[ir.constant(WORDS, column[begin:][:WIDTH]) for begin in (0, WIDTH)] for column in self._columns]
        name = f"{_AVX512}vpermi2var.q.512"
        return [self._b.call_outside(name, WORDS, first, places, second) for first, second in registers]

    def _loaded(self, bits: ir.Value) -> list[ir.Value]:
        """The entries of a table of pairs in memory. LLVM would compute a gather's addresses one by one."""
        b, pairs = self._b, self._in_memory()
        places = b.and_(b.binary("shl", bits, 4), 2**self._algorithm.steps - 1 << 4)
        below, above = (self._pairs(pairs, places, begin) for begin in range(0, WIDTH, 4))
        return [b.shuffle(first, second, [*range(WIDTH)]) for first, second in zip(below, above)]

    def _pairs(self, pairs: ir.Value, places: ir.Value, begin: int) -> list[ir.Value]:
        """The first and the second items of the pairs at four of the places."""
        b = self._b
        addresses = [b.gep(pairs, b.extract_element(places, begin + lane)) for lane in (0, 2, 1, 3)]
        first, second, third, fourth = (b.load(ir.vector(2, ir.I64), each, align=16) for each in addresses)
        even, odd = (b.shuffle(*each, [*range(4)]) for each in ((first, second), (third, fourth)))
        return [b.shuffle(even, odd, lanes) for lanes in ((0, 4, 2, 6), (1, 5, 3, 7))]


class Numbers(Vectors):
    """The same for numbers."""

    FLOATS = ir.DOUBLE
    FUSED = "llvm.x86.avx512.vfmadd.f64"

    def _entries(self, bits: ir.Value) -> Sequence[ir.Value]:
        b = self._b
        at = b.gep(self._in_memory(), b.and_(bits, 2**self._algorithm.steps - 1), of=ir.array(2, ir.I64))
        return [b.load(ir.I64, at, align=16), b.load(ir.I64, b.gep(at, 8))]


_AVX512 = "llvm.x86.avx512."
_DOWN = 11      # rounds towards zero, which is down, since the shifted number is positive


def _bits(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])
