"""The loops over batches of `fit`, `evaluate` and `predict`, methods of models."""

from __future__ import annotations

import weakref
from types import MethodType
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.keras import training
from autograph.compat.tensorflow.keras.callbacks import CallbackList, History
from autograph.compat.tensorflow.keras.layer import takes_training
from autograph.compat.tensorflow.keras.training import Feed, Progress, converted, packed, unpacked
from autograph.compat.tensorflow.ops.array_ops import concat
from autograph.compat.tensorflow.staging.function import Function


def fit(
    model: Any, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: Any = "auto",
    callbacks: Any = None, validation_split: float = 0.0, validation_data: Any = None, shuffle: bool = True,
    class_weight: Any = None, sample_weight: Any = None, initial_epoch: int = 0,
    steps_per_epoch: int | None = None, validation_steps: int | None = None,
    validation_batch_size: int | None = None, validation_freq: int = 1,
) -> History:
    """Train on all examples, `epochs` times.

    Args:
        verbose: whether to show the progress.
        callbacks: hear of the progress; see `keras.callbacks`.
        validation_split: the share of the examples, at their end, to use as validation data, not for training.
        validation_data: `(x, y)`, or a dataset, to evaluate after each epoch.
        steps_per_epoch: the number of batches of an epoch; a dataset goes on in the next epoch, then.
    """
    steps_of(model)
    if validation_split:
        train_count = int(training.count_examples(x) * (1 - validation_split))
        validation_data = training.subset((x, y, sample_weight), slice(train_count, None))
        x, y, sample_weight = training.subset((x, y, sample_weight), slice(train_count))
    feed = Feed(x, y, batch_size, shuffle, steps_per_epoch, sample_weight, class_weight)
    listeners = CallbackList(
        callbacks, model, add_history=True, epochs=epochs, steps=feed.count, verbose=int(bool(verbose))
    )
    model.stop_training = False
    listeners.tell("train_begin", {})
    initial_epoch = max(initial_epoch, getattr(model, "initial_epoch", 0))  # of a training that goes on
    for epoch in range(initial_epoch, epochs):
        if verbose:
            print(f"Epoch {epoch + 1}/{epochs}")
        _reset(model.metrics)
        listeners.tell("epoch_begin", epoch, {})
        bar = Progress(bool(verbose))
        logs = _run(model, steps_of(model)[0], feed, bar, listeners, "train_batch")
        if validation_data is not None and (epoch + 1) % validation_freq == 0:
            given = validation_data if isinstance(validation_data, tuple) else (validation_data, None)
            x_val, y_val, weights = (*given, None)[:3]
            held = Feed(x_val, y_val, validation_batch_size or batch_size, False, validation_steps, weights)
            other = _evaluated(model, held, Progress(False), listeners)
            logs.update({f"val_{name}": value for name, value in other.items()})
        bar.end(logs)
        listeners.tell("epoch_end", epoch, logs)
        if model.stop_training:
            break
    listeners.tell("train_end", logs if epochs > initial_epoch else {})
    history: History = listeners.history
    model.history = history
    return history


def evaluate(
    model: Any, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: Any = "auto",
    sample_weight: Any = None, steps: int | None = None, callbacks: Any = None, return_dict: bool = False,
) -> Any:
    """Compute the loss and the metrics of examples."""
    steps_of(model)
    feed, bar = Feed(x, y, batch_size, False, steps, sample_weight), Progress(bool(verbose))
    logs = _evaluated(model, feed, bar, CallbackList(callbacks, model, steps=feed.count))
    bar.end(logs)
    if return_dict:
        return logs
    values = list(logs.values())
    return values if len(values) > 1 else values[0]


def predict(
    model: Any, x: Any, batch_size: int | None = None, verbose: Any = "auto", steps: int | None = None,
    callbacks: Any = None,
) -> Any:
    """Compute the outputs of the model for examples; returns an array for each."""
    listeners = CallbackList(callbacks, model)
    listeners.tell("predict_begin", {})
    found = []
    for number, data in enumerate(Feed(x, None, batch_size, False, steps)):
        listeners.tell("predict_batch_begin", number, {})
        found.append(predicted_batch(model, unpacked(data)[0], False))
        listeners.tell("predict_batch_end", number, {"outputs": found[-1]})
    listeners.tell("predict_end", {})
    return pytree.map(lambda *parts: concat(list(parts), 0).numpy(), *found)


def train_on_batch(model: Any, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
    """Train on one batch; returns the loss and the metrics."""
    return _listed(steps_of(model)[0](converted(packed(x, y, sample_weight))), return_dict)


def test_on_batch(model: Any, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
    """Evaluate one batch; returns the loss and the metrics."""
    return _listed(steps_of(model)[1](converted(packed(x, y, sample_weight))), return_dict)


_steps: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def steps_of(model: Any) -> tuple[Any, Any]:
    """The functions that take a step of training and of evaluation, staged unless the model runs eagerly."""
    if not hasattr(model, "optimizer"):
        raise ValueError("You must call `compile()` before using the model.")
    if model not in _steps:
        steps: Any = type(model).train_step, type(model).test_step
        if model.run_eagerly:
            return MethodType(steps[0], model), MethodType(steps[1], model)
        train, test = (Function(step, None, True, (), owner=model) for step in steps)  # they do not keep the model
        _steps[model] = train, test
    return _steps[model]


def forget_steps(model: Any) -> None:
    """Stage the steps of a model again at their next call."""
    _steps.pop(model, None)


def _evaluated(model: Any, feed: Feed, bar: Progress, listeners: CallbackList) -> dict[str, Any]:
    _reset(model.metrics)
    listeners.tell("test_begin", {})
    logs = _run(model, steps_of(model)[1], feed, bar, listeners, "test_batch")
    listeners.tell("test_end", logs)
    return logs


def _run(model: Any, step: Any, feed: Feed, bar: Progress, listeners: CallbackList, event: str) -> dict[str, Any]:
    """Take a step for each batch, and show the progress."""
    logs: dict[str, Any] = {}
    for number, data in enumerate(feed):
        listeners.tell(f"{event}_begin", number, {})
        logs = step(data)
        listeners.tell(f"{event}_end", number, logs)
        bar.show(number + 1, feed.count, logs)
        if model.stop_training:
            break
    return {name: float(value) for name, value in logs.items()}


def predicted_batch(model: Any, x: Any, training: bool) -> Any:
    return model(x, training=training) if takes_training(model) else model(x)


def _listed(logs: dict[str, Any], as_dict: bool) -> Any:
    values = {name: float(value) for name, value in logs.items()}
    return values if as_dict else list(values.values()) if len(values) > 1 else next(iter(values.values()))


def _reset(metrics: list[Any]) -> None:
    for each in metrics:
        each.reset_state()
