"""Data types: `tf.float32`, `tf.int32` and so on, over those of NumPy; strings are bytes in arrays of objects."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

__all__ = [  # the names of `tf` itself
    "DType", "as_dtype", "bool", "complex64", "complex128", "double", "float16", "float32", "float64", "half",
    "int8", "int16", "int32", "int64", "string", "uint8", "uint16", "uint32", "uint64", "variant",
]  # fmt: skip

_KERNEL_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def _is_of(kinds: str) -> Any:
    """Make a property: whether the elements are of one of these kinds, letters of NumPy."""
    return property(lambda self: self._kind.kind in kinds)


class DType:
    """The type of the elements of a tensor."""

    __slots__ = ("_kind", "name")

    def __init__(self, name: str, kind: np.dtype[Any]) -> None:
        self.name = name
        self._kind = kind

    @property
    def as_numpy_dtype(self) -> Any:
        """The class of NumPy scalars of this type."""
        return self._kind.type

    @property
    def base_dtype(self) -> DType:
        return self

    is_floating, is_integer, is_unsigned = _is_of("f"), _is_of("iu"), _is_of("u")
    is_complex, is_bool = _is_of("c"), _is_of("b")

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        return True

    @property
    def real_dtype(self) -> DType:
        return as_dtype(np.empty(0, self._kind).real.dtype) if self.is_complex else self

    @property
    def size(self) -> int:
        return 1 if self is string else self._kind.itemsize

    @property
    def min(self) -> Any:
        return np.iinfo(self._kind).min if self.is_integer else np.finfo(self._kind).min

    @property
    def max(self) -> Any:
        return np.iinfo(self._kind).max if self.is_integer else np.finfo(self._kind).max

    @property
    def kernel_name(self) -> str:
        """The name of the type in messages of TensorFlow's kernels, such as `float` for float32."""
        return _KERNEL_NAMES.get(self.name, self.name)

    @property
    def as_datatype_enum(self) -> int:
        return _ENUM[self.name]

    def is_compatible_with(self, other: Any) -> builtins.bool:
        return self.__eq__(other)

    def __eq__(self, other: object) -> builtins.bool:
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


float16, float32, float64 = (DType(name, np.dtype(name)) for name in ("float16", "float32", "float64"))
int8, int16, int32, int64 = (DType(name, np.dtype(name)) for name in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (DType(name, np.dtype(name)) for name in ("uint8", "uint16", "uint32", "uint64"))
complex64, complex128 = DType("complex64", np.dtype("complex64")), DType("complex128", np.dtype("complex128"))
bool = DType("bool", np.dtype("bool"))
string = DType("string", np.dtype(object))
variant = DType("variant", np.dtype(object))  # values that only their own ops use, such as tensor arrays
resource = DType("resource", np.dtype(object))
half, double = float16, float64

NUMBERS = (float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128)
ALL = (*NUMBERS, bool, string)
_BY_NAME = {each.name: each for each in (*ALL, variant, resource)}
_BY_NAME |= {"half": half, "float": float32, "double": double}
_BY_NUMPY = {each._kind: each for each in ALL}
_PYTHON = {float: float32, int: int32, builtins.bool: bool, complex: complex128, str: string, bytes: string}
_ENUM = {
    name: number
    for number, name in enumerate(
        "float32 float64 int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 bfloat16 qint16 "
        "quint16 uint16 complex128 float16 resource variant uint32 uint64".split(),
        1,
    )
}


def as_dtype(value: Any) -> DType:
    """The type with that name, or that corresponds to a Python or NumPy type or to an object with a dtype.

    Raises:
        TypeError: no type corresponds to it.
    """
    if isinstance(value, DType):
        return value
    result = _BY_NAME.get(value) if isinstance(value, str) else _PYTHON.get(value) if isinstance(value, type) else None
    if result is None and value is not None:
        try:
            kind = np.dtype(value)
        except TypeError:
            raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.") from None
        result = string if kind.kind in "SU" else _BY_NUMPY.get(kind)
    if result is None:
        raise TypeError(f"Cannot convert {value!r} to a TensorFlow DType.")
    return result


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of the elements."""
    return dtype._kind
