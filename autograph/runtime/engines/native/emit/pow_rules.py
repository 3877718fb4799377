"""Squares and roots that are written as powers of numbers, `x ** 2` and `x ** 0.5`, without the C library's `pow`.

Python and NumPy's numbers call `pow`, which takes ten times as long as to multiply, and need not give the number that
is nearest to the power: that of the GNU C library, since its version 2.28, is off by up to 0.54 of the distance between
two numbers (`sysdeps/ieee754/dbl-64/e_pow.c`). A product or a root is the nearest one. By how much it is off an `fma`
tells; if by no more than 0.45, then all others are too far away for `pow` to give them. Else `pow` is called.
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
_LEAST = 2.0**-900      # from which on all that is computed here is exact
_TRIES = 400
_EPSILON = 2.0**-52


@cache
def are_known() -> bool:
    """Whether `pow` is as far off as it is said to be, and there is an `fma`."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        is_new = tuple(map(int, version.split(".")[:2])) >= (2, 28)
    except (AttributeError, ValueError, OSError):       # of what is no GNU system
        return False
    return name == "glibc" and is_new and vectors() is not None and _is_near()


def _is_near() -> bool:
    """Whether `pow` gives the nearest number for squares of which it must."""
    draw = random.Random(1)
    samples = [draw.uniform(1, 2) for _ in range(_TRIES)]
    return agrees(lambda x: math.pow(x, 2.0), lambda x: x * x, ((x,) for x in samples if _is_clear(x)))


def _is_clear(x: float) -> bool:
    """Whether a square is not about in the middle between two numbers."""
    whole = int(x * 2.0**52) ** 2
    bits = whole.bit_length() - 53
    return abs((whole & (1 << bits) - 1) / (1 << bits) - 0.5) >= 0.05


def nearest(emit: Emitter, x: Number, exponent: float, unit: Callable[[Number], Number]) -> tuple[Number, Number]:
    """The number that is nearest to such a power, and whether `pow` may give another one.

    Args:
        unit: the power of two that is less than a number, but not less than half of it.
    """
    if exponent == 2.0:
        found = emit.floating("mul", x, x)
        root, square, most = x, found, emit.constant(0.45 * _EPSILON, x.type)
    else:
        found = emit.function("sqrt", x)
        most = emit.floating("mul", found, emit.constant(2 * 0.44 * _EPSILON, x.type))  # by which its square may be off
        root, square = found, x
    off = emit.function("fabs", emit.function("fma", root, root, emit.negative(square)))
    near = emit.compare("le", off, emit.floating("mul", unit(found), most))
    large = emit.compare("gt", square, emit.constant(_LEAST, x.type))
    return found, emit.integer("xor", emit.integer("and", near, large), emit.constant(True, BOOL))
