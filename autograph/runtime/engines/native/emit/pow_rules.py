"""`x ** 2` and `x ** 0.5` of numbers, without the C library's `pow`.

Python and NumPy's numbers call `pow`, which takes ten times as long as a multiplication, and need not round correctly:
that of the GNU C library has errors of up to 0.54 ulp since version 2.28 (`sysdeps/ieee754/dbl-64/e_pow.c`). A product
or a root is rounded correctly, and an `fma` computes its error. If that is at most 0.45 ulp, the error of any other
result would exceed 0.54, so `pow` returns this one. Otherwise the code calls `pow`.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from functools import cache

from autograph.common.probes import agrees
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm.target import vectors
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import BOOL

POWERS = 2.0, 0.5
_LEAST = 2.0**-900      # above this, the error is computed exactly
_TRIES = 400
_EPSILON = 2.0**-52


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
    """Whether `pow` rounds squares correctly for which its error bound implies that."""
    draw = random.Random(1)
    samples = [draw.uniform(1, 2) for _ in range(_TRIES)]
    return agrees(lambda x: math.pow(x, 2.0), lambda x: x * x, ((x,) for x in samples if _is_clear(x)))


def _is_clear(x: float) -> bool:
    """Whether a square is not about half-way between two floats."""
    whole = int(x * 2.0**52) ** 2
    bits = whole.bit_length() - 53
    return abs((whole & (1 << bits) - 1) / (1 << bits) - 0.5) >= 0.05


def nearest(emit: Emitter, x: Number, exponent: float, unit: Callable[[Number], Number]) -> tuple[Number, Number]:
    """The correctly rounded power, and whether `pow` may return another number.

    Args:
        unit: emits the largest power of two that is less than a number.
    """
    if exponent == 2.0:
        found = emit.floating("mul", x, x)
        root, square, most = x, found, emit.constant(0.45 * _EPSILON, x.type)
    else:
        found = emit.function("sqrt", x)
        most = emit.floating("mul", found, emit.constant(2 * 0.44 * _EPSILON, x.type))  # the error of its square
        root, square = found, x
    off = emit.function("fabs", emit.function("fma", root, root, emit.negative(square)))
    near = emit.compare("le", off, emit.floating("mul", unit(found), most))
    large = emit.compare("gt", square, emit.constant(_LEAST, x.type))
    return found, emit.integer("xor", emit.integer("and", near, large), emit.constant(True, BOOL))
