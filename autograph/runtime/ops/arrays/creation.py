"""New arrays: filled with a value, made from lists, or shaped like another array."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autograph.runtime.graph import types
from autograph.runtime.graph.opdef import NO_GRADIENT, ORDERED, VIEW, Vjp, declare
from autograph.runtime.graph.traits import (
    CHOOSES,
    COPIES_BY_DEFAULT,
    ENCODES_FLOATS,
    FILLED,
    IN_C_ORDER,
    MAKES_ARRAYS,
    MOVES,
    READS_VIEWS,
    SHARES,
    TOTAL,
    VIEW_OR_COPY,
)
from autograph.runtime.graph.types import ObjectType, TensorType, Type, array
from autograph.runtime.ops.gradients.data_movement import MOST, moves, numbered
from autograph.runtime.ops.gradients.toolkit import ndim
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.numpy_probe import dtype_of, probe
from autograph.runtime.ops.inference.shape_rules import (
    DType,
    Unknown,
    array_like,
    constant,
    dtype_arg,
    int_arg,
    like_first,
    shape_arg,
    size,
    type_of_arg,
)
from autograph.runtime.ops.native import array_creation, vectors

FLOAT64: DType = np.dtype(float)

# ----------------------------------------------------------------------------------------------- filled arrays


def filled(shape: Any, dtype: Any = float, order: Any = "C", *, device: Any = None) -> Type:
    """The rule of `np.zeros`, `np.ones` and `np.empty`."""
    return TensorType(dtype_arg(dtype, FLOAT64), shape_arg(shape))


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None) -> Type:
    return TensorType(array_like(fill_value).dtype if dtype is None else dtype_arg(dtype), shape_arg(shape))


def like(a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, **rest: Any) -> Type:
    """The rule of `np.zeros_like` and so on."""
    found = array_like(a)
    return TensorType(dtype_arg(dtype, found.dtype), found.shape if shape is None else shape_arg(shape))


def full_like(a: Any, fill_value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Type:
    return like(a, dtype, *args, **kwargs)


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None) -> Type:
    """`np.eye` and `np.tri`."""
    return TensorType(dtype_arg(dtype, FLOAT64), shape_arg((N, N if M is None else M)))


def identity(n: Any, dtype: Any = None) -> Type:
    return TensorType(dtype_arg(dtype, FLOAT64), shape_arg((n, n)))


def window(M: Any, *args: Any) -> Type:
    """The rule of `np.hanning` and so on, which are empty for a negative number of points."""
    length = int_arg(M)
    return array(FLOAT64, None if length is None else max(length, 0))


def indices(dimensions: Any, dtype: Any = int, sparse: Any = False) -> Type:
    shape, dtype = shape_arg(dimensions), dtype_arg(dtype, np.dtype(int))
    if not constant(sparse):
        return TensorType(dtype, (len(shape), *shape))
    lone = [tuple(dim if j == i else 1 for j in range(len(shape))) for i, dim in enumerate(shape)]
    return ObjectType("tuple", tuple(TensorType(dtype, each) for each in lone))


def vander(x: Any, N: Any = None, increasing: Any = False) -> Type:
    found = array_like(x)
    (length,) = found.shape
    dtype = dtype_of(probe(np.vander, array(found.dtype, None)))
    return TensorType(dtype, (length, length if N is None else shape_arg(N)[0]))


# ----------------------------------------------------------------------------------------------------- copies


def as_array(*args: Any, **kwargs: Any) -> Type:
    """`np.array` and `np.asarray`; not a rule, because a list may hold many numbers of inexact types."""
    try:
        return _as_array(*args, **kwargs)
    except Exception:           # as in `rule`
        return types.ANY


def _as_array(object: Any, dtype: Any = None, *args: Any, ndmin: Any = 0, **kwargs: Any) -> Type:
    if kwargs.keys() - {"copy", "order", "subok", "device"}:
        raise Unknown
    found = _list_type(object) or array_like(object)
    shape = (1,) * (operator.index(constant(ndmin)) - found.ndim) + found.shape
    if dtype is not None:
        return TensorType(dtype_arg(dtype), shape)
    return TensorType(found.dtype, shape, exact=found.exact and _is_exact(object))


def _list_type(arg: Any) -> TensorType | None:
    """The array of a list of unknown length; it would be `f64` for an empty one."""
    found = type_of_arg(arg)
    if isinstance(arg, list) or not isinstance(found, ObjectType) or found.name not in ("list", "range"):
        return None
    item = types.INT if found.name == "range" else types.item_of(found)
    if not isinstance(item, TensorType) or item.shape:
        raise Unknown
    wide = types.join(types.scalar(item.dtype), types.scalar(float))
    if not isinstance(wide, TensorType):
        raise Unknown
    return TensorType(wide.dtype, (None,), exact=wide.exact and item.exact)


def _is_exact(arg: Any) -> bool:
    if isinstance(arg, (list, tuple)):
        return all(map(_is_exact, arg))
    if isinstance(arg, ObjectType):
        return all(map(_is_exact, arg.items))
    return not isinstance(arg, TensorType) or arg.exact


def contiguous(*args: Any, **kwargs: Any) -> Type:
    """`np.ascontiguousarray` and `np.asfortranarray`, which give arrays of one dimension or more."""
    return as_array(*args, **kwargs, ndmin=1)


# ---------------------------------------------------------------------------------------------- parts of arrays


def triangle(m: Any, k: Any = 0) -> Type:
    """The rule of `np.tril` and `np.triu`, which repeat a vector as the rows of a matrix."""
    found = array_like(m)
    return TensorType(found.dtype, found.shape * 2 if found.ndim == 1 else found.shape)


def diag(v: Any, k: Any = 0) -> Type:
    found, by = array_like(v), int_arg(k)
    if found.ndim == 1:
        side = None if by is None or found.shape[0] is None else found.shape[0] + abs(by)
        return TensorType(found.dtype, (side, side))
    rows, columns = found.shape
    if by is None or rows is None or columns is None:
        return array(found.dtype, None)
    return array(found.dtype, max(0, min(rows, columns - by) if by >= 0 else min(rows + by, columns)))


def diagflat(v: Any, k: Any = 0) -> Type:
    found, by = array_like(v), int_arg(k)
    count = size(found.shape)
    side = None if by is None or count is None else count + abs(by)
    return TensorType(found.dtype, (side, side))


def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> Type:
    arrays = list(map(array_like, xi))
    lengths = [size(each.shape) for each in arrays]
    places = list(range(len(xi)))
    if constant(indexing) == "xy" and len(xi) > 1:
        places[:2] = [1, 0]
    whole = [lengths[place] for place in places]
    shapes = [
        tuple(dim if place == i else 1 for place, dim in zip(places, whole)) if constant(sparse) else tuple(whole)
        for i in range(len(xi))
    ]
    return ObjectType("tuple", tuple(TensorType(each.dtype, shape) for each, shape in zip(arrays, shapes)))


def fromiter(iter: Any, dtype: Any, count: Any = -1, **rest: Any) -> Type:
    number = int_arg(count)
    return array(dtype_arg(dtype), None if number is None or number < 0 else number)


def frombuffer(buffer: Any, dtype: Any = float, count: Any = -1, offset: Any = 0, **rest: Any) -> Type:
    return fromiter(buffer, dtype, count)


# --------------------------------------------------------------------------------------------------- derivatives


def split_like(g: Any, like: Any) -> Any:
    """The gradient of an array, in the form of the lists that it was made from."""
    return [split_like(g[i], part) for i, part in enumerate(like)] if isinstance(like, (list, tuple)) else g


def of_array(g: Any, out: Any, object: Any, *_: Any, ndmin: Any = 0, **__: Any) -> Any:
    is_list = isinstance(object, (list, tuple))
    return split_like(g if is_list and not ndmin else np.reshape(g, sizes(object)), object)


def of_diag(g: Any, out: Any, v: Any, k: Any = 0) -> Any:
    if ndim(v) != 1:
        return moves(np.diag)(g, out, v, k)
    if type(k) is not int:
        return np.diag(g, k)
    at = numbered(v)
    return g[at + max(-k, 0), at + max(k, 0)]  # a copy, which `np.diag` does not make


def of_meshgrid(number: int) -> Vjp:
    def vjp(g: Any, out: Any, *xi: Any, indexing: Any = "xy", **_: Any) -> Any:
        swapped = indexing == "xy" and len(xi) > 1 and number < 2
        others = tuple(axis for axis in range(len(xi)) if axis != (1 - number if swapped else number))
        return np.reshape(np.sum(g[number], others), sizes(xi[number]))

    return vjp


def of_vander(g: Any, out: Any, x: Any, N: Any = None, increasing: Any = False) -> Any:
    number = sizes(x)[0] if N is None else N
    by_powers = np.flip(g, -1) if increasing else g
    powers = number - 1 - numbered(g[:1])
    return np.sum((by_powers * powers)[:, :-1] * np.vander(x, number - 1), -1)


def room(old: Any, *others: Any) -> Any:
    """For `out=`: an array that is no longer used, if it has the memory layout of the result.

    A result is in C's order if an operand is, whatever the others are.
    """
    if old.flags.c_contiguous and 1 not in old.shape:
        return old
    strides = old.strides
    for other in others:
        if other.strides != strides:
            return None
    return old


def place(old: Any, *others: Any) -> Type:
    return type_of_arg(old)     # or None, which nothing but `out=` gets to see


# ------------------------------------------------------------------------------------------------ declarations

functions(
    "np.zeros", filled, raises=False, lower=array_creation.filled(zeros=True),
    traits=[CHOOSES, MOVES, FILLED, IN_C_ORDER, MAKES_ARRAYS],
)  # fmt: skip
functions("np.ones", filled, raises=False, traits=[FILLED, IN_C_ORDER])
functions(
    "np.empty", filled, raises=False, lower=array_creation.filled(zeros=False),
    traits=[FILLED, IN_C_ORDER, MAKES_ARRAYS],
)  # fmt: skip
functions("np.full", full, raises=False, vjp=(None, lambda g, out, shape, fill_value, *_, **__: g), traits=[IN_C_ORDER])
functions(
    "np.zeros_like", like, raises=False, vjp=NO_GRADIENT, lower=array_creation.filled_like(zeros=True),
    traits=[MOVES, TOTAL, MAKES_ARRAYS],
)  # fmt: skip
functions("np.ones_like", like, raises=False, vjp=NO_GRADIENT, traits=[TOTAL])
functions(
    "np.empty_like", like, raises=False, vjp=NO_GRADIENT, lower=array_creation.filled_like(zeros=False),
    traits=[TOTAL, MAKES_ARRAYS],
)  # fmt: skip
functions("np.full_like", full_like, raises=False, vjp=(None, lambda g, out, a, fill_value, *_, **__: g))
functions("np.eye np.tri", eye, raises=False)
functions("np.identity", identity, raises=False)
functions("np.indices", indices, raises=False)
functions("np.bartlett np.blackman np.hamming np.hanning np.kaiser", window, raises=False)
functions("np.vander", vander, raises=False, vjp=of_vander)
for _name, _sharing in (("array", sharing.cast), ("asarray", sharing.as_array), ("asanyarray", sharing.as_array)):
    declare(
        f"np.{_name}", as_array, effect=VIEW, target=getattr(np, _name), vjp=of_array, lower=vectors.made_of,
        traits=[VIEW_OR_COPY, MAKES_ARRAYS, READS_VIEWS, (SHARES, _sharing)],
    )  # fmt: skip
for _name in ("ascontiguousarray", "asfortranarray"):
    declare(f"np.{_name}", contiguous, effect=VIEW, target=getattr(np, _name), vjp=of_array, traits=[VIEW_OR_COPY])
COPIES_BY_DEFAULT["np.asarray"] = False
functions(
    "np.copy", like_first, raises=False, vjp=of_array,
    lower=lambda emit, a: emit.copy_array(array_creation.contiguous(a)), traits=[TOTAL, MAKES_ARRAYS],
)  # fmt: skip
functions("np.tril", triangle, raises=False, vjp=lambda g, out, m, k=0: np.tril(g, k))
functions("np.triu", triangle, raises=False, vjp=lambda g, out, m, k=0: np.triu(g, k))
functions("np.diag", diag, effect=VIEW, raises=False, vjp=of_diag, traits=[(SHARES, sharing.diagonal)])
functions("np.diagflat", diagflat, raises=False, vjp=lambda g, out, v, k=0: np.reshape(np.diag(g, k), sizes(v)))
functions("np.meshgrid", meshgrid, effect=VIEW, raises=False, vjp=tuple(map(of_meshgrid, range(MOST))))
functions("np.fromiter", fromiter, effect=ORDERED, raises=False)
functions("np.frombuffer", frombuffer, effect=VIEW, raises=False, traits=[ENCODES_FLOATS])
functions("np.fromfunction", effect=ORDERED)        # it calls a function of the user's
declare("room", rule(place), effect=VIEW, target=room)
