"""`tf.strings`: ops on strings, whose values are `bytes`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.tensor import Tensor, run_later
from autograph.compat.tensorflow.ops import array_ops


def _each(op: str, function: Callable[..., Any], *values: Any, dtype: DType = dtypes.string) -> Tensor:
    """Apply `function` to each string when the graph runs."""
    tensors = [convert_to_tensor(each) for each in values]
    shape = tensors[0].shape
    for each in tensors[1:]:
        shape = shape if each.shape.rank == 0 else each.shape

    def run(*arrays: Any) -> Any:
        kind = numpy_dtype(dtype)
        result = np.frompyfunc(function, len(arrays), 1)(*(np.asarray(each, object) for each in arrays))
        return np.asarray(result, kind) if np.ndim(result) or dtype is not dtypes.string else result

    return run_later(op, run, *(each._value for each in tensors), dtype=dtype, shape=shape)


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes or characters."""
    count = len if unit == "BYTE" else (lambda text: len(text.decode()))
    return _each("StringLength", count, input, dtype=dtypes.int32)


def _method(op: str, method: Callable[[bytes], bytes]) -> Callable[..., Tensor]:
    return lambda input, encoding="", name=None: _each(op, method, input)


lower = _method("StringLower", bytes.lower)
upper = _method("StringUpper", bytes.upper)
strip = _method("StringStrip", bytes.strip)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Join strings element by element."""
    return _each("StringJoin", lambda *texts: separator.encode().join(texts), *inputs)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The part of each string that starts at `pos`, of length `len`."""
    return _each("Substr", lambda text, begin, count: text[begin : begin + count], input, pos, len)


def regex_replace(input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: Any = None) -> Tensor:
    """Replace the matches of a pattern."""
    count = 0 if replace_global else 1
    return _each("RegexReplace", lambda t: re.sub(pattern.encode(), rewrite.encode(), t, count=count), input)


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """Whether a pattern matches whole strings."""
    return _each("RegexFullMatch", lambda t: re.fullmatch(pattern.encode(), t) is not None, input, dtype=dtypes.bool)


def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Convert numbers and bools to strings."""
    kind = convert_to_tensor(input).dtype
    style = "e" if scientific else "g" if shortest else "f"
    digits = f".{precision}" if precision >= 0 else ""

    def shown(value: Any) -> bytes:
        text = str(value).lower() if kind.is_bool else f"{value:{digits}{style}}" if kind.is_floating else str(value)
        return (text.rjust(width, fill or " ") if width > 0 else text).encode()

    return _each("AsString", shown, input)


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Convert strings to numbers."""
    dtype = as_dtype(out_type)

    def number(text: bytes) -> Any:
        try:
            return int(text) if dtype.is_integer else float(text)
        except ValueError:
            shown = text.decode()
            raise InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {shown}") from None

    return _each("StringToNumber", number, input, dtype=dtype)


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Tensor:
    """Split a string at separators."""
    text = convert_to_tensor(input)
    if text.shape.rank not in (0, None):
        raise NotImplementedError("the parts of several texts are of several numbers: split them one by one")
    by = sep.encode() if sep else None
    return run_later("StringSplit", lambda value: np.array(value.split(by, maxsplit), object), text._value,
                     dtype=dtypes.string, shape=[None])  # fmt: skip


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """Join all strings, or those along an axis."""
    tensor = convert_to_tensor(inputs)
    if axis is None:
        tensor, axis = array_ops.reshape(tensor, [-1]), 0
    result = join(array_ops.unstack(tensor, axis=axis), separator)
    return array_ops.expand_dims(result, axis) if keepdims else result


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """Replace each `{}` of a template by a tensor."""
    parts = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    places = template.count(placeholder)
    if places != len(parts):
        raise ValueError(f"{places} placeholder(s) in template does not match {len(parts)} tensor(s)")
    values = [convert_to_tensor(each)._value for each in parts]

    def filled(*arrays: Any) -> bytes:
        pieces = template.split(placeholder)
        shown = [np.array2string(each, separator=" ") if np.ndim(each) else str(each) for each in arrays]
        return "".join(piece + text for piece, text in zip(pieces, [*shown, ""])).encode()

    return run_later("StringFormat", filled, *values, dtype=dtypes.string, shape=[])
