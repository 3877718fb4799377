"""`tf.RaggedTensor` and `tf.ragged`: rows of different lengths."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, type_of, wrap
from autograph.compat.tensorflow.ops import array_ops
from autograph.compat.tensorflow.staging.loops import Items
from autograph.runtime.graph.effects import tame
from autograph.runtime.tracing.proxies.proxy import unpack


class RaggedTensor:
    """Rows of different lengths: row `i` is `values[row_splits[i] : row_splits[i + 1]]`."""

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values: Tensor = values
        self.row_splits: Tensor = row_splits

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        splits = self.row_splits.shape
        rows = splits[0] - 1 if splits.rank and splits[0] is not None else None
        return TensorShape([rows, None])

    def nrows(self) -> Tensor:
        return array_ops.size(self.row_splits) - 1

    def row_lengths(self) -> Tensor:
        return self.row_splits[1:] - self.row_splits[:-1]

    def to_list(self) -> list[Any]:
        return [row.numpy().tolist() for row in self]

    def __getitem__(self, index: Any) -> Tensor:
        return self.values[self.row_splits[index] : self.row_splits[index + 1]]

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __iter__(self) -> Iterator[Tensor]:
        return (self[row] for row in range(len(self)))

    def _items_(self, graph: graphs.FuncGraph) -> Items:
        source = graph.trace.record("call", (_rows, self.values._value, self.row_splits._value))
        shape = TensorShape([None])
        build = lambda params: wrap(params[0], self.dtype, shape)  # noqa: E731
        return Items(source, build, [type_of(self.dtype, shape)])

    def __repr__(self) -> str:
        if isinstance(self.values, Tensor) and self.values._graph is None:
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self.values}, row_splits={self.row_splits})"


pytree.register(
    RaggedTensor,
    lambda ragged: {"values": ragged.values, "row_splits": ragged.row_splits},
    lambda old, parts: RaggedTensor(*parts),
    ".{}".format,
)


def ragged_later(op: str, function: Callable[[Any], tuple[Any, Any]], value: Any, dtype: DType) -> RaggedTensor:
    """Call a function that gives values and row splits when the graph runs, or now if none is traced."""
    graph = graphs.current()
    if graph is None:
        parts: Sequence[Any] = function(value)
    else:
        parts = unpack(graph.trace, graph.trace.record("call", (tame(function), value)), 2)
    values, splits = (wrap(part, kind, TensorShape([None]), op) for part, kind in zip(parts, (dtype, dtypes.int64)))
    return RaggedTensor(values, splits)


@kernel
def _rows(values: Any, splits: Any) -> Iterator[Any]:
    return (values[begin:end] for begin, end in itertools.pairwise(splits))


def constant(pylist: Any, dtype: Any = None, ragged_rank: Any = None, name: str | None = None) -> RaggedTensor:
    """Make a ragged tensor of a list of lists."""
    flat = [each for row in pylist for each in row]
    values = convert_to_tensor(flat, None if dtype is None else as_dtype(dtype))
    return RaggedTensor(values, convert_to_tensor(np.cumsum([0, *map(len, pylist)]), dtypes.int64))
