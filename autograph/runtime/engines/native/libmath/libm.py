"""The C library: its mathematical functions, if Python itself calls them, and the processor's floating-point flags."""

from __future__ import annotations

import ctypes
import math
import platform
import random
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from autograph.common.cpython_internals import address_of
from autograph.common.probes import agrees
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder

PREFIX = "ag_"      # of the names under which LLVM calls them, so that it assumes nothing about them
COMPLEX_POWER = f"{PREFIX}complex_power"
# The flags of divisions by zero, overflows and invalid operations, as in C's `fenv.h`; 0 if they are not known here.
FLAGS = {"x86_64": 0xD, "AMD64": 0xD, "aarch64": 0x7, "arm64": 0x7}.get(platform.machine(), 0)
_TRIES = 200
_TWO = frozenset({"pow", "powf", "atan2", "hypot"})


def raised_flags(b: Builder) -> ir.Value:
    """The flags that are raised."""
    return b.call_outside("fetestexcept", ir.I32, ir.constant(ir.I32, FLAGS))


def raise_flags(b: Builder, flags: ir.Value) -> None:
    """Raise flags."""
    b.call_outside("feraiseexcept", ir.I32, flags)


def clear_flags(b: Builder) -> None:
    """Clear the flags, if any are raised: clearing takes longer than testing."""
    with b.if_then(b.icmp("ne", raised_flags(b), 0)):
        b.call_outside("feclearexcept", ir.I32, ir.constant(ir.I32, FLAGS))


@cache
def _library() -> Any:
    """The C library that Python is linked with; None if the system cannot tell."""
    try:
        return ctypes.CDLL(None)
    except TypeError:       # Windows
        return None


def _size(a: float, b: float) -> float:
    """`abs` of a complex number, NaN if Python and NumPy differ; `math.hypot` is something else."""
    number = complex(a, b)
    return abs(number) if abs(number) == abs(np.complex128(number)) else math.nan


def _power(a: float, b: float) -> float:
    """`a ** b`, NaN if Python and NumPy differ."""
    found = math.pow(a, b)
    return found if found == np.float64(a) ** b else math.nan


def _power_of_float32(a: float, b: float) -> float:
    """The power of NumPy's scalars of 32 bits."""
    return float(np.float32(a) ** np.float32(b))


_OTHERS: dict[str, Any] = {"hypot": _size, "pow": _power, "powf": _power_of_float32}


@cache
def is_pythons(name: str) -> bool:
    """Probe whether a function of the C library has the bits of the one in `math`; if so, make it known to LLVM.

    Python may have been built with another library.
    """
    import llvmlite.binding as llvm

    ours, theirs = _OTHERS.get(name) or getattr(math, name, None), getattr(_library(), name, None)
    if ours is None or theirs is None:
        return False
    of = ctypes.c_float if name == "powf" else ctypes.c_double
    theirs.restype, theirs.argtypes = of, [of] * (1 + (name in _TWO))
    with np.errstate(all="ignore"):
        if not agrees(theirs, ours, (args for args in _examples(name) if _is_defined(ours, args))):
            return False
    llvm.add_symbol(PREFIX + name, ctypes.cast(theirs, ctypes.c_void_p).value)
    return True


class _Complex(ctypes.Structure):
    _fields_ = (("real", ctypes.c_double), ("imag", ctypes.c_double))


@cache
def has_complex_power() -> bool:
    """Probe whether Python's function for powers of complex numbers is known; if so, make it known to LLVM.

    On these machines, two floats are passed and returned as their structure is.
    """
    import llvmlite.binding as llvm

    try:
        address = address_of("_Py_c_pow")
    except AttributeError:
        return False
    if not FLAGS or sys.platform == "win32":
        return False
    function = ctypes.CFUNCTYPE(_Complex, _Complex, _Complex)(address)

    def power(*parts: float) -> complex:
        found = function(_Complex(*parts[:2]), _Complex(*parts[2:]))
        return complex(found.real, found.imag)

    draw = random.Random(1)
    samples = [[draw.uniform(-9, 9) for _ in range(4)] for _ in range(_TRIES)]
    if not agrees(power, lambda *parts: complex(*parts[:2]) ** complex(*parts[2:]), samples):
        return False
    llvm.add_symbol(COMPLEX_POWER, address)
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
        if name in ("pow", "powf"):     # exponents that may have a shortcut
            yield 10 ** draw.uniform(-6, 3), draw.choice((0.0, 1.0, 2.0, 3.0, -1.0, 0.5))
