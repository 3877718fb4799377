"""Methods of datasets that make several elements one: batches, windows, groups, buckets."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import numpy_dtype
from autograph.compat.tensorflow.core.errors import DataLossError, InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.data.elements import (
    DatasetSpec,
    Mapped,
    Row,
    arguments,
    batched,
    eagerly,
    with_first,
)


def groups(rows: Iterator[Row], size: int, drop_remainder: bool) -> Iterator[list[Row]]:
    """Split rows into lists of `size`."""
    while group := list(itertools.islice(rows, size)):
        if len(group) == size or not drop_remainder:
            yield group


def batch_count(count: int, size: int, drop_remainder: bool) -> int:
    """The number of batches of `count` elements."""
    return count if count < 0 else count // size if drop_remainder else -(-count // size)


def positive(value: Any, name: str) -> int:
    """A number that must be positive.

    Raises:
        InvalidArgumentError: it is not.
    """
    if int(value) <= 0:
        raise InvalidArgumentError(f"{name} must be greater than zero, but is {int(value)}.")
    return int(value)


def batch(
    self: Any, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None, deterministic: Any = None,
    name: str | None = None,
) -> Any:
    """Make batches of consecutive elements; the last one may be smaller, unless `drop_remainder`."""
    size, specs = positive(batch_size, "Batch size"), pytree.flatten(self.element_spec)
    length = batch_count(self._length, size, drop_remainder)
    rows = lambda: (batched(group, specs) for group in groups(self._make(), size, drop_remainder))  # noqa: E731
    return self._with(rows, with_first(size if drop_remainder else None, self.element_spec), length)


def padded_batch(
    self: Any, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: bool = False,
    name: str | None = None,
) -> Any:
    """Make batches of elements that are padded to one shape, by default that of the largest in the batch.

    Args:
        padded_shapes: a shape for each tensor of the elements, with -1 or None for a size that the batch decides.
        padding_values: a value for each tensor; by default zero, or an empty string.
    """
    size, specs = positive(batch_size, "Batch size"), pytree.flatten(self.element_spec)
    if padded_shapes is None:
        if any(spec.shape.rank is None for spec in specs):
            raise ValueError(f"You must provide `padded_shapes`, since the rank of a tensor is unknown: {specs}.")
        shapes = [spec.shape for spec in specs]
    else:
        shapes = [_shape_of(shape) for shape in _parallel(self.element_spec, padded_shapes, _is_shape)]
    given = [None] * len(specs)
    if padding_values is not None:
        given = _parallel(self.element_spec, padding_values, lambda value: not pytree.is_nested(value))
        given = given * len(specs) if len(given) == 1 else given
    fills = [_fill(spec, value) for spec, value in zip(specs, given)]

    def padded(group: list[Row]) -> Row:
        columns = zip(zip(*group), specs, shapes, fills)
        return tuple(_padded(column, spec, shape, fill) for column, spec, shape, fill in columns)

    first = TensorShape([size if drop_remainder else None])
    found = iter([TensorSpec(first + shape, spec.dtype) for spec, shape in zip(specs, shapes)])
    return self._with(
        lambda: map(padded, groups(self._make(), size, drop_remainder)),
        pytree.map(lambda _: next(found), self.element_spec), batch_count(self._length, size, drop_remainder),
    )  # fmt: skip


def _is_shape(value: Any) -> bool:
    parts = value if isinstance(value, (list, tuple)) else None
    return parts is None or all(part is None or isinstance(part, (int, np.integer)) for part in parts)


def _parallel(spec: Any, given: Any, is_leaf: Callable[[Any], bool]) -> list[Any]:
    """The values for the leaves of a spec: a structure like it has one for each, or there is one."""
    if not pytree.is_nested(spec) or (not isinstance(given, dict) and is_leaf(given) and given != ()):
        return [given]
    if isinstance(spec, dict):
        return [leaf for key in spec for leaf in _parallel(spec[key], given[key], is_leaf)]
    parts = list(pytree.kind_of(spec).children(spec).values())  # type: ignore[union-attr]
    return [leaf for part, each in zip(parts, given, strict=True) for leaf in _parallel(part, each, is_leaf)]


def _shape_of(shape: Any) -> TensorShape:
    if isinstance(shape, Tensor):
        shape = shape.numpy().tolist()
    if isinstance(shape, int):
        shape = [shape]
    return TensorShape(None if shape is None else [None if size in (-1, None) else size for size in shape])


def _fill(spec: TensorSpec, value: Any) -> Any:
    if value is None:
        return b"" if spec.dtype is dtypes.string else numpy_dtype(spec.dtype).type(0)
    tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
    if tensor.dtype is not spec.dtype:
        raise TypeError(f"Mismatched type: padding value {value!r} for a tensor of type {spec.dtype.name}.")
    return tensor._value


def _padded(column: Sequence[Any], spec: TensorSpec, shape: TensorShape, fill: Any) -> Any:
    shapes = [() if isinstance(value, bytes) else np.shape(value) for value in column]
    sizes = [max(sizes) for sizes in zip(*shapes)]
    if shape.rank is not None:
        if any(wanted is not None and size > wanted for size, wanted in zip(sizes, shape)):
            raise DataLossError(
                f"Attempted to pad to a smaller size than the input element: {sizes} does not fit into {shape}. "
                "[Op:IteratorGetNext]"
            )
        sizes = [size if wanted is None else wanted for size, wanted in zip(sizes, shape)]
    result = np.full((len(column), *sizes), fill, numpy_dtype(spec.dtype))
    for number, (value, own) in enumerate(zip(column, shapes)):
        region: Any = (number, *map(slice, own))
        result[region] = value
    return result


def window(
    self: Any, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: str | None = None
) -> Any:
    """Make windows: datasets of `size` elements, `stride` apart, each beginning `shift` after the one before.

    The elements are structures like those of this dataset, with a dataset in place of each tensor.
    """
    count, step = positive(size, "Window size"), positive(stride, "Window stride")
    advance = count if shift is None else positive(shift, "Window shift")
    span, specs = (count - 1) * step + 1, pytree.flatten(self.element_spec)

    def rows() -> Iterator[Row]:
        source, buffer = self._make(), deque[Row]()
        ended = False
        while not ended or buffer:
            while len(buffer) < span and not ended:
                row = next(source, None)
                ended = row is None
                buffer.extend(() if row is None else (row,))
            if not buffer or (drop_remainder and len(buffer) < span):
                return
            chosen = list(itertools.islice(buffer, 0, span, step))
            yield tuple(self._of_rows([(row[at],) for row in chosen], spec) for at, spec in enumerate(specs))
            for _ in range(advance):
                if buffer:
                    buffer.popleft()
                elif next(source, None) is None:
                    return

    length = self._length
    if length >= 0:
        length = max((length - span) // advance + 1, 0) if drop_remainder else -(-length // advance)
    return self._with(rows, pytree.map(DatasetSpec, self.element_spec), length)


def unbatch(self: Any, name: str | None = None) -> Any:
    """Take batches apart."""
    specs = pytree.flatten(self.element_spec)
    if any(spec.shape.rank == 0 for spec in specs):
        raise ValueError("Cannot unbatch an input with scalar components.")
    spec = pytree.map(lambda leaf: TensorSpec(leaf.shape[1:] if leaf.shape else None, leaf.dtype), self.element_spec)
    first = next((leaf.shape[0] for leaf in specs if leaf.shape), None)
    length = -2 if first is None else self._length * first if self._length >= 0 else self._length
    return self._with(lambda: (inner for row in self._make() for inner in zip(*row)), spec, length)


def group_by_window(
    self: Any, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None, name: str | None = None,
) -> Any:
    """Group elements by a key, and put the datasets that a function makes of the groups one after another.

    Args:
        key_func: gives the key of an element, an `int64`.
        reduce_func: makes a dataset of a key and a dataset of at most `window_size` elements that have it.
        window_size_func: gives the window size of a key; instead of `window_size`.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either `window_size` or `window_size_func`, not both.")
    key_of = Mapped(key_func, *arguments(self.element_spec))

    def size_of(key: int) -> Any:
        return eagerly(lambda: window_size_func(_number(key))) if window_size_func else window_size

    return _grouped(self, lambda row: int(key_of(row)[0]), lambda key, inner: reduce_func(_number(key), inner), size_of)


def _number(key: int) -> Tensor:
    return convert_to_tensor(np.int64(key))


def _grouped(
    dataset: Any, key_of: Callable[[Row], int], reduce: Callable[[int, Any], Any], size_of: Callable[[int], Any],
    spec: Any = None,
) -> Any:
    def reduced(key: int, rows: list[Row]) -> Any:
        return eagerly(lambda: reduce(key, dataset._of_rows(rows, dataset.element_spec)))

    def rows() -> Iterator[Row]:
        held: dict[int, list[Row]] = defaultdict(list)
        for row in dataset._make():
            key = key_of(row)
            held[key].append(row)
            if len(held[key]) == positive(size_of(key), "Window size"):
                yield from reduced(key, held.pop(key))._make()
        for key in sorted(held):
            yield from reduced(key, held[key])._make()

    return dataset._with(rows, spec or (lambda: reduced(0, []).element_spec))


def bucket_by_sequence_length(
    self: Any, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
    pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
    name: str | None = None,
) -> Any:
    """Make batches of elements of similar length, padded to the longest of each.

    Args:
        element_length_func: gives the length of an element.
        bucket_boundaries: the lengths at which the next bucket begins.
        bucket_batch_sizes: the batch size of each bucket, one more than boundaries.
        pad_to_bucket_boundary: whether to pad to the longest length of the bucket.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1`, but is {len(bucket_batch_sizes)}."
        )
    length_of = Mapped(element_length_func, *arguments(self.element_spec))

    def bucket_of(row: Row) -> int:
        return int(np.searchsorted(bucket_boundaries, int(length_of(row)[0]), side="right"))

    def bucket(at: int, inner: Any) -> Any:
        if no_padding:
            return inner.batch(bucket_batch_sizes[at], drop_remainder)
        shapes = padded_shapes
        if pad_to_bucket_boundary:
            if at == len(bucket_boundaries):
                raise InvalidArgumentError(
                    "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                )
            shapes = _bounded(self.element_spec if shapes is None else shapes, bucket_boundaries[at] - 1)
        return inner.padded_batch(bucket_batch_sizes[at], shapes, padding_values, drop_remainder)

    sizes = self.batch(1).element_spec if no_padding else self.padded_batch(1, padded_shapes).element_spec
    return _grouped(self, bucket_of, bucket, lambda at: bucket_batch_sizes[at], sizes)


def _bounded(shapes: Any, size: int) -> Any:
    """Shapes with `size` for what is unknown."""
    if isinstance(shapes, (TensorSpec, TensorShape)) or _is_shape(shapes):
        shape = shapes.shape if isinstance(shapes, TensorSpec) else _shape_of(shapes)
        return TensorShape([size if each is None else each for each in shape])
    if isinstance(shapes, dict):
        return {key: _bounded(part, size) for key, part in shapes.items()}
    return tuple(_bounded(part, size) for part in shapes)
