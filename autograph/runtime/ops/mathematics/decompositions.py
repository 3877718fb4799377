"""Decompositions of matrices: triangular factors, eigenvalues and eigenvectors, singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.types import ObjectType, Shape, TensorType, Type, inexact
from autograph.runtime.ops.gradients.elementwise import column, nonzero, row, transposed
from autograph.runtime.ops.gradients.toolkit import conj, is_real
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference.containers import tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import constant
from autograph.runtime.ops.mathematics.linalg import (
    adjoint,
    computed,
    diagonal_times,
    matrices,
    minimum,
    of_svdvals,
    real,
    same_matrices,
)


def qr(a: Any, mode: Any = "reduced") -> Type:
    a, stack, rows, columns = matrices(a)
    least, dtype = minimum(rows, columns), computed(a.dtype)
    if mode == "r":
        return TensorType(dtype, (*stack, least, columns))
    if mode == "raw":
        return tuple_of(TensorType(dtype, (*stack, columns, rows)), TensorType(dtype, (*stack, least)))
    inner = {"reduced": least, "complete": rows}[constant(mode)]
    left, right = TensorType(dtype, (*stack, rows, inner)), TensorType(dtype, (*stack, inner, columns))
    return ObjectType("QRResult", (left, right))


def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Type:
    a, stack, rows, columns = matrices(a)
    least, dtype = minimum(rows, columns), computed(a.dtype)
    values = TensorType(real(dtype), (*stack, least))
    if not constant(compute_uv):
        return values
    full = bool(constant(full_matrices))
    left = TensorType(dtype, (*stack, rows, rows if full else least))
    right = TensorType(dtype, (*stack, columns if full else least, columns))
    return ObjectType("SVDResult", (left, values, right))


def svdvals(x: Any, /) -> Type:
    a, stack, rows, columns = matrices(x)
    return TensorType(real(computed(a.dtype)), (*stack, minimum(rows, columns)))


def _maybe_complex(dtype: np.dtype[Any], shape: Shape) -> TensorType:
    """The type of eigenvalues, which are real for a real matrix if they can be."""
    found = TensorType(np.result_type(dtype, np.complex64), shape)
    return found if dtype.kind == "c" else inexact(found)       # type: ignore[return-value]


def eigvals(a: Any) -> Type:
    a, *_ = matrices(a)
    return _maybe_complex(computed(a.dtype), a.shape[:-1])


def eig(a: Any) -> Type:
    a, *_ = matrices(a)
    dtype = computed(a.dtype)
    return ObjectType("EigResult", (_maybe_complex(dtype, a.shape[:-1]), _maybe_complex(dtype, a.shape)))


def eigvalsh(a: Any, UPLO: Any = "L") -> Type:
    a, *_ = matrices(a)
    return TensorType(real(computed(a.dtype)), a.shape[:-1])


def eigh(a: Any, UPLO: Any = "L") -> Type:
    a, *_ = matrices(a)
    dtype = computed(a.dtype)
    return ObjectType("EighResult", (TensorType(real(dtype), a.shape[:-1]), TensorType(dtype, a.shape)))


# --------------------------------------------------------------------------------------------------- derivatives
#
# For `usual` gradients see `linalg.py`. Eigenvectors and singular vectors are determined up to a factor, or more where
# values are equal: the gradients are right for what does not depend on that. That of a function of one triangle of a
# symmetric or Hermitian matrix is given as one of a function of both: half to each.


def hermitian_part(x: Any) -> Any:
    """The Hermitian part of a matrix."""
    return (x + adjoint(x)) / 2


def skew_part(x: Any) -> Any:
    return x - adjoint(x)


def diagonal_part(x: Any) -> Any:
    """A matrix with zeros off its diagonal."""
    return np.triu(np.tril(x))


def inverse_differences(values: Any) -> Any:
    """In row i, `1 / (x[j] - x[i])` for values x, and zero where they are equal."""
    differences = row(values) - column(values)
    return np.where(differences == 0, 0, 1 / nonzero(differences))


def of_cholesky(g: Any, out: Any, a: Any, *, upper: Any = False) -> Any:
    usual, lower = (transposed(g), adjoint(out)) if upper else (conj(g), out)
    product = np.matmul(adjoint(lower), usual)
    half = np.tril(product) - diagonal_part(product) / 2
    found = np.linalg.solve(adjoint(lower), half + adjoint(half))
    return conj(hermitian_part(adjoint(np.linalg.solve(adjoint(lower), adjoint(found))))) / 2


def of_qr(g: Any, out: Any, a: Any, mode: Any = "reduced") -> Any:
    if mode == "raw" or (mode == "complete" and sizes(a)[-2] > sizes(a)[-1]):
        raise NotImplementedError(f"the derivative of np.linalg.qr in the mode {mode!r}")
    if mode == "r":
        q, r = np.linalg.qr(a)
        of_q, of_r = np.zeros_like(q), conj(g)
    else:
        (q, r), (of_q, of_r) = out, map(conj, g)
    count = sizes(q)[-1]
    rest = of_r[..., count:]         # of a wide matrix: the columns beside the square part are multiplied by its q
    of_q = of_q + np.matmul(a[..., count:], adjoint(rest))
    square = _of_tall_qr(of_q, of_r[..., :count], q, r[..., :count])
    return conj(np.concatenate([square, np.matmul(q, rest)], -1))


def _of_tall_qr(of_q: Any, of_r: Any, q: Any, r: Any) -> Any:
    product = np.matmul(r, adjoint(of_r)) - np.matmul(adjoint(of_q), q)
    lower = np.tril(product, -1)
    both = lower + adjoint(lower) + np.real(diagonal_part(product))
    return adjoint(np.linalg.solve(r, adjoint(of_q + np.matmul(q, both))))


def of_eigh(g: Any, out: Any, a: Any, UPLO: Any = "L") -> Any:
    (of_values, of_vectors), (values, vectors) = g, out
    inner = inverse_differences(values) * np.matmul(adjoint(vectors), conj(of_vectors))
    return conj(hermitian_part(np.matmul(vectors * row(of_values) + np.matmul(vectors, inner), adjoint(vectors))))


def of_eigvalsh(g: Any, out: Any, a: Any, UPLO: Any = "L") -> Any:
    vectors = np.linalg.eigh(a, UPLO)[1]
    return conj(np.matmul(vectors * row(g), adjoint(vectors)))


def of_eig(g: Any, out: Any, a: Any) -> Any:
    (of_values, of_vectors), (values, vectors) = (map(conj, g)), out
    product = np.matmul(adjoint(vectors), of_vectors)
    lengths = np.real(np.diagonal(product, 0, -2, -1))
    product = product - np.matmul(adjoint(vectors), vectors) * row(lengths)
    inner = conj(inverse_differences(values)) * product
    mapped_back = np.matmul(inner, adjoint(vectors)) + diagonal_times(of_values, adjoint(vectors))
    return conj(np.linalg.solve(adjoint(vectors), mapped_back))


def of_eigvals(g: Any, out: Any, a: Any) -> Any:
    vectors = np.linalg.eig(a)[1]
    return conj(np.linalg.solve(adjoint(vectors), diagonal_times(conj(g), adjoint(vectors))))


def of_svd(
    g: Any, out: Any, a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False
) -> Any:
    if not compute_uv:
        return of_svdvals(g, out, a)
    u, s, vh = out
    count = sizes(s)[-1]
    of_u, of_s, of_vh = conj(g[0])[..., :count], g[1], conj(g[2])[..., :count, :]
    u, v, of_v = u[..., :count], adjoint(vh[..., :count, :]), adjoint(of_vh)
    by = inverse_differences(s) / nonzero(row(s) + column(s))
    left, right = np.matmul(adjoint(u), of_u), np.matmul(adjoint(v), of_v)
    inverse = np.where(s == 0, 0, 1 / nonzero(s))
    inner = by * (skew_part(left) * row(s) + column(s) * skew_part(right))
    if not is_real(a):
        inner = inner + diagonal_part(skew_part(left)) * row(inverse) / 2
    usual = np.matmul(np.matmul(u, inner) + u * row(of_s) + (of_u - np.matmul(u, left)) * row(inverse), adjoint(v))
    return conj(usual + np.matmul(u * row(inverse), adjoint(of_v - np.matmul(v, right))))


functions("np.linalg.cholesky", same_matrices, vjp=of_cholesky)
functions("np.linalg.qr", qr, vjp=of_qr)
functions("np.linalg.svd", svd, vjp=of_svd)
functions("np.linalg.svdvals", svdvals, vjp=of_svdvals)
functions("np.linalg.eig", eig, vjp=of_eig)
functions("np.linalg.eigvals", eigvals, vjp=of_eigvals)
functions("np.linalg.eigh", eigh, vjp=of_eigh)
functions("np.linalg.eigvalsh", eigvalsh, vjp=of_eigvalsh)
