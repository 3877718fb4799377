"""Methods of datasets that draw from several datasets, or change the order of the elements."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.data.elements import Make, Mapped, Row, arguments, eagerly, tensors_of
from autograph.compat.tensorflow.data.grouping import positive
from autograph.compat.tensorflow.data.parallel import Prefetched


def inner_datasets(self: Any, map_func: Callable[..., Any]) -> tuple[Callable[[Row], Any], Callable[[], Any]]:
    """A function from rows to the datasets that `map_func` makes of the elements, and one that gives their spec."""

    def inner(row: Row) -> Any:
        element = tensors_of(self.element_spec, row)
        found = eagerly(lambda: map_func(*arguments(element)))
        if not hasattr(found, "element_spec") or not hasattr(found, "_make"):
            raise TypeError(f"`map_func` must return a `Dataset` object, not {type(found)}.")
        return found

    def spec() -> Any:
        first = next(iter(self._make()), None)
        return TensorSpec(None, dtypes.variant) if first is None else inner(first).element_spec

    return inner, spec


def flat_map(self: Any, map_func: Callable[..., Any], name: str | None = None) -> Any:
    """Put the datasets that a function makes of the elements one after another."""
    inner, spec = inner_datasets(self, map_func)
    return self._with(lambda: (each for row in self._make() for each in inner(row)._make()), spec)


def interleave(
    self: Any, map_func: Callable[..., Any], cycle_length: Any = None, block_length: Any = None,
    num_parallel_calls: Any = None, deterministic: bool | None = None, name: str | None = None,
) -> Any:
    """Draw alternately from the datasets that a function makes of the elements.

    Args:
        cycle_length: the number of datasets that are open at the same time; by default one for each processor.
        block_length: the number of elements that each gives at a time.
        num_parallel_calls: of threads, each of which reads one of the datasets ahead.
    """
    inner, spec = inner_datasets(self, map_func)
    cycle = len(os.sched_getaffinity(0)) if cycle_length in (None, -1) else positive(cycle_length, "cycle_length")
    block = 1 if block_length is None else positive(block_length, "block_length")

    def opened(row: Row) -> Iterator[Row]:
        return Prefetched(lambda: inner(row)._make(), block) if num_parallel_calls else inner(row)._make()

    return self._with(lambda: _interleaved(map(opened, self._make()), cycle, block, bool(num_parallel_calls)), spec)


def _interleaved(sources: Iterator[Iterator[Row]], cycle: int, block: int, at_once: bool) -> Iterator[Row]:
    """Draw `block` rows at a time from `cycle` sources; the next one replaces a source that has ended.

    Args:
        at_once: whether to open all sources of the cycle at the beginning.
    """
    slots: list[Iterator[Row] | None] = [None] * cycle
    if at_once:
        slots = [next(sources, None) for _ in range(cycle)]
    ended = False
    for at in itertools.cycle(range(cycle)):
        if slots[at] is None and not ended:
            slots[at] = next(sources, None)
            ended = slots[at] is None
        source = slots[at]
        if source is None:
            if ended and not any(slots):
                return
            continue
        found = list(itertools.islice(source, 1))
        for number in itertools.count(1):
            if not found:
                slots[at] = next(sources, None) if at_once else None
                break
            yield found[0]
            if number == block:
                break
            found = list(itertools.islice(source, 1))


def shuffle(
    self: Any, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = True, name: str | None = None
) -> Any:
    """Draw each element at random from a buffer that the next elements fill up."""
    size, start = positive(buffer_size, "buffer_size"), None if seed is None else int(seed)
    generator = np.random.default_rng(start)

    def rows() -> Iterator[Row]:
        draw = np.random.default_rng(start) if reshuffle_each_iteration is False else generator
        source, buffer = self._make(), list[Row]()
        while True:
            buffer.extend(itertools.islice(source, size - len(buffer)))
            if not buffer:
                return
            at = int(draw.integers(len(buffer)))
            buffer[at], buffer[-1] = buffer[-1], buffer[at]
            yield buffer.pop()

    return self._with(rows, self.element_spec, self._length)


def zipped(datasets: Any) -> tuple[Make, Any, int]:
    """The rows, the spec and the length of a structure of datasets, read side by side."""
    flat = pytree.flatten(datasets)
    if not all(hasattr(each, "_make") for each in flat) or isinstance(datasets, list):
        raise TypeError("The argument to `Dataset.zip` must be a (nested) structure of `Dataset` objects.")
    lengths = [each._length for each in flat]
    finite = [length for length in lengths if length != -1]
    length = -1 if not finite else -2 if -2 in finite else min(finite)
    rows = lambda: (sum(row, ()) for row in zip(*(each._make() for each in flat)))  # noqa: E731
    return rows, pytree.map(lambda each: each.element_spec, datasets), length


def chosen(choices: Callable[[], Iterator[int]], datasets: Sequence[Any], stop_on_empty: bool) -> Any:
    """Draw each element from the dataset whose number comes next; one that has ended is skipped."""
    first = datasets[0]
    for each in datasets[1:]:
        if each.element_spec != first.element_spec and not pytree.is_nested(first.element_spec):
            raise TypeError(f"The datasets must have the same type, not {first.element_spec} and {each.element_spec}.")

    def rows() -> Iterator[Row]:
        sources: list[Iterator[Row] | None] = [each._make() for each in datasets]
        for at in choices():
            source = sources[at]
            row = None if source is None else next(source, None)
            if row is not None:
                yield row
            elif stop_on_empty or not any(each is not None for number, each in enumerate(sources) if number != at):
                return
            else:
                sources[at] = None

    return first._with(rows, first.element_spec)


def sample_from_datasets(
    datasets: Sequence[Any], weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False,
    rerandomize_each_iteration: bool | None = None, name: str | None = None,
) -> Any:
    """Draw each element from one of the datasets at random.

    Args:
        weights: the probability of each; by default they are equal. A dataset gives these for each element.
        stop_on_empty_dataset: whether to end with the first dataset that ends, rather than with the last one.
    """
    count = len(datasets)
    if hasattr(weights, "_make"):
        shares: Callable[[], Iterator[Any]] = lambda: (row[0] for row in weights._make())  # noqa: E731
    else:
        given = np.ones(count) if weights is None else np.asarray(convert_to_tensor(weights)._value, float)
        if given.shape != (count,):
            raise ValueError(f"`weights` must have one value for each of the {count} datasets, not {given.shape}.")
        datasets, given = [each for each, share in zip(datasets, given) if share > 0], given[given > 0]
        count = len(datasets)
        shares = lambda: itertools.repeat(given)  # noqa: E731

    if count == 1:
        return datasets[0]

    def choices() -> Iterator[int]:
        draw = np.random.default_rng(None if seed is None else int(seed))
        for share in shares():
            limits = np.cumsum(share)
            yield min(int(np.searchsorted(limits, draw.random() * limits[-1], side="right")), count - 1)

    return chosen(choices, datasets, stop_on_empty_dataset)


def choose_from_datasets(
    datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = True, name: str | None = None
) -> Any:
    """Draw each element from the dataset whose number is the next element of `choice_dataset`."""
    if choice_dataset.element_spec != TensorSpec((), dtypes.int64):
        raise TypeError(f"`choice_dataset` must give scalars of tf.int64, not {choice_dataset.element_spec}.")
    return chosen(lambda: (int(row[0]) for row in choice_dataset._make()), datasets, stop_on_empty_dataset)


def rejection_resample(
    self: Any, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Drop elements at random so that the classes that `class_func` gives have the shares `target_dist`.

    The elements are pairs of the class and the element. Without `initial_dist` the shares are counted on the way.
    """
    class_of = Mapped(class_func, *arguments(self.element_spec))
    target = np.asarray(convert_to_tensor(target_dist)._value, float)

    def rows() -> Iterator[Row]:
        draw = np.random.default_rng(seed)
        counts = np.ones(len(target))
        for row in self._make():
            number = class_of(row)[0]
            counts[int(number)] += 1
            initial = counts if initial_dist is None else np.asarray(convert_to_tensor(initial_dist)._value, float)
            ratio = target / np.maximum(initial / initial.sum(), 1e-12)
            if draw.random() * np.max(ratio) < ratio[int(number)]:
                yield (number, *row)

    return self._with(rows, (class_of.spec, self.element_spec))
