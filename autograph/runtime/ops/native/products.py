"""Lowerings of products of vectors: `x @ y`, `np.dot`, `np.inner`, `np.vdot`.

All of them end in one inner loop of NumPy, but what they do before differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from autograph.runtime.graph.operands import Array, Complex, Computed, Emitter, Gathered, NoLowering, Number, View
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.native.number_rules import RULES
from autograph.runtime.ops.native.views import whole_of

Vector: TypeAlias = "View | Gathered | Computed"


def matmul(emit: Emitter, x: Any, y: Any) -> Number | Complex | Array | View:
    """`x @ y`."""
    if any(isinstance(arg, (Array, View)) and len(whole_of(emit, arg).shape) == 2 for arg in (x, y)):
        return _matrix_product(emit, x, y)
    return emit.vectors.product(np.matmul, *_vectors(emit, x, y))


def _matrix_product(emit: Emitter, *args: Any) -> Array | View:
    """Of a matrix and a matrix or vector of its dtype; leaves machine code if the lengths do not fit."""
    x, y = (whole_of(emit, arg) for arg in args)
    if x.dtype != y.dtype or not {len(x.shape), len(y.shape)} <= {1, 2}:
        raise NoLowering
    emit.leave_if(emit.compare("ne", x.shape[-1], y.shape[0]))
    return emit.vectors.matrix_product(x, y)


def dot(emit: Emitter, a: Any, b: Any) -> Number | Complex:
    """`np.dot(a, b)` or `a.dot(b)`."""
    return _copying(emit, np.dot, a, b)


def inner(emit: Emitter, a: Any, b: Any) -> Number | Complex:
    """`np.inner(a, b)`."""
    return _copying(emit, np.inner, a, b)


def vdot(emit: Emitter, a: Any, b: Any) -> Number | Complex:
    """`np.vdot(a, b)`."""
    x, y = _vectors(emit, a, b)
    if x.dtype.kind == "c":
        raise NoLowering        # it takes the conjugate of one
    return emit.vectors.product(np.vdot, x, y, warns=False)


def norm(emit: Emitter, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Number | Array:
    """`np.linalg.norm(x)`: the root of the product of a vector and itself, after it has been made contiguous.

    With `axis=1`, of a matrix, the roots of the sums of the squares of rows.
    """
    if type(axis) is int and axis in (1, -1):
        return _norms(emit, x, ord, keepdims)
    (x, _), is_default = _vectors(emit, x, x), ord is None and axis is None and keepdims is False
    if not is_default or isinstance(x, Gathered) or x.dtype.kind != "f":
        raise NoLowering
    if isinstance(x, View):
        emit.leave_if(emit.compare("lt", x.strides[0], emit.constant(x.dtype.itemsize, INT)))     # may be reversed
        x = Computed(x.dtype, x.shape, x.dtype, RULES["positive"], (x,))
    found = emit.vectors.product(np.dot, x, x, copies=True)
    assert isinstance(found, Number)
    return emit.function("sqrt", found)


def _norms(emit: Emitter, x: Any, ord: Any, keepdims: Any) -> Array:
    of = x if isinstance(x, Computed) else whole_of(emit, x)
    is_default = keepdims is False and (ord is None or (type(ord) is int and ord == 2))
    if not is_default or len(of.shape) != 2 or of.dtype.kind != "f":
        raise NoLowering
    return emit.vectors.reduced_rows("add", Computed(of.dtype, of.shape, of.dtype, RULES["multiply"], (of, of)), True)


def _copying(emit: Emitter, function: Callable[[Any, Any], Any], *args: Any) -> Number | Complex:
    x, y = _vectors(emit, *args)
    if x.dtype.kind == "c":
        raise NoLowering        # it multiplies single elements in another way
    return emit.vectors.product(function, x, y, copies=True)


def _vectors(emit: Emitter, *args: Any) -> tuple[Vector, Vector]:
    """Two vectors of one dtype; leaves machine code if their lengths differ."""
    x, y = (arg if isinstance(arg, (Gathered, Computed)) else whole_of(emit, arg) for arg in args)
    if x.dtype != y.dtype or any(len(each.shape) != 1 for each in (x, y)):
        raise NoLowering
    emit.leave_if(emit.compare("ne", x.length, y.length))
    return x, y
