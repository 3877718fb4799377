"""Products of vectors and matrices; convolution."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import Infer, Vjp
from autograph.runtime.graph.traits import ARRAY_PRODUCT, OUTER, READS_VIEWS
from autograph.runtime.graph.types import Shape, TensorType, Type
from autograph.runtime.ops.arrays.joining import arrays_of
from autograph.runtime.ops.gradients import adjoint_ops
from autograph.runtime.ops.gradients.data_movement import moves
from autograph.runtime.ops.gradients.elementwise import OF_MATMUL, column, of_cores
from autograph.runtime.ops.gradients.toolkit import as_array, conj, ndim, on_proxies
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.numpy_probe import dtype_of, probe
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    array_like,
    axes_arg,
    axis_arg,
    broadcast,
    constant,
    is_constant,
    result,
    size,
)
from autograph.runtime.ops.mathematics.ufuncs import ufunc_rule
from autograph.runtime.ops.native import products


def common(*arrays: TensorType) -> np.dtype[Any]:
    """The dtype of a product of arrays; that of booleans is a boolean."""
    found: np.dtype[Any] = np.result_type(*(array.dtype for array in arrays))
    return found


def dot_shape(a: Shape, b: Shape) -> Shape:
    if not a or not b:
        return a + b
    return (*a[:-1], *b[:-2], *b[-1:]) if len(b) > 1 else a[:-1]


def dot(a: Any, b: Any, out: Any = None) -> Type:
    a, b = array_like(a), array_like(b)
    return result(common(a, b), dot_shape(a.shape, b.shape))


def inner(a: Any, b: Any, /) -> Type:
    a, b = array_like(a), array_like(b)
    return result(common(a, b), a.shape[:-1] + b.shape[:-1] if a.shape and b.shape else a.shape + b.shape)


def vdot(a: Any, b: Any, /) -> Type:
    return result(common(array_like(a), array_like(b)), ())


def outer(a: Any, b: Any, out: Any = None) -> Type:
    a, b = array_like(a), array_like(b)
    return TensorType(common(a, b), (size(a.shape), size(b.shape)))


def multi_dot(arrays: Any, *, out: Any = None) -> Type:
    parts = arrays_of(arrays)
    shape = parts[0].shape
    for part in parts[1:]:
        shape = dot_shape(shape, part.shape)
    return result(common(*parts), shape)


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


def kron(a: Any, b: Any) -> Type:
    a, b = array_like(a), array_like(b)
    ndim = max(a.ndim, b.ndim)
    if not ndim:
        raise Unknown
    first, second = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - b.ndim) + b.shape
    return TensorType(common(a, b), tuple(size(pair) for pair in zip(first, second)))


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


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]


def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Type:
    """The rule of `np.linalg.trace`, which works on the last two axes."""
    a = array_like(x)
    one = probe(np.trace, TensorType(a.dtype, (None, None)), dtype=constant(dtype))
    return result(dtype_of(one), a.shape[:-2])


# ------------------------------------------------------------------------------------------ convolution


def convolved(default: str) -> Infer:
    """The rule of `np.convolve` or `np.correlate`, which differ in the default mode."""

    def infer(a: Any, v: Any, mode: Any = default) -> Type:
        a, v = array_like(a), array_like(v)
        first, second = size(a.shape), size(v.shape)
        length = None
        if first is not None and second is not None and is_constant(mode):
            longer, shorter = max(first, second), min(first, second)
            length = {"full": longer + shorter - 1, "same": longer, "valid": longer - shorter + 1}[mode]
        return TensorType(common(a, v), (length,))

    return infer


# --------------------------------------------------------------------------------------------------- derivatives


def of_tensordot(g: Any, out: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    mine, theirs = _contracted(a, b, axes)
    return _transposed_back(np.tensordot(g, b, (_last(g, ndim(b) - len(theirs)), _others(b, theirs))), a, mine, theirs)


def of_second_of_tensordot(g: Any, out: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    mine, theirs = _contracted(a, b, axes)
    rest = len(_others(a, mine))
    found = np.tensordot(g, a, (list(range(rest)), _others(a, mine)))
    return _transposed_back(found, b, theirs, mine)


def _contracted(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of both arrays that are summed over."""
    if not isinstance(axes, (tuple, list)):
        return list(range(ndim(a) - axes, ndim(a))), list(range(axes))
    first, second = ([each] if isinstance(each, int) else each for each in axes)
    return [axis % ndim(a) for axis in first], [axis % ndim(b) for axis in second]


def _others(a: Any, axes: list[int]) -> list[int]:
    return [axis for axis in range(ndim(a)) if axis not in axes]


def _last(a: Any, count: int) -> list[int]:
    return list(range(ndim(a) - count, ndim(a)))


def _transposed_back(found: Any, a: Any, axes: list[int], partners: list[int]) -> Any:
    """Transpose a gradient to the axes of `a`, from first the other axes and then the contracted ones."""
    order = _others(a, axes) + [axis for _, axis in sorted(zip(partners, axes))]
    return np.transpose(found, sorted(range(len(order)), key=order.__getitem__))


def _as_tensordot(rules: tuple[Vjp, Vjp], axes: Callable[[Any, Any], Any]) -> tuple[Vjp, Vjp]:
    """The derivatives of a product that contracts some axes, or multiplies by a number."""

    def of(which: int) -> Vjp:
        def vjp(g: Any, out: Any, a: Any, b: Any, *_: Any, **__: Any) -> Any:
            a, b = as_array(a), as_array(b)
            if ndim(a) == 0 or ndim(b) == 0:
                return g * (a if which else b)
            return rules[which](g, out, a, b, axes(a, b))

        return vjp

    return of(0), of(1)


TENSORDOT = (of_tensordot, of_second_of_tensordot)
OF_DOT = _as_tensordot(TENSORDOT, lambda a, b: ([ndim(a) - 1], [max(ndim(b) - 2, 0)]))
OF_INNER = _as_tensordot(TENSORDOT, lambda a, b: ([ndim(a) - 1], [ndim(b) - 1]))


OF_VDOT: tuple[Vjp, Vjp] = (
    lambda g, out, a, b: conj(g * np.reshape(b, sizes(a))),
    lambda g, out, a, b: g * np.reshape(conj(a), sizes(b)),
)
OF_OUTER: tuple[Vjp, Vjp] = (
    lambda g, out, a, b, *_: np.reshape(np.matmul(g, np.ravel(as_array(b))), sizes(a)),
    lambda g, out, a, b, *_: np.reshape(np.matmul(np.ravel(as_array(a)), g), sizes(b)),
)


def of_multi_dot(g: Any, out: Any, arrays: Any, **_: Any) -> Any:
    """For each matrix: the transposed product before it, the gradient, and the transposed product after it."""
    first, *middle, last = arrays
    whole = [np.reshape(first, (1, -1)) if ndim(first) == 1 else first, *middle]
    whole.append(column(last) if ndim(last) == 1 else last)
    g = np.reshape(g, (sizes(whole[0])[0], sizes(whole[-1])[1]))
    before: list[Any] = [g]
    after: list[Any] = [None]
    for matrix in whole[:-1]:
        before.append(np.matmul(np.transpose(matrix), before[-1]))
    for matrix in whole[:0:-1]:
        last = after[-1]
        after.append(np.transpose(matrix) if last is None else np.matmul(last, np.transpose(matrix)))
    found = [g if right is None else np.matmul(g, right) for g, right in zip(before, reversed(after))]
    return [np.reshape(each, sizes(array)) for each, array in zip(found, arrays)]


def of_kron(which: int) -> Vjp:
    def vjp(g: Any, out: Any, a: Any, b: Any) -> Any:
        factors = as_array(a), as_array(b)
        count = max(map(ndim, factors))
        dims = [(1,) * (count - ndim(factor)) + tuple(sizes(factor)) for factor in factors]
        apart = np.reshape(g, [dim for pair in zip(*dims) for dim in pair])
        other = np.reshape(factors[1 - which], dims[1 - which])
        gone = list(range(1 - which, 2 * count, 2))
        return np.reshape(np.tensordot(apart, other, (gone, list(range(count)))), sizes(factors[which]))

    return vjp


def of_cross(which: int) -> Vjp:
    def vjp(
        g: Any, out: Any, a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
    ) -> Any:
        axes = (axisa, axisb) if axis is None else (axis, axis)
        arrays = as_array(a), as_array(b)
        vectors = [np.moveaxis(array, at, -1) for array, at in zip(arrays, axes)]
        if ndim(out) < max(map(ndim, vectors)):     # they are of the plane, and give numbers
            g = np.expand_dims(g, -1) * np.array([0, 0, 1])
        else:
            g = np.moveaxis(g, axisc if axis is None else axis, -1)
        other = _spatial(vectors[1 - which])
        found = np.linalg.cross(g, other) if which else np.linalg.cross(other, g)
        mine = vectors[which]
        return np.moveaxis(on_proxies(adjoint_ops.fit)(found[..., : sizes(mine)[-1]], mine), -1, axes[which])

    return vjp


def _spatial(vector: Any) -> Any:
    """A vector of two or three components as one of three."""
    return np.concatenate([vector, np.zeros_like(vector[..., :1])], -1)[..., :3]


def of_convolve(which: int, conjugate: bool = False) -> Vjp:
    """The derivative in a factor of `np.convolve`, or of `np.correlate`, which reverses the second one."""

    def vjp(g: Any, out: Any, a: Any, v: Any, mode: Any = "valid" if conjugate else "full") -> Any:
        factors = [np.ravel(as_array(a)), np.ravel(as_array(v))]
        lengths = [sizes(factor)[0] for factor in factors]
        whole, before = lengths[0] + lengths[1] - 1, np.minimum(*lengths) - 1
        middle = (before + (lengths[0] < lengths[1] if conjugate else 0)) // 2
        start = {"full": 0, "same": middle, "valid": before}[mode]
        if conjugate:
            factors[1] = np.flip(conj(factors[1]))
        g = np.pad(g, (start, whole - start - sizes(g)[0]))
        found = np.convolve(g, np.flip(factors[1 - which]), "valid")
        return np.reshape(conj(np.flip(found)) if conjugate and which else found, sizes(v if which else a))

    return vjp


OF_LINALG_VECDOT: tuple[Vjp, Vjp] = (
    lambda g, out, x1, x2, axis=-1: conj(np.expand_dims(g, axis) * x2),
    lambda g, out, x1, x2, axis=-1: np.expand_dims(g, axis) * conj(x1),
)


def of_trace(g: Any, out: Any, x: Any, *, offset: Any = 0, dtype: Any = None) -> Any:
    return moves(np.linalg.diagonal)(np.expand_dims(g, -1), out, x, offset=offset)


_PRODUCT = [ARRAY_PRODUCT]
functions("np.dot .dot", dot, vjp=OF_DOT, lower=products.dot, traits=[*_PRODUCT, READS_VIEWS])
functions("np.inner", inner, vjp=OF_INNER, lower=products.inner, traits=[*_PRODUCT, READS_VIEWS])
functions("np.vdot", vdot, vjp=OF_VDOT, lower=products.vdot, traits=[*_PRODUCT, READS_VIEWS])
functions("np.outer np.linalg.outer", outer, vjp=OF_OUTER, traits=[*_PRODUCT, (OUTER, "np.multiply")])
functions("np.linalg.multi_dot", multi_dot, vjp=of_multi_dot)
functions("np.tensordot np.linalg.tensordot", tensordot, vjp=TENSORDOT, traits=_PRODUCT)
functions("np.linalg.matmul", ufunc_rule(np.matmul), vjp=of_cores(*OF_MATMUL), traits=_PRODUCT)
functions("np.linalg.vecdot", ufunc_rule(np.vecdot), vjp=OF_LINALG_VECDOT, traits=_PRODUCT)
functions("np.linalg.trace", trace, vjp=of_trace)
functions("np.kron", kron, vjp=(of_kron(0), of_kron(1)), traits=_PRODUCT)
functions("np.cross", cross, vjp=(of_cross(0), of_cross(1)))
functions("np.linalg.cross", lambda x1, x2, /, *, axis=-1: cross(x1, x2, axis=axis), vjp=(of_cross(0), of_cross(1)))
functions("np.convolve", convolved("full"), vjp=(of_convolve(0), of_convolve(1)), traits=_PRODUCT)
functions("np.correlate", convolved("valid"), vjp=(of_convolve(0, True), of_convolve(1, True)), traits=_PRODUCT)
