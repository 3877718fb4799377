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


class History:
    """The result of `fit`.

    Attributes:
        history: the values of each loss and metric at the ends of the epochs, by name.
    """

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}


def batches(x: Any, y: Any, size: int, shuffle: bool) -> Iterator[tuple[Any, Any]]:
    """Split examples into batches; a dataset already consists of batches."""
    if hasattr(x, "as_numpy_iterator"):
        for batch in x:
            yield batch if isinstance(batch, tuple) else (batch, None)
        return
    count = count_examples(x)
    order = generator_of(None).permutation(count) if shuffle else np.arange(count)
    for start in range(0, count, size):
        examples = subset((x, y), order[start : start + size])
        yield pytree.map(lambda leaf: None if leaf is None else convert_to_tensor(leaf), examples)


def in_columns(data: Any) -> Any:
    """Reshape examples that are single numbers to rows of one."""
    return pytree.map(lambda leaf: expand_dims(leaf, -1) if leaf is not None and leaf.shape.rank == 1 else leaf, data)


def count_batches(x: Any, size: int) -> int | None:
    """The number of batches; None if it is unknown."""
    if hasattr(x, "as_numpy_iterator"):
        return None
    return -(-count_examples(x) // size)


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
