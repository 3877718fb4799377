"""Rules for operations on complex numbers of one dtype; see `number_rules`.

Sums are those of the parts. In products, NumPy's inner loops use fused multiply-add if the processor has it; trial runs
show whether this NumPy does. Everything else (quotients, magnitudes, `exp`) is left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from autograph.common.probes import agrees
from autograph.runtime.graph.operands import COMPLEX, Complex, Emitter, NoLowering, Number
from autograph.runtime.graph.types import TensorType, part_of, scalar, type_of
from autograph.runtime.ops.native import number_rules
from autograph.runtime.ops.native.number_rules import NUMPY, Flavor, boolean, inverse
from autograph.runtime.ops.native.scalars import fitted, number

Element: TypeAlias = "Number | Complex"
Rule: TypeAlias = Callable[..., Element]
_LENGTHS = (1, 2, 3, 5, 8, 21, 64)
_STEPS = (1, 2, 3)
_FEW = 16           # different numbers among these


def part_type(type: TensorType) -> TensorType:
    """The type of the real and imaginary parts."""
    return TensorType(part_of(type.dtype), (), type.kind)


def is_complex(arg: Any) -> bool:
    return isinstance(arg, (Complex, complex, np.complexfloating))


def as_complex(emit: Emitter, arg: Any, type: TensorType | None = None) -> Complex:
    """Convert an argument to a complex number of a type, or of its own type."""
    if isinstance(arg, (complex, np.complexfloating)):
        own = type_of(arg)
        if not isinstance(own, TensorType) or own.dtype.char not in COMPLEX:
            raise NoLowering
        parts = part_type(own)
        arg = Complex(own, (emit.constant(arg.real, parts), emit.constant(arg.imag, parts)))
    if isinstance(arg, Complex):
        if type is None or type == arg.type:
            return arg
        real, imag = (fitted(emit, each, part_type(type)) for each in arg.parts)
        return Complex(type, (real, imag))
    if type is None:
        raise NoLowering
    parts = part_type(type)
    return Complex(type, (fitted(emit, number(emit, arg), parts), emit.constant(0.0, parts)))


def converted(emit: Emitter, x: Element, dtype: np.dtype[Any]) -> Element:
    """`x` converted to another dtype as NumPy casts it; a real number to a complex one, but not the other way."""
    if isinstance(x, Number) and dtype.kind != "c":
        return number_rules.converted(emit, x, dtype)
    if dtype.kind != "c":
        raise NoLowering
    own = part_of(dtype)
    first, *rest = (number_rules.converted(emit, each, own) for each in parts_of(x))
    return Complex(scalar(dtype), (first, rest[0] if rest else emit.constant(0.0, scalar(own))))


def parts_of(x: Element) -> tuple[Number, ...]:
    """A number, or the parts of a complex one."""
    return x.parts if isinstance(x, Complex) else (x,)


def truth(emit: Emitter, x: Element) -> Number:
    """Whether a number is not zero."""
    real, *imag = (number_rules.truth(emit, each) for each in parts_of(x))
    return emit.integer("or", real, *imag) if imag else real


def real(emit: Emitter, x: Element, dtype: np.dtype[Any]) -> Number:
    """Convert to a real dtype; a complex number only converts to a truth value."""
    if isinstance(x, Number):
        return x
    if dtype.kind != "b":
        raise NoLowering        # NumPy warns of it
    return truth(emit, x)


def selected(emit: Emitter, condition: Number, a: Element, b: Element) -> Element:
    """`a if condition else b`, of one dtype."""
    chosen = [emit.select(condition, one, other) for one, other in zip(parts_of(a), parts_of(b))]
    return Complex(a.type, (chosen[0], chosen[1])) if isinstance(a, Complex) else chosen[0]


def by_parts(rule: number_rules.Rule) -> Rule:
    """A rule that applies another one to each part."""

    def both(emit: Emitter, *args: Complex) -> Complex:
        real, imag = (rule(emit, *each) for each in zip(*(arg.parts for arg in args)))
        return Complex(args[0].type, (real, imag))

    return both


def product(flavor: Flavor) -> Callable[..., Complex]:
    mul, sub, add = (number_rules.arithmetic(name, flavor) for name in ("mul", "sub", "add"))

    def rule(emit: Emitter, x: Complex, y: Complex) -> Complex:
        (a, b), (c, d) = x.parts, y.parts
        is_fused = flavor is NUMPY and _fuses(x.type.dtype)
        if is_fused is None:
            raise NoLowering
        if is_fused:
            real, imag = mul(emit, b, d), mul(emit, b, c)
            return Complex(
                x.type, (emit.function("fma", a, c, emit.negative(real)), emit.function("fma", a, d, imag))
            )
        real = sub(emit, mul(emit, a, c), mul(emit, b, d))
        return Complex(x.type, (real, add(emit, mul(emit, a, d), mul(emit, b, c))))

    return rule


def conjugate(emit: Emitter, x: Complex) -> Complex:
    return Complex(x.type, (x.parts[0], emit.negative(x.parts[1])))


def comparison(name: str) -> Callable[..., Number]:
    """`eq` or `ne`."""
    joined = "and" if name == "eq" else "or"
    return lambda emit, x, y: emit.integer(joined, *(emit.compare(name, *each) for each in zip(x.parts, y.parts)))


RULES: dict[str, Rule] = {
    "add": by_parts(number_rules.arithmetic("add", NUMPY)),
    "subtract": by_parts(number_rules.arithmetic("sub", NUMPY)),
    "multiply": product(NUMPY),
    "square": lambda emit, x: product(NUMPY)(emit, x, x),
    "negative": by_parts(number_rules.negative(NUMPY)),
    "positive": number_rules.same,
    "conjugate": conjugate,
    "equal": lambda emit, x, y: boolean(comparison("eq")(emit, x, y)),
    "not_equal": lambda emit, x, y: boolean(comparison("ne")(emit, x, y)),
    "logical_and": lambda emit, x, y: boolean(emit.integer("and", truth(emit, x), truth(emit, y))),
    "logical_or": lambda emit, x, y: boolean(emit.integer("or", truth(emit, x), truth(emit, y))),
    "logical_xor": lambda emit, x, y: boolean(emit.integer("xor", truth(emit, x), truth(emit, y))),
    "logical_not": lambda emit, x: boolean(inverse(emit, truth(emit, x))),
}


# Tries ----------------------------------------------------------------------------------------------------------------


@cache
def _fuses(dtype: np.dtype[Any]) -> bool | None:
    """Whether NumPy uses fused multiply-add in products; None if it does so only sometimes."""
    draw, own, most = np.random.default_rng(0), part_of(dtype), max(_LENGTHS)
    x, y = (np.resize(draw.normal(size=2 * _FEW).astype(own).view(dtype), most) for _ in range(2))
    one, other = np.full(most, x[0]), np.full(most, y[0])
    return _way([
        (lambda x, y: x * y[:1], x, other),
        (lambda x, y: x[:1] * y, one, y),
        (_by_numbers, x, y),
        (lambda x, y: x * x, x, x),
        (lambda x, y: np.square(x), x, x),
        *((partial(_apart, step=step, length=length), x, y) for step in _STEPS for length in (0, *_LENGTHS)),
    ])  # fmt: skip


def _way(tries: Sequence[tuple[Callable[..., Any], Any, Any]]) -> bool | None:
    """Whether all functions agree with products that are fused (True) or not (False); None if neither."""
    for fused in (True, False):
        if all(agrees(partial(_products, fused=fused), function, [args]) for function, *args in tries):
            return fused
    return None


def _apart(x: Any, y: Any, step: int, length: int) -> Any:
    """Products of numbers with a stride: in pieces of a length, or written over the first factor."""
    left, right = (np.zeros(step * len(x) + 1, x.dtype)[1::step][: len(x)] for _ in range(2))
    left[:], right[:] = x, y
    if not length:
        return np.multiply(left, right, out=left)
    pieces = [slice(at, at + length) for at in range(0, len(x), length)]
    return np.concatenate([left[each] * right[each] for each in pieces])


def _by_numbers(x: Any, y: Any) -> Any:
    """Products of vectors of single numbers with numbers."""
    return np.concatenate([x[at : at + 1] * each for at, each in enumerate(y)])


def _products(x: Any, y: Any, fused: bool) -> Any:
    return np.array([_expected(one, other, fused) for one, other in zip(x, y)], x.dtype)


@lru_cache(maxsize=1024, typed=True)
def _expected(x: Any, y: Any, fused: bool) -> complex:
    """The product of two complex numbers, with or without fused multiply-add."""
    own = type(x.real)
    crossed = x.imag * y.imag, x.imag * y.real
    if not fused:
        return complex(x.real * y.real - crossed[0], x.real * y.imag + crossed[1])
    real = Fraction(float(x.real)) * Fraction(float(y.real)) - Fraction(float(crossed[0]))
    imag = Fraction(float(x.real)) * Fraction(float(y.imag)) + Fraction(float(crossed[1]))
    return complex(own(float(real)), own(float(imag)))
