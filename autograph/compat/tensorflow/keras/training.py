"""Training of models: `compile`, `fit`, `evaluate`, `predict`, and the bar that shows how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.keras import losses, optimizers
from autograph.compat.tensorflow.keras import metrics as metrics_
from autograph.compat.tensorflow.keras.layer import takes_training
from autograph.compat.tensorflow.ops.array_ops import concat, expand_dims, shape
from autograph.compat.tensorflow.ops.random_ops import generator_of
from autograph.compat.tensorflow.staging.function import function
from autograph.compat.tensorflow.staging.tape import GradientTape


class History:
    """What `fit` gives.

    Attributes:
        history: for each name of a loss or metric, what it was at the end of each epoch.
    """

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}


class Training:
    """The part of a model that trains it."""

    if TYPE_CHECKING:
        trainable_variables: Any

        def __call__(self, inputs: Any, **kwargs: Any) -> Any: ...

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = (), run_eagerly: bool = False,
        jit_compile: bool | None = None, steps_per_execution: int = 1,
    ) -> None:
        """Say how the model is to be trained, and what is to be told of it."""
        self.optimizer = optimizers.get(optimizer)
        self.loss = losses.get(loss)
        self._mean = metrics_.Mean(name="loss")
        self._measured = [metrics_.get(each) for each in metrics or ()]
        self.run_eagerly = run_eagerly
        self._stage()

    def _stage(self) -> None:
        stage: Callable[..., Any] = (lambda step: step) if self.run_eagerly else function
        self._train, self._test = stage(self.train_step), stage(self.test_step)

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name not in ("_train", "_test")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "optimizer" in state:
            self._stage()

    @property
    def metrics(self) -> list[Any]:
        """Reported while training: the mean loss, and the metrics."""
        return [self._mean, *self._measured]

    def train_step(self, data: Any) -> dict[str, Any]:
        """Train on one batch."""
        x, y = _in_columns(data)
        with GradientTape() as tape:
            predicted = self._predicted(x, True)
            loss = self.loss(y, predicted)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return self._told(y, predicted, loss)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Look at one batch."""
        x, y = _in_columns(data)
        predicted = self._predicted(x, False)
        return self._told(y, predicted, self.loss(y, predicted))

    def _predicted(self, x: Any, training: bool) -> Any:
        return self(x, training=training) if takes_training(self) else self(x)

    def _told(self, y: Any, predicted: Any, loss: Any) -> dict[str, Any]:
        self._mean.update_state(loss, sample_weight=shape(pytree.flatten(predicted)[0])[0])
        for each in self._measured:
            each.update_state(y, predicted)
        return {each.name: each.result() for each in self.metrics}

    def fit(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: Any = "auto",
        validation_data: Any = None, validation_split: float = 0.0, shuffle: bool = True,
    ) -> History:
        """Train on all examples, `epochs` times.

        Args:
            verbose: whether to show how far it is.
            validation_data: `(x, y)`, or a dataset, to look at after each epoch.
            validation_split: the share of the examples to take for that, from their end, instead of training on them.
        """
        if validation_split:
            kept = int(_length(x) * (1 - validation_split))
            (x, y), validation_data = _parted((x, y), slice(kept)), _parted((x, y), slice(kept, None))
        found = History()
        for epoch in range(epochs):
            if verbose:
                print(f"Epoch {epoch + 1}/{epochs}")
            self._reset()
            logs = self._run(self._train, x, y, batch_size, shuffle, Progress(bool(verbose)), validation_data)
            found.epoch.append(epoch)
            for name, value in logs.items():
                found.history.setdefault(name, []).append(value)
        self.history = found
        return found

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: Any = "auto",
        return_dict: bool = False,
    ) -> Any:
        """The loss and the metrics for examples."""
        self._reset()
        logs = self._run(self._test, x, y, batch_size, False, Progress(bool(verbose)))
        if return_dict:
            return logs
        values = list(logs.values())
        return values if len(values) > 1 else values[0]

    def predict(self, x: Any, batch_size: int | None = None, verbose: Any = "auto") -> Any:
        """What the model gives for examples, as an array."""
        batches = _batches(x, None, batch_size or 32, False)
        return concat([self._predicted(_in_columns(inputs), False) for inputs, _ in batches], 0).numpy()

    def _reset(self) -> None:
        for each in self.metrics:
            each.reset_state()

    def _run(
        self, step: Any, x: Any, y: Any, batch_size: int | None, shuffle: bool, bar: Progress, validation: Any = None
    ) -> dict[str, float]:
        """Take a step for each batch, and show how far it is."""
        logs: dict[str, Any] = {}
        total = _count(x, batch_size or 32)
        for number, batch in enumerate(_batches(x, y, batch_size or 32, shuffle), 1):
            logs = step(batch)
            bar.show(number, total, logs)
        values = {name: float(value) for name, value in logs.items()}
        if validation is not None:
            self._reset()
            x, y = validation if isinstance(validation, tuple) else (validation, None)
            other = self._run(self._test, x, y, batch_size, False, Progress(False))
            values.update({f"val_{name}": value for name, value in other.items()})
        bar.end(values)
        return values


def _batches(x: Any, y: Any, size: int, shuffle: bool) -> Iterator[tuple[Any, Any]]:
    """Examples, so many at a time; a dataset has its own batches."""
    if hasattr(x, "as_numpy_iterator"):
        for batch in x:
            yield batch if isinstance(batch, tuple) else (batch, None)
        return
    count = _length(x)
    order = generator_of(None).permutation(count) if shuffle else np.arange(count)
    for start in range(0, count, size):
        chosen = _parted((x, y), order[start : start + size])
        yield pytree.map(lambda leaf: None if leaf is None else convert_to_tensor(leaf), chosen)


def _in_columns(data: Any) -> Any:
    """Examples that are single numbers, as rows of one."""
    return pytree.map(lambda leaf: expand_dims(leaf, -1) if leaf is not None and leaf.shape.rank == 1 else leaf, data)


def _count(x: Any, size: int) -> int | None:
    """How many batches there are, if that is known."""
    if hasattr(x, "as_numpy_iterator"):
        return None
    return -(-_length(x) // size)


def _length(examples: Any) -> int:
    """How many examples there are."""
    return len(pytree.flatten(examples)[0])


def _parted(examples: Any, chosen: Any) -> Any:
    """Some of the examples."""
    return pytree.map(lambda leaf: None if leaf is None else np.asarray(leaf)[chosen], examples)


_WIDTH = 30


class Progress:
    """A line that is written over again and again on a terminal, and once, at the end, elsewhere.

    Args:
        shown: whether there is any.
    """

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._start = time.perf_counter()
        self._done = 0
        self._last = 0.0

    def show(self, done: int, total: int | None, values: Mapping[str, Any]) -> None:
        """So many steps are done, of so many."""
        self._done = done
        now = time.perf_counter()
        if not self._shown or not sys.stdout.isatty() or now - self._last < 0.05:
            return
        self._last = now
        filled = _WIDTH if total is None else _WIDTH * done // total
        bar = "=" * max(filled - 1, 0) + (">" if total is None or done < total else "=")
        left = "" if total is None else f" - ETA: {(now - self._start) / done * (total - done):.0f}s"
        print(f"\r{done}/{total or 'Unknown'} [{bar.ljust(_WIDTH, '.')}]{left}{_told(values)}", end="", flush=True)

    def end(self, values: Mapping[str, Any]) -> None:
        """All is done."""
        if not self._shown:
            return
        seconds = time.perf_counter() - self._start
        each = seconds / max(self._done, 1)
        pace = f"{each:.0f}s" if each >= 1 else f"{each * 1e3:.0f}ms" if each >= 1e-3 else f"{each * 1e6:.0f}us"
        start = "\r" if sys.stdout.isatty() else ""
        print(f"{start}{self._done}/{self._done} [{'=' * _WIDTH}] - {seconds:.0f}s {pace}/step{_told(values)}")


def _told(values: Mapping[str, Any]) -> str:
    return "".join(f" - {name}: {float(value):.4f}" for name, value in values.items())
