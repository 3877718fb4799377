"""`tf.SparseTensor` and `tf.sparse`: tensors that store their nonzero elements only."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, numpy_dtype
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, compute, is_proxy, run_later, wrap
from autograph.compat.tensorflow.ops import array_ops, indexing


class SparseTensor:
    """A tensor whose elements are zero, except `values[i]` at row `i` of `indices`."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = convert_to_tensor(indices, dtype_hint=dtypes.int64)
        self.values = convert_to_tensor(values)
        self.dense_shape = convert_to_tensor(dense_shape, dtype_hint=dtypes.int64)

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        dims = self.dense_shape._value
        return TensorShape(None) if is_proxy(dims) else TensorShape(dims)

    @property
    def value_type(self) -> type[SparseTensor]:
        """The class, of the tensors that this describes, if it holds specs."""
        return SparseTensor

    def get_shape(self) -> TensorShape:
        return self.shape

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices}, values={self.values}, dense_shape={self.dense_shape})"


def _rebuilt(old: SparseTensor, parts: list[Any]) -> SparseTensor:
    new = SparseTensor.__new__(SparseTensor)
    new.indices, new.values, new.dense_shape = parts
    return new


pytree.register(
    SparseTensor,
    lambda sparse: {"indices": sparse.indices, "values": sparse.values, "dense_shape": sparse.dense_shape},
    _rebuilt,
    ".{}".format,
)


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """Make a sparse tensor of the nonzero elements of a tensor."""
    tensor = convert_to_tensor(tensor)
    where = indexing.where(tensor != 0)
    return SparseTensor(where, indexing.gather_nd(tensor, where), array_ops.shape(tensor, dtypes.int64))


def to_dense(sp_input: SparseTensor, default_value: Any = None, name: str | None = None) -> Tensor:
    """Make a tensor with all elements; the missing ones are `default_value`, or zero."""
    dense = partial(_dense, numpy_dtype(sp_input.dtype), default_value or 0)
    parts = [each._value for each in (sp_input.indices, sp_input.values, sp_input.dense_shape)]
    return run_later("SparseToDense", dense, *parts, dtype=sp_input.dtype, shape=sp_input.shape)


@kernel
def _dense(kind: Any, missing: Any, indices: Any, values: Any, shape: Any) -> Any:
    """An array of the kind with values in places, and another one in the rest."""
    result = np.full(shape, missing, kind)
    result[tuple(indices.T)] = values
    return result


def expand_dims(sp_input: SparseTensor, axis: Any = -1, name: str | None = None) -> SparseTensor:
    """Insert a dimension of length 1."""

    def inserted(of: Tensor, value: int, along: int) -> Tensor:
        at = axis if axis >= 0 else None if axis == -1 else axis + 1

        def insert(x: Any) -> Any:
            return compute(_insert, x, at, value, along)

        result = insert(of._value)
        shape = TensorShape(None) if is_proxy(result) else None
        return wrap(result, of.dtype, shape, "SparseReshape")

    return _rebuilt(sp_input, [inserted(sp_input.indices, 0, 1), sp_input.values, inserted(sp_input.dense_shape, 1, 0)])


@kernel
def _insert(values: Any, at: int | None, value: int, along: int) -> Any:
    return np.insert(values, values.shape[along] if at is None else at, value, axis=along)
