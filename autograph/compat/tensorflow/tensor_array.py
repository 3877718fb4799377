"""`tf.TensorArray`: tensors by number, written one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph import nest
from autograph.compat.tensorflow import dtypes
from autograph.compat.tensorflow.convert import convert_to_tensor
from autograph.compat.tensorflow.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.errors import InvalidArgumentError
from autograph.compat.tensorflow.shapes import TensorShape
from autograph.compat.tensorflow.tensor import Tensor, run_later


class TensorArray:
    """Tensors by number. What writes gives the array as it is then; that one is to be used from then on."""

    def __init__(
        self, dtype: Any, size: Any = 0, dynamic_size: bool = False, clear_after_read: Any = None,
        tensor_array_name: Any = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
        element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None,
    ) -> None:
        self.dtype: DType = as_dtype(dtype)
        self.element_shape = TensorShape(element_shape)
        self.dynamic_size = dynamic_size
        self.flow: Tensor = flow if flow is not None else _later(_new, _size(size))

    def _with(self, flow: Tensor) -> TensorArray:
        return TensorArray(self.dtype, dynamic_size=self.dynamic_size, flow=flow, element_shape=self.element_shape)

    def _given(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, dtype_hint=self.dtype)
        if tensor.dtype is not self.dtype:
            found = tensor.dtype.name
            raise ValueError(f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {found}")
        if self.element_shape.rank is None:
            self.element_shape = tensor.shape
        return tensor

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        given = self._given(value)
        at = convert_to_tensor(index)._value
        return self._with(_later(_write, self.flow._value, at, given._value, self.dynamic_size))

    def read(self, index: Any, name: str | None = None) -> Tensor:
        zero = _zero(self.dtype, self.element_shape)
        value = self.flow._value, convert_to_tensor(index)._value, zero
        return run_later("TensorArrayReadV3", _read, *value, dtype=self.dtype, shape=self.element_shape)

    def stack(self, name: str | None = None) -> Tensor:
        shape = TensorShape([None]) + self.element_shape
        zero = _zero(self.dtype, self.element_shape)
        return run_later("TensorArrayV2Stack", _stack, self.flow._value, zero, dtype=self.dtype, shape=shape)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        return self.stack()[convert_to_tensor(indices)]

    def concat(self, name: str | None = None) -> Tensor:
        shape = TensorShape([None]) + self.element_shape[1:] if self.element_shape.rank else TensorShape(None)
        return run_later("TensorArrayConcatV3", _concat, self.flow._value, dtype=self.dtype, shape=shape)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        tensor = convert_to_tensor(value, dtype_hint=self.dtype)
        self.element_shape = tensor.shape[1:]
        return self._with(_later(list, tensor._value))

    def size(self, name: str | None = None) -> Tensor:
        return run_later("TensorArraySizeV3", _length, self.flow._value, dtype=dtypes.int32, shape=())

    def identity(self) -> TensorArray:
        return self._with(self.flow)

    def close(self, name: str | None = None) -> None:
        return None

    def __repr__(self) -> str:
        return f"<tf.TensorArray dtype={self.dtype.name} element_shape={self.element_shape}>"


nest.register(TensorArray, lambda array: {"flow": array.flow}, lambda array, parts: array._with(parts[0]), ".{}".format)


def _later(function: Any, *values: Any) -> Tensor:
    return run_later("TensorArrayV3", function, *values, dtype=dtypes.variant, shape=())


def _size(size: Any) -> Any:
    return convert_to_tensor(size)._value


def _zero(dtype: DType, shape: TensorShape) -> Any:
    """What an element is that nobody wrote, as far as its shape is known."""
    return np.zeros(tuple(size or 0 for size in shape) if shape.rank is not None else (), numpy_dtype(dtype))


# When it runs, it is a list.


def _new(size: Any) -> list[Any]:
    return [None] * int(size)


def _write(items: list[Any], index: Any, value: Any, grows: bool) -> list[Any]:
    if index >= len(items) and not grows:
        raise InvalidArgumentError(
            f"Tried to write to index {index} but array is not resizeable and size is: {len(items)}"
        )
    items.extend([None] * (int(index) + 1 - len(items)))
    items[int(index)] = value
    return items


def _read(items: list[Any], index: Any, zero: Any) -> Any:
    if not 0 <= index < len(items):
        raise InvalidArgumentError(f"Tried to read from index {index} but array size is: {len(items)}")
    found = items[int(index)]
    return zero if found is None else found


def _stack(items: list[Any], zero: Any) -> Any:
    if not items:
        return np.zeros((0, *zero.shape), zero.dtype)
    known = next((item for item in items if item is not None), zero)
    return np.stack([np.zeros_like(known) if item is None else item for item in items])


def _concat(items: list[Any]) -> Any:
    return np.concatenate(items)


def _length(items: list[Any]) -> Any:
    return np.int32(len(items))


