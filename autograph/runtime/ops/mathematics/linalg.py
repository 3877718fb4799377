"""Linear algebra: equations, inverses and determinants of matrices. Products are in `products.py`."""

from __future__ import annotations

import math
import operator
from functools import cache
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW
from autograph.runtime.graph.traits import SHARES
from autograph.runtime.graph.types import INT, ObjectType, Shape, TensorType, Type, scalar
from autograph.runtime.ops.gradients import adjoint_ops
from autograph.runtime.ops.gradients.elementwise import column, row, transposed
from autograph.runtime.ops.gradients.toolkit import conj, is_real, ndim, on_proxies
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.containers import tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import Unknown, array_like, axis_arg, broadcast, constant, result

INT64 = np.dtype(np.int64)


# --------------------------------------------------------------------------------------------------------- dtypes


@cache
def computed(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that LAPACK computes with; unknown for dtypes that it lacks."""
    if any(dtype.char in "egG" or dtype.kind not in "biufc" for dtype in dtypes):
        raise Unknown
    found: np.dtype[Any] = np.result_type(*(dtype if dtype.kind in "fc" else np.float64 for dtype in dtypes))
    return found


def real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the real parts."""
    return np.zeros((), dtype).real.dtype


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


def solve(a: Any, b: Any) -> Type:
    a, stack, rows, _ = matrices(a)
    b = array_like(b)
    dtype = computed(a.dtype, b.dtype)
    if b.ndim == 1:
        return TensorType(dtype, (*stack, b.shape[0] if rows is None else rows))
    return TensorType(dtype, (*broadcast(stack, b.shape[:-2]), b.shape[-2] if rows is None else rows, b.shape[-1]))


def lstsq(a: Any, b: Any, rcond: Any = None) -> Type:
    a, b = array_like(a), array_like(b)
    rows, columns = a.shape
    dtype = computed(a.dtype, b.dtype)
    found = TensorType(dtype, (columns, *b.shape[1:]))
    values = TensorType(real(dtype), (minimum(rows, columns),))
    return tuple_of(found, TensorType(real(dtype), (None,)), scalar(np.intc), values)


def same_matrices(a: Any, *args: Any, **kwargs: Any) -> Type:
    a, *_ = matrices(a)
    return TensorType(computed(a.dtype), a.shape)


def pinv(a: Any, *args: Any, **kwargs: Any) -> Type:
    a, stack, rows, columns = matrices(a)
    return TensorType(computed(a.dtype), (*stack, columns, rows))


def tensorinv(a: Any, ind: Any = 2) -> Type:
    a, at = array_like(a), operator.index(ind)
    return TensorType(computed(a.dtype), a.shape[at:] + a.shape[:at])


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Type:
    a, b = array_like(a), array_like(b)
    order = _order_of(axes, a.ndim)
    return TensorType(computed(a.dtype, b.dtype), tuple(a.shape[axis] for axis in order[b.ndim :]))


def _order_of(axes: Any, ndim: int) -> list[int]:
    """The axes of the first argument of `np.linalg.tensorsolve` in the order in which they make it a matrix."""
    last = [] if axes is None else [axis_arg(axis, ndim) for axis in axes]
    return [axis for axis in range(ndim) if axis not in last] + last


def matrix_power(a: Any, n: Any) -> Type:
    base, *_ = matrices(a)
    return TensorType(computed(base.dtype), base.shape) if constant(n) < 0 else base


# -------------------------------------------------------------------------------------------------------- numbers


def det(a: Any) -> Type:
    a, stack, *_ = matrices(a)
    return result(computed(a.dtype), stack)


def slogdet(a: Any) -> Type:
    a, stack, *_ = matrices(a)
    dtype = computed(a.dtype)
    return ObjectType("SlogdetResult", (result(dtype, stack), result(real(dtype), stack)))


def matrix_rank(A: Any, *args: Any, **kwargs: Any) -> Type:
    a = array_like(A)
    return INT if a.ndim < 2 else result(INT64, a.shape[:-2])


# --------------------------------------------------------------------------------------------------- derivatives
#
# Formulas with adjoint matrices are those of the usual gradient, which is the conjugate of the one that rules give.


def adjoint(x: Any) -> Any:
    return conj(transposed(x))


def diagonal_times(values: Any, x: Any) -> Any:
    """A diagonal matrix times a matrix."""
    return column(values) * x


def of_inv(g: Any, out: Any, a: Any) -> Any:
    return -np.matmul(np.matmul(transposed(out), g), transposed(out))


def of_solve(g: Any, out: Any, a: Any, b: Any) -> Any:
    of_b = of_solve_in_b(g, out, a, b)
    return -column(of_b) * row(out) if ndim(b) == 1 else -np.matmul(of_b, transposed(out))


def of_solve_in_b(g: Any, out: Any, a: Any, b: Any) -> Any:
    return np.linalg.solve(transposed(a), column(g))[..., 0] if ndim(b) == 1 else np.linalg.solve(transposed(a), g)


def of_pinv(g: Any, out: Any, a: Any, *_: Any, **__: Any) -> Any:
    usual, inverse = conj(g), adjoint(out)
    left = np.matmul(np.matmul(adjoint(usual), out), inverse)
    right = np.matmul(np.matmul(inverse, out), adjoint(usual))
    found = -np.matmul(np.matmul(inverse, usual), inverse)
    found = found + left - np.matmul(a, np.matmul(out, left))
    return conj(found + right - np.matmul(np.matmul(right, out), a))


def of_slogdet(g: Any, out: Any, a: Any) -> Any:
    of_sign, found = g
    if not is_real(a):
        found = found + 1j * np.imag(of_sign * out[0])
    return column(column(found)) * transposed(np.linalg.inv(a))


def of_matrix_power(g: Any, out: Any, a: Any, n: Any) -> Any:
    if n < 0:
        inverse = np.linalg.inv(a)
        return of_inv(of_matrix_power(g, out, inverse, -n), inverse, a)
    if n == 0:
        return np.zeros_like(a)
    found, base = g, transposed(a)
    for _ in range(1, n):       # the sum of `base**i @ g @ base**(n - 1 - i)`
        g = np.matmul(base, g)
        found = g + np.matmul(found, base)
    return found


def of_lstsq(g: Any, out: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    inverse, solution = np.linalg.pinv(a), out[0]
    found = of_pinv(np.matmul(_as_columns(g[0]), transposed(_as_columns(b))), inverse, a)
    found = found - np.matmul(_as_columns(_of_residuals(g, out, a, b)), transposed(_as_columns(solution)))
    return found + of_svdvals(g[3], out[3], a)


def of_lstsq_in_b(g: Any, out: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    return np.matmul(transposed(np.linalg.pinv(a)), g[0]) + _of_residuals(g, out, a, b)


def _of_residuals(g: Any, out: Any, a: Any, b: Any) -> Any:
    """The gradient of `b` through the sums of squared residuals, which may be empty."""
    none = np.zeros_like(np.sum(np.real(b), 0, keepdims=ndim(b) == 1))
    residuals = np.concatenate([g[1], none])[: sizes(none)[0]]
    return 2 * residuals * conj(b - np.matmul(a, out[0]))


def of_svdvals(g: Any, out: Any, x: Any) -> Any:
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return conj(np.matmul(u * row(g), vh))


def _as_columns(x: Any) -> Any:
    return column(x) if ndim(x) == 1 else x


def of_tensorinv(g: Any, out: Any, a: Any, ind: Any = 2) -> Any:
    side = math.prod(sizes(a)[:ind])
    square = np.reshape(out, (side, side))
    return np.reshape(of_inv(np.reshape(g, (side, side)), square, None), sizes(a))


def of_tensorsolve(g: Any, out: Any, a: Any, b: Any, axes: Any = None) -> Any:
    order, square = _as_matrix(a, b, axes)
    found = of_solve(np.ravel(g), np.ravel(out), square, np.ravel(b))
    back = sorted(range(len(order)), key=order.__getitem__)
    return np.transpose(np.reshape(found, [sizes(a)[axis] for axis in order]), back)


def of_tensorsolve_in_b(g: Any, out: Any, a: Any, b: Any, axes: Any = None) -> Any:
    _, square = _as_matrix(a, b, axes)
    return np.reshape(of_solve_in_b(np.ravel(g), np.ravel(out), square, np.ravel(b)), sizes(b))


def _as_matrix(a: Any, b: Any, axes: Any) -> tuple[list[int], Any]:
    """The order of axes that makes it an equation of matrices, and the matrix."""
    order = _order_of(axes, ndim(a))
    return order, np.reshape(np.transpose(a, order), (math.prod(sizes(b)), -1))


functions("np.linalg.inv", same_matrices, vjp=of_inv)
functions("np.linalg.solve", solve, vjp=(of_solve, of_solve_in_b))
functions("np.linalg.lstsq", lstsq, vjp=(of_lstsq, of_lstsq_in_b))
functions("np.linalg.pinv", pinv, vjp=of_pinv)
functions("np.linalg.det", det, vjp=lambda g, out, a: column(column(g)) * on_proxies(adjoint_ops.cofactors)(a))
functions("np.linalg.slogdet", slogdet, vjp=of_slogdet)
functions("np.linalg.matrix_rank", matrix_rank)
functions(      # the first power is the matrix itself
    "np.linalg.matrix_power", matrix_power, effect=VIEW, vjp=of_matrix_power, traits=[(SHARES, sharing.power)]
)
functions("np.linalg.tensorinv", tensorinv, vjp=of_tensorinv)
functions("np.linalg.tensorsolve", tensorsolve, vjp=(of_tensorsolve, of_tensorsolve_in_b))
