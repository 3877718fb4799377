"""`tf.data.Dataset`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError, raised_by_python
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.data import files, grouping, mapping, mixing
from autograph.compat.tensorflow.data.elements import (
    INT64,
    Make,
    Row,
    Rows,
    checked,
    converted,
    eagerly,
    items_of,
    key_of,
    row_of,
    specs_of,
    tensors_of,
    typed,
)
from autograph.compat.tensorflow.data.iterators import DatasetIterator
from autograph.compat.tensorflow.data.parallel import AHEAD, Prefetched
from autograph.compat.tensorflow.staging.loops import Items


class Options:
    """`tf.data.Options`: which of them are set; only `deterministic` has an effect."""

    def __init__(self) -> None:
        self.deterministic: bool | None = None
        self.autotune, self.threading, self.experimental_optimization = _Settings(), _Settings(), _Settings()
        self.experimental_distribute = _Settings()


class _Settings:
    """Settings that are accepted and have no effect."""

    def __init__(self) -> None:
        self.enabled: bool | None = None


class Dataset:
    """A sequence of elements: structures of tensors.

    Attributes:
        strict_shapes: whether loops over it may not change the shapes of variables.
    """

    strict_shapes = False

    def __init__(self, make: Make, spec: Any, length: int = -2, deterministic: bool | None = None) -> None:
        self._make = make
        self._spec = spec  # or a function that gives it
        self._length = length  # -1 if it is infinite, -2 if it is unknown
        self._deterministic = deterministic

    @property
    def element_spec(self) -> Any:
        """The structure of the elements, with a `TensorSpec` for each tensor."""
        if callable(self._spec):
            self._spec = self._spec()
        return self._spec

    def _with(self, make: Make, spec: Any, length: int = -2) -> Dataset:
        return Dataset(make, spec, length, self._deterministic)

    def _of_rows(self, rows: list[Row], spec: Any) -> Dataset:
        return self._with(lambda: iter(rows), spec, len(rows))

    # Making datasets --------------------------------------------------------------------------------------------------

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """A dataset of numbers, with the arguments of Python's `range`."""
        numbers, kind = range(*map(int, args)), as_dtype(output_type).as_numpy_dtype
        return Dataset(lambda: ((kind(each),) for each in numbers), TensorSpec((), output_type), len(numbers))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element."""
        element = eagerly(lambda: converted(tensors))
        return Dataset(lambda: iter([row_of(element)]), specs_of(element), 1)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of the rows of tensors."""
        whole = eagerly(lambda: converted(tensors))
        if any(leaf.shape.rank == 0 for leaf in pytree.flatten(whole)):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        columns = [leaf._value for leaf in pytree.flatten(whole)]
        lengths = {len(column) for column in columns}
        if len(lengths) != 1:
            raise ValueError(f"Dimensions {' and '.join(map(str, sorted(lengths)))} are not compatible")
        spec = pytree.map(lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), whole)
        return Dataset(lambda: zip(*columns), spec, lengths.pop())

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None, args: Any = (),
        output_signature: Any = None, name: str | None = None,
    ) -> Dataset:
        """A dataset of the elements that a generator function gives, each time it is called.

        Args:
            args: tensors, which the function gets as arrays.
            output_signature: the specs of the elements; or `output_types` and `output_shapes` say these.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        spec = output_signature
        if spec is None:
            if output_types is None:
                raise TypeError("Either `output_signature` or `output_types` must be specified.")
            spec = typed(output_types, output_shapes)
        given = eagerly(lambda: [convert_to_tensor(each)._value for each in args or ()])

        def rows() -> Iterator[Row]:
            try:
                for element in generator(*given):
                    yield checked(element, spec)
            except Exception as error:
                raise raised_by_python(error) from error

        return Dataset(rows, spec)

    @staticmethod
    def random(seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None) -> Dataset:
        """An infinite dataset of random numbers of type `int64`."""

        def rows() -> Iterator[Row]:
            draw = np.random.default_rng(None if seed is None else int(seed))
            return ((np.int64(draw.integers(2**32)),) for _ in itertools.repeat(None))

        return Dataset(rows, INT64, -1)

    @staticmethod
    def zip(*datasets: Any, name: str | None = None) -> Dataset:
        """A dataset of structures of the elements of datasets, read side by side."""
        one = datasets[0] if len(datasets) == 1 and not isinstance(datasets[0], Dataset) else datasets
        return Dataset(*mixing.zipped(one))

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: Any = None) -> Dataset:
        """A dataset of the names of files that match patterns, in random order unless `shuffle` is False.

        Raises:
            InvalidArgumentError: no file matches.
        """
        names = files.matching(file_pattern)
        if not names:
            raise InvalidArgumentError(f"No files matched pattern: {file_pattern}")
        found = Dataset(lambda: ((each,) for each in names), TensorSpec((), dtypes.string), len(names))
        return found if shuffle is False else found.shuffle(len(names), seed)

    sample_from_datasets = staticmethod(mixing.sample_from_datasets)
    choose_from_datasets = staticmethod(mixing.choose_from_datasets)

    # Transforming datasets --------------------------------------------------------------------------------------------

    map = mapping.map_
    filter = mapping.filter_
    take_while = mapping.take_while
    scan = mapping.scan
    reduce = mapping.reduce
    batch = grouping.batch
    padded_batch = grouping.padded_batch
    window = grouping.window
    unbatch = grouping.unbatch
    group_by_window = grouping.group_by_window
    bucket_by_sequence_length = grouping.bucket_by_sequence_length
    flat_map = mixing.flat_map
    interleave = mixing.interleave
    shuffle = mixing.shuffle
    rejection_resample = mixing.rejection_resample

    def unique(self, name: str | None = None) -> Dataset:
        """Drop elements that are equal to earlier ones."""

        def rows() -> Iterator[Row]:
            keys = set()
            for row in self._make():
                key = key_of(row)
                if key not in keys:
                    keys.add(key)
                    yield row

        return self._with(rows, self.element_spec)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Drop the elements whose computation raises an error."""

        def rows() -> Iterator[Row]:
            source = iter(self._make())
            while True:
                try:
                    row = next(source)
                except StopIteration:
                    return
                except Exception as error:
                    if log_warning:
                        print(f"tf.data ignores an error: {error}")
                    continue
                yield row

        return self._with(rows, self.element_spec)

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
        count, at = int(num_shards), int(index)
        if not 0 <= at < count:
            raise InvalidArgumentError(f"Index must be between 0 and {count - 1} (currently index = {at}).")
        length = self._length if self._length < 0 else max(-(-(self._length - at) // count), 0)
        return self._with(lambda: itertools.islice(self._make(), at, None, count), self.element_spec, length)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """Go through the elements `count` times, or again and again."""
        endless = count is None or int(count) < 0

        def rows() -> Iterator[Row]:
            for _ in itertools.count() if endless else range(int(count)):
                row = None
                for row in self._make():
                    yield row
                if endless and row is None:
                    return

        if endless:
            length = -1 if self._length > 0 else self._length
        else:
            length = 0 if int(count) == 0 else self._length * (int(count) if self._length > 0 else 1)
        return self._with(rows, self.element_spec, length)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements."""
        if int(count) < 0:
            return self
        length = min(int(count), self._length) if self._length >= 0 else int(count) if self._length == -1 else -2
        return self._with(lambda: itertools.islice(self._make(), int(count)), self.element_spec, length)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """The elements behind the first `count`."""
        length = max(self._length - int(count), 0) if self._length >= 0 else self._length
        if int(count) < 0:
            return self.take(0)
        return self._with(lambda: itertools.islice(self._make(), int(count), None), self.element_spec, length)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and the element."""
        rows = lambda: ((np.int64(number), *row) for number, row in enumerate(self._make(), int(start)))  # noqa: E731
        return self._with(rows, (INT64, self.element_spec), self._length)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, then those of another dataset."""
        lengths = self._length, dataset._length
        length = -1 if -1 in lengths else -2 if -2 in lengths else sum(lengths)
        spec = pytree.map(_wider, self.element_spec, dataset.element_spec)
        return self._with(lambda: itertools.chain(self._make(), dataset._make()), spec, length)

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """Keep the elements that the first whole iteration gives, in memory or in a file, for later ones."""
        path = str(filename.numpy().decode() if isinstance(filename, Tensor) else filename)
        if path:
            return self._with(lambda: files.stored(Path(path + ".npz"), self._make), self.element_spec, self._length)
        cached: list[list[Row]] = []

        def rows() -> Iterator[Row]:
            if cached:
                yield from cached[0]
                return
            found: list[Row] = []
            for row in self._make():
                found.append(row)
                yield row
            cached[:] = [found]

        return self._with(rows, self.element_spec, self._length)

    def snapshot(self, path: Any, compression: Any = "AUTO", name: str | None = None, **options: Any) -> Dataset:
        """Keep the elements that the first whole iteration gives in a folder, for this and later programs."""
        file = Path(str(path)) / "snapshot.npz"
        return self._with(lambda: files.stored(file, self._make), self.element_spec, self._length)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """Compute up to `buffer_size` elements ahead, in a thread."""
        size = AHEAD if int(buffer_size) == -1 else int(buffer_size)
        if size == 0:
            return self
        return self._with(lambda: Prefetched(self._make, size), self.element_spec, self._length)

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """The same elements; `deterministic=False` holds for the `map`s that follow."""
        chosen = getattr(options, "deterministic", None)
        return Dataset(self._make, self._spec, self._length, self._deterministic if chosen is None else chosen)

    def options(self) -> Options:
        """The options of this dataset."""
        found = Options()
        found.deterministic = self._deterministic
        return found

    def apply(self, transformation_func: Callable[[Dataset], Any]) -> Any:
        """The dataset that a function makes of this one."""
        return transformation_func(self)

    # Reading datasets -------------------------------------------------------------------------------------------------

    def cardinality(self, name: str | None = None) -> Tensor:
        """The number of elements: -1 if it is infinite, -2 if it is unknown."""
        return convert_to_tensor(np.int64(self._length))

    def __len__(self) -> int:
        if self._length < 0:
            raise TypeError("The dataset is infinite." if self._length == -1 else "The dataset length is unknown.")
        return self._length

    def __bool__(self) -> bool:
        return True

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements with arrays in place of tensors."""
        return (pytree.map(lambda leaf: leaf.numpy(), element) for element in self)

    @property
    def rows(self) -> Rows:
        return Rows(self._make, not pytree.is_nested(self.element_spec))

    def __iter__(self) -> DatasetIterator:
        return self._iter_()

    def _iter_(self) -> DatasetIterator:
        graph = graphs.current()
        if graph is None:
            rows = self.rows
            return DatasetIterator(iter(rows), self.element_spec, rows)
        return DatasetIterator(graph.trace.record("call", (iter, self.rows)), self.element_spec)

    def _enumerate_(self, start: int = 0, **named: Any) -> Dataset:
        return self.enumerate(named.get("start", start))

    def _items_(self, graph: graphs.FuncGraph) -> Items:
        return items_of(self.rows, self.element_spec, self.strict_shapes)

    def __repr__(self) -> str:
        return f"<_Dataset element_spec={self.element_spec!r}>"


def _wider(first: Any, second: Any) -> Any:
    """The spec of elements of both specs.

    Raises:
        TypeError: their types differ.
    """
    if not isinstance(first, TensorSpec):
        return first
    if first.dtype is not second.dtype:
        raise TypeError(f"Two datasets to concatenate have different types {first} and {second}.")
    return TensorSpec(first.shape.most_general(second.shape), first.dtype)
