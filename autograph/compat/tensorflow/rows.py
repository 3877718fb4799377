"""Rows, of which datasets are made, what they stand for, and iterators over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.errors import OutOfRangeError
from autograph.compat.tensorflow.core.tensor import type_of, wrap
from autograph.compat.tensorflow.staging.loops import Items
from autograph.runtime.tracing.proxies.proxy import unpack

Row = tuple[Any, ...]


def tensors_of(spec: Any, row: Iterable[Any]) -> Any:
    """The element that a row stands for."""
    values = iter(row)
    return pytree.map(lambda leaf: wrap(next(values), leaf.dtype, leaf.shape, "IteratorGetNext"), spec)


def row_of(element: Any) -> Row:
    return tuple(convert_to_tensor(leaf)._value for leaf in pytree.flatten(element))


def items_of(source: Any, spec: Any, strict: bool) -> Items:
    types = [type_of(leaf.dtype, leaf.shape) for leaf in pytree.flatten(spec)]
    build = lambda params: tensors_of(spec, params)  # noqa: E731
    return Items(source, build, types, is_dataset=True, strict_shapes=strict)


class Rows:
    """The elements of a dataset as a graph iterates over them: rows, or values if each has only one."""

    def __init__(self, make: Callable[[], Iterator[Row]], single: bool) -> None:
        self.make = make
        self.single = single

    def __iter__(self) -> Iterator[Any]:
        rows = self.make()
        return (row[0] for row in rows) if self.single else rows


class DatasetIterator:
    """Iterates over a dataset: at once, or, if it is made in a graph, when the graph runs."""

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
            found = next(self._source)
            return tensors_of(self.element_spec, found if pytree.is_nested(self.element_spec) else (found,))
        found = graph.trace.record("call", (_next, self._source))
        kinds = pytree.flatten(self.element_spec)
        if not pytree.is_nested(self.element_spec):
            return wrap(found, kinds[0].dtype, kinds[0].shape, "IteratorGetNext")
        return tensors_of(self.element_spec, unpack(graph.trace, found, len(kinds)))

    def get_next_as_optional(self) -> Any:
        raise NotImplementedError("optional values of iterators are not there: catch the end of the iteration instead")

    def _items_(self, graph: graphs.FuncGraph) -> Items:
        return items_of(self._source, self.element_spec, strict=True)


def _next(source: Iterator[Any]) -> Any:
    try:
        return next(source)
    except StopIteration:
        raise OutOfRangeError("End of sequence") from None
