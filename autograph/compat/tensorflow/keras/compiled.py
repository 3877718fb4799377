"""The losses and metrics that `compile` gets, for one output or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.keras import losses
from autograph.compat.tensorflow.keras import metrics as metrics_
from autograph.compat.tensorflow.ops.array_ops import shape


class Compiled:
    """Losses and metrics of the outputs of a model.

    Args:
        loss, metrics, loss_weights: for one output; or lists, or dicts by the names of outputs.
        names: of the outputs of the model; empty if they are not known.
    """

    def __init__(self, loss: Any, metrics: Any, loss_weights: Any, names: Sequence[str]) -> None:
        if isinstance(loss, dict) and not names:
            names = list(loss)
        self._names = list(names)
        self._several = isinstance(loss, (list, tuple, dict))
        count = len(names) if self._several and names else len(loss) if self._several else 1
        self._losses = [None if each is None else losses.get(each) for each in self._by_output(loss, count)]
        self._weights = [1.0 if each is None else float(each) for each in self._by_output(loss_weights, count)]
        self._mean = metrics_.Mean(name="loss")
        self._means = [metrics_.Mean(name=f"{name}_loss") for name in self._titles(count)] if self._several else []
        self._measured: list[tuple[int | None, Any]] = []
        if self._several:
            for at, given in enumerate(self._by_output(metrics, count)):
                for each in given if isinstance(given, (list, tuple)) else [] if given is None else [given]:
                    found = metrics_.get(each)
                    found._name = f"{self._titles(count)[at]}_{found.name}"
                    self._measured.append((at, found))
        else:
            flat = [each for part in self._by_output(metrics, 1) for each in _listed(part)]
            self._measured = [(None, metrics_.get(each)) for each in flat]

    def _titles(self, count: int) -> list[str]:
        return self._names if len(self._names) == count else [f"output_{at + 1}" for at in range(count)]

    def _by_output(self, given: Any, count: int) -> list[Any]:
        """The part for each output."""
        if isinstance(given, dict):
            unknown = [name for name in given if name not in self._names]
            if unknown and self._names:
                raise ValueError(f"there is no output {unknown[0]!r}; the outputs are {self._names}")
            return [given.get(name) for name in self._names] if self._names else list(given.values())
        if not self._several:
            return [given]
        if isinstance(given, (list, tuple)):
            return [*given, *[None] * (count - len(given))]
        return [given] * count

    @property
    def metrics(self) -> list[Any]:
        return [self._mean, *self._means, *(metric for _, metric in self._measured)]

    def loss(self, y: Any, predicted: Any, weight: Any) -> Any:
        """The sum of the losses of the outputs, by their weights."""
        if not self._several:
            if self._losses[0] is None:
                raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
            return _loss(self._losses[0], y, predicted, weight)
        total: Any = None
        for at, (true, output) in enumerate(zip(self._outputs(y), self._outputs(predicted))):
            if self._losses[at] is None:
                continue
            one = _loss(self._losses[at], true, output, weight)
            self._means[at].update_state(one, sample_weight=shape(output)[0])
            total = one * self._weights[at] if total is None else total + one * self._weights[at]
        return total

    def _outputs(self, values: Any) -> list[Any]:
        if isinstance(values, dict):
            return [values[name] for name in self._names or values]
        return pytree.flatten(values)

    def note_loss(self, loss: Any, predicted: Any) -> None:
        """Update the mean loss."""
        self._mean.update_state(loss, sample_weight=shape(pytree.flatten(predicted)[0])[0])

    def measure(self, y: Any, predicted: Any) -> dict[str, Any]:
        """Update the metrics with a batch; gives the values of all by name."""
        for at, metric in self._measured:
            if at is None:
                metric.update_state(y, predicted)
            else:
                metric.update_state(self._outputs(y)[at], self._outputs(predicted)[at])
        return {each.name: each.result() for each in self.metrics}


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]


def _loss(loss: Any, y: Any, predicted: Any, weight: Any) -> Any:
    return loss(y, predicted) if weight is None else loss(y, predicted, sample_weight=weight)
