"""Bodies of requests and answers: JSON in TensorFlow Serving's two formats, and arrays in the format .npy.

    {"instances": [value, …]}  or  {"instances": [{"x": value}, …]}     rows: one per example   → {"predictions": […]}
    {"inputs": value}          or  {"inputs": {"x": value}}             columns                 → {"outputs": …}

NaN and the infinities are written `NaN`, `Infinity` and `-Infinity`, as TensorFlow Serving and Python's `json` do,
though JSON itself has no such numbers.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from autograph.serving.model import Model
from autograph.serving.values import InputError, Inputs, in_rows, named, plain

NPY = "application/x-npy"
_MAGIC = b"\x93NUMPY"
_KINDS = "biufcUMm"     # of dtypes whose bytes are values
_LONGEST = 10_000       # bytes of the header of an array


@dataclass
class Query:
    """A request: a function, its inputs by name, and for rows the number of examples."""

    function: Inputs
    given: dict[str, Any]
    count: int | None = None


def query(model: Model, body: bytearray, signature: str | None = None) -> Query:
    """The request of a body.

    Args:
        body: JSON or an array, which is used where it lies.
        signature: the name of the function, where the body does not have it.

    Raises:
        InputError: it is neither, or does not have the form of a request.
        LookupError: there is no such function.
    """
    if body.startswith(_MAGIC):
        function = model.function(signature)
        return Query(function, {function.only: array_of(body)})
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is neither JSON nor an array in the format .npy: {error}") from error
    if not isinstance(document, dict) or ("instances" in document) == ("inputs" in document):
        raise InputError('the body must be an object with either "instances" or "inputs"')
    further = document.keys() - {"instances", "inputs", "signature_name"}
    if further:
        raise InputError(f"the body has the unknown key {min(further)!r}")
    name = document.get("signature_name", signature)
    if name is not None and not isinstance(name, str):
        raise InputError('"signature_name" is no text')
    function = model.function(name)
    if "inputs" in document:
        inputs = document["inputs"]
        return Query(function, inputs if isinstance(inputs, dict) else {function.only: inputs})
    rows = document["instances"]
    if not isinstance(rows, list) or not rows:
        raise InputError('"instances" must be a list with at least one example')
    return Query(function, _columns(rows) if isinstance(rows[0], dict) else {function.only: rows}, len(rows))


def _columns(rows: list[Any]) -> dict[str, list[Any]]:
    names = rows[0].keys()
    for place, row in enumerate(rows):
        if not isinstance(row, dict) or row.keys() != names:
            raise InputError(f"instance {place} does not have the inputs of the first one: {', '.join(names)}")
    return {name: [row[name] for row in rows] for name in names}


def answer(result: Any, count: int | None) -> bytes:
    """The answer to a request as JSON.

    Raises:
        InputError: the result has no such form.
    """
    outputs = named(result)
    if count is None:
        return json.dumps({"outputs": plain(outputs)}).encode()
    return json.dumps({"predictions": in_rows(outputs, count)}).encode()


def npy(result: Any) -> bytes:
    """A result as an array in the format .npy.

    Raises:
        InputError: it is not one array or number.
    """
    array = np.asarray(named(result))
    if array.dtype.kind not in _KINDS:
        raise InputError("the result is not one array or number, so it has no form in .npy: ask for JSON")
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return file.getvalue()


def array_of(body: bytearray) -> np.ndarray[Any, Any]:
    """The array of a body in the format .npy, in the memory of the body.

    Raises:
        InputError: it is damaged, or has elements that are no numbers or texts.
    """
    width = 2 if body[len(_MAGIC) :].startswith(b"\x01") else 4
    begin = len(_MAGIC) + 2 + width
    start = begin + int.from_bytes(body[begin - width : begin], "little")
    if start > min(len(body), _LONGEST):
        raise InputError(f"the header of the array cannot be read: it has {start} bytes, out of {len(body)}")
    shape, is_fortran, dtype = _header(bytes(body[:start]))
    if dtype.kind not in _KINDS or dtype.names or dtype.subdtype or dtype.itemsize == 0:
        raise InputError(f"arrays of dtype {dtype} are not accepted")
    count = prod(shape)
    if len(body) - start != count * dtype.itemsize or len(shape) > _MOST_DIMS:
        raise InputError(f"an array {dtype}{list(shape)} has not {len(body) - start} bytes")
    flat = np.frombuffer(body, dtype, count, start) if count else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if is_fortran else "C")


@lru_cache(256)     # reading one takes longer than most calls
def _header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, order and dtype in the header of an array."""
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    file = io.BytesIO(data)
    try:
        return read[np.lib.format.read_magic(file)](file, _LONGEST)
    except (ValueError, KeyError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(f"the header of the array cannot be read: {error}") from error


_MOST_DIMS = 32
