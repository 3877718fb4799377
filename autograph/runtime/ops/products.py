"""Products of vectors and matrices, and sums of products."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autograph.runtime.opdef import PURE, VIEW
from autograph.runtime.ops.declaring import functions, methods
from autograph.runtime.ops.joining import arrays_of
from autograph.runtime.ops.probing import dtype_of, probe
from autograph.runtime.ops.rules import (
    Unknown,
    array_like,
    axes_arg,
    axis_arg,
    broadcast,
    broadcast_dims,
    constant,
    dtype_arg,
    is_constant,
    result,
    rule,
    size,
    type_of_arg,
)
from autograph.runtime.ops.ufuncs import ufunc_rule
from autograph.runtime.types import Shape, TensorType, Type


def common(*arrays: TensorType) -> np.dtype[Any]:
    """The dtype of products of arrays; that of two booleans is a boolean."""
    found: np.dtype[Any] = np.result_type(*(array.dtype for array in arrays))
    return found


def dot_shape(a: Shape, b: Shape) -> Shape:
    if not a or not b:
        return a + b
    return (*a[:-1], *b[:-2], *b[-1:]) if len(b) > 1 else a[:-1]


@rule
def dot(a: Any, b: Any, out: Any = None) -> Type:
    if out is not None:
        return type_of_arg(out)
    a, b = array_like(a), array_like(b)
    return result(common(a, b), dot_shape(a.shape, b.shape))


@rule
def inner(a: Any, b: Any, /) -> Type:
    a, b = array_like(a), array_like(b)
    return result(common(a, b), a.shape[:-1] + b.shape[:-1] if a.shape and b.shape else a.shape + b.shape)


@rule
def vdot(a: Any, b: Any, /) -> Type:
    return result(common(array_like(a), array_like(b)), ())


@rule
def outer(a: Any, b: Any, out: Any = None) -> Type:
    if out is not None:
        return type_of_arg(out)
    a, b = array_like(a), array_like(b)
    return TensorType(common(a, b), (size(a.shape), size(b.shape)))


@rule
def multi_dot(arrays: Any, *, out: Any = None) -> Type:
    if out is not None:
        return type_of_arg(out)
    parts = arrays_of(arrays)
    shape = parts[0].shape
    for part in parts[1:]:
        shape = dot_shape(shape, part.shape)
    return result(common(*parts), shape)


@rule
def tensordot(a: Any, b: Any, axes: Any = 2) -> Type:
    a, b = array_like(a), array_like(b)
    if isinstance(constant(axes), (tuple, list)):
        first, second = axes
    else:
        count = operator.index(axes)
        first, second = tuple(range(a.ndim - count, a.ndim)), tuple(range(count))
    gone_a, gone_b = _axes(first, a.ndim), _axes(second, b.ndim)
    dims = [dim for i, dim in enumerate(a.shape) if i not in gone_a]
    dims += [dim for i, dim in enumerate(b.shape) if i not in gone_b]
    return TensorType(common(a, b), tuple(dims))


def _axes(axes: Any, ndim: int) -> tuple[int, ...]:
    return axes_arg(tuple(axes) if isinstance(axes, list) else axes, ndim)


@rule
def kron(a: Any, b: Any) -> Type:
    a, b = array_like(a), array_like(b)
    ndim = max(a.ndim, b.ndim)
    if not ndim:
        raise Unknown
    first, second = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - b.ndim) + b.shape
    return TensorType(common(a, b), tuple(size(pair) for pair in zip(first, second)))


@rule
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Type:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = array_like(a), array_like(b)
    first, second = axis_arg(axisa, a.ndim), axis_arg(axisb, b.ndim)
    shape = broadcast(_without(a.shape, first), _without(b.shape, second))
    lengths = {a.shape[first], b.shape[second]}
    if 3 in lengths:
        at = axis_arg(axisc, len(shape) + 1)
        return TensorType(common(a, b), (*shape[:at], 3, *shape[at:]))
    if lengths == {2}:
        return result(common(a, b), shape)
    raise Unknown


@rule
def cross_of_three(x1: Any, x2: Any, /, *, axis: Any = -1) -> Type:
    return cross(x1, x2, axis=axis)         # type: ignore[return-value]


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]


@rule
def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Type:
    """`np.linalg.trace`, which goes along the last two axes."""
    a = array_like(x)
    one = probe(np.trace, TensorType(a.dtype, (None, None)), dtype=constant(dtype))
    return result(dtype_of(one), a.shape[:-2])


# --------------------------------------------------------------------------------------------------------- einsum


@rule
def einsum(
    subscripts: Any,
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
) -> Type:
    if out is not None:
        return type_of_arg(out)
    if not isinstance(subscripts, str):
        raise Unknown
    arrays = list(map(array_like, operands))
    shape = einsum_shape(subscripts, [array.shape for array in arrays])
    if not shape and optimize is not False:
        raise Unknown
    return result(common(*arrays) if dtype is None else dtype_arg(dtype), shape)


def einsum_shape(subscripts: str, shapes: list[Shape]) -> Shape:
    """The shape that `ij,jk->ik` gives."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        raise Unknown
    dims: dict[str, int | None] = {}
    batches: list[Shape] = []
    for term, shape in zip(terms, shapes):
        _bind(term, shape, dims, batches)
    batch = broadcast(*batches)
    if not arrow:
        letters = inputs.replace(",", "").replace(".", "")
        output = "..." + "".join(letter for letter in sorted(set(letters)) if letters.count(letter) == 1)
    before, dots, after = output.partition("...")
    rest = batch if dots else ()
    return (*(dims[letter] for letter in before), *rest, *(dims[letter] for letter in after))


def _bind(term: str, shape: Shape, dims: dict[str, int | None], batches: list[Shape]) -> None:
    """Learn what dimensions one operand says that letters, and the ellipsis, stand for."""
    before, dots, after = term.partition("...")
    extra = len(shape) - len(before) - len(after)
    if extra < 0 or (extra and not dots):
        raise Unknown
    if dots:
        batches.append(shape[len(before) : len(before) + extra])
    for letter, dim in zip(before + after, (*shape[: len(before)], *shape[len(before) + extra :])):
        dims[letter] = broadcast_dims(dims[letter], dim) if letter in dims else dim


# ------------------------------------------------------------------------------------------ convolution, moments


@rule
def convolve(a: Any, v: Any, mode: Any = "full") -> Type:
    return _convolved(a, v, mode)


@rule
def correlate(a: Any, v: Any, mode: Any = "valid") -> Type:
    return _convolved(a, v, mode)


def _convolved(a: Any, v: Any, mode: Any) -> Type:
    a, v = array_like(a), array_like(v)
    first, second = size(a.shape), size(v.shape)
    length = None
    if first is not None and second is not None and is_constant(mode):
        longer, shorter = max(first, second), min(first, second)
        length = {"full": longer + shorter - 1, "same": longer, "valid": longer - shorter + 1}[mode]
    return TensorType(common(a, v), (length,))


def _covariance_dtype(m: TensorType, y: TensorType | None) -> np.dtype[Any]:
    found: np.dtype[Any] = np.result_type(m.dtype, np.float64, *([] if y is None else [y.dtype]))
    return found


@rule
def cov(m: Any, y: Any = None, rowvar: Any = True, *args: Any, dtype: Any = None, **kwargs: Any) -> Type:
    return _covariance(m, y, rowvar, dtype, zero_dim="array")


@rule
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *args: Any, dtype: Any = None, **kwargs: Any) -> Type:
    return _covariance(x, y, rowvar, dtype, zero_dim="scalar")


def _covariance(m: Any, y: Any, rowvar: Any, dtype: Any, zero_dim: str) -> Type:
    m = array_like(m)
    y = None if y is None else array_like(y)
    found = _covariance_dtype(m, y) if dtype is None else dtype_arg(dtype)
    count: int | None = 0
    for each in (m, y):
        if each is not None:
            by_rows = constant(rowvar) or each.ndim < 2
            if not by_rows and each.shape[0] in (1, None):
                raise Unknown           # some versions take a single row for a variable all the same
            variables = 1 if each.ndim < 2 else each.shape[0 if by_rows else 1]
            count = None if count is None or variables is None else count + variables
    if count is None:
        raise Unknown               # one variable gives a number
    if count == 1:
        return TensorType(found, (), zero_dim)
    return TensorType(found, (count, count))


functions("dot", dot, effect=PURE)
methods("dot", dot, effect=PURE)
functions("inner", inner, effect=PURE)
functions("vdot", vdot, effect=PURE)
functions("outer linalg.outer", outer, effect=PURE)
functions("linalg.multi_dot", multi_dot, effect=PURE)
functions("tensordot linalg.tensordot", tensordot, effect=PURE)
functions("linalg.matmul", ufunc_rule(np.matmul), effect=PURE)
functions("linalg.vecdot", ufunc_rule(np.vecdot), effect=PURE)
functions("linalg.trace", trace, effect=PURE)
functions("kron", kron, effect=PURE)
functions("cross", cross, effect=PURE)
functions("linalg.cross", cross_of_three, effect=PURE)
functions("einsum", einsum, effect=VIEW)
functions("convolve", convolve, effect=PURE)
functions("correlate", correlate, effect=PURE)
functions("cov", cov, effect=PURE)
functions("corrcoef", corrcoef, effect=PURE)
