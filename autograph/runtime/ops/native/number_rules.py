"""Rules for operations on numbers of one dtype: Python's operators, and NumPy's inner loops.

A rule gets its operands in the dtype in which Python or NumPy computes. Where the machine would differ from Python, the
flavor `PYTHON` leaves machine code; `scalars.py` uses it for operators.

An inner loop (the flavor `NUMPY`) computes one element of the result from one element of each array, in the dtypes that
NumPy has chosen. NumPy's warnings show in the processor's flags, which are checked at the end; so a rule must raise the
same flags as NumPy's loop. Integers wrap around.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.graph.operands import COMPLEX, DTYPES, Emitter, NoLowering, Number
from autograph.runtime.graph.types import BOOL, TensorType, scalar

Rule: TypeAlias = Callable[..., Number]
INF = float("inf")


@dataclass(frozen=True, slots=True)
class Inner:
    """The rules of a ufunc's inner loop.

    Attributes:
        ufunc: determines the dtypes of the operands.
        rule: `rule(emit, *numbers)`; None if only NumPy itself does it.
        of_complex: the same for complex numbers.
        of_floats: the same for floats, if there is no rule for all real numbers.
    """

    ufunc: np.ufunc
    rule: Rule | None
    of_complex: Callable[..., Any] | None = None
    of_floats: Rule | None = None

    def rule_of(self, dtypes: Iterable[np.dtype[Any]]) -> Callable[..., Any] | None:
        """The rule for operands of these dtypes."""
        kinds = {dtype.kind for dtype in dtypes}
        if "c" in kinds:
            return self.of_complex
        return self.of_floats if self.rule is None and kinds == {"f"} else self.rule

    def dtypes(self, *given: np.dtype[Any] | type) -> tuple[np.dtype[Any], ...]:
        """The dtypes of operands and result, for operands of these dtypes, or of the class of a Python number."""
        try:
            return self.ufunc.resolve_dtypes((*given, None))
        except TypeError:       # which NumPy will raise
            raise NoLowering from None


def known_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The equal dtype in `DTYPES` or `COMPLEX`."""
    found = (DTYPES | COMPLEX).get(dtype.char) if dtype.isnative else None
    if found is None:
        raise NoLowering
    return found


def promotes(type_: TensorType) -> Any:
    """The dtype or class by which a number takes part in NumPy's promotion."""
    return type(type_.dtype.type(0).item()) if is_weak(type_) else type_.dtype


def is_weak(type: TensorType) -> bool:
    return type.kind == "python" and type != BOOL


def converted(emit: Emitter, x: Number, dtype: np.dtype[Any]) -> Number:
    """`x` converted to another dtype as NumPy casts it."""
    before = x.type.dtype
    if before == dtype:
        return Number(scalar(dtype), x.ref, x.known)
    if dtype.kind == "b":
        return boolean(truth(emit, x))
    if before.kind == "f" and dtype.kind != "f" and (dtype.kind == "u" or dtype.itemsize < 4):
        return _narrowed(emit, x, dtype)
    return emit.convert(x, scalar(dtype))


def _narrowed(emit: Emitter, x: Number, dtype: np.dtype[Any]) -> Number:
    """A float converted to a small integer, if it fits; C leaves other conversions undefined."""
    if dtype.itemsize > 2:
        raise NoLowering
    limits = np.iinfo(dtype)
    above = emit.compare("gt", x, emit.constant(float(limits.min - 1), x.type))
    below = emit.compare("lt", x, emit.constant(float(limits.max + 1), x.type))
    emit.doubt_if(inverse(emit, emit.integer("and", above, below)))
    return emit.convert(emit.convert(x, scalar(np.int32)), scalar(dtype))


def truth(emit: Emitter, x: Number) -> Number:
    return x if x.type == BOOL else emit.compare("ne", x, emit.constant(0, x.type))


def inverse(emit: Emitter, x: Number) -> Number:
    return emit.integer("xor", x, emit.constant(True, x.type))


# Arithmetic -----------------------------------------------------------------------------------------------------------


class Flavor(Enum):
    """Whose operations the rules implement: Python's or NumPy's."""

    PYTHON = auto()
    NUMPY = auto()


PYTHON, NUMPY = Flavor


def arithmetic(name: str, flavor: Flavor) -> Rule:
    """`add`, `sub`, `mul` or `div`."""

    def rule(emit: Emitter, a: Number, b: Number) -> Number:
        kind = a.type.dtype.kind
        if kind == "f":
            if name == "div" and b.known is not None and _is_exact_divisor(b.known):
                found = emit.floating("mul", a, emit.constant(1 / b.known, b.type))
            else:
                found = emit.floating(name, a, b)
            if flavor is PYTHON:
                emit.leave_if_warned(found, a, b)
            return found
        if kind == "b":
            return _of_bools(name)(emit, a, b)
        if flavor is NUMPY:
            return emit.integer(name, a, b)
        found, overflow = emit.overflowing(name, a, b)
        emit.doubt_if(overflow)
        return found

    return rule


def _of_bools(name: str) -> Rule:
    if name not in ("add", "mul"):
        raise NoLowering
    return bits("or" if name == "add" else "and")


def _is_exact_divisor(by: float) -> bool:
    """Whether division by a number equals multiplication by its inverse: for powers of two."""
    return by > 1 and math.frexp(by)[0] == 0.5 and by < 2**100


def bits(name: str) -> Rule:
    return lambda emit, a, b: emit.integer(name, a, b)


def logical(name: str) -> Rule:
    return lambda emit, a, b: boolean(emit.integer(name, truth(emit, a), truth(emit, b)))


def comparison(name: str) -> Rule:
    return lambda emit, a, b: boolean(emit.compare(name, a, b))


def boolean(x: Number) -> Number:
    """A truth value as an element of a boolean array."""
    return Number(scalar(bool), x.ref)


def negative(flavor: Flavor) -> Rule:
    subtract = arithmetic("sub", flavor)
    return lambda emit, x: (
        emit.negative(x) if x.type.dtype.kind == "f" else subtract(emit, emit.constant(0, x.type), x)
    )


def absolute(flavor: Flavor) -> Rule:
    def rule(emit: Emitter, x: Number) -> Number:
        if x.type.dtype.kind == "f":
            return emit.function("fabs", x)
        if x.type.dtype.kind != "i":
            return x
        return emit.select(emit.compare("lt", x, emit.constant(0, x.type)), negative(flavor)(emit, x), x)

    return rule


def same(emit: Emitter, x: Any) -> Any:
    return x


def square(emit: Emitter, x: Number) -> Number:
    return arithmetic("mul", NUMPY)(emit, x, x)


def inverted(emit: Emitter, x: Number) -> Number:
    return emit.integer("xor", x, emit.constant(True if x.type.dtype.kind == "b" else -1, x.type))


def extreme(name: str) -> Rule:
    """`maximum` or `minimum`: propagates NaN; of two zeros it returns the second."""
    better = "gt" if name == "maximum" else "lt"

    def rule(emit: Emitter, a: Number, b: Number) -> Number:
        found = emit.select(emit.compare(better, a, b), a, b)
        return emit.select(emit.compare("ne", a, a), a, found) if a.type.dtype.kind == "f" else found

    return rule


def clipped(emit: Emitter, x: Number, low: Number, high: Number) -> Number:
    """Clip between two constants; NaN and the sign of zero stay."""
    if low.known is None or high.known is None or low.known != low.known or high.known != high.known:
        raise NoLowering        # for arrays NumPy does otherwise
    return between(emit, x, low, high)


def between(emit: Emitter, x: Number, low: Number, high: Number) -> Number:
    raised = emit.select(emit.compare("lt", x, low), low, x)
    return emit.select(emit.compare("gt", raised, high), high, raised)


def of_floats(name: str) -> Rule:
    return lambda emit, *args: emit.function(name, *args)


def rounded(name: str) -> Rule:
    """`floor` and so on, which return integers unchanged."""
    return lambda emit, x: emit.function(name, x) if x.type.dtype.kind == "f" else x


def reciprocal(emit: Emitter, x: Number) -> Number:
    if x.type.dtype.kind != "f":
        raise NoLowering
    return emit.floating("div", emit.constant(1, x.type), x)


def is_nan(emit: Emitter, x: Number) -> Number:
    return boolean(emit.compare("ne", x, x))


def is_infinite(emit: Emitter, x: Number) -> Number:
    return boolean(emit.compare("eq", emit.function("fabs", x), emit.constant(INF, x.type)))


def is_finite(emit: Emitter, x: Number) -> Number:
    return inverse(emit, emit.integer("or", is_nan(emit, x), is_infinite(emit, x)))


def of_real(rule: Rule) -> Rule:
    """A test of floats, for numbers of all dtypes."""
    return lambda emit, x: rule(emit, x if x.type.dtype.kind == "f" else converted(emit, x, np.dtype(float)))


def sign(emit: Emitter, x: Number) -> Number:
    if x.type.dtype.kind not in "if":
        raise NoLowering
    none, one, less = (emit.constant(value, x.type) for value in (0, 1, -1))
    nothing = emit.select(emit.compare("eq", x, none), none, x)
    below = emit.select(emit.compare("lt", x, none), less, nothing)
    return emit.select(emit.compare("gt", x, none), one, below)


def where_true(emit: Emitter, condition: Number, x: Number, y: Number) -> Number:
    """An element of `np.where`, whose condition has been converted to the dtype of the others."""
    return emit.select(emit.compare("ne", condition, emit.constant(0, condition.type)), x, y)


def _quotient(emit: Emitter, x: Number, y: Number) -> tuple[Number, Number]:
    """The largest integer that is at most `x / y`, and the remainder, of floats.

    NumPy takes the remainder of C's `fmod`, which is exact. So its quotient is exact as long as it is small, and its
    remainder is the exact one, rounded once; a fused multiply-add gives that, too.
    """
    none, one = emit.constant(0.0, x.type), emit.constant(1.0, x.type)
    near = emit.function("floor", emit.floating("div", x, y))      # or one more, since it was rounded
    limit = emit.constant(2.0**50 if x.type.dtype.itemsize == 8 else 2.0**20, x.type)
    emit.doubt_if(inverse(emit, emit.compare("lt", emit.function("fabs", near), limit)))    # or no number
    rest = emit.function("fma", emit.negative(near), y, x)
    signs = emit.compare("ne", emit.compare("lt", rest, none), emit.compare("lt", y, none))
    above = emit.integer("and", emit.compare("ne", rest, none), signs)
    found = emit.select(above, emit.floating("sub", near, one), near)
    return found, emit.function("fma", emit.negative(found), y, x)


def floor_quotient(emit: Emitter, x: Number, y: Number) -> Number:
    """`np.floor_divide` of floats."""
    return _quotient(emit, x, y)[0]


def floor_remainder(emit: Emitter, x: Number, y: Number) -> Number:
    """`np.remainder` of floats; a zero has the sign of the divisor."""
    rest, none = _quotient(emit, x, y)[1], emit.constant(0.0, x.type)
    return emit.select(emit.compare("eq", rest, none), emit.function("copysign", none, y), rest)


OF_FLOATS: dict[str, Rule] = {"floor_divide": floor_quotient, "remainder": floor_remainder}
RULES: dict[str, Rule] = {
    "add": arithmetic("add", NUMPY),
    "subtract": arithmetic("sub", NUMPY),
    "multiply": arithmetic("mul", NUMPY),
    "divide": arithmetic("div", NUMPY),
    "negative": negative(NUMPY),
    "positive": same,
    "absolute": absolute(NUMPY),
    "fabs": of_floats("fabs"),
    "square": square,
    "sqrt": of_floats("sqrt"),
    "reciprocal": reciprocal,
    "sign": sign,
    "floor": rounded("floor"),
    "ceil": rounded("ceil"),
    "trunc": rounded("trunc"),
    "rint": rounded("rint"),
    "copysign": of_floats("copysign"),
    "maximum": extreme("maximum"),
    "minimum": extreme("minimum"),
    "bitwise_and": bits("and"),
    "bitwise_or": bits("or"),
    "bitwise_xor": bits("xor"),
    "invert": inverted,
    "logical_and": logical("and"),
    "logical_or": logical("or"),
    "logical_xor": logical("xor"),
    "logical_not": lambda emit, x: boolean(inverse(emit, truth(emit, x))),
    "isnan": of_real(is_nan),
    "isinf": of_real(is_infinite),
    "isfinite": of_real(is_finite),
    "less": comparison("lt"),
    "less_equal": comparison("le"),
    "equal": comparison("eq"),
    "not_equal": comparison("ne"),
    "greater": comparison("gt"),
    "greater_equal": comparison("ge"),
}
