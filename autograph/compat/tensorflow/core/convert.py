"""Conversion of values to tensors, `tf.convert_to_tensor`, and of the operands of an op to one type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, apply, in_scope, wrap

_NUMBERS = (bool, int, float, complex)
_DEFAULTS = {"i": dtypes.int32, "f": dtypes.float32, "c": dtypes.complex128, "b": dtypes.bool}


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Tensor:
    """Convert `value` to a tensor.

    Raises:
        ValueError: no tensor can hold it, or it is a tensor of another type than `dtype`.
        TypeError: it cannot be of that type.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if hasattr(value, "__array__") and not isinstance(value, (Tensor, np.ndarray, np.generic)):
        value = np.asarray(value)  # a column of pandas, for example
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype is not wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return symbolic(value)
    if wanted is None and dtype_hint is not None and _adopts(value, as_dtype(dtype_hint)):
        wanted = as_dtype(dtype_hint)
    if isinstance(value, (list, tuple)) and _holds_tensors(value):
        return _packed(value, wanted)
    return wrap(_array(value, wanted), wanted or _dtype_of(value), name=name or "Const")


def convert_leaves(structure: Any) -> Any:
    """A structure with its leaves as tensors."""
    return convert_to_tensor(structure) if is_convertible(structure) else pytree.map(convert_to_tensor, structure)


def symbolic(value: Tensor) -> Tensor:
    """Bring a tensor into the graph that is being traced, if there is one."""
    graph = graphs.current()
    in_scope(value)
    if graph is None:
        return value
    if id(value) in graph.stand_ins:
        stand_in: Tensor = graph.stand_ins[id(value)][1]
        return stand_in
    if value._graph is graph:
        return value
    return Tensor(value._value, value.dtype, value.shape, graph, graph.unique_name("Const"))


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """Make a tensor of a fixed value.

    Args:
        shape: of the tensor: a single number fills it, other values are reshaped to it.
    """
    if isinstance(value, (Tensor, list, tuple)) and _holds_tensors(value):
        return convert_to_tensor(value, dtype)
    wanted = None if dtype is None else as_dtype(dtype)
    array = _array(value, wanted)
    if shape is not None:
        array = np.asarray(array)
        dims = tuple(TensorShape(shape))
        count = math.prod(size or 0 for size in dims)
        if array.size not in (1, count):
            raise TypeError(
                f"Eager execution of tf.constant with unsupported shape. Tensor {value!r} has {array.size} elements, "
                f"but got `shape` {dims} with {count} elements."
            )
        array = np.full(dims, array) if array.size == 1 else array.reshape(dims)
    return wrap(array, wanted or _dtype_of(value), name=name)


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor, or a variable."""
    return isinstance(value, Tensor) or hasattr(value, "_as_tensor")


def is_convertible(value: Any) -> bool:
    """Whether a leaf of a structure can become a tensor."""
    return is_tensor(value) or isinstance(value, (*_NUMBERS, str, bytes, np.ndarray, np.generic))


def _leaves(value: Any) -> Iterator[Any]:
    """The items of lists and tuples within a value; the value itself, if it is none."""
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _holds_tensors(value: Any) -> bool:
    return any(map(is_tensor, _leaves(value)))


def _packed(parts: Any, wanted: DType | None) -> Tensor:
    """Stack a list that contains tensors; all items get the type `wanted`, or that of the first tensor."""
    kind = wanted or next(filter(is_tensor, _leaves(parts))).dtype

    def stacked(value: Any) -> Tensor:
        if isinstance(value, (list, tuple)):
            inside = [stacked(part) for part in value]
            return apply("stack", lambda *values: np.stack(values), *inside, dtype=kind)
        return with_dtype(convert_to_tensor(value) if wanted else strictly(value, kind), kind)

    return stacked(parts)


def with_dtype(tensor: Tensor, dtype: DType) -> Tensor:
    """Convert a tensor of numbers to another type."""
    if tensor.dtype is dtype:
        return tensor
    return apply("Cast", lambda x: x.astype(numpy_dtype(dtype)), tensor, dtype=dtype)


def _array(value: Any, wanted: DType | None) -> Any:
    """Convert a Python or NumPy value to an array that tensors of the type `wanted` can hold."""
    if isinstance(value, TensorShape):
        value = value.as_list()
    if isinstance(value, (str, bytes)):
        if wanted is not None and wanted is not dtypes.string:
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")
        return value.encode() if isinstance(value, str) else value
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    if array.dtype.kind in "SU" or (array.dtype == object and _holds_texts(array)):
        whole = array if isinstance(value, np.ndarray) else np.asarray(value, object)  # keeps zeros at the end
        texts = [each if isinstance(each, bytes) else str(each).encode() for each in whole.ravel().tolist()]
        return np.array(texts, object).reshape(array.shape)
    if array.dtype.kind not in "biufc" and not (array.dtype == object and wanted is dtypes.string):
        kind = type(value)
        raise ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({kind}) to a Tensor.")
    if wanted is None or isinstance(value, (np.ndarray, np.generic)):
        return array
    if array.size and not _may_become(array.dtype.kind, wanted):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")
    return array


def _holds_texts(array: Any) -> bool:
    return array.size > 0 and all(isinstance(each, (str, bytes)) for each in array.ravel().tolist())


def _may_become(kind: str, wanted: DType) -> bool:
    """Whether Python numbers of a kind can become a type: numbers do not become bools, nor floats integers."""
    if wanted is dtypes.string or wanted.is_bool:
        return kind == "b" and wanted.is_bool
    if kind == "b" or (kind == "i" and wanted.is_integer):
        return True
    return "iufc".index(kind) <= "iufc".index(numpy_dtype(wanted).kind)


def _dtype_of(value: Any) -> DType | None:
    """The default type of a value that is converted; None to keep the type of NumPy."""
    if isinstance(value, (str, bytes)):
        return dtypes.string
    if isinstance(value, (np.ndarray, np.generic)):
        return dtypes.string if value.dtype.kind in "SUO" else None
    if isinstance(value, TensorShape):
        return dtypes.int32
    leaves = list(_leaves(value))
    if any(isinstance(leaf, (np.ndarray, np.generic)) for leaf in leaves):
        return None
    texts = [isinstance(leaf, (str, bytes)) for leaf in leaves]
    if any(texts):
        if not all(texts):
            raise ValueError(f"Can't convert Python sequence with mixed types to Tensor: {value!r}")
        return dtypes.string
    array = np.asarray(value)
    if array.dtype.kind in "iu" and array.size and (array.max() > dtypes.int32.max or array.min() < dtypes.int32.min):
        return dtypes.int64
    return _DEFAULTS.get(array.dtype.kind)


_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}  # of the kinds of numbers: one adopts kinds of higher rank


def _adopts(value: Any, hint: DType) -> bool:
    """Whether a value that is no tensor may adopt the type of the other operand, as 1 adopts float32."""
    leaves = list(_leaves(value))
    if any(not isinstance(leaf, (*_NUMBERS, str, bytes, np.ndarray, np.generic)) for leaf in leaves):
        return False
    if hint is dtypes.string:
        return all(isinstance(leaf, (str, bytes)) or np.asarray(leaf).dtype.kind in "SUO" for leaf in leaves)
    highest = _RANKS.get(numpy_dtype(hint).kind, -1)
    return all(_RANKS.get(np.asarray(leaf).dtype.kind, 4) <= highest for leaf in leaves)


def matched(op: str, *values: Any, promote: bool = True) -> list[Tensor]:
    """Convert the operands of an op to tensors of one type: other values adopt the type of the first tensor.

    Args:
        promote: whether Python numbers of several types become tensors of the widest, if no operand is a tensor.

    Raises:
        InvalidArgumentError: they are of different types; TypeError in a graph.
        TypeError: another value cannot adopt that type.
    """
    hint = next((value.dtype for value in values if is_tensor(value)), None)
    if hint is None and promote:
        hint = _dtype_of(list(values)) if all(isinstance(value, _NUMBERS) for value in values) else None
    tensors: list[Tensor] = []
    for value in values:
        tensors.append(convert_to_tensor(value, dtype_hint=hint) if promote else strictly(value, hint))
        hint = hint or tensors[0].dtype
    check_same_dtype(op, tensors)
    return tensors


def strictly(value: Any, dtype: DType | None) -> Tensor:
    """Convert a value that is no tensor to a tensor of that type; tensors keep theirs."""
    if dtype is None or value is None or is_tensor(value) or _adopts(value, dtype) or _holds_tensors(value):
        return convert_to_tensor(value, dtype_hint=dtype)
    raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")


def allow(op: str, tensor: Tensor, kinds: str) -> Tensor:
    """Return a tensor whose type is of one of these kinds, letters of NumPy (`O` for strings).

    Raises:
        InvalidArgumentError: it is of another type; TypeError in a graph.
    """
    if numpy_dtype(tensor.dtype).kind in kinds:
        return tensor
    listed = [each for each in dtypes.ALL if numpy_dtype(each).kind in kinds]
    if graphs.current() is not None:
        raise TypeError(
            f"Value passed to parameter 'x' has DataType {tensor.dtype.name} not in list of allowed values: "
            + ", ".join(each.name for each in listed)
        )
    raise InvalidArgumentError(
        f"Value for attr 'T' of {tensor.dtype.kernel_name} is not in the list of allowed values: "
        + ", ".join(each.kernel_name for each in listed)
        + f" [Op:{op}]"
    )


def operand(op: str, value: Any, kinds: str) -> Tensor:
    """Convert the operand of an op to a tensor of one of these kinds. An op on bools converts nothing else to bools.

    Raises:
        InvalidArgumentError: it is of another type; TypeError in a graph, or if a Python value is no bool.
    """
    return allow(op, strictly(value, dtypes.bool if kinds == "b" else None), kinds)


def apply_op(
    op: str, function: Callable[..., Any], *values: Any, dtype: DType | None = None, promote: bool = True
) -> Tensor:
    """Convert the operands of an op to tensors of one type, and compute or record the op.

    Args:
        function: of NumPy arrays, see `apply`.
        dtype: of the result; by default that of the operands.
        promote: see `matched`.
    """
    tensors = matched(op, *values, promote=promote) if len(values) > 1 else [convert_to_tensor(values[0])]
    return apply(op, function, *tensors, dtype=dtype)


def check_same_dtype(op: str, tensors: list[Tensor]) -> None:
    """Raise an error unless all tensors have the type of the first."""
    first = tensors[0].dtype
    for number, each in enumerate(tensors):
        if each.dtype is first:
            continue
        if graphs.current() is not None:
            raise TypeError(
                f"Input 'y' of '{op}' Op has type {each.dtype.name} that does not match type {first.name} of argument "
                "'x'."
            )
        raise InvalidArgumentError(
            f"cannot compute {op} as input #{number}(zero-based) was expected to be a {first.kernel_name} tensor "
            f"but is a {each.dtype.kernel_name} tensor [Op:{op}]"
        )
