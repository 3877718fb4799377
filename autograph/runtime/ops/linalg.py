"""Linear algebra: `np.linalg`. Products are in `products.py`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autograph.runtime.opdef import PURE, VIEW
from autograph.runtime.ops.containers import tuple_of
from autograph.runtime.ops.declaring import always, functions
from autograph.runtime.ops.rules import (
    Unknown,
    array_like,
    broadcast,
    constant,
    reduced,
    result,
    rule,
)
from autograph.runtime.types import ANY, INT, ObjectType, Shape, TensorType, Type, inexact

INT64 = np.dtype(np.int64)


# --------------------------------------------------------------------------------------------------------- dtypes


@cache
def computed(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that LAPACK's functions compute with; not known for those that it lacks."""
    if any(dtype.char in "egG" or dtype.kind not in "biufc" for dtype in dtypes):
        raise Unknown
    found: np.dtype[Any] = np.result_type(*(_inexact_dtype(dtype) for dtype in dtypes))
    return found


def _inexact_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind in "fc" else np.dtype(float)


def real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """That of the real parts."""
    return np.zeros((), dtype).real.dtype


def complex_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    found: np.dtype[Any] = np.result_type(dtype, np.complex64)
    return found


# --------------------------------------------------------------------------------------------------------- shapes


def matrices(arg: Any) -> tuple[TensorType, Shape, int | None, int | None]:
    """A stack of matrices: its type, the shape of the stack, rows and columns."""
    a = array_like(arg)
    if a.ndim < 2:
        raise Unknown
    return a, a.shape[:-2], a.shape[-2], a.shape[-1]


def minimum(rows: int | None, columns: int | None) -> int | None:
    return None if rows is None or columns is None else min(rows, columns)


# ------------------------------------------------------------------------------------------- equations, inverses


@rule
def solve(a: Any, b: Any) -> Type:
    a, stack, rows, _ = matrices(a)
    b = array_like(b)
    dtype = computed(a.dtype, b.dtype)
    if b.ndim == 1:
        return TensorType(dtype, (*stack, b.shape[0] if rows is None else rows))
    return TensorType(dtype, (*broadcast(stack, b.shape[:-2]), b.shape[-2] if rows is None else rows, b.shape[-1]))


@rule
def lstsq(a: Any, b: Any, rcond: Any = None) -> Type:
    a, b = array_like(a), array_like(b)
    rows, columns = a.shape
    dtype = computed(a.dtype, b.dtype)
    found = TensorType(dtype, (columns, *b.shape[1:]))
    return tuple_of(found, TensorType(real(dtype), (None,)), ANY, TensorType(real(dtype), (minimum(rows, columns),)))


@rule
def same_matrices(a: Any, *args: Any, **kwargs: Any) -> Type:
    a, *_ = matrices(a)
    return TensorType(computed(a.dtype), a.shape)


@rule
def pinv(a: Any, *args: Any, **kwargs: Any) -> Type:
    a, stack, rows, columns = matrices(a)
    return TensorType(computed(a.dtype), (*stack, columns, rows))


@rule
def matrix_power(a: Any, n: Any) -> Type:
    base, *_ = matrices(a)
    return TensorType(computed(base.dtype), base.shape) if constant(n) < 0 else base


# ------------------------------------------------------------------------------------------------ decompositions


@rule
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


@rule
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


@rule
def svdvals(x: Any, /) -> Type:
    a, stack, rows, columns = matrices(x)
    return TensorType(real(computed(a.dtype)), (*stack, minimum(rows, columns)))


def _maybe_complex(dtype: np.dtype[Any], shape: Shape) -> TensorType:
    """Eigenvalues and the like of a real matrix are real if they can."""
    found = TensorType(complex_of(dtype), shape)
    return found if dtype.kind == "c" else inexact(found)       # type: ignore[return-value]


@rule
def eigvals(a: Any) -> Type:
    a, *_ = matrices(a)
    return _maybe_complex(computed(a.dtype), a.shape[:-1])


@rule
def eig(a: Any) -> Type:
    a, *_ = matrices(a)
    dtype = computed(a.dtype)
    return ObjectType("EigResult", (_maybe_complex(dtype, a.shape[:-1]), _maybe_complex(dtype, a.shape)))


@rule
def eigvalsh(a: Any, UPLO: Any = "L") -> Type:
    a, *_ = matrices(a)
    return TensorType(real(computed(a.dtype)), a.shape[:-1])


@rule
def eigh(a: Any, UPLO: Any = "L") -> Type:
    a, *_ = matrices(a)
    dtype = computed(a.dtype)
    return ObjectType("EighResult", (TensorType(real(dtype), a.shape[:-1]), TensorType(dtype, a.shape)))


# -------------------------------------------------------------------------------------------------------- numbers


@rule
def det(a: Any) -> Type:
    a, stack, *_ = matrices(a)
    return result(computed(a.dtype), stack)


@rule
def slogdet(a: Any) -> Type:
    a, stack, *_ = matrices(a)
    dtype = computed(a.dtype)
    return ObjectType("SlogdetResult", (result(dtype, stack), result(real(dtype), stack)))


@rule
def matrix_rank(A: Any, *args: Any, **kwargs: Any) -> Type:
    a = array_like(A)
    return INT if a.ndim < 2 else result(INT64, a.shape[:-2])


@rule
def cond(x: Any, p: Any = None) -> Type:
    a, stack, *_ = matrices(x)
    dtype = computed(a.dtype)
    if dtype.kind == "c" and p is not None:
        return inexact(result(dtype, stack))        # some versions give the number's real part alone
    return result(real(dtype), stack)


def _norm(x: Any, axis: Any, keepdims: Any) -> Type:
    a = array_like(x)
    dtype = real(_inexact_dtype(a.dtype))
    return result(dtype, reduced(a.shape, axis, keepdims))


@rule
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Type:
    return _norm(x, axis, keepdims)


@rule
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Type:
    return _norm(x, axis, keepdims)


@rule
def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Type:
    return _norm(x, (-2, -1), keepdims)


_RULES: dict[str, Callable[..., Type | list[Type]]] = {
    "solve": solve,
    "lstsq": lstsq,
    "inv": same_matrices,
    "cholesky": same_matrices,
    "pinv": pinv,
    "qr": qr,
    "svd": svd,
    "svdvals": svdvals,
    "eig": eig,
    "eigvals": eigvals,
    "eigh": eigh,
    "eigvalsh": eigvalsh,
    "det": det,
    "slogdet": slogdet,
    "matrix_rank": matrix_rank,
    "cond": cond,
    "norm": norm,
    "vector_norm": vector_norm,
    "matrix_norm": matrix_norm,
}
for _name, _rule in _RULES.items():
    functions(_name, _rule, prefix="np.linalg.", effect=PURE)
functions("matrix_power", matrix_power, prefix="np.linalg.", effect=VIEW)     # the first power is the matrix itself
functions("tensorinv tensorsolve", always(ANY), prefix="np.linalg.", effect=PURE)
