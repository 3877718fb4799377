"""The elements of datasets, and the rows that stand for them: tuples of the values of their leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import type_of, wrap
from autograph.compat.tensorflow.staging.function import ConcreteFunction, function
from autograph.compat.tensorflow.staging.loops import Items
from autograph.compat.tensorflow.staging.tracing import call

Row = tuple[Any, ...]
Make = Callable[[], Iterator[Row]]


class DatasetSpec:
    """The type of a dataset that is an element, or a part of one, as `window` makes them."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self.element_spec = element_spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and self.element_spec == other.element_spec

    def __hash__(self) -> int:
        return hash(DatasetSpec)

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


def tensors_of(spec: Any, row: Iterable[Any]) -> Any:
    """Build the element of a row."""
    values = iter(row)

    def leaf(spec: Any) -> Any:
        value = next(values)
        return value if isinstance(spec, DatasetSpec) else wrap(value, spec.dtype, spec.shape, "IteratorGetNext")

    return pytree.map(leaf, spec)


def row_of(element: Any) -> Row:
    """The values of the leaves of an element."""
    return tuple(
        leaf if hasattr(leaf, "element_spec") else convert_to_tensor(leaf)._value for leaf in pytree.flatten(element)
    )


def specs_of(element: Any) -> Any:
    """An element with specs in place of tensors and datasets."""

    def leaf(value: Any) -> Any:
        if hasattr(value, "element_spec"):
            return DatasetSpec(value.element_spec)
        return TensorSpec(value.shape, value.dtype)

    return pytree.map(leaf, element)


def converted(element: Any) -> Any:
    """An element with tensors as leaves: lists become tensors, tuples and dicts are structures."""
    if isinstance(element, dict):
        return {key: converted(part) for key, part in element.items()}
    if isinstance(element, tuple):
        parts = [converted(part) for part in element]
        return type(element)(*parts) if hasattr(element, "_fields") else tuple(parts)
    if not isinstance(element, list) and (pytree.is_nested(element) or hasattr(element, "element_spec")):
        return element  # a ragged or sparse tensor, or a dataset
    return convert_to_tensor(element)


def eagerly(make: Callable[[], Any]) -> Any:
    """Call `make` outside of the graph that is being made."""
    with graphs.building(None):
        return make()


def has_datasets(spec: Any) -> bool:
    """Whether elements have parts that are datasets."""
    return any(isinstance(leaf, DatasetSpec) for leaf in pytree.flatten(spec))


def arguments(spec: Any) -> tuple[Any, ...]:
    """The arguments that a function of elements gets: a tuple gives several."""
    return spec if type(spec) is tuple else (spec,)


class Mapped:
    """A function of elements, traced once, as a function of rows.

    Attributes:
        spec: of its results.
    """

    def __init__(self, python_function: Callable[..., Any], *specs: Any) -> None:
        self._specs = specs
        self._function = python_function
        if any(map(has_datasets, specs)):  # graphs hold no datasets
            self._concrete: ConcreteFunction | None = None
            self.spec: Any = None
            return
        traced = function(lambda *args: _result(call(python_function, args, {})), autograph=False)
        self._concrete = eagerly(lambda: traced.get_concrete_function(*specs))
        self.spec = self._concrete.structured_outputs

    def __call__(self, row: Row) -> Row:
        if self._concrete is None:
            return row_of(self.element(row))
        return self._concrete._traced.values(row)

    def element(self, row: Row) -> Any:
        """The result as an element."""
        return eagerly(lambda: _result(self._function(*tensors_of(self._specs, row))))


def _result(element: Any) -> Any:
    """The element that a function returned; a list stands for a tuple."""
    return converted(tuple(element) if type(element) is list else element)


def stacked(column: Sequence[Any], dtype: DType) -> Any:
    """An array of values of one dtype and shape.

    Raises:
        InvalidArgumentError: their shapes differ.
    """
    first = np.shape(column[0]) if not isinstance(column[0], bytes) else ()
    result = np.empty((len(column), *first), numpy_dtype(dtype))
    for number, value in enumerate(column):
        shape = () if isinstance(value, bytes) else np.shape(value)
        if shape != first:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component 0. First element had shape {list(first)} "
                f"and element {number} had shape {list(shape)}. [Op:IteratorGetNext]"
            )
        result[number] = value
    return result


def batched(rows: Sequence[Row], specs: Sequence[Any]) -> Row:
    """The row of a batch."""
    return tuple(stacked(column, spec.dtype) for column, spec in zip(zip(*rows), specs))


def with_first(size: int | None, spec: Any) -> Any:
    """The spec of a batch of such elements."""
    first = TensorShape([size])
    return pytree.map(lambda leaf: TensorSpec(first + leaf.shape, leaf.dtype), spec)


def items_of(source: Any, spec: Any, strict: bool) -> Items:
    """The items of a staged loop over rows."""
    types = [type_of(leaf.dtype, leaf.shape) for leaf in pytree.flatten(spec)]
    build = lambda params: tensors_of(spec, params)  # noqa: E731
    return Items(source, build, types, is_dataset=True, strict_shapes=strict)


class Rows:
    """The iterable that a graph gets for a dataset: rows, or values if each row has only one."""

    def __init__(self, make: Make, single: bool) -> None:
        self.make = make
        self.single = single

    def __iter__(self) -> Iterator[Any]:
        rows = self.make()
        return map(itemgetter(0), rows) if self.single else rows


def typed(types: Any, shapes: Any) -> Any:
    """The specs for types, and shapes in the same structure; by default any."""
    if isinstance(types, dict):
        return {key: typed(part, None if shapes is None else shapes[key]) for key, part in types.items()}
    if isinstance(types, (tuple, list)):
        return tuple(typed(part, None if shapes is None else shapes[at]) for at, part in enumerate(types))
    return TensorSpec(shapes, types)


def checked(element: Any, spec: Any) -> Row:
    """The row of what a generator gave.

    Raises:
        TypeError: it does not fit the spec.
    """
    found: list[Any] = []

    def add(part: Any, spec: Any) -> None:
        if isinstance(spec, dict) and isinstance(part, dict) and part.keys() == spec.keys():
            for key in spec:
                add(part[key], spec[key])
        elif isinstance(spec, tuple) and isinstance(part, (tuple, list)) and len(part) == len(spec):
            for each, own in zip(part, spec):
                add(each, own)
        elif isinstance(spec, TensorSpec):
            found.append(_fitting(part, spec))
        elif pytree.is_nested(part) and type(part) is type(spec) and not isinstance(spec, (tuple, dict)):
            found.extend(row_of(part))
        else:
            raise TypeError(
                f"`generator` yielded an element that did not match the expected structure. The expected structure "
                f"was {spec}, but the yielded element was {part!r}."
            )

    add(element, spec)
    return tuple(found)


def _fitting(value: Any, spec: TensorSpec) -> Any:
    try:
        tensor = convert_to_tensor(value, spec.dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"`generator` yielded an element that could not be converted to the expected type. The expected type was "
            f"{spec.dtype.name}, but the yielded element was {value!r}."
        ) from error
    if not tensor.shape.is_compatible_with(spec.shape):
        raise TypeError(
            f"`generator` yielded an element of shape {tensor.shape} where an element of shape {spec.shape} was "
            "expected."
        )
    return tensor._value


def key_of(row: Row) -> tuple[Any, ...]:
    """A hashable key of the values of a row."""
    return tuple(value if isinstance(value, bytes) else np.asarray(value).tobytes() for value in row)


INT64 = TensorSpec((), dtypes.int64)
