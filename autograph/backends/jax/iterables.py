"""The items of a staged `for`: of arrays, ranges with staged bounds, and `enumerate`, `zip`, `reversed` of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax._src import core

from autograph.backends.jax.arrays import ArrayTrace, ArrayTracer, is_array
from autograph.backends.jax.lines import here
from autograph.backends.jax.structures import is_leaf

Slices = Iterator[Any]
MANY = 100      # a loop of more iterations is not unrolled, if possible


class Source:
    """Items by number.

    Attributes:
        length: how many there are; an int, or a staged number of the trace below.
        arrays: arrays of which each iteration gets a part, in the order in which `item` takes these.
        once: whether it is an iterator, which gives each item once.
    """

    once = False

    length: Any
    arrays: Sequence[Any] = ()

    def item(self, trace: ArrayTrace, index: Any, slices: Slices) -> Any:
        """Return the item with a number.

        Args:
            index: the number, of the trace below.
            slices: the parts of `arrays`; each source takes its own.
        """
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        """Refuse code that is not converted, to which a staged range looks like Python's."""
        raise here("how many items there are to iterate over is known only when the program runs. Use a `for` with a "
                   "body, which JAX stages")

    def items(self, trace: ArrayTrace) -> Iterator[Any]:
        """Yield the items one by one, for a loop that is unrolled."""
        for at in range(self.length):
            with core.set_current_trace(trace.parent_trace):
                parts = [array[at] for array in self.arrays]
            yield self.item(trace, at, iter(parts))


class ArraySource(Source):
    """The rows of an array: views, or scalars."""

    def __init__(self, trace: ArrayTrace, array: ArrayTracer) -> None:
        if not array.ndim:
            raise TypeError("iteration over a 0-d array")
        self.array = array
        self.length = array.shape[0]
        self.content = trace.read(array)
        self.at_start = array.root.content
        self.arrays = (self.content,)

    def item(self, trace: ArrayTrace, index: Any, slices: Slices) -> Any:
        part = next(slices)
        unchanged = self.array.root.content is self.at_start
        row = trace.row(self.array, index, part if unchanged else None)
        return row if row.ndim else trace.array(trace.read(row))


class RangeSource(Source):
    """A range; its bounds are plain or staged."""

    def __init__(self, trace: ArrayTrace, start: Any, stop: Any, step: Any) -> None:
        self.start, self.step = trace.read(start), trace.read(step)
        self.bounds = (start, stop, step)
        if all(isinstance(each, int) for each in self.bounds):
            if (items := range(*self.bounds)) and items[:1 << 62] != items:
                raise here("this range has more items than can be counted by JAX's integers")
            self.length: Any = len(items)
            return
        with core.set_current_trace(trace.parent_trace):
            first, last, step = map(trace.read, self.bounds)
            count = last if type(first) is int and first == 0 else last - first
            if type(step) is not int or step != 1:
                sign = jnp.sign(step) if is_array(step) else (1 if step > 0 else -1)
                count = (count + step - sign) // step
            self.length = jnp.maximum(count, 0)

    def item(self, trace: ArrayTrace, index: Any, slices: Slices) -> Any:
        if isinstance(index, int) and isinstance(self.start, int) and isinstance(self.step, int):
            return self.start + index * self.step
        with core.set_current_trace(trace.parent_trace):
            value = index if isinstance(self.step, int) and self.step == 1 else index * self.step
            value = value if isinstance(self.start, int) and self.start == 0 else self.start + value
        return trace.array(value)


class ListSource(Source):
    """The items of a list or tuple, all of which are numbers of one type."""

    def __init__(self, trace: ArrayTrace, values: Sequence[Any]) -> None:
        self.values = values
        self.length = len(values)
        if not all(map(is_leaf, values)) or len({(jnp.shape(each), jnp.result_type(each)) for each in values}) > 1:
            raise TypeError
        with core.set_current_trace(trace.parent_trace):
            self.arrays = (jnp.stack([jnp.asarray(trace.read(each)) for each in values]),) if values else ()

    def item(self, trace: ArrayTrace, index: Any, slices: Slices) -> Any:
        part = next(slices)
        return self.values[index] if isinstance(index, int) else trace.array(part)


class Zipped(Source):
    """`zip` of sources."""

    once = True

    def __init__(self, trace: ArrayTrace, sources: Sequence[Source]) -> None:
        self.sources = sources
        lengths = [source.length for source in sources]
        if all(isinstance(length, int) for length in lengths):
            self.length = min(lengths, default=0)
        else:
            with core.set_current_trace(trace.parent_trace):
                self.length = lengths[0]
                for length in lengths[1:]:
                    self.length = jnp.minimum(self.length, length)
        arrays = [array for source in sources for array in source.arrays]
        if isinstance(self.length, int):
            with core.set_current_trace(trace.parent_trace):
                arrays = [lax.slice_in_dim(array, 0, self.length) for array in arrays]
        self.arrays = arrays

    def item(self, trace: ArrayTrace, index: Any, slices: Slices) -> Any:
        return tuple([source.item(trace, index, slices) for source in self.sources])


class Enumerated(Source):
    """`enumerate` of a source."""

    once = True

    def __init__(self, source: Source, start: Any) -> None:
        self.source, self.start = source, start
        self.length, self.arrays = source.length, source.arrays

    def item(self, trace: ArrayTrace, index: Any, slices: Slices) -> Any:
        if isinstance(index, int) and isinstance(self.start, int):
            return index + self.start, self.source.item(trace, index, slices)
        with core.set_current_trace(trace.parent_trace):
            number = index if isinstance(self.start, int) and self.start == 0 else index + trace.read(self.start)
        return trace.array(number), self.source.item(trace, index, slices)


def source_of(trace: ArrayTrace, iterable: Any) -> Source | None:
    """Return the source for an iterable, if it has one."""
    if isinstance(iterable, Source):
        return iterable
    if type(iterable) is range:
        return RangeSource(trace, iterable.start, iterable.stop, iterable.step)
    if is_array(iterable):
        array = iterable if type(iterable) is ArrayTracer else trace.array(iterable)
        return ArraySource(trace, array)
    if type(iterable) in (list, tuple) and iterable:
        try:
            return ListSource(trace, iterable)
        except TypeError:
            return None
    return None


def is_staged_iterable(value: Any) -> bool:
    """Whether iterating over a value is staged, rather than done by Python."""
    return isinstance(value, Source) or is_array(value)


def range_(trace: ArrayTrace, *args: Any) -> RangeSource:
    """`range`, with bounds of which some are staged."""
    if not 1 <= len(args) <= 3:
        return range(*args)  # type: ignore[return-value]
    args = tuple(core.dimension_as_value(arg) if core.is_symbolic_dim(arg) else arg for arg in args)
    for arg in args:
        if not isinstance(arg, int) and not jnp.issubdtype(jnp.result_type(arg), jnp.integer):
            raise TypeError(f"'{jnp.result_type(arg)}' object cannot be interpreted as an integer")
    start, stop, step = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
    if isinstance(step, int) and step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return RangeSource(trace, start, stop, step)


def zip_(trace: ArrayTrace, *iterables: Any, strict: Any = False) -> Any:
    """`zip`, if all iterables can be staged and one is, and their lengths need no check; else NotImplemented."""
    return NotImplemented if strict else _combined(trace, iterables, lambda sources: Zipped(trace, sources))


def enumerate_(trace: ArrayTrace, iterable: Any, start: Any = 0) -> Any:
    """`enumerate` of what is staged; else NotImplemented."""
    return _combined(trace, (iterable,), lambda sources: Enumerated(sources[0], start))


def reversed_(trace: ArrayTrace, iterable: Any) -> Any:
    """`reversed` of an array or staged range; else NotImplemented."""
    if type(iterable) is ArrayTracer:
        return _ReversedArray(trace, iterable[::-1])
    if isinstance(iterable, RangeSource):
        start, _, step = iterable.bounds
        with core.set_current_trace(trace.parent_trace):
            first, step = trace.read(start), trace.read(step)
            last = first + (iterable.length - 1) * step
            return _ReversedRange(trace, trace.array(last), trace.array(first - step), _negated(trace, step))
    if isinstance(iterable, Source):
        raise here("JAX stages `reversed` of arrays and ranges only; reverse the arrays before `zip` or `enumerate`")
    return NotImplemented


class _ReversedArray(ArraySource):
    once = True


class _ReversedRange(RangeSource):
    once = True


def _negated(trace: ArrayTrace, step: Any) -> Any:
    return -step if isinstance(step, int) else trace.array(-step)


def _combined(trace: ArrayTrace, iterables: Sequence[Any], make: Any) -> Any:
    if not any(is_staged_iterable(each) or (type(each) is range and len(each[:MANY]) == MANY) for each in iterables):
        return NotImplemented
    sources = [source_of(trace, iterable) for iterable in iterables]
    if any(source is None for source in sources):
        return NotImplemented
    return make(sources)
