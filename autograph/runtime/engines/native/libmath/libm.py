"""The C library's mathematics, where it is what Python itself calls."""

from __future__ import annotations

import ctypes
import math
import platform
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from autograph.common.probes import agrees

PREFIX = "ag_"      # by which LLVM knows them as functions of which it knows nothing
# The flags of a division by zero, an overflow, and what is invalid, as C's `fenv.h` has them.
FLAGS = {"x86_64": 0xD, "AMD64": 0xD, "aarch64": 0x7, "arm64": 0x7}.get(platform.machine(), 0)
_TRIES = 200
_TWO = frozenset({"pow", "atan2", "hypot"})


@cache
def _library() -> Any:
    """What is loaded in this process, which Python itself is linked with."""
    try:
        return ctypes.CDLL(None)
    except TypeError:       # Windows has no such thing
        return None


def _size(a: float, b: float) -> float:
    """`abs` of a complex number, of Python's or NumPy's if that is the same; `math.hypot` is something else."""
    number = complex(a, b)
    return abs(number) if abs(number) == abs(np.complex128(number)) else math.nan


def _power(a: float, b: float) -> float:
    """`a ** b`, of Python's and NumPy's if that is the same."""
    found = math.pow(a, b)
    return found if found == np.float64(a) ** b else math.nan


_OTHERS: dict[str, Any] = {"hypot": _size, "pow": _power}


@cache
def is_pythons(name: str) -> bool:
    """Whether the function of that name gives, bit for bit, what `math` gives, and is ready to be called.

    Where Python has been built with a library of its own, that would show in some of the tries.
    """
    import llvmlite.binding as llvm

    ours, theirs = _OTHERS.get(name) or getattr(math, name, None), getattr(_library(), name, None)
    if ours is None or theirs is None:
        return False
    theirs.restype, theirs.argtypes = ctypes.c_double, [ctypes.c_double] * (1 + (name in _TWO))
    if not agrees(theirs, ours, (args for args in _examples(name) if _is_defined(ours, args))):
        return False
    llvm.add_symbol(PREFIX + name, ctypes.cast(theirs, ctypes.c_void_p).value)
    return True


def _is_defined(function: Any, args: tuple[float, ...]) -> bool:
    try:
        function(*args)
    except (ValueError, OverflowError):
        return False
    return True


def _examples(name: str) -> Iterator[tuple[float, ...]]:
    draw = random.Random(1)
    for _ in range(_TRIES):
        yield tuple(draw.choice((1, -1)) * 10 ** draw.uniform(-6, 3) for _ in range(1 + (name in _TWO)))
        if name == "pow":       # by numbers that may be done otherwise
            yield 10 ** draw.uniform(-6, 3), draw.choice((0.0, 1.0, 2.0, 3.0, -1.0, 0.5))
