"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.traits import MAKES_ARRAYS, READS_VIEWS
from autograph.runtime.graph.types import Type, inexact
from autograph.runtime.ops.gradients.elementwise import column, nonzero
from autograph.runtime.ops.gradients.toolkit import as_array, conj, is_real, ndim
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import array_like, inexact_dtype, reduced, result
from autograph.runtime.ops.mathematics.linalg import computed, matrices, of_inv, of_svdvals, real
from autograph.runtime.ops.native import products


def cond(x: Any, p: Any = None) -> Type:
    a, stack, *_ = matrices(x)
    dtype = computed(a.dtype)
    if dtype.kind == "c" and p is not None:
        return inexact(result(dtype, stack))        # some versions give the number's real part alone
    return result(real(dtype), stack)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Type:
    """`np.linalg.norm` and `vector_norm`."""
    a = array_like(x)
    return result(real(inexact_dtype(a.dtype)), reduced(a.shape, axis, keepdims))


def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Type:
    return norm(x, ord, (-2, -1), keepdims)


# --------------------------------------------------------------------------------------------------- derivatives


def phase(x: Any) -> Any:
    """The derivative of the absolute value."""
    return np.sign(x) if is_real(x) else conj(x) / nonzero(np.abs(x))


def shared(g: Any, chosen: Any, axes: Any) -> Any:
    """The gradient of an extreme, which the elements equal to it share."""
    return np.where(chosen, g / np.sum(chosen, axes, keepdims=True), 0)


def of_norm(g: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    g, out, x, axes = _with_axes(g, out, x, axis, keepdims)
    if len(axes) == 2 and ord not in (None, "fro", "f"):
        return _of_matrices(g, out, x, ord, axes)
    return _of_vectors(g, out, x, 2 if ord in (None, "fro", "f") else ord, axes)


def _with_axes(g: Any, out: Any, x: Any, axis: Any, keepdims: Any) -> tuple[Any, Any, Any, tuple[int, ...]]:
    """The gradient and the norms with the axes of the array that were reduced; the array; and these axes."""
    x = as_array(x)
    axes = tuple(range(ndim(x))) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if not keepdims:
        places = tuple(axis % ndim(x) for axis in axes)
        g, out = np.expand_dims(g, places), np.expand_dims(out, places)
    return g, out, x, axes


def _of_vectors(g: Any, out: Any, x: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    if ord == 2:
        return g * (conj(x) / nonzero(out))
    if ord == 0:
        return np.zeros_like(x)
    if ord in (np.inf, -np.inf):
        return shared(g, np.abs(x) == out, axes) * phase(x)
    if ord == 1:
        return g * phase(x)
    return g * phase(x) * (nonzero(np.abs(x)) / nonzero(out)) ** (ord - 1)


def _of_matrices(g: Any, out: Any, x: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    rows, columns = axes
    if ord in (1, -1, np.inf, -np.inf):
        along = rows if ord in (1, -1) else columns
        sums = np.sum(np.abs(x), along, keepdims=True)
        return shared(g, sums == out, axes) * phase(x)
    matrices, g = np.moveaxis(x, axes, (-2, -1)), np.moveaxis(g, axes, (-2, -1))
    values = np.linalg.svd(matrices, compute_uv=False)
    if ord == "nuc":
        of_values = g[..., 0] * np.ones_like(values)
    else:
        extreme = np.max(values, -1, keepdims=True) if ord == 2 else np.min(values, -1, keepdims=True)
        of_values = shared(g[..., 0], values == extreme, -1)
    return np.moveaxis(of_svdvals(of_values, values, matrices), (-2, -1), axes)


def of_vector_norm(g: Any, out: Any, x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    g, out, x, axes = _with_axes(g, out, x, axis, keepdims)
    return _of_vectors(g, out, x, ord, axes)


def of_cond(g: Any, out: Any, x: Any, p: Any = None) -> Any:
    """The condition number is the norm times that of the inverse; by default, the quotient of the singular values."""
    x = as_array(x)
    if p in (None, 2, -2):
        values = np.linalg.svd(x, compute_uv=False)
        above, below = (values[..., -1:], values[..., :1]) if p == -2 else (values[..., :1], values[..., -1:])
        g = column(g)
        chosen_above, chosen_below = values == above, values == below
        of_values = shared(g / below, chosen_above, -1) - shared(g * above / below / below, chosen_below, -1)
        return of_svdvals(of_values, values, x)
    inverse = np.linalg.inv(x)
    sizes = [np.linalg.norm(each, p, (-2, -1)) for each in (x, inverse)]
    of_inverse = of_norm(g * sizes[0], sizes[1], inverse, p, (-2, -1))
    return of_norm(g * sizes[1], sizes[0], x, p, (-2, -1)) + of_inv(of_inverse, inverse, x)


functions("np.linalg.norm", norm, vjp=of_norm, lower=products.norm, traits=[READS_VIEWS, MAKES_ARRAYS])
functions("np.linalg.vector_norm", norm, vjp=of_vector_norm)
functions(
    "np.linalg.matrix_norm", matrix_norm,
    vjp=lambda g, out, x, *, keepdims=False, ord="fro": of_norm(g, out, x, ord, (-2, -1), keepdims),
)  # fmt: skip
functions("np.linalg.cond", cond, vjp=of_cond)
