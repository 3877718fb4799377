"""`tf.train.CheckpointManager`: numbers checkpoints, and keeps the latest ones."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograph.compat.tensorflow.train import files
from autograph.compat.tensorflow.train.checkpoint import Checkpoint


class CheckpointManager:
    """Saves a checkpoint again and again, and deletes the oldest files.

    Args:
        max_to_keep: the number of files that are kept; None for all.
        keep_checkpoint_every_n_hours: a file is not deleted if so much time has passed since the last that was not.
        step_counter, checkpoint_interval: `save` does nothing before the counter has grown by the interval.
        init_fn: is called by `restore_or_initialize` if there is nothing to restore.
    """

    def __init__(
        self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None, checkpoint_name: str = "ckpt", step_counter: Any = None,
        checkpoint_interval: int | None = None, init_fn: Callable[[], Any] | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self.checkpoint, self._directory = checkpoint, str(os.fspath(directory))
        self._most, self._hours, self._name = max_to_keep, keep_checkpoint_every_n_hours, checkpoint_name
        self._counter, self.checkpoint_interval, self._initialize = step_counter, checkpoint_interval, init_fn
        self._saved_at: int | None = None
        self._kept_for_good = time.time()
        self._paths = files.read_state(self._directory)
        self._times = {path: Path(f"{path}{files.ENDING}").stat().st_mtime for path in self._paths}

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the files that are kept, the oldest first."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        return self._paths[-1] if self._paths else None

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str | None:
        """Write the checkpoint to a new file, and delete those that are too many; gives the path.

        Args:
            checkpoint_number: in its name; by default it is counted.
        """
        if self._counter is not None:
            step = int(self._counter)
            interval = self.checkpoint_interval
            if check_interval and interval and self._saved_at is not None and step < self._saved_at + interval:
                return None
            self._saved_at = step
        counter = self.checkpoint._counter()
        counter.assign_add(1)
        number = int(counter.numpy() if checkpoint_number is None else checkpoint_number)
        path = self.checkpoint.write(os.path.join(self._directory, f"{self._name}-{number}"))
        self._paths = [*(each for each in self._paths if each != path), path]
        self._times[path] = time.time()
        gone = self._paths[: -self._most] if self._most is not None else []
        self._paths = self._paths[len(gone) :]
        files.write_state(Path(self._directory), path, self._paths)
        for each in gone:
            if self._hours is not None and self._times[each] - self._kept_for_good >= self._hours * 3600:
                self._kept_for_good = self._times[each]
                continue
            with contextlib.suppress(FileNotFoundError):
                Path(f"{each}{files.ENDING}").unlink()
        return path

    def delete(self) -> None:
        """Delete all files of this manager."""
        for name in (files.STATE, *(f"{Path(each).name}{files.ENDING}" for each in self._paths)):
            with contextlib.suppress(FileNotFoundError):
                Path(self._directory, name).unlink()
        self._paths = []

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, or else call `init_fn`; gives the path."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
            return self.latest_checkpoint
        if self._initialize is not None:
            self._initialize()
        return None
