"""`tf.linalg`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow.array_ops import eye, transpose
from autograph.compat.tensorflow.convert import convert_to_tensor, matched
from autograph.compat.tensorflow.math_ops import einsum, matmul, sqrt, tensordot
from autograph.compat.tensorflow.reduce_ops import reduce_sum
from autograph.compat.tensorflow.tensor import Tensor, apply

__all__ = ["cholesky", "det", "diag", "diag_part", "einsum", "eye", "inv", "matmul", "matvec", "norm", "solve"]
__all__ += ["tensordot", "trace", "transpose"]


def _of_matrix(op: str, function: Callable[..., Any]) -> Callable[..., Tensor]:
    def of(input: Any, name: str | None = None) -> Tensor:
        x = convert_to_tensor(input)
        return apply(op, function, x, dtype=x.dtype)

    return of


cholesky = _of_matrix("Cholesky", np.linalg.cholesky)
det = _of_matrix("MatrixDeterminant", np.linalg.det)
inv = _of_matrix("MatrixInverse", np.linalg.inv)
trace = _of_matrix("Trace", np.trace)
diag = _of_matrix("MatrixDiag", np.diag)
diag_part = _of_matrix("MatrixDiagPart", np.diagonal)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    a, b = matched("MatrixSolve", matrix, rhs)
    return apply("MatrixSolve", lambda x, y: np.linalg.solve(x.T if adjoint else x, y), a, b, dtype=a.dtype)


def matvec(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The product of a matrix and a vector."""
    a, b = matched("MatVec", a, b)
    return apply("MatVec", lambda x, y: x @ y, a, b, dtype=a.dtype)


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: Any = None) -> Tensor:
    """The length of vectors."""
    x = convert_to_tensor(tensor)
    return sqrt(reduce_sum(x * x, axis, keepdims))
