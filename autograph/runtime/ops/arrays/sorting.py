"""Sorting, searching, counting, and set operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import NO_GRADIENT, VIEW
from autograph.runtime.graph.traits import MAKES_ARRAYS, READS_VIEWS, RELEASES_LOCK, SORTS
from autograph.runtime.graph.types import ObjectType, TensorType, Type, array, inexact
from autograph.runtime.ops.arrays.selection import INTP
from autograph.runtime.ops.gradients.data_movement import along, axis_of, scatter_add, scattered
from autograph.runtime.ops.gradients.toolkit import as_array, shape
from autograph.runtime.ops.inference.containers import tuple_of
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    add_dims,
    array_like,
    axis_or_flat,
    constant,
    result,
    size,
)
from autograph.runtime.ops.native import vectors

FLOAT64 = np.dtype(float)


# -------------------------------------------------------------------------------------------------------- sorting


def _sorted(a: TensorType, axis: Any, dtype: np.dtype[Any]) -> Type:
    if axis is None:
        return TensorType(dtype, (size(a.shape),))
    if not a.shape:
        raise Unknown
    return TensorType(dtype, a.shape)


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Type:
    return _sorted(array_like(a), axis, array_like(a).dtype)


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Type:
    return _sorted(array_like(a), axis, INTP)


def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Type:
    return _sorted(array_like(a), axis, array_like(a).dtype)


def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Type:
    return _sorted(array_like(a), axis, INTP)


def sort_complex(a: Any) -> Type:
    a = array_like(a)
    dtype = {"b": "F", "h": "F", "B": "F", "H": "F", "F": "F", "g": "G", "G": "G"}.get(a.dtype.char, "D")
    return TensorType(np.dtype(dtype), a.shape)


def lexsort(keys: Any, axis: Any = -1) -> Type:
    rows = array_like(keys)
    return result(INTP, rows.shape[1:])


# ---------------------------------------------------------------------------------------- searching and counting


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Type:
    return result(INTP, array_like(v).shape)


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Type:
    count = size(array_like(x).shape)
    if weights is None or count == 0:       # of nothing at all it forgets the weights
        return array(INTP, None)
    found = array(FLOAT64, None)
    return inexact(found) if count is None else found


def _bin_count(bins: Any) -> int | None:
    """How many bins an argument asks for."""
    if isinstance(bins, int):
        return bins
    if isinstance(bins, str) or (isinstance(bins, TensorType) and not bins.shape):
        return None
    return add_dims(array_like(bins).shape[0], -1)


def _edges_dtype(a: TensorType, bins: Any) -> np.dtype[Any]:
    if isinstance(bins, (int, str)) or (isinstance(bins, TensorType) and not bins.shape):
        if a.dtype not in (FLOAT64, INTP, np.dtype(bool)):
            raise Unknown
        return FLOAT64
    return array_like(bins).dtype


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Type:
    a, count = array_like(a), _bin_count(bins)
    dtype = FLOAT64 if constant(density) else INTP if weights is None else array_like(weights).dtype
    edges = TensorType(_edges_dtype(a, bins), (add_dims(count, 1),))
    return tuple_of(TensorType(dtype, (count,)), edges)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Type:
    return TensorType(_edges_dtype(array_like(a), bins), (add_dims(_bin_count(bins), 1),))


# ----------------------------------------------------------------------------------------------------------- sets


def _unique_values(a: TensorType, axis: Any) -> TensorType:
    shape, at = axis_or_flat(a, axis)
    return TensorType(a.dtype, (*shape[:at], None, *shape[at + 1 :]))


def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Type:
    a = array_like(ar)
    flags = [bool(constant(flag)) for flag in (return_index, return_inverse, return_counts)]
    values = _unique_values(a, axis)
    if not any(flags):
        return values
    if flags[1] and axis is not None:
        raise Unknown                   # the shape of the inverse differs between versions
    parts = (array(INTP, None), TensorType(INTP, a.shape), array(INTP, None))
    return tuple_of(values, *(part for part, flag in zip(parts, flags) if flag))


def unique_all(x: Any, /) -> Type:
    a, some = array_like(x), array(INTP, None)
    return ObjectType("UniqueAllResult", (_unique_values(a, None), some, TensorType(INTP, a.shape), some))


def unique_counts(x: Any, /) -> Type:
    return ObjectType("UniqueCountsResult", (_unique_values(array_like(x), None), array(INTP, None)))


def unique_inverse(x: Any, /) -> Type:
    a = array_like(x)
    return ObjectType("UniqueInverseResult", (_unique_values(a, None), TensorType(INTP, a.shape)))


def unique_values(x: Any, /) -> Type:
    return _unique_values(array_like(x), None)


def merged(ar1: Any, ar2: Any, assume_unique: Any = False) -> Type:
    """`np.union1d` and `np.setxor1d`."""
    a, b = array_like(ar1), array_like(ar2)
    return TensorType(np.result_type(a.dtype, b.dtype), (None,))


def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Type:
    common = merged(ar1, ar2)
    return tuple_of(common, *[array(INTP, None)] * 2) if constant(return_indices) else common


def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Type:
    return TensorType(array_like(ar1).dtype, (None,))


# --------------------------------------------------------------------------------------------------- derivatives


def of_sort(g: Any, out: Any, a: Any, axis: Any = -1, *_: Any, **__: Any) -> Any:
    return _of_reordered(g, out, as_array(a), axis)


def of_partition(g: Any, out: Any, a: Any, kth: Any, axis: Any = -1, *_: Any, **__: Any) -> Any:
    return _of_reordered(g, out, as_array(a), axis)


def _of_reordered(g: Any, out: Any, a: Any, axis: Any) -> Any:
    """The derivative of a function that permutes the elements along an axis, found by their ranks."""
    if axis is None:
        return np.reshape(_of_reordered(g, out, np.ravel(a), -1), shape(a))
    ranks = np.argsort(np.argsort(a, axis), axis)
    return np.take_along_axis(g, np.take_along_axis(np.argsort(out, axis), ranks, axis), axis)


def of_unique(g: Any, out: Any, ar: Any, *flags: Any, axis: Any = None, **options: Any) -> Any:
    """The derivative of `np.unique`: among equal elements, the first gets the gradient."""
    equal_nan, a = options.get("equal_nan", True), as_array(ar)
    if isinstance(g, tuple) or any(flags[:3]) or any(options.get(f"return_{each}") for each in _RETURNED):
        g = g[0]
    axis = flags[3] if len(flags) > 3 else axis
    first = np.unique(a, return_index=True, axis=axis, equal_nan=equal_nan)[1]
    if axis is None:
        return scattered(a, first, g)
    return scatter_add(a, along(axis_of(axis, a), first), g)


_RETURNED = ("index", "inverse", "counts")

# ------------------------------------------------------------------------------------------------ declarations

_SORTING = [READS_VIEWS, MAKES_ARRAYS, RELEASES_LOCK]
functions("np.sort", sort, vjp=of_sort, lower=vectors.ordered, traits=[*_SORTING, SORTS])
functions("np.sort_complex", sort_complex, vjp=of_sort)
functions("np.partition", partition, vjp=of_partition)
functions("np.argsort .argsort", argsort, vjp=NO_GRADIENT, lower=vectors.ordering, traits=_SORTING)
functions("np.argpartition .argpartition", argpartition, vjp=NO_GRADIENT)
functions("np.lexsort", lexsort, vjp=NO_GRADIENT)
functions("np.searchsorted .searchsorted", searchsorted, vjp=NO_GRADIENT)
functions("np.digitize", lambda x, bins, right=False: result(INTP, array_like(x).shape), vjp=NO_GRADIENT)
functions("np.bincount", bincount, vjp=(None, lambda g, out, x, weights, *_, **__: g[x]))
functions("np.histogram", histogram, effect=VIEW)      # it returns edges that it gets
functions("np.histogram_bin_edges", histogram_bin_edges, effect=VIEW)
functions("np.unique", unique, vjp=of_unique)
functions("np.unique_all", unique_all)
functions("np.unique_counts", unique_counts)
functions("np.unique_inverse", unique_inverse)
functions("np.unique_values", unique_values, vjp=of_unique)
functions("np.isin", lambda element, *args, **kwargs: TensorType(np.dtype(bool), array_like(element).shape))
functions("np.intersect1d", intersect1d)
functions("np.union1d np.setxor1d", merged)
functions("np.setdiff1d", setdiff1d)
