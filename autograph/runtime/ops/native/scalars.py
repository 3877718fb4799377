"""Lowerings of Python's operators on numbers.

The operands are converted to one dtype, for which `number_rules` has the rules. Python's integers have 64 bits; an
overflow leaves machine code, and so does whatever NumPy would warn about. Comparisons of integers with floats are exact
in Python; they are compiled if the integer is exact as a float.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.operands import DTYPES, Complex, Emitter, Fixed, NoLowering, Number, Range
from autograph.runtime.graph.types import BOOL, FLOAT, INT, TensorType, scalar, type_of
from autograph.runtime.ops.native import number_rules
from autograph.runtime.ops.native.number_rules import PYTHON, arithmetic, inverse, known_dtype

EXACT = 2**53       # up to here, every integer is a float


def number(emit: Emitter, arg: Any) -> Number:
    """An argument that must be a number."""
    if isinstance(arg, Number):
        return arg
    if type(arg) in (bool, int, float) or (isinstance(arg, np.generic) and arg.dtype.char in DTYPES):
        type_ = type_of(arg)
        if type_ != INT or -(2**63) <= arg < 2**63:
            assert isinstance(type_, TensorType)
            return emit.constant(arg, type_)
    raise NoLowering


def result(name: str, *args: Number | Complex) -> TensorType:
    """The type of the result of an op, which must be a number."""
    found = OPS[name].infer(*(arg.type for arg in args))
    if not (isinstance(found, TensorType) and found.exact and found.kind != "array"):
        raise NoLowering
    return replace(found, dtype=known_dtype(np.dtype(found.dtype.str)))     # of a cache, which may have a `longlong`


# ------------------------------------------------------------------------------------------------------ conditions


def zero(emit: Emitter, x: Number) -> Number:
    return emit.compare("eq", x, emit.constant(0, x.type))


def either(emit: Emitter, a: Number, b: Number) -> Number:
    return emit.integer("or", a, b)


def both(emit: Emitter, a: Number, b: Number) -> Number:
    return emit.integer("and", a, b)


def finite(emit: Emitter, x: Number) -> Number:
    return emit.compare("lt", emit.function("fabs", x), emit.constant(float("inf"), x.type))


def truth(emit: Emitter, arg: Any) -> Number:
    """The truth value of an operand or constant."""
    if isinstance(arg, Number):
        return number_rules.truth(emit, arg)
    if isinstance(arg, Complex):
        real, imag = (truth(emit, part) for part in arg.parts)
        return either(emit, real, imag)
    if isinstance(arg, Range):
        return emit.compare("ne", range_length(emit, arg), emit.constant(0, scalar("uint64")))
    value = arg.value if isinstance(arg, Fixed) else arg
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        return emit.constant(bool(value), BOOL)
    raise NoLowering


def range_length(emit: Emitter, x: Range) -> Number:
    """The length of a range, as an unsigned number."""
    unsigned = scalar("uint64")
    start, stop, step = x.parts if x.known is None else (*x.parts, emit.constant(x.known, INT))
    none, one = emit.constant(0, INT), emit.constant(1, INT)
    upwards = emit.compare("gt", step, none)
    low, high = emit.select(upwards, start, stop), emit.select(upwards, stop, start)
    size = emit.select(upwards, step, emit.integer("sub", none, step))
    if x.known in (1, -1):
        count = emit.integer("sub", high, low)
    else:
        span = emit.integer("sub", emit.integer("sub", high, low), one)
        steps = emit.integer("div", Number(unsigned, span.ref), Number(unsigned, size.ref))
        count = emit.integer("add", Number(INT, steps.ref), one)
    return Number(unsigned, emit.select(emit.compare("lt", low, high), count, none).ref)


# ----------------------------------------------------------------------------------------------------- conversions


def fitted(emit: Emitter, x: Number, type: TensorType) -> Number:
    """`x` converted to another type; leaves machine code if the value would change, or the conversion raise or warn."""
    before, after = x.type.dtype, type.dtype
    if before == after:
        return Number(type, x.ref, x.known)
    if x.known is not None and before.kind in "biu" and after.kind in "iu":
        info = np.iinfo(after)
        if not info.min <= x.known <= info.max:
            raise NoLowering
        return emit.constant(int(x.known), type)
    if after.kind == "b":
        return Number(type, truth(emit, x).ref)
    if x.type == INT and after.kind == "f" and after.itemsize < 8:
        x = fitted(emit, x, FLOAT)      # which NumPy makes of it first
        before = x.type.dtype
    found = emit.convert(x, type)
    if before.kind == "b" or (after.kind == "f" and before.kind in "iu"):
        return found
    if before.kind == "f" and after.kind == "f":
        if after.itemsize < before.itemsize:
            emit.leave_if_warned(found, x)
        return found
    if before.kind == "f":
        bound = float(2 ** (8 * after.itemsize - 1))
        emit.leave_if(inverse(emit, emit.compare("lt", emit.function("fabs", x), emit.constant(bound, x.type))))
        if after.kind == "u":
            emit.leave_if(emit.compare("lt", x, emit.constant(0, x.type)))
        return found
    if after.itemsize < before.itemsize:
        emit.leave_if(emit.compare("ne", emit.convert(found, x.type), x))
    if before.kind != after.kind:
        signed, kind = (x, before) if before.kind == "i" else (found, after)
        emit.leave_if(emit.compare("lt", signed, emit.constant(0, TensorType(kind, (), signed.type.kind))))
    return found


# ------------------------------------------------------------------------------------------------------ arithmetic


def operands(emit: Emitter, name: str, *args: Any) -> list[Number]:
    """The operands of an operator, converted to the type of its result."""
    given = [number(emit, arg) for arg in args]
    type = result(name, *given)
    return [fitted(emit, each, type) for each in given]


def true_division(emit: Emitter, a: Any, b: Any) -> Number:
    """`a / b`."""
    given = number(emit, a), number(emit, b)
    type = result("truediv", *given)
    if type.kind == "python":
        for each in given:
            leave_if_inexact(emit, each)
    x, y = (fitted(emit, each, type) for each in given)
    if type.kind == "python":
        emit.doubt_if(zero(emit, y))
    return arithmetic("div", PYTHON)(emit, x, y)


def leave_if_inexact(emit: Emitter, x: Number) -> None:
    """Leave machine code if an integer may not be exact as a float."""
    if x.type.dtype.kind in "iu" and x.type.dtype.itemsize == 8:
        leave_if_large(emit, x, EXACT)


def leave_if_large(emit: Emitter, x: Number, bound: int) -> None:
    """Leave machine code if the absolute value of an integer exceeds a bound."""
    if x.known is not None:
        if abs(x.known) > bound:
            raise NoLowering
        return
    outside = emit.compare("gt", x, emit.constant(bound, x.type))
    if x.type.dtype.kind == "i":
        outside = either(emit, outside, emit.compare("lt", x, emit.constant(-bound, x.type)))
    emit.leave_if(outside)


def floor_division(emit: Emitter, x: Number, y: Number) -> Number:
    """`x // y`."""
    return (_float_division if x.type.dtype.kind == "f" else _integer_division)(emit, x, y)[0]


def remainder(emit: Emitter, x: Number, y: Number) -> Number:
    """`x % y`."""
    return (_float_division if x.type.dtype.kind == "f" else _integer_division)(emit, x, y)[1]


def _integer_division(emit: Emitter, x: Number, y: Number) -> tuple[Number, Number]:
    """Division rounded down, as in Python; C rounds toward zero."""
    if x.type.dtype.kind == "b":
        raise NoLowering
    if y.known is not None and y.known > 0 and int(y.known) & int(y.known) - 1 == 0:
        power = emit.constant(int(y.known).bit_length() - 1, y.type)
        return emit.integer("shr", x, power), emit.integer("and", x, emit.constant(int(y.known) - 1, y.type))
    if y.known is None or y.known == 0:
        emit.leave_if(zero(emit, y))
    if x.type.dtype.kind == "u":
        return emit.integer("div", x, y), emit.integer("rem", x, y)
    if y.known is None or y.known == -1:
        least = emit.compare("eq", x, emit.constant(int(np.iinfo(x.type.dtype).min), x.type))
        emit.leave_if(both(emit, least, emit.compare("eq", y, emit.constant(-1, y.type))))
    quotient, rest = emit.integer("div", x, y), emit.integer("rem", x, y)
    none = emit.constant(0, x.type)
    apart = emit.compare("lt", emit.integer("xor", rest, y), none)
    down = both(emit, emit.compare("ne", rest, none), apart)
    lower = emit.integer("sub", quotient, emit.constant(1, x.type))
    return emit.select(down, lower, quotient), emit.select(down, emit.integer("add", rest, y), rest)


def _float_division(emit: Emitter, x: Number, y: Number) -> tuple[Number, Number]:
    """As CPython's `float_divmod` and NumPy's `npy_divmod` do."""
    emit.leave_if(zero(emit, y))
    if x.type.kind != "python":
        emit.leave_if(inverse(emit, both(emit, finite(emit, x), finite(emit, y))))
    none, one = emit.constant(0.0, x.type), emit.constant(1.0, x.type)
    rest = emit.floating("rem", x, y)
    quotient = emit.floating("div", emit.floating("sub", x, rest), y)
    some = emit.compare("ne", rest, none)
    signs = emit.compare("ne", emit.compare("lt", y, none), emit.compare("lt", rest, none))
    down = both(emit, some, signs)
    quotient = emit.select(down, emit.floating("sub", quotient, one), quotient)
    nothing = emit.function("copysign", none, y)
    rest = emit.select(down, emit.floating("add", rest, y), emit.select(some, rest, nothing))
    floor = emit.function("floor", quotient)
    above = emit.compare("gt", emit.floating("sub", quotient, floor), emit.constant(0.5, x.type))
    floor = emit.select(above, emit.floating("add", floor, one), floor)
    tiny = emit.function("copysign", none, emit.floating("div", x, y))
    found = emit.select(emit.compare("ne", quotient, none), floor, tiny)
    if x.type.kind != "python":
        emit.leave_if(inverse(emit, both(emit, finite(emit, found), finite(emit, rest))))
    return found, rest


def left_shift(emit: Emitter, x: Number, y: Number) -> Number:
    """`x << y`; leaves machine code if bits would be lost."""
    _leave_if_far(emit, y)
    found, overflow = emit.overflowing("shl", x, y)
    emit.leave_if(overflow)
    return found


def right_shift(emit: Emitter, x: Number, y: Number) -> Number:
    """`x >> y`."""
    _leave_if_far(emit, y)
    return emit.integer("shr", x, y)


def _leave_if_far(emit: Emitter, count: Number) -> None:
    """Leave machine code if a shift count is out of range."""
    bits = 8 * count.type.dtype.itemsize
    if count.type.dtype.kind == "b" or (count.known is not None and not 0 <= count.known < bits):
        raise NoLowering
    if count.known is None:
        negative = emit.compare("lt", count, emit.constant(0, count.type))
        emit.leave_if(either(emit, negative, emit.compare("ge", count, emit.constant(bits, count.type))))


def inverted(emit: Emitter, a: Any) -> Number:
    """`~a`."""
    x = number(emit, a)
    if x.type == BOOL or x.type.dtype.kind == "f":
        raise NoLowering        # Python warns, or raises
    return number_rules.inverted(emit, x)


# ----------------------------------------------------------------------------------------------------- comparisons


def comparison(name: str) -> Callable[..., Number]:
    """`lt` and so on."""

    def rule(emit: Emitter, a: Any, b: Any) -> Number:
        x, y = number(emit, a), number(emit, b)
        type = result(name, x, y)
        common = _common(emit, x, y)
        found = emit.compare(name, fitted(emit, x, common), fitted(emit, y, common))
        return Number(type, found.ref)

    return rule


def _common(emit: Emitter, x: Number, y: Number) -> TensorType:
    """The type in which two numbers are compared."""
    if x.type.dtype == y.type.dtype:
        return x.type
    if "f" not in (x.type.dtype.kind, y.type.dtype.kind):
        return INT      # other integers leave machine code
    for each in (x, y):
        if each.type.kind == "python":
            leave_if_inexact(emit, each)
    if "python" in (x.type.kind, y.type.kind) and x.type.kind != y.type.kind:
        weak, strong = (x, y) if x.type.kind == "python" else (y, x)
        if strong.type.dtype.kind == "f":
            if strong.type.dtype.itemsize < 8 and weak.type.dtype.kind != "b":
                raise NoLowering
            return strong.type
    if x.type.kind == y.type.kind == "python":
        return FLOAT
    return scalar(np.result_type(x.type.dtype, y.type.dtype))
