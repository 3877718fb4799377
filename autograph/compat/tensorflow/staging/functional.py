"""Functions over the rows of tensors: `tf.map_fn`, `tf.scan`, `tf.foldl`, `tf.vectorized_map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_leaves, convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.ops import array_ops
from autograph.compat.tensorflow.ops.tensor_array import TensorArray
from autograph.compat.tensorflow.staging.control import while_loop
from autograph.compat.tensorflow.staging.tracing import call


class _Rows:
    """The rows of all tensors in a structure, in the order in which a function gets them.

    Attributes:
        count: the number of rows, as a tensor; `length` is the same number, or None if only the graph knows it.
    """

    def __init__(self, elems: Any, reverse: bool = False) -> None:
        self._tensors = convert_leaves(elems)
        self._reverse = reverse
        first = pytree.flatten(self._tensors)[0]
        if first.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        self.length = first.shape[0] if first.shape.rank is not None else None
        self.count = array_ops.shape(first)[0] if self.length is None else convert_to_tensor(self.length)

    def place(self, number: Any) -> Any:
        """The place of a row in the tensors."""
        return self.count - 1 - number if self._reverse else number

    def __getitem__(self, number: Any) -> Any:
        return pytree.map(lambda tensor: tensor[self.place(number)], self._tensors)

    @property
    def dtypes(self) -> Any:
        return pytree.map(lambda tensor: tensor.dtype, self._tensors)


class _Written:
    """Arrays in which a row is written in each iteration."""

    def __init__(self, structure: Any, rows: _Rows) -> None:
        self._structure = structure
        self._rows = rows
        self.arrays = [self._array(leaf) for leaf in pytree.flatten(structure)]

    def _array(self, leaf: Any) -> TensorArray:
        is_tensor = isinstance(leaf, (TensorSpec, Tensor))
        dtype, shape = (leaf.dtype, leaf.shape) if is_tensor else (as_dtype(leaf), None)
        return TensorArray(dtype, self._rows.count, element_shape=shape)

    def write(self, arrays: Any, number: Any, value: Any) -> list[TensorArray]:
        pytree.assert_same_structure(self._structure, value)
        at = self._rows.place(number)
        return [array.write(at, part) for array, part in zip(arrays, pytree.flatten(value))]

    def stacked(self, arrays: Any) -> Any:
        found = [array.stack() for array in arrays]
        for tensor, array in zip(found, arrays):
            tensor.set_shape(TensorShape([self._rows.length]) + array.element_shape)
        return pytree.pack(self._structure, found)


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as converted code would call it."""
    return function if graphs.current() is None else lambda *args: call(function, args, {})


def map_fn(
    fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: Any = None, back_prop: Any = True,
    swap_memory: bool = False, infer_shape: bool = True, name: str | None = None, fn_output_signature: Any = None,
) -> Any:
    """Apply a function to each row, and stack the results.

    Args:
        fn_output_signature: the dtypes or `TensorSpec`s of the results of `fn`, if they differ from those of `elems`.
    """
    rows = _Rows(elems)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    written = _Written(rows.dtypes if signature is None else signature, rows)
    return _mapped(_called(fn), rows, written, (0, written.arrays))


def _mapped(function: Callable[..., Any], rows: _Rows, written: _Written, begin: Any) -> Any:
    def iteration(number: Tensor, arrays: Any) -> Any:
        return number + 1, written.write(arrays, number, function(rows[number]))

    return written.stacked(while_loop(lambda number, _: number < rows.count, iteration, begin)[1])


def vectorized_map(
    fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Apply a function to each row, by a loop, and stack the results."""
    rows, function = _Rows(elems), _called(fn)
    first = convert_leaves(function(rows[0]))
    written = _Written(first, rows)
    return _mapped(function, rows, written, (1, written.write(written.arrays, 0, first)))


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Apply a function to its last result and the next row, from `initializer` or the first row on; stack all."""
    rows, function = _Rows(elems, reverse), _called(fn)
    begin, first = _begin(rows, initializer)
    written = _Written(first, rows)
    arrays = written.write(written.arrays, 0, first) if begin else written.arrays

    def iteration(number: Tensor, state: Any, arrays: Any) -> Any:
        state = function(state, rows[number])
        return number + 1, state, written.write(arrays, number, state)

    found = while_loop(lambda number, *_: number < rows.count, iteration, (begin, first, arrays))
    return written.stacked(found[2])


def _begin(rows: _Rows, initializer: Any) -> tuple[int, Any]:
    """The number of the row that a loop begins with, and the state before it."""
    begin = 0 if initializer is not None else 1
    return begin, convert_leaves(rows[0] if begin else initializer)


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:
    """The last result of a function of its last result and the next row."""
    return _fold(fn, elems, initializer, False)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:
    """`foldl` from the last row to the first."""
    return _fold(fn, elems, initializer, True)


def _fold(fn: Callable[..., Any], elems: Any, initializer: Any, reverse: bool) -> Any:
    rows, function = _Rows(elems, reverse), _called(fn)

    def iteration(number: Tensor, state: Any) -> Any:
        return number + 1, function(state, rows[number])

    return while_loop(lambda number, _: number < rows.count, iteration, _begin(rows, initializer))[1]
