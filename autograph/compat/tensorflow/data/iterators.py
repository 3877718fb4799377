"""Iterators over datasets, and the optional values that they give: `tf.experimental.Optional`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, is_proxy, run_later, wrap
from autograph.compat.tensorflow.data.elements import converted, eagerly, items_of, row_of, specs_of, tensors_of
from autograph.compat.tensorflow.staging.loops import Items
from autograph.runtime.tracing.proxies.proxy import unpack


class DatasetIterator:
    """Iterates over a dataset: eagerly, or when the graph runs, if the iterator was made in a graph.

    Attributes:
        position: the number of elements that were read, eagerly.
    """

    def __init__(self, source: Any, spec: Any, rows: Any = None) -> None:
        self._source = source
        self._rows = rows
        self.element_spec = spec
        self.position = 0

    def __iter__(self) -> DatasetIterator:
        return self

    def _iter_(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        return self.get_next()

    def _next_(self, *default: Any) -> Any:
        return self.get_next()

    def seek(self, position: int) -> None:
        """Go to the element after the first `position` ones."""
        self._source, self.position = iter(self._rows), 0
        for _ in range(position):
            next(self._source)
            self.position += 1

    def get_next(self) -> Any:
        graph = graphs.current()
        if graph is None:
            result = next(self._source)
            self.position += 1
            return tensors_of(self.element_spec, result if pytree.is_nested(self.element_spec) else (result,))
        return _element(graph, graph.trace.record("call", (_next, self._source)), self.element_spec)

    def get_next_as_optional(self) -> Optional:
        graph = graphs.current()
        if graph is not None:
            found = graph.trace.record("call", (_next_or_none, self._source))
            return Optional(wrap(found, dtypes.variant, TensorShape(()), "IteratorGetNext"), self.element_spec)
        found = _next_or_none(self._source)
        self.position += bool(found)
        return Optional(wrap(found, dtypes.variant), self.element_spec)

    def _items_(self, graph: graphs.FuncGraph) -> Items:
        return items_of(self._source, self.element_spec, strict=True)


def _element(graph: graphs.FuncGraph, found: Any, spec: Any) -> Any:
    """The element of a value that a graph computes: a row, or a value if the element is one tensor."""
    if pytree.is_nested(spec):
        return tensors_of(spec, unpack(graph.trace, found, len(pytree.flatten(spec))))
    return wrap(found, spec.dtype, spec.shape, "IteratorGetNext")


def _next(source: Iterator[Any]) -> Any:
    try:
        return next(source)
    except StopIteration:
        raise OutOfRangeError("End of sequence") from None


def _next_or_none(source: Iterator[Any]) -> list[Any]:
    """The values of the next row; none at the end."""
    found = next(source, None)
    return [] if found is None else list(found) if isinstance(found, tuple) else [found]


def _has_value(row: list[Any]) -> Any:
    return np.bool_(bool(row))


def _value(row: list[Any], single: bool) -> Any:
    if not row:
        raise InvalidArgumentError("The given optional does not have a value. [Op:OptionalGetValue]")
    return row[0] if single else tuple(row)


class Optional:
    """An element, or none: `tf.experimental.Optional`, which `iterator.get_next_as_optional` gives.

    Args:
        variant: a tensor that holds the list of the values of the element; an empty one if there is none.
        element_spec: the specs of the element.
    """

    def __init__(self, variant: Tensor, element_spec: Any) -> None:
        self._variant = variant
        self.element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional with a value."""
        element = eagerly(lambda: converted(value))
        return Optional(wrap(list(row_of(element)), dtypes.variant), specs_of(element))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An optional without a value."""
        return Optional(wrap([], dtypes.variant), element_spec)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value."""
        return run_later("OptionalHasValue", _has_value, self._variant._value, dtype=dtypes.bool, shape=TensorShape(()))

    def get_value(self, name: str | None = None) -> Any:
        """The value.

        Raises:
            InvalidArgumentError: there is none.
        """
        graph = graphs.current()
        if graph is None or not is_proxy(self._variant._value):
            return tensors_of(self.element_spec, _value(self._variant._value, False))
        single = not pytree.is_nested(self.element_spec)
        return _element(graph, graph.trace.record("call", (_value, self._variant._value, single)), self.element_spec)

    def __repr__(self) -> str:
        if is_proxy(self._variant._value):
            return f"tf.experimental.Optional({self.element_spec})"
        shown = self.get_value() if self._variant._value else "empty"
        return f"tf.experimental.Optional({shown}, element_spec={self.element_spec})"


pytree.register(
    Optional, lambda optional: {"variant": optional._variant},
    lambda old, parts: Optional(parts[0], old.element_spec), ".{}".format,
)  # fmt: skip
