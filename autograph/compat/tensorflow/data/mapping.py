"""Methods of datasets that call a function of the elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.data.elements import (
    Mapped,
    Row,
    arguments,
    converted,
    eagerly,
    row_of,
    specs_of,
    tensors_of,
)
from autograph.compat.tensorflow.data.parallel import ParallelMap, count_of
from autograph.runtime.tracing.proxies.proxy import unpack


def map_(
    self: Any, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Apply a function to the elements.

    Args:
        num_parallel_calls: the number of threads that call it; `AUTOTUNE`: one for each processor.
        deterministic: False lets results come as they are ready, rather than in the order of the elements.
    """
    mapped = Mapped(map_func, *arguments(self.element_spec))
    if not num_parallel_calls:
        return self._with(lambda: map(mapped, self._make()), _spec_of(self, mapped), self._length)
    workers, wanted = count_of(num_parallel_calls), self._deterministic if deterministic is None else deterministic
    rows = lambda: ParallelMap(mapped, self._make(), workers, wanted is not False)  # noqa: E731
    return self._with(rows, _spec_of(self, mapped), self._length)


def _spec_of(self: Any, mapped: Mapped) -> Any:
    """The spec of the results; of a function of datasets only its first result tells."""
    return mapped.spec or (lambda: specs_of(mapped.element(next(iter(self._make())))))


def filter_(self: Any, predicate: Callable[..., Any], name: str | None = None) -> Any:
    """Keep the elements for which a function is true."""
    holds = _predicate(self, predicate)
    return self._with(lambda: filter(holds, self._make()), self.element_spec)


def take_while(self: Any, predicate: Callable[..., Any], name: str | None = None) -> Any:
    """Keep the elements before the first for which a function is false."""
    holds = _predicate(self, predicate)
    return self._with(lambda: itertools.takewhile(holds, self._make()), self.element_spec)


def _predicate(self: Any, predicate: Callable[..., Any]) -> Callable[[Row], bool]:
    holds = Mapped(predicate, *arguments(self.element_spec))
    if holds.spec is not None and not (isinstance(holds.spec, TensorSpec) and holds.spec.dtype is dtypes.bool):
        raise ValueError(f"Invalid `predicate`: it must return a scalar boolean tensor, but returns {holds.spec}.")
    return lambda row: bool(holds(row)[0])


def scan(self: Any, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Any:
    """The outputs of a function that takes a state and an element, and returns the next state and an output."""
    begin = eagerly(lambda: converted(initial_state))
    mapped = Mapped(scan_func, specs_of(begin), self.element_spec)
    count = len(pytree.flatten(begin))

    def rows() -> Iterator[Row]:
        state = row_of(begin)
        for row in self._make():
            found = mapped((*state, *row))
            state = found[:count]
            yield found[count:]

    return self._with(rows, mapped.spec[1], self._length)


def reduce(self: Any, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
    """The last result of a function that takes its result before, at first `initial_state`, and an element."""
    begin = converted(initial_state)
    mapped = Mapped(reduce_func, specs_of(begin), self.element_spec)

    def last(*state: Any) -> Row:
        for row in self._make():
            state = mapped((*state, *row))
        return state

    graph = graphs.current()
    if graph is None:
        return tensors_of(specs_of(begin), last(*row_of(begin)))
    found = graph.trace.record("call", (last, *row_of(begin)))
    return tensors_of(specs_of(begin), unpack(graph.trace, found, len(pytree.flatten(begin))))
