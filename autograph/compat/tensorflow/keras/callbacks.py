"""`tf.keras.callbacks`: objects that `fit`, `evaluate` and `predict` report to."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.ops.variables import Variable
from autograph.compat.tensorflow.summary import drawn
from autograph.compat.tensorflow.train import Checkpoint, CheckpointManager
from autograph.summary.graphs import graph_summary
from autograph.summary.writer import Writer

Logs = Mapping[str, Any]


class Callback:
    """A base class; subclasses define what they want to hear of.

    Attributes:
        model: the model that is trained.
        params: the number of epochs and of steps, and whether progress is shown.
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_model(self, model: Any) -> None:
        self.model = model

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def on_batch_begin(self, batch: int, logs: Any = None) -> None: ...
    def on_batch_end(self, batch: int, logs: Any = None) -> None: ...
    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None: ...
    def on_epoch_end(self, epoch: int, logs: Any = None) -> None: ...
    def on_train_begin(self, logs: Any = None) -> None: ...
    def on_train_end(self, logs: Any = None) -> None: ...
    def on_test_begin(self, logs: Any = None) -> None: ...
    def on_test_end(self, logs: Any = None) -> None: ...
    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None: ...
    def on_test_batch_end(self, batch: int, logs: Any = None) -> None: ...
    def on_predict_begin(self, logs: Any = None) -> None: ...
    def on_predict_end(self, logs: Any = None) -> None: ...
    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None: ...
    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None: ...

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.on_batch_end(batch, logs)


class CallbackList:
    """Several callbacks, told of each event in their order."""

    def __init__(self, callbacks: Any = None, model: Any = None, add_history: bool = False, **params: Any) -> None:
        given = callbacks if isinstance(callbacks, (list, tuple)) else [] if callbacks is None else [callbacks]
        self.callbacks = [*given, *([History()] if add_history else [])]
        for each in self.callbacks:
            each.set_model(model)
            each.set_params(params)

    @property
    def history(self) -> History:
        return next(each for each in reversed(self.callbacks) if isinstance(each, History))

    def tell(self, event: str, *args: Any) -> None:
        """Call the method `on_…` of each callback."""
        for each in self.callbacks:
            getattr(each, f"on_{event}")(*args)


class History(Callback):
    """The result of `fit`.

    Attributes:
        history: the values of each loss and metric at the ends of the epochs, by name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Calls functions, given by the names of the events."""

    def __init__(self, **functions: Callable[..., Any]) -> None:
        super().__init__()
        for name, function in functions.items():
            if not hasattr(Callback, name):
                raise ValueError(f"there is no event {name}; those are {', '.join(_EVENTS)}")
            if function is not None:
                setattr(self, name, function)


_EVENTS = sorted(name for name in vars(Callback) if name.startswith("on_"))


class _Monitor(Callback):
    """Watches a value of the logs.

    Args:
        mode: whether it should get smaller (`min`) or larger (`max`); `auto` decides by its name.
        min_delta: changes that are not larger do not count.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"mode must be 'auto', 'min' or 'max', not {mode!r}")
        grows = mode == "max" or (mode == "auto" and any(part in monitor for part in ("acc", "auc", "precision")))
        self.monitor = monitor
        self._sign = -1 if grows else 1
        self._delta = abs(min_delta)
        self.best = math.inf * self._sign

    def value(self, logs: Logs | None) -> float | None:
        """The watched value; a warning if it is not there."""
        found = (logs or {}).get(self.monitor)
        if found is None:
            names = ", ".join(logs or {})
            print(f"{type(self).__name__} watches `{self.monitor}`, which is not available. Available are: {names}")
        return None if found is None else float(found)

    def improves(self, value: float, best: float) -> bool:
        return self._sign * value < self._sign * best - self._delta


class EarlyStopping(_Monitor):
    """Stops the training when a value has not got better for `patience` epochs.

    Args:
        baseline: a value that it must be better than.
        restore_best_weights: whether the model gets back the weights of its best epoch.
        start_from_epoch: epochs before that one do not count.
    """

    def __init__(
        self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0, verbose: int = 0, mode: str = "auto",
        baseline: float | None = None, restore_best_weights: bool = False, start_from_epoch: int = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best, self.best_weights = math.inf * self._sign, None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        value = self.value(logs)
        if value is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self.improves(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self.improves(value, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose:
                print(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(_Monitor):
    """Multiplies the learning rate by `factor` when a value has not got better for `patience` epochs."""

    def __init__(
        self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10, verbose: int = 0, mode: str = "auto",
        min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0.0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Got {factor}")
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self._resting = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = self._resting = 0
        self.best = math.inf * self._sign

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        value, rate = self.value(logs), rate_of(self.model)
        if isinstance(logs, dict):
            logs["learning_rate"] = rate
        if value is None:
            return
        if self._resting:
            self._resting -= 1
            self.wait = 0
        if self.improves(value, self.best):
            self.best, self.wait = value, 0
            return
        self.wait += not self._resting
        if self.wait >= self.patience and rate > self.min_lr:
            lower = max(rate * self.factor, self.min_lr)
            self.model.optimizer.learning_rate = lower
            self.wait, self._resting = 0, self.cooldown
            if self.verbose:
                print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {lower}.")


class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch to what a function gives for its number, and the rate before."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        try:
            rate = float(self.schedule(epoch, rate_of(self.model)))
        except TypeError:  # it takes the number only
            rate = float(self.schedule(epoch))
        self.model.optimizer.learning_rate = rate
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if isinstance(logs, dict):
            logs["learning_rate"] = rate_of(self.model)


class TerminateOnNaN(Callback):
    """Stops the training when the loss is not finite."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(float(loss)):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class CSVLogger(Callback):
    """Writes the logs of the epochs to a CSV file.

    Args:
        append: whether to go on with a file that exists.
    """

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.separator, self.append = Path(filename), separator, append
        self._names: list[str] | None = None
        self._file: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._goes_on = self.append and self.filename.exists() and self.filename.stat().st_size > 0
        self._file = self.filename.open("a" if self.append else "w", newline="")
        self._names = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        values = {name: float(value) for name, value in (logs or {}).items()}
        writer = csv.writer(self._file, delimiter=self.separator, lineterminator="\n")
        if self._names is None:
            self._names = sorted(values)
            if not self._goes_on:
                writer.writerow(["epoch", *self._names])
        writer.writerow([epoch, *(values.get(name, "NA") for name in self._names)])
        self._file.flush()

    def on_train_end(self, logs: Any = None) -> None:
        self._file.close()


class TensorBoard(Callback):
    """Writes losses and metrics for TensorBoard, as the runs `train` and `validation`.

    Args:
        log_dir: the folder of the runs.
        histogram_freq: after how many epochs to write how the weights are distributed; 0: never.
        write_graph: whether to write the graphs that are traced for the first batch.
        update_freq: `epoch`; with `batch` or a number of batches, losses and metrics are also written after so many.
    """

    def __init__(
        self, log_dir: Any = "logs", histogram_freq: int = 0, write_graph: bool = True,
        write_steps_per_second: bool = False, update_freq: Any = "epoch",
    ) -> None:
        super().__init__()
        self.log_dir, self.histogram_freq, self.write_graph = Path(log_dir), histogram_freq, write_graph
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = {"epoch": 0, "batch": 1}.get(update_freq, update_freq)
        self._writers: dict[str, Writer] = {}
        self._batches = 0
        self._began = (0, 0.0)
        self._graphs: list[graphs.FuncGraph] | None = None

    def writer(self, run: str) -> Writer:
        """The writer of a run; its folder is made when it is first used."""
        if run not in self._writers or self._writers[run].closed:
            self._writers[run] = Writer(self.log_dir / run)
        return self._writers[run]

    def _write(self, run: str, names: str, logs: Mapping[str, Any], step: int) -> None:
        for name, value in logs.items():
            self.writer(run).scalar(names.format(name), float(value), step)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._began = self._batches, time.perf_counter()

    def on_train_begin(self, logs: Any = None) -> None:
        if self.write_graph and graphs.remembered() is None:
            self._graphs = []
            graphs.remember(self._graphs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._graphs is not None:
            graphs.remember(None)
            drawings = [drawn(graph, f"{graph.name}_{at}" if at else "") for at, graph in enumerate(self._graphs)]
            self._graphs = None
            if drawings:
                self.writer("train").add(graph_summary(self.model.name, drawings))
        if self.update_freq and self._batches % self.update_freq == 0:
            self._write("train", "batch_{}", logs or {}, self._batches)
        self._batches += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        rates = {} if callable(self.model.optimizer.learning_rate) else {"learning_rate": rate_of(self.model)}
        of_training = {name: value for name, value in (logs or {}).items() if not name.startswith("val_")}
        others = {name[4:]: value for name, value in (logs or {}).items() if name.startswith("val_")}
        self._write("train", "epoch_{}", of_training | rates, epoch)
        self._write("validation", "epoch_{}", others, epoch)
        if self.write_steps_per_second:
            batches, began = self._began
            rate = (self._batches - batches) / (time.perf_counter() - began)
            self.writer("train").scalar("epoch_steps_per_second", rate, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            for weight in self.model.weights:
                self.writer("train").histogram(f"{weight.name.partition(':')[0]}/histogram", weight.numpy(), epoch)
        for writer in self._writers.values():
            writer.flush()

    def on_test_end(self, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations.numpy()) if self.model.optimizer is not None else 0
        self._write("validation", "evaluation_{}_vs_iterations", logs or {}, step)

    def on_train_end(self, logs: Any = None) -> None:
        for writer in self._writers.values():
            writer.close()


class ModelCheckpoint(_Monitor):
    """Saves the model, or its weights, at the ends of epochs.

    Args:
        filepath: may hold `{epoch}` and the names of logs in braces.
        save_best_only: whether to save only when the watched value has got better.
        save_freq: `epoch`, or a number of batches.
    """

    def __init__(
        self, filepath: Any, monitor: str = "val_loss", verbose: int = 0, save_best_only: bool = False,
        save_weights_only: bool = False, mode: str = "auto", save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__(monitor, mode)
        self.filepath, self.verbose, self.save_freq = str(filepath), verbose, save_freq
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.best = self.best if initial_value_threshold is None else initial_value_threshold
        self._epoch = self._batches = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._batches += 1
        if self.save_freq != "epoch" and self._batches % self.save_freq == 0:
            self._save(logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.save_freq == "epoch":
            self._save(logs)

    def _save(self, logs: Logs | None) -> None:
        if self.save_best_only:
            value = self.value(logs)
            if value is None or not self.improves(value, self.best):
                return
            self.best = value
        numbers = {name: float(each) for name, each in (logs or {}).items()}
        path = self.filepath.format(epoch=self._epoch + 1, **numbers)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        (self.model.save_weights if self.save_weights_only else self.model.save)(path)
        if self.verbose:
            print(f"\nEpoch {self._epoch + 1}: saving model to {path}")


class BackupAndRestore(Callback):
    """Saves model and optimizer at the ends of epochs; a `fit` that was interrupted goes on from there.

    Args:
        backup_dir: the directory; it is emptied when the training has ended.
        save_freq: `epoch`, or a number of batches.
        delete_checkpoint: whether to remove the files at the end.
    """

    def __init__(self, backup_dir: Any, save_freq: Any = "epoch", delete_checkpoint: bool = True, **_: Any) -> None:
        super().__init__()
        self.backup_dir, self.save_freq, self.delete_checkpoint = Path(backup_dir), save_freq, delete_checkpoint
        self._batches = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self._epoch = Variable(0, False, name="epoch", dtype="int64")
        parts = {"model": self.model, "optimizer": self.model.optimizer, "epoch": self._epoch}
        self._manager = CheckpointManager(Checkpoint(**parts), self.backup_dir, 1)
        if self._manager.restore_or_initialize() is not None:
            self.model.initial_epoch = int(self._epoch.numpy())

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._batches += 1
        if self.save_freq != "epoch" and self._batches % self.save_freq == 0:
            self._manager.save()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._epoch.assign(epoch + 1)
        if self.save_freq == "epoch":
            self._manager.save()

    def on_train_end(self, logs: Any = None) -> None:
        vars(self.model).pop("initial_epoch", None)
        if self.delete_checkpoint:
            self._manager.delete()


def rate_of(model: Any) -> float:
    """The learning rate of the optimizer of a model.

    Raises:
        ValueError: a schedule gives it.
    """
    rate = model.optimizer.learning_rate
    if not hasattr(rate, "numpy"):
        raise ValueError("the optimizer has a schedule: give it a number as learning_rate to let a callback set it")
    return float(rate.numpy())
