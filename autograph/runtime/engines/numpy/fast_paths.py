"""Fast paths through NumPy: for numbers beside arrays, and for `np.sum` and `np.prod`.

NumPy takes arrays of no dimension as they are:

    scaled = 0.1 * x        runs as        scaled = number * x      where  number = np.array(0.1, x.dtype)

At each operation with a Python number, NumPy finds out its type and the dtype to convert it to, which takes as long as
a hundred additions. And if the array is of float32 and the number a float, NumPy does not reuse the memory of
intermediate results. So constants become arrays of no dimension beforehand, of the dtype that NumPy would convert them
to, if NumPy does exactly the same operation with those. The text of a generated function shows the number.

`np.sum` and `np.prod` of arrays call `np.add.reduce` directly, since NumPy's own way there takes longer than the sum of
a small array. NumPy warns in the name of the last function on that way, and at its line; so do these.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from autograph.common import disk_cache
from autograph.common.line_tables import Position
from autograph.runtime.engines.numpy.line_table import disguised
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.graph.traits import UFUNC_BY_VALUE, plain
from autograph.runtime.graph.types import TensorType
from autograph.runtime.ops.python.operators import UFUNCS

_KINDS = "bhilqBHILQefdFD"      # of numbers, as dtypes are called by their letters
_EXACT_INTEGERS = 2**53         # up to here, each is a float64
_cache: WeakValueDictionary[tuple[str, bytes], np.ndarray[Any, Any]] = WeakValueDictionary()


@disk_cache.storable
def kept(number: np.number[Any]) -> np.ndarray[Any, Any]:
    """An immutable array of no dimension with a number; the same one for the same number."""
    key = number.dtype.char, number.tobytes()
    found = _cache.get(key)
    if found is None:
        found = _cache[key] = np.array(number)
        found.flags.writeable = False
    return found


def is_kept(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array is one that `kept` gave."""
    return array.ndim == 0 and _cache.get((array.dtype.char, array.tobytes())) is array


def beside_array(node: Node) -> tuple[int, np.ndarray[Any, Any]] | None:
    """The position of an operand that is a number beside an array, and an array to replace it."""
    ufunc = UFUNCS.get(plain(node.op)) or lookup(node.op).target
    if not isinstance(ufunc, np.ufunc) or ufunc.nin != 2 or len(node.args) != 2 or not node.kwargs.keys() <= {"out"}:
        return None
    if plain(node.op) in UFUNC_BY_VALUE:
        return None
    for place, (number, other) in enumerate(zip(node.args, node.args[::-1])):
        dtype = _dtype(other.type) if isinstance(other, Value) else None
        if dtype is not None:
            found = _array_of(number, ufunc, place, dtype)
            return None if found is None else (place, found)
    return None


def _array_of(number: Any, ufunc: np.ufunc, place: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    if type(number) in (int, float):
        return _converted(ufunc, place, number, repr(number) if number == 0 else "", dtype)
    return kept(number) if isinstance(number, np.number) and number.dtype.char in _KINDS else None


def _dtype(found: Any) -> np.dtype[Any] | None:
    """The dtype of a type if that is certainly an array of numbers, of at least one dimension."""
    if not isinstance(found, TensorType) or found.kind != "array" or not found.exact or not found.shape:
        return None
    is_known = found.dtype.isnative and (found.dtype.char in _KINDS or found.dtype == bool)
    return found.dtype if is_known else None


@lru_cache(maxsize=1024, typed=True)
def _converted(
    ufunc: np.ufunc, place: int, number: int | float, zero: str, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any] | None:
    """The NumPy scalar that NumPy converts a Python number to; None if that computes something else.

    Args:
        zero: distinguishes 0.0 from -0.0.
    """
    try:
        dtypes = _dtypes(ufunc, place, type(number), dtype)
        target = dtypes[place]
        if target.char not in _KINDS or _dtypes(ufunc, place, target, dtype) != dtypes:
            return None
        with np.errstate(all="ignore"):
            found = target.type(number)
    except (TypeError, OverflowError):      # there is no such operation, or the number is too large for it
        return None
    return kept(found) if _is_converted_alike(number, found) else None


def _dtypes(ufunc: np.ufunc, place: int, number: Any, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], ...]:
    """The dtypes that a ufunc converts its operands to, and that of its result."""
    operands = (number, dtype, None) if place == 0 else (dtype, number, None)
    return ufunc.resolve_dtypes(operands)


def _is_converted_alike(number: int | float, found: np.number[Any]) -> bool:
    """Whether each way to convert a number gives the same, and raises no flag that NumPy would warn of."""
    value = found.real.item()
    if type(number) is int:
        return bool(value == number) and (type(value) is int or abs(number) <= _EXACT_INTEGERS)
    return value == number or (math.isfinite(value) and abs(value) > np.finfo(found.dtype).tiny)


def _reduce(x: Any, axis: Any = None, keepdims: Any = False, ufunc: Any = None) -> Any:
    return ufunc(x, axis, None, None, keepdims)


def _direct(name: str, function: Callable[..., Any], ufunc: np.ufunc) -> Callable[..., Any]:
    """A function that does the same as `function` for arrays, an axis and `keepdims`; `name` is its name here."""
    module = getattr(inspect.unwrap(function), "__globals__", {})
    last = module.get("_wrapreduction")
    if type(last) is not FunctionType:
        return function
    line = max(line for *_, line in last.__code__.co_lines() if line is not None)
    code = disguised(_reduce.__code__, last.__code__, iter([(len(_reduce.__code__.co_code), Position(line))]))
    found = FunctionType(code, module, name, (None, False, ufunc.reduce))
    found.__module__, found.__qualname__ = __name__, name
    return found


added = disk_cache.storable(_direct("added", np.sum, np.add))
multiplied = _direct("multiplied", np.prod, np.multiply)
