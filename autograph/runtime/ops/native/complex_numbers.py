"""Lowerings of complex numbers, as pairs of floats.

The formulas are those of CPython (`Objects/complexobject.c`) and of NumPy's scalars (`scalarmath.c.src`), step by step,
so results are the same to the last bit. Newer Pythons correct products and quotients that are NaN; these leave machine
code.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from autograph.runtime.graph.operands import Complex, Emitter, NoLowering, Number
from autograph.runtime.graph.types import BOOL, FLOAT, scalar
from autograph.runtime.graph.types import COMPLEX as PYTHON_COMPLEX
from autograph.runtime.ops.native import complex_rules
from autograph.runtime.ops.native.complex_rules import as_complex, is_complex
from autograph.runtime.ops.native.math_functions import finite_only
from autograph.runtime.ops.native.number_rules import PYTHON, Rule, arithmetic
from autograph.runtime.ops.native.scalars import both, either, fitted, leave_if_inexact, number, operands, result

RECOVERS = sys.version_info >= (3, 12)
MIXES = sys.version_info >= (3, 14)     # a complex and a real number without making a complex one of the latter


def also(real: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    """Combine a lowering for real numbers with one for complex numbers."""

    @functools.wraps(real)
    def lowering(emit: Emitter, *args: Any, **kwargs: Any) -> Any:
        return (rule if any(map(is_complex, args)) else real)(emit, *args, **kwargs)

    return lowering


def _operands(emit: Emitter, name: str, *args: Any) -> list[Complex]:
    """The operands of an operator, converted to the type of its result."""
    given = [as_complex(emit, arg) if is_complex(arg) else number(emit, arg) for arg in args]
    type = result(name, *given)
    if type.dtype.kind != "c" or (MIXES and type.kind == "python" and any(isinstance(each, Number) for each in given)):
        raise NoLowering
    return [as_complex(emit, each, type) for each in given]


def lowered(name: str, real: Rule, of_complex: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The lowering of an operator of Python, from rules for numbers of the type of its result."""

    def lowering(emit: Emitter, *args: Any) -> Any:
        if of_complex is not None and any(map(is_complex, args)):
            return of_complex(emit, *_operands(emit, name, *args))
        return real(emit, *operands(emit, name, *args))

    return lowering


# ------------------------------------------------------------------------------------------------------ arithmetic


def _recovered(emit: Emitter, found: Complex) -> Complex:
    """The result of a product or quotient; leaves machine code if Python must check it."""
    if RECOVERS and found.type.kind == "python":
        real, imag = found.parts
        emit.doubt_if(either(emit, emit.compare("ne", real, real), emit.compare("ne", imag, imag)))
    return found


def product(emit: Emitter, x: Complex, y: Complex) -> Complex:
    """`x * y`."""
    return _recovered(emit, complex_rules.product(PYTHON)(emit, x, y))


def true_division(emit: Emitter, a: Any, b: Any) -> Complex:
    """`a / b` by Smith's method: divide by the larger part of `b` first."""
    x, y = _operands(emit, "truediv", a, b)
    add, sub, mul, div = (arithmetic(name, PYTHON) for name in ("add", "sub", "mul", "div"))
    (real, imag), (c, d) = x.parts, y.parts
    nothing = emit.constant(0.0, c.type)
    zero = both(emit, emit.compare("eq", c, nothing), emit.compare("eq", d, nothing))
    emit.doubt_if(either(emit, zero, either(emit, emit.compare("ne", c, c), emit.compare("ne", d, d))))
    by_real = emit.compare("ge", emit.function("fabs", c), emit.function("fabs", d))
    large, small = emit.select(by_real, c, d), emit.select(by_real, d, c)
    one, other = emit.select(by_real, real, imag), emit.select(by_real, imag, real)
    ratio = div(emit, small, large)
    size = add(emit, large, mul(emit, small, ratio))
    crossed = mul(emit, one, ratio)
    above = add(emit, one, mul(emit, other, ratio))
    beside = emit.select(by_real, sub(emit, other, crossed), sub(emit, crossed, other))
    if x.type.kind == "python":
        parts = div(emit, above, size), div(emit, beside, size)
    else:
        scale = div(emit, emit.constant(1.0, c.type), size)
        parts = mul(emit, above, scale), mul(emit, beside, scale)
    return _recovered(emit, Complex(x.type, parts))


def power(emit: Emitter, a: Any, b: Any) -> Complex:
    """`a ** b` of Python's numbers; for a small constant `b` by repeated squaring, as in CPython."""
    if is_complex(b):
        return _complex_power(emit, *_python_complex(emit, a, b))
    x, y = as_complex(emit, a), number(emit, b)
    if x.type != PYTHON_COMPLEX or y.known is None or y.type.kind != "python" or not 1 <= y.known <= 8 or y.known % 1:
        raise NoLowering
    found, square, rest = as_complex(emit, 1 + 0j), x, int(y.known)
    while rest:
        if rest & 1:
            found = product(emit, found, square)
        rest >>= 1
        if rest:
            square = product(emit, square, square)
    for part in found.parts:
        finite_only(emit, part)
    return found


def _python_complex(emit: Emitter, *args: Any) -> list[Complex]:
    """Python's numbers as complex ones."""
    given = [as_complex(emit, arg) if is_complex(arg) else number(emit, arg) for arg in args]
    if any(each.type.kind != "python" for each in given):
        raise NoLowering
    return [as_complex(emit, each, PYTHON_COMPLEX) for each in given]


def _complex_power(emit: Emitter, x: Complex, y: Complex) -> Complex:
    """`x ** y`; leaves machine code for exponents that are integers other than 0, which Python multiplies out."""
    (real, imag), none = y.parts, emit.constant(0.0, FLOAT)
    is_real = emit.compare("eq", imag, none)
    is_nothing = both(emit, is_real, emit.compare("eq", real, none))
    is_whole = both(emit, is_real, emit.compare("eq", real, emit.function("floor", real)))
    emit.leave_if(both(emit, is_whole, emit.compare("ne", real, none)))
    emit.leave_if(both(emit, *(emit.compare("eq", each, none) for each in x.parts)))      # perhaps an error
    found: Complex = emit.library("pow", x, y, finite=True)
    parts = zip(found.parts, (1.0, 0.0))
    real, imag = (emit.select(is_nothing, emit.constant(known, FLOAT), part) for part, known in parts)
    return Complex(x.type, (real, imag))


def conjugate(emit: Emitter, a: Any) -> Complex:
    """`a.conjugate()`."""
    return complex_rules.conjugate(emit, as_complex(emit, a))


def absolute(emit: Emitter, a: Any) -> Number:
    """`abs(a)`."""
    x = as_complex(emit, a)
    if x.parts[0].type.dtype != FLOAT.dtype:
        raise NoLowering
    found: Number = emit.library("hypot", *x.parts, finite=True)
    return found


# ------------------------------------------------------------------------------------------------------ comparisons


def comparison(name: str) -> Callable[..., Number]:
    """`eq` or `ne`."""

    def rule(emit: Emitter, a: Any, b: Any) -> Number:
        for each in (a, b):
            if not is_complex(each):
                leave_if_inexact(emit, number(emit, each))
        x, y = _operands(emit, "add", a, b)
        found = complex_rules.comparison(name)(emit, x, y)
        return Number(BOOL if x.type.kind == "python" else scalar("bool"), found.ref)

    return rule


# ------------------------------------------------------------------------------------------------- making, taking apart


def make(emit: Emitter, *args: Any) -> Complex:
    """`complex(…)`."""
    if len(args) == 1:
        return as_complex(emit, args[0], PYTHON_COMPLEX)
    if len(args) != 2 or any(map(is_complex, args)):
        raise NoLowering
    real, imag = (fitted(emit, number(emit, each), FLOAT) for each in args)
    return Complex(PYTHON_COMPLEX, (real, imag))


def part(emit: Emitter, x: Any, name: Any) -> Number:
    """`x.real` or `x.imag`."""
    if not isinstance(x, Complex) or name not in ("real", "imag"):
        raise NoLowering
    found: Number = x.parts[name == "imag"]
    return found
