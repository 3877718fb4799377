"""Parts of training: batches of examples, and the progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.ops.array_ops import expand_dims
from autograph.compat.tensorflow.ops.random_ops import generator_of

_WIDTH = 30  # of the bar


class Feed:
    """The batches of examples: `x`, `(x, y)`, or `(x, y, weights)`; a dataset already consists of batches.

    Args:
        steps: the number of batches of one iteration; the next one goes on behind these.
    """

    def __init__(
        self, x: Any, y: Any, size: int | None, shuffle: bool, steps: int | None = None, weights: Any = None,
        class_weight: Any = None,
    ) -> None:
        if class_weight is not None:
            if weights is not None:
                raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
            weights = np.vectorize(class_weight.get, otypes=[np.float32])(np.asarray(y).reshape(len(y), -1)[:, 0])
        self._data, self._size, self._shuffle = (x, y, weights), size or 32, shuffle
        self._is_dataset = hasattr(x, "as_numpy_iterator") or not _has_length(x)
        self._steps = steps
        self._source: Iterator[Any] | None = None
        self.count = steps if steps is not None else None if self._is_dataset else -(-count_examples(x) // self._size)

    def __iter__(self) -> Iterator[Any]:
        if self._steps is None:
            yield from self._batches()
            return
        for _ in range(self._steps):
            if self._source is None:
                self._source = self._batches()
            batch = next(self._source, None)
            if batch is None:
                self._source = None
                print("Your input ran out of data; interrupting training or evaluation.")
                return
            yield batch

    def _batches(self) -> Iterator[Any]:
        if self._is_dataset:
            for batch in self._data[0]:
                yield converted(tuple(batch) if isinstance(batch, (tuple, list)) else batch)
            return
        count = count_examples(self._data[0])
        order = generator_of(None).permutation(count) if self._shuffle else np.arange(count)
        for start in range(0, count, self._size):
            yield converted(packed(*subset(self._data, order[start : start + self._size])))


def _has_length(x: Any) -> bool:
    return all(hasattr(leaf, "__len__") for leaf in pytree.flatten(x))


def packed(x: Any, y: Any, weights: Any) -> Any:
    """A batch without what is not given."""
    return (x, y, weights) if weights is not None else x if y is None else (x, y)


def converted(data: Any) -> Any:
    """A batch with tensors in place of arrays."""
    return pytree.map(lambda leaf: None if leaf is None else convert_to_tensor(leaf), data)


def unpacked(data: Any) -> tuple[Any, Any, Any]:
    """Inputs, labels and weights of a batch; examples that are single numbers become rows of one."""
    x, y, weights = (*data, None, None)[:3] if isinstance(data, tuple) else (data, None, None)
    return in_columns(x), in_columns(y), weights


def in_columns(data: Any) -> Any:
    """Reshape examples that are single numbers to rows of one."""
    return pytree.map(lambda leaf: expand_dims(leaf, -1) if leaf is not None and leaf.shape.rank == 1 else leaf, data)


def count_examples(examples: Any) -> int:
    """The number of examples."""
    return len(pytree.flatten(examples)[0])


def subset(examples: Any, chosen: Any) -> Any:
    """The examples at an index or slice."""
    return pytree.map(lambda leaf: None if leaf is None else np.asarray(leaf)[chosen], examples)


class Progress:
    """A progress bar: updated in place on a terminal, and printed once, at the end, elsewhere.

    Args:
        shown: whether to print it.
    """

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._start = time.perf_counter()
        self._done = 0
        self._last = 0.0

    def show(self, done: int, total: int | None, values: Mapping[str, Any]) -> None:
        """Report that `done` of `total` steps are done."""
        self._done = done
        now = time.perf_counter()
        if not self._shown or not sys.stdout.isatty() or now - self._last < 0.05:
            return
        self._last = now
        filled = _WIDTH if total is None else _WIDTH * done // total
        bar = "=" * max(filled - 1, 0) + (">" if total is None or done < total else "=")
        left = "" if total is None else f" - ETA: {(now - self._start) / done * (total - done):.0f}s"
        print(f"\r{done}/{total or 'Unknown'} [{bar.ljust(_WIDTH, '.')}]{left}{_text_of(values)}", end="", flush=True)

    def end(self, values: Mapping[str, Any]) -> None:
        """Report that all steps are done."""
        if not self._shown:
            return
        seconds = time.perf_counter() - self._start
        each = seconds / max(self._done, 1)
        pace = f"{each:.0f}s" if each >= 1 else f"{each * 1e3:.0f}ms" if each >= 1e-3 else f"{each * 1e6:.0f}us"
        start = "\r" if sys.stdout.isatty() else ""
        print(f"{start}{self._done}/{self._done} [{'=' * _WIDTH}] - {seconds:.0f}s {pace}/step{_text_of(values)}")


def _text_of(values: Mapping[str, Any]) -> str:
    return "".join(f" - {name}: {float(value):.4f}" for name, value in values.items())
