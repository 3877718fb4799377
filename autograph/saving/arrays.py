"""Arrays as safetensors holds them.

The format knows the dtypes of numbers. An array of another dtype is saved as bytes, and one whose axes lie in another
order in memory with its axes in that order; the record has the dtype, the shape and the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autograph.errors import LoadError

Array = np.ndarray[Any, Any]
NATIVE = frozenset("?bhilqBHILQefd")    # letters of the dtypes that safetensors knows
KINDS = frozenset("biufcSUMm")         # of other dtypes that are saved as bytes
_MOST_DIMS = 64


def array_record(
    array: Array, name: str, arrays: dict[str, Array], refused: Callable[[str], Exception]
) -> dict[str, Any]:
    """The record of an array, which is added to `arrays` under a name.

    Args:
        refused: gives the error for an array that cannot be saved.
    """
    dtype = array.dtype
    if dtype.kind not in KINDS or dtype.metadata or dtype.names:
        raise refused(f"an array of dtype {dtype} cannot be saved: only numbers, texts of fixed length and times can")
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]) if array.shape[axis] > 1 else 0)
    is_usual = array.flags.c_contiguous or order == [*range(array.ndim)]
    stored = np.asarray(array if is_usual else array.transpose(order), order="C")
    if dtype.char not in NATIVE or not dtype.isnative:
        stored = np.frombuffer(stored.tobytes(), np.uint8)
    arrays[name] = stored
    record = {"kind": "array", "array": name, "dtype": dtype.str, "shape": [*array.shape]}
    if not is_usual:
        record["order"] = order
    if not array.flags.writeable:
        record["writeable"] = False
    return record


def array_of(record: dict[str, Any], arrays: Mapping[str, Array]) -> Array:
    """The array of a record.

    Raises:
        LoadError: the file has no such array, or another one.
    """
    name, shape = record["array"], tuple(record["shape"])
    stored = arrays.get(name)
    if stored is None:
        raise LoadError(f"the array {name[:80]!r} is not in the file of arrays")
    dtype = dtype_of(record["dtype"])
    order = record.get("order", [*range(len(shape))])
    if sorted(order) != [*range(len(shape))] or len(shape) > _MOST_DIMS:
        raise LoadError(f"the axes {order} are not those of an array of shape {shape}")
    inner = tuple(shape[axis] for axis in order)
    if stored.dtype == np.uint8 and dtype != np.uint8:
        if dtype.itemsize == 0 or stored.ndim != 1 or stored.nbytes != _size(inner) * dtype.itemsize:
            raise LoadError(f"the array {name!r} has {stored.nbytes} bytes, and not those of {dtype}{list(shape)}")
        stored = stored.view(dtype).reshape(inner)
    if stored.dtype != dtype or stored.shape != inner:
        raise LoadError(f"the array {name!r} is {stored.dtype}{list(stored.shape)}, and not {dtype}{list(shape)}")
    found = stored.transpose(np.argsort(order)) if order != [*range(len(shape))] else stored
    if not record.get("writeable", True):
        found.flags.writeable = False
    return found


def scalar_of(dtype: str, digits: str) -> Any:
    """The scalar of a dtype with these bytes."""
    kind = dtype_of(dtype)
    data = bytes.fromhex(digits)
    if len(data) != kind.itemsize or not data:
        raise LoadError(f"a scalar of {kind} has {len(data)} bytes")
    return np.frombuffer(data, kind)[0]


def _size(shape: Sequence[int]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def dtype_of(text: str) -> np.dtype[Any]:
    """The dtype that a file names.

    Raises:
        LoadError: it names none that is saved.
    """
    try:
        found = np.dtype(text)
    except (TypeError, ValueError, SyntaxError) as error:
        raise LoadError(f"{text[:80]!r} is no dtype") from error
    if found.kind not in KINDS or found.names or found.subdtype or found.str != text:
        raise LoadError(f"arrays of dtype {text[:80]!r} are not saved")
    return found


def overlapping(arrays: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
    """Pairs of different arrays that share memory; at least one of each group."""
    bounds = [(*np.lib.array_utils.byte_bounds(each), each) for each in arrays if each.size]
    for (_, end, first), (begin, _, second) in pairwise(sorted(bounds, key=lambda span: span[:2])):
        if begin < end and np.may_share_memory(first, second):
            yield first, second
