"""`tf.TensorArray`: a list of tensors, written one by one.

Eagerly, it is a list of tensors. In a graph it is a list of their values, its `flow`, and a write gives a new array. If
the loop that is being traced made the old array, the new one takes over its list, so that the loop writes in place; the
old one gets a copy, which is dead code unless it is read. Elsewhere the new array gets the copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, compute, eager, is_proxy, run_later, wrap
from autograph.compat.tensorflow.ops import array_ops, indexing

Items = list[Tensor | None]


class _Values(list[Any]):
    """The values of the tensors in an eager array; keeps the tensors, since tapes know them."""

    def __init__(self, tensors: Items) -> None:
        super().__init__(None if each is None else each._value for each in tensors)
        self.tensors = {id(each._value): each for each in tensors if each is not None}


class TensorArray:
    """A list of tensors. A write returns the changed array; use that one afterwards."""

    def __init__(
        self, dtype: Any, size: Any = 0, dynamic_size: bool = False, clear_after_read: Any = None,
        tensor_array_name: Any = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
        element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None,
    ) -> None:
        self.dtype: DType = as_dtype(dtype)
        self._shape = [TensorShape(element_shape)]  # shared with the arrays that writes return
        self.dynamic_size = dynamic_size
        self.infer_shape = infer_shape
        count = 0 if flow is not None else convert_to_tensor(size)._value
        self._length = None if flow is not None or dynamic_size or is_proxy(count) else int(count)  # None if unknown
        self._flow: Tensor | None = None  # in a graph
        self._items: Items = []  # eagerly
        graph = graphs.current()
        self.depth = 0 if graph is None else graph.trace.depth  # of the branch or loop body that made it
        if isinstance(flow, Tensor) and not is_proxy(flow._value):
            tensors = flow._value.tensors if isinstance(flow._value, _Values) else {}
            self._items = [
                tensors[id(each)] if id(each) in tensors else None if each is None else eager(each, self.dtype)
                for each in flow._value
            ]
        elif flow is not None:
            self._flow = flow
        elif graph is not None:
            self._flow = _variant(_record("mul", [None], count))
        else:
            self._items = [None] * int(count)

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the elements."""
        return self._shape[0]

    @property
    def flow(self) -> Tensor:
        """The array as one tensor of type `variant`, which no other op takes."""
        if self._flow is not None:
            return self._flow
        return _variant(_Values(self._items))

    @property
    def _list(self) -> Any:
        """The proxy of the list in the graph that is being traced."""
        if self._flow is None:  # made eagerly
            self._flow = _variant(_record("list", self.flow._value))
        return self._flow._value

    @property
    def _key_(self) -> Any:
        """The part of signatures that its tensors do not have."""
        return self.element_shape, self.dynamic_size

    def _with(self, flow: Tensor) -> TensorArray:
        result = TensorArray(self.dtype, dynamic_size=self.dynamic_size, flow=flow, infer_shape=self.infer_shape)
        result._length, result._shape = self._length, self._shape
        return result

    def _zero(self) -> Any:
        """The value of an element that was not written: zeros of the static shape."""
        dims = [size or 0 for size in self.element_shape] if self.element_shape.rank is not None else ()
        return np.zeros(tuple(dims), numpy_dtype(self.dtype))

    def _element(self, value: Any, shape: Any = None) -> Tensor:
        tensor = convert_to_tensor(value, dtype_hint=self.dtype)
        if tensor.dtype is not self.dtype:
            written = tensor.dtype.name
            raise ValueError(f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {written}")
        element = tensor.shape if shape is None else shape(tensor.shape)
        if not self.element_shape.is_compatible_with(element):
            raise ValueError(f"Incompatible shape for value ({element}), expected ({self.element_shape})")
        if self.infer_shape:
            self._shape[0] = self.element_shape.merge_with(element)
        return tensor

    def _index(self, index: Any, verb: str) -> Any:
        """Return an index; raises an error when the graph runs, if no element has it."""
        operands = convert_to_tensor(index)._value, _record("len", self._list)
        return run_later("Index", _checked, *operands, verb, self.dynamic_size, dtype=dtypes.int32, shape=())._value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        element = self._element(value)
        if graphs.current() is None:
            at, size = int(index), len(self._items)
            if at < 0 or (at >= size and not self.dynamic_size):
                raise OutOfRangeError(f"Tried to write to index {at} but array is not resizeable and size is: {size}")
            self._items.extend([None] * (at + 1 - size))
            self._items[at] = element
            return self
        at = self._index(index, "modify")
        array = self.apart()
        if self.dynamic_size:
            missing = _record("sub", _record("add", at, 1), _record("len", array._list))
            _record(".extend", array._list, _record("mul", [None], missing))
        _record("setitem", array._list, at, element._value)
        return array

    def apart(self) -> TensorArray:
        """Make an array to write to, so that this one stays as it is."""
        graph = graphs.current()
        if graph is None:
            return self
        own = bool(graph.loops) and self.depth >= graph.loops[-1]
        return self._with(self.hand_on() if own else _variant(_record("list", self._list)))

    def hand_on(self) -> Tensor:
        """Hand the list over to an array that will write to it; this array gets a copy."""
        copy = _variant(_record("list", self._list))
        flow, graph = self.flow, graphs.current()
        if graph is not None and graph.trace.depth:
            graph.trace.undo_log.touch(self)
        self._flow = copy
        return flow

    def read(self, index: Any, name: str | None = None) -> Tensor:
        if graphs.current() is None:
            at, size = int(index), len(self._items)
            if not 0 <= at < size:
                raise OutOfRangeError(f"Tried to read from index {at} but array size is: {size}")
            result = self._items[at]
            return wrap(self._zero(), self.dtype) if result is None else result
        at = self._index(index, "access")
        _record("fill_gap", self._list, at, self._zero())
        return wrap(_record("getitem", self._list, at), self.dtype, self.element_shape, "TensorArrayReadV3")

    def stack(self, name: str | None = None) -> Tensor:
        if graphs.current() is not None:
            result = _record("stack_items", self._list, self._zero())
            return wrap(result, self.dtype, TensorShape([self._length]) + self.element_shape, "TensorArrayV2Stack")
        first = next((each._value for each in self._items if each is not None), self._zero())
        if not self._items:
            return wrap(np.zeros((0, *first.shape), first.dtype), self.dtype)
        return array_ops.stack([np.zeros_like(first) if each is None else each for each in self._items])

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        return indexing.gather(self.stack(), indices)

    def concat(self, name: str | None = None) -> Tensor:
        if graphs.current() is None:
            return array_ops.concat(self._items, 0)
        shape = TensorShape([None]) + self.element_shape[1:] if self.element_shape.rank else TensorShape(None)
        return wrap(_record("np.concatenate", self._list), self.dtype, shape, "TensorArrayConcatV3")

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        tensor = self._element(value, lambda shape: shape[1:] if shape.rank else shape)
        if graphs.current() is not None:
            result = self._with(_variant(_record("list", tensor._value)))
            result._length = tensor.shape[0] if tensor.shape.rank else None
            return result
        self._items = list(array_ops.unstack(tensor))
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of `value` at indices."""
        return self._write_all(zip(array_ops.unstack(indices), array_ops.unstack(value)))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Split `value` into parts of these lengths, and write them."""
        return self._write_all(enumerate(array_ops.split(value, lengths)))

    def _write_all(self, items: Iterable[tuple[Any, Tensor]]) -> TensorArray:
        array = self
        for index, value in items:
            array = array.write(index, value)
        return array

    def size(self, name: str | None = None) -> Tensor:
        if graphs.current() is None:
            return convert_to_tensor(len(self._items))
        return wrap(compute(np.int32, _record("len", self._list)), dtypes.int32, TensorShape([]), "TensorArraySizeV3")

    def identity(self) -> TensorArray:
        return self._with(self.flow)

    def close(self, name: str | None = None) -> None:
        return None

    def __repr__(self) -> str:
        return f"<tf.TensorArray dtype={self.dtype.name} element_shape={self.element_shape}>"


def _children(array: TensorArray) -> dict[str, Tensor]:
    return {f"flow_{array.dtype.name}": array.flow}  # arrays of different types are different structures


pytree.register(TensorArray, _children, lambda array, parts: array._with(parts[0]), ".{}".format)


def own(leaf: Any) -> Any:
    """Copy the list of an array; other tensors are returned as they are."""
    is_list = isinstance(leaf, Tensor) and leaf.dtype is dtypes.variant
    return _variant(_record("list", leaf._value)) if is_list else leaf


def _variant(value: Any) -> Tensor:
    return wrap(value, dtypes.variant, TensorShape([]), "TensorArrayV3")


def _record(op: str, *values: Any) -> Any:
    graph = graphs.recording()
    return graph.trace.record(op, values)


@kernel
def _checked(index: Any, size: int, verb: str, grows: bool) -> Any:
    """Check an index into a list of that size when the graph runs."""
    if index < 0 or (index >= size and not (grows and verb == "modify")):
        raise InvalidArgumentError(f"Trying to {verb} element {index} in a list with {size} elements.")
    return np.int32(index)
