"""`tf.linalg`, and clipping of tensors by norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.convert import apply_op, convert_to_tensor, matched
from autograph.compat.tensorflow.core.tensor import Tensor, apply, name_ops
from autograph.compat.tensorflow.ops import math_ops, reduce_ops
from autograph.compat.tensorflow.ops.array_ops import expand_dims, eye, fill, range, shape, transpose, zeros_like
from autograph.compat.tensorflow.ops.indexing import where
from autograph.compat.tensorflow.ops.math_ops import einsum, matmul, tensordot

__all__ = ["cholesky", "det", "diag", "diag_part", "einsum", "eye", "inv", "matmul", "matvec", "norm", "solve"]
__all__ += ["global_norm"]
__all__ += ["band_part", "eigh", "lstsq", "matrix_transpose", "qr", "svd", "tensordot", "trace", "transpose"]


def _of_matrix(op: str, function: Callable[..., Any]) -> Callable[..., Tensor]:
    def of(input: Any, name: str | None = None) -> Tensor:
        return apply_op(op, function, input)

    of.__doc__ = f"The op {op} of a matrix, or of each matrix of a stack."
    return of


cholesky = _of_matrix("Cholesky", np.linalg.cholesky)
det = _of_matrix("MatrixDeterminant", np.linalg.det)
inv = _of_matrix("MatrixInverse", np.linalg.inv)
trace = _of_matrix("Trace", lambda x: np.trace(x, axis1=-2, axis2=-1))
diag_part = _of_matrix("MatrixDiagPart", lambda x: np.diagonal(x, axis1=-2, axis2=-1))
matrix_transpose = _of_matrix("Transpose", lambda x: np.swapaxes(x, -1, -2))


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Make matrices with these diagonals and zeros elsewhere."""
    x = convert_to_tensor(diagonal)
    return math_ops.multiply(expand_dims(x, -1), eye(shape(x)[-1], dtype=x.dtype))


def band_part(input: Any, num_lower: int, num_upper: int, name: str | None = None) -> Tensor:
    """Set elements outside of a band of diagonals to zero; -1 keeps all diagonals on that side."""
    x = convert_to_tensor(input)
    dims = shape(x)
    offsets = expand_dims(range(dims[-2]), 1) - range(dims[-1])
    inside = fill(shape(offsets), True)
    if num_lower >= 0:
        inside = math_ops.logical_and(inside, math_ops.less_equal(offsets, num_lower))
    if num_upper >= 0:
        inside = math_ops.logical_and(inside, math_ops.less_equal(math_ops.negative(offsets), num_upper))
    return where(inside, x, zeros_like(x))


def _parts(op: str, function: Callable[..., Any], order: Any) -> Callable[..., tuple[Tensor, ...]]:
    def of(input: Any, name: str | None = None, **options: Any) -> tuple[Tensor, ...]:
        x = convert_to_tensor(input)
        return tuple(apply(op, lambda v, n=n: function(v, **options)[n], x) for n in order)

    of.__doc__ = f"The op {op}: the factors of a matrix."
    return of


qr = _parts("Qr", np.linalg.qr, (0, 1))
eigh = _parts("SelfAdjointEigV2", np.linalg.eigh, (0, 1))


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """The singular value decomposition: s, u and v such that the matrix is u · diag(s) · vᵀ."""
    s, *uv = _parts("Svd", np.linalg.svd, (1, 0, 2) if compute_uv else (1,))(tensor, full_matrices=full_matrices)
    return (s, uv[0], matrix_transpose(uv[1])) if compute_uv else s


def lstsq(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None) -> Tensor:
    """The least-squares solution of linear equations, by the normal equations."""
    a, b = matched("MatrixSolveLs", matrix, rhs)
    adjoint = matrix_transpose(a)
    square = matmul(adjoint, a) + eye(shape(a)[-1], dtype=a.dtype) * l2_regularizer
    return solve(square, matmul(adjoint, b))


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    a, b = matched("MatrixSolve", matrix, rhs)
    return apply("MatrixSolve", np.linalg.solve, matrix_transpose(a) if adjoint else a, b)


def matvec(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The product of a matrix and a vector."""
    return apply_op("MatVec", lambda x, y: (x @ np.expand_dims(y, -1))[..., 0], a, b)


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The norm of vectors: `euclidean`, 1, 2, or infinity."""
    x = convert_to_tensor(tensor)
    if ord == 1:
        return reduce_ops.reduce_sum(math_ops.abs(x), axis, keepdims)
    if ord == float("inf"):
        return reduce_ops.reduce_max(math_ops.abs(x), axis, keepdims)
    if ord not in ("euclidean", 2) or (ord == 2 and isinstance(axis, (tuple, list))):
        raise ValueError(f"'ord' must be 'euclidean', 1, 2 or inf for vectors, got {ord!r}")
    return math_ops.sqrt(reduce_ops.reduce_sum(x * x, axis, keepdims))


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scale a tensor down if its norm is greater than `clip_norm`."""
    x = convert_to_tensor(t)
    return x * clip_norm / math_ops.maximum(norm(x, axis=axes, keepdims=axes is not None), clip_norm)


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Any:
    """The norm of all elements of all tensors."""
    return math_ops.sqrt(math_ops.add_n([reduce_ops.reduce_sum(math_ops.square(t)) for t in t_list if t is not None]))


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """Scale tensors down by one factor if their common norm is greater than `clip_norm`; also returns that norm."""
    total_norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    scale = math_ops.divide(clip_norm, math_ops.maximum(total_norm, clip_norm))
    return [None if t is None else convert_to_tensor(t) * scale for t in t_list], total_norm


name_ops(globals())
