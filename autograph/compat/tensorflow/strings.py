"""`tf.strings`: ops on strings, whose values are `bytes`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.kernels import declare, kernel
from autograph.compat.tensorflow.core.tensor import Tensor, run_later
from autograph.compat.tensorflow.ops import array_ops
from autograph.compat.tensorflow.ragged import ragged_later


def _each(op: str, function: Callable[..., Any], *values: Any, dtype: DType = dtypes.string) -> Tensor:
    """Apply `function` to each string when the graph runs."""
    tensors = [convert_to_tensor(each) for each in values]
    shape = tensors[0].shape
    for each in tensors[1:]:
        shape = shape if each.shape.rank == 0 else each.shape

    run = partial(_run_each, function, numpy_dtype(dtype))
    return run_later(op, run, *(each._value for each in tensors), dtype=dtype, shape=shape)


@kernel
def _run_each(function: Any, kind: np.dtype[Any], *arrays: Any) -> Any:
    result = np.frompyfunc(function, len(arrays), 1)(*(np.asarray(each, object) for each in arrays))
    return np.asarray(result, kind) if np.ndim(result) or kind.kind != "O" else result


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes or characters."""
    return _each("StringLength", len if unit == "BYTE" else _count_characters, input, dtype=dtypes.int32)


@kernel
def _count_characters(text: bytes) -> int:
    return len(text.decode())


def _method(op: str, method: Callable[[bytes], bytes]) -> Callable[..., Tensor]:
    declare(op, method)
    return lambda input, encoding="", name=None: _each(op, method, input)


lower = _method("StringLower", bytes.lower)
upper = _method("StringUpper", bytes.upper)
strip = _method("StringStrip", bytes.strip)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Join strings element by element."""
    return _each("StringJoin", partial(_join, separator.encode()), *inputs)


@kernel
def _join(separator: bytes, *texts: bytes) -> bytes:
    return separator.join(texts)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The part of each string that starts at `pos`, of length `len`."""
    return _each("Substr", _part, input, pos, len)


@kernel
def _part(text: bytes, begin: int, count: int) -> bytes:
    return text[begin : begin + count]


def regex_replace(input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: Any = None) -> Tensor:
    """Replace the matches of a pattern."""
    replace = partial(_replace, pattern.encode(), rewrite.encode(), 0 if replace_global else 1)
    return _each("RegexReplace", replace, input)


@kernel
def _replace(pattern: bytes, by: bytes, count: int, text: bytes) -> bytes:
    return re.sub(pattern, by, text, count=count)


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """Whether a pattern matches whole strings."""
    return _each("RegexFullMatch", partial(_matches, pattern.encode()), input, dtype=dtypes.bool)


@kernel
def _matches(pattern: bytes, text: bytes) -> bool:
    return re.fullmatch(pattern, text) is not None


def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Convert numbers and bools to strings."""
    kind = convert_to_tensor(input).dtype
    style = "e" if scientific else "g" if shortest else "f"
    digits = f".{precision}" if precision >= 0 else ""
    spec = f"{digits}{style}" if kind.is_floating else ""
    return _each("AsString", partial(_shown, kind.is_bool, spec, width, fill or " "), input)


@kernel
def _shown(is_bool: bool, spec: str, width: int, fill: str, value: Any) -> bytes:
    text = str(value).lower() if is_bool else f"{value:{spec}}" if spec else str(value)
    return (text.rjust(width, fill) if width > 0 else text).encode()


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Convert strings to numbers."""
    dtype = as_dtype(out_type)
    return _each("StringToNumber", partial(_number, dtype.is_integer), input, dtype=dtype)


@kernel
def _number(is_integer: bool, text: bytes) -> Any:
    try:
        return int(text) if is_integer else float(text)
    except ValueError:
        shown = text.decode()
        raise InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {shown}") from None


def _parts(op: str, split: Callable[[bytes], Any], input: Any, dtype: DType = dtypes.string) -> Any:
    """The parts of a string; of several strings, a ragged tensor."""
    text = convert_to_tensor(input)
    if text.shape.rank in (0, None):
        return run_later(op, split, text._value, dtype=dtype, shape=[None])
    if text.shape.rank != 1:
        raise NotImplementedError(f"{op} takes a string, or a list of them, not a tensor of shape {text.shape}")
    return ragged_later(op, partial(_rows_of, split), text._value, dtype)


def _rows_of(split: Callable[[bytes], Any], texts: Any) -> tuple[Any, Any]:
    """The parts of strings, and where those of each begin."""
    rows = [split(each) for each in texts]
    return np.concatenate([*rows, split(b"")[:0]]), np.cumsum([0, *map(len, rows)], dtype=np.int64)


def _array(parts: Sequence[bytes]) -> Any:
    result = np.empty(len(parts), object)
    result[:] = list(parts)
    return result


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Split strings at separators; those of several strings are the rows of a ragged tensor."""
    return _parts("StringSplit", partial(_split, sep.encode() if sep else None, maxsplit), input)


@kernel
def _split(by: bytes | None, most: int, text: bytes) -> Any:
    return _array(text.split(by, most))


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Split strings into bytes."""
    return _parts("StringBytesSplit", _bytes_of, input)


@kernel
def _bytes_of(text: bytes) -> Any:
    return _array([text[at : at + 1] for at in range(len(text))])


def _decoded(text: bytes, encoding: str, errors: str) -> str:
    """The characters of a string.

    Raises:
        InvalidArgumentError: it is not in that encoding, and `errors` is `strict`.
    """
    try:
        return text.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"Invalid formatting on input string: {error}") from None


def unicode_split(input: Any, input_encoding: str, errors: str = "replace", name: str | None = None) -> Any:
    """Split strings into characters."""
    return _parts("UnicodeSplit", partial(_characters_of, input_encoding, errors), input)


@kernel
def _characters_of(encoding: str, errors: str, text: bytes) -> Any:
    return _array([each.encode(encoding) for each in _decoded(text, encoding, errors)])


def unicode_decode(input: Any, input_encoding: str, errors: str = "replace", name: str | None = None) -> Any:
    """The code points of strings."""
    return _parts("UnicodeDecode", partial(_points_of, input_encoding, errors), input, dtypes.int32)


@kernel
def _points_of(encoding: str, errors: str, text: bytes) -> Any:
    return np.array([ord(each) for each in _decoded(text, encoding, errors)], np.int32)


def unicode_encode(input: Any, output_encoding: str, errors: str = "replace", name: str | None = None) -> Tensor:
    """The string of code points."""
    encode = partial(_encoded, output_encoding, errors)
    return run_later("UnicodeEncode", encode, convert_to_tensor(input)._value, dtype=dtypes.string, shape=())


@kernel
def _encoded(encoding: str, errors: str, points: Any) -> bytes:
    return "".join(map(chr, points)).encode(encoding, errors)


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
    fill = partial(_fill, template.split(placeholder))
    return run_later("StringFormat", fill, *values, dtype=dtypes.string, shape=[])


@kernel
def _fill(pieces: list[str], *arrays: Any) -> bytes:
    shown = [np.array2string(each, separator=" ") if np.ndim(each) else str(each) for each in arrays]
    return "".join(piece + text for piece, text in zip(pieces, [*shown, ""])).encode()
