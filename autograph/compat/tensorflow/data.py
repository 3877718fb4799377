"""`tf.data`: datasets, and iterators over them, eager and in staged loops.

A dataset makes iterators over rows: tuples of NumPy values, the leaves of an element. Its specs say how to build the
element from them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor, type_of, wrap
from autograph.compat.tensorflow.staging.function import function
from autograph.compat.tensorflow.staging.loops import Items
from autograph.runtime.tracing.proxies.proxy import unpack

AUTOTUNE = -1
Row = tuple[Any, ...]


def tensors_of(spec: Any, row: Iterable[Any]) -> Any:
    """Build the element of a row."""
    values = iter(row)
    return pytree.map(lambda leaf: wrap(next(values), leaf.dtype, leaf.shape, "IteratorGetNext"), spec)


def row_of(element: Any) -> Row:
    return tuple(convert_to_tensor(leaf)._value for leaf in pytree.flatten(element))


def items_of(source: Any, spec: Any, strict: bool) -> Items:
    types = [type_of(leaf.dtype, leaf.shape) for leaf in pytree.flatten(spec)]
    build = lambda params: tensors_of(spec, params)  # noqa: E731
    return Items(source, build, types, is_dataset=True, strict_shapes=strict)


class Rows:
    """The iterable that a graph gets for a dataset: rows, or values if each row has only one."""

    def __init__(self, make: Callable[[], Iterator[Row]], single: bool) -> None:
        self.make = make
        self.single = single

    def __iter__(self) -> Iterator[Any]:
        rows = self.make()
        return (row[0] for row in rows) if self.single else rows


class DatasetIterator:
    """Iterates over a dataset: eagerly, or when the graph runs, if the iterator was made in a graph."""

    def __init__(self, source: Any, spec: Any) -> None:
        self._source = source
        self.element_spec = spec

    def __iter__(self) -> DatasetIterator:
        return self

    def _iter_(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        return self.get_next()

    def _next_(self, *default: Any) -> Any:
        return self.get_next()

    def get_next(self) -> Any:
        graph = graphs.current()
        if graph is None:
            result = next(self._source)
            return tensors_of(self.element_spec, result if pytree.is_nested(self.element_spec) else (result,))
        result = graph.trace.record("call", (_next, self._source))
        kinds = pytree.flatten(self.element_spec)
        if not pytree.is_nested(self.element_spec):
            return wrap(result, kinds[0].dtype, kinds[0].shape, "IteratorGetNext")
        return tensors_of(self.element_spec, unpack(graph.trace, result, len(kinds)))

    def get_next_as_optional(self) -> Any:
        raise NotImplementedError("optional values of iterators are not there: catch the end of the iteration instead")

    def _items_(self, graph: graphs.FuncGraph) -> Items:
        return items_of(self._source, self.element_spec, strict=True)


def _next(source: Iterator[Any]) -> Any:
    try:
        return next(source)
    except StopIteration:
        raise OutOfRangeError("End of sequence") from None


def _specs_of(element: Any) -> Any:
    return pytree.map(lambda leaf: TensorSpec(leaf.shape, leaf.dtype), element)


class Dataset:
    """A sequence of elements: structures of tensors.

    Attributes:
        strict_shapes: whether loops over it may not change the shapes of variables.
    """

    strict_shapes = False

    def __init__(self, make: Callable[[], Iterator[Row]], spec: Any, length: int = -2) -> None:
        self._make = make
        self.element_spec = spec
        self._length = length  # -1 if it is infinite, -2 if it is unknown

    # Making datasets --------------------------------------------------------------------------------------------------

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, **_: Any) -> Dataset:
        numbers = np.arange(*(int(each) for each in args), dtype=as_dtype(output_type).as_numpy_dtype)
        return Dataset(lambda: ((each,) for each in numbers), TensorSpec((), output_type), len(numbers))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        element = _eagerly(lambda: pytree.map(convert_to_tensor, tensors))
        return Dataset(lambda: iter([row_of(element)]), _specs_of(element), 1)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        whole = _eagerly(lambda: _converted(tensors))
        if any(leaf.shape.rank == 0 for leaf in pytree.flatten(whole)):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        columns = [leaf._value for leaf in pytree.flatten(whole)]
        lengths = {len(column) for column in columns}
        if len(lengths) != 1:
            raise ValueError(f"Dimensions {sorted(lengths)} are not compatible")
        spec = pytree.map(lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), whole)
        return Dataset(lambda: zip(*columns), spec, lengths.pop())

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None, args: Any = (),
        output_signature: Any = None, name: str | None = None,
    ) -> Dataset:
        spec = output_signature
        if spec is None:
            shapes = pytree.map(lambda _: None, output_types) if output_shapes is None else output_shapes
            flat = iter([shapes] if not pytree.is_nested(output_types) else shapes)
            spec = pytree.map(lambda kind: TensorSpec(next(flat), kind), output_types)

        def rows() -> Iterator[Row]:
            kinds = [leaf.dtype for leaf in pytree.flatten(spec)]
            for element in generator(*args):
                leaves = pytree.flatten(element) if pytree.is_nested(spec) else [element]
                yield tuple(convert_to_tensor(leaf, kind)._value for leaf, kind in zip(leaves, kinds))

        return Dataset(rows, spec)

    @staticmethod
    def zip(*datasets: Any, **named: Any) -> Dataset:
        parts = datasets[0] if len(datasets) == 1 and not isinstance(datasets[0], Dataset) else datasets
        flat = pytree.flatten(parts)
        spec = pytree.map(lambda each: each.element_spec, parts)
        lengths = [each._length for each in flat if each._length >= 0]
        rows = lambda: (sum(row, ()) for row in zip(*(each._make() for each in flat)))  # noqa: E731
        return Dataset(rows, spec, min(lengths) if lengths else -2)

    # Transforming datasets --------------------------------------------------------------------------------------------

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: Any = None,
            name: str | None = None) -> Dataset:  # fmt: skip
        concrete, call = self._function(map_func)
        spec = concrete.structured_outputs
        return Dataset(lambda: (row_of(call(row)) for row in self._make()), spec, self._length)

    def _function(self, python_function: Callable[..., Any]) -> tuple[Any, Callable[[Row], Any]]:
        """Trace a function of the elements; also returns a function that calls the result with a row."""
        staged = function(python_function)
        specs = self.element_spec if type(self.element_spec) is tuple else (self.element_spec,)
        concrete = _eagerly(lambda: staged.get_concrete_function(*specs))
        return concrete, lambda row: self._call(concrete, row)

    def _call(self, function: Callable[..., Any], row: Row) -> Any:
        """Call a function with the element of a row; a tuple gives several arguments."""
        element = tensors_of(self.element_spec, row)
        return _eagerly(lambda: function(*element) if type(self.element_spec) is tuple else function(element))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        _, call = self._function(predicate)
        return Dataset(lambda: (row for row in self._make() if call(row)), self.element_spec)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        _, call = self._function(predicate)
        return Dataset(lambda: itertools.takewhile(call, self._make()), self.element_spec)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Concatenate the datasets that a function returns for the elements."""
        first = next(iter(self._make()), None)
        if first is None:
            return self
        spec = self._call(map_func, first).element_spec
        return Dataset(lambda: (inner for row in self._make() for inner in self._call(map_func, row)._make()), spec)

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The outputs of a function that takes a state and an element, and returns the next state and an output."""
        staged = function(scan_func)
        begin = _eagerly(lambda: pytree.map(convert_to_tensor, initial_state))
        concrete = _eagerly(lambda: staged.get_concrete_function(_specs_of(begin), self.element_spec))

        def rows() -> Iterator[Row]:
            state = begin
            for row in self._make():
                element = tensors_of(self.element_spec, row)
                state, result = _eagerly(lambda: staged(state, element))  # noqa: B023
                yield row_of(result)

        return Dataset(rows, concrete.structured_outputs[1], self._length)

    def unique(self, name: str | None = None) -> Dataset:
        """Drop elements that are equal to earlier ones."""

        def rows() -> Iterator[Row]:
            keys = set()
            for row in self._make():
                key = tuple(np.asarray(value).tobytes() if not isinstance(value, bytes) else value for value in row)
                if key not in keys:
                    keys.add(key)
                    yield row

        return Dataset(rows, self.element_spec)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element.

        Raises:
            InvalidArgumentError: there is none, or there are several.
        """
        result = list(itertools.islice(self._make(), 2))
        if len(result) != 1:
            raise InvalidArgumentError(f"Dataset was {'empty' if not result else 'of more than one element'}.")
        return tensors_of(self.element_spec, result[0])

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Keep every `num_shards`-th element, beginning with number `index`."""
        return Dataset(lambda: itertools.islice(self._make(), int(index), None, int(num_shards)), self.element_spec)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        state = pytree.map(convert_to_tensor, initial_state)
        staged = function(reduce_func)
        for element in self:
            state = staged(state, element)
        return state

    def batch(self, batch_size: Any, drop_remainder: bool = False, **_: Any) -> Dataset:
        size = int(batch_size)

        def rows() -> Iterator[Row]:
            source = self._make()
            while group := list(itertools.islice(source, size)):
                if len(group) == size or not drop_remainder:
                    yield tuple(np.stack(column) for column in zip(*group))

        whole = drop_remainder or (self._length >= 0 and self._length % size == 0)
        first = TensorShape([size if drop_remainder else None])
        spec = pytree.map(lambda leaf: TensorSpec(first + leaf.shape, leaf.dtype), self.element_spec)
        count = self._length // size if whole else -(-self._length // size)
        return Dataset(rows, spec, count if self._length >= 0 else self._length)

    def unbatch(self, name: str | None = None) -> Dataset:
        spec = pytree.map(lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), self.element_spec)
        return Dataset(lambda: (inner for row in self._make() for inner in zip(*row)), spec)

    def shuffle(self, buffer_size: Any, seed: int | None = None, reshuffle_each_iteration: bool = True,
                name: str | None = None) -> Dataset:  # fmt: skip
        generator = np.random.default_rng(seed)

        def rows() -> Iterator[Row]:
            draw = generator if reshuffle_each_iteration else np.random.default_rng(seed)
            buffer: list[Row] = []
            for row in self._make():
                buffer.append(row)
                if len(buffer) > int(buffer_size):
                    yield buffer.pop(int(draw.integers(len(buffer))))
            while buffer:
                yield buffer.pop(int(draw.integers(len(buffer))))

        return Dataset(rows, self.element_spec, self._length)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        endless = count is None or int(count) < 0

        def rows() -> Iterator[Row]:
            for _ in itertools.count() if endless else itertools.repeat(None, int(count)):
                yield from self._make()

        length = -1 if endless else self._length * int(count) if self._length >= 0 else self._length
        return Dataset(rows, self.element_spec, length)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        if int(count) < 0:
            return self
        length = min(int(count), self._length) if self._length >= 0 else int(count) if self._length == -1 else -2
        return Dataset(lambda: itertools.islice(self._make(), int(count)), self.element_spec, length)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        length = max(self._length - int(count), 0) if self._length >= 0 else self._length
        return Dataset(lambda: itertools.islice(self._make(), int(count), None), self.element_spec, length)

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        rows = lambda: ((np.int64(number), *row) for number, row in enumerate(self._make(), start))  # noqa: E731
        return Dataset(rows, (TensorSpec((), dtypes.int64), self.element_spec), self._length)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        length = self._length + dataset._length if min(self._length, dataset._length) >= 0 else -2
        return Dataset(lambda: itertools.chain(self._make(), dataset._make()), self.element_spec, length)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        cached: list[Row] = []

        def rows() -> Iterator[Row]:
            if not cached:
                cached.extend(self._make())
            return iter(cached)

        return Dataset(rows, self.element_spec, self._length)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        return self

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        return self

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        return transformation_func(self)

    # Reading datasets -------------------------------------------------------------------------------------------------

    def cardinality(self) -> Tensor:
        return convert_to_tensor(np.int64(self._length))

    def __len__(self) -> int:
        if self._length < 0:
            raise TypeError("The dataset is infinite." if self._length == -1 else "The dataset length is unknown.")
        return self._length

    def __bool__(self) -> bool:
        return True

    def as_numpy_iterator(self) -> Iterator[Any]:
        return (pytree.map(lambda leaf: leaf.numpy(), element) for element in self)

    @property
    def rows(self) -> Rows:
        return Rows(self._make, not pytree.is_nested(self.element_spec))

    def __iter__(self) -> DatasetIterator:
        return self._iter_()

    def _iter_(self) -> DatasetIterator:
        graph = graphs.current()
        if graph is None:
            return DatasetIterator(iter(self.rows), self.element_spec)
        return DatasetIterator(graph.trace.record("call", (iter, self.rows)), self.element_spec)

    def _enumerate_(self, start: int = 0, **named: Any) -> Dataset:
        return self.enumerate(named.get("start", start))

    def _items_(self, graph: graphs.FuncGraph) -> Items:
        return items_of(self.rows, self.element_spec, self.strict_shapes)

    def __repr__(self) -> str:
        return f"<_Dataset element_spec={self.element_spec!r}>"


def _eagerly(make: Callable[[], Any]) -> Any:
    with graphs.building(None):
        return make()


def _converted(tensors: Any) -> Any:
    """The structure whose tensors are sliced: lists become tensors, tuples and dicts are structures."""
    if isinstance(tensors, dict):
        return {key: _converted(part) for key, part in tensors.items()}
    if isinstance(tensors, tuple):
        return tuple(map(_converted, tensors))
    return convert_to_tensor(tensors)
