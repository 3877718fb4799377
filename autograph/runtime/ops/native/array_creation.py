"""Lowerings that make new arrays: `np.empty`, `np.zeros`, and copies.

NumPy handles the errors: a negative length, or too little memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.operands import COMPLEX, DTYPES, Array, Emitter, NoLowering, Number
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.native.number_rules import known_dtype
from autograph.runtime.ops.native.scalars import fitted, number

_KNOWN = (DTYPES | COMPLEX).values()
_CLASSES = frozenset({bool, int, float, complex, *(dtype.type for dtype in _KNOWN)})
_NAMES = frozenset(name for dtype in _KNOWN for name in (dtype.name, dtype.char, dtype.str))


def filled(*, zeros: bool) -> Callable[..., Array]:
    """`np.zeros` or `np.empty`."""

    def rule(emit: Emitter, shape: Any, dtype: Any = float) -> Array:
        lengths = shape if type(shape) is tuple else (shape,)
        return emit.make_array(_dtype(dtype), [_length(emit, each) for each in lengths], zeros)

    return rule


def filled_like(*, zeros: bool) -> Callable[..., Array]:
    """`np.zeros_like` or `np.empty_like`."""

    def rule(emit: Emitter, a: Any, dtype: Any = None) -> Array:
        a = contiguous(a)
        lengths = [emit.length(a, axis) for axis in range(a.ndim)]
        return emit.make_array(a.dtype if dtype is None else _dtype(dtype), lengths, zeros)

    return rule


def counted(emit: Emitter, *args: Any) -> Array:
    """`np.arange(stop)` or `np.arange(start, stop)` of integers of 64 bits."""
    given = [number(emit, each) for each in args]
    if len(given) not in (1, 2) or any(each.type.dtype != INT.dtype for each in given):
        raise NoLowering
    none, stop = emit.constant(0, INT), fitted(emit, given[-1], INT)
    start = fitted(emit, given[0], INT) if len(given) > 1 else none
    length, overflows = emit.overflowing("sub", stop, start)
    emit.leave_if(overflows)
    return emit.vectors.counted(start, emit.select(emit.compare("lt", length, none), none, length))


def copied(emit: Emitter, x: Any) -> Array:
    """`x.copy()` of an array; the copy is in C's order."""
    if not isinstance(x, Array):
        raise NoLowering
    return emit.copy_array(x)


def contiguous(x: Any) -> Array:
    """An array in C's order."""
    if not isinstance(x, Array) or not x.contiguous:
        raise NoLowering
    return x


def _dtype(given: Any) -> np.dtype[Any]:
    names = _CLASSES if isinstance(given, type) else _NAMES if isinstance(given, str) else ()
    if isinstance(given, np.dtype) or given in names:
        return known_dtype(np.dtype(given))
    raise NoLowering        # of some NumPy warns each time


def _length(emit: Emitter, given: Any) -> Number:
    found = number(emit, given)
    if found.type.dtype.kind not in "iu":
        raise NoLowering
    return fitted(emit, found, INT)
