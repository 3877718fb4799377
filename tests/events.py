"""What event files hold, as TensorBoard reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tensorboard")

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader  # noqa: E402
from tensorboard.util.tensor_util import make_ndarray  # noqa: E402


def events_in(folder: str | Path) -> list[Any]:
    """All events with contents, by file and time."""
    files = sorted(Path(folder).glob("events.out.tfevents.*"))
    return [event for file in files for event in EventFileLoader(str(file)).Load() if event.HasField("summary")]


def values_in(folder: str | Path) -> list[tuple[str, int, Any]]:
    """Name, step and contents of each summary."""
    return [
        (value.tag, event.step, make_ndarray(value.tensor).tolist())
        for event in events_in(folder)
        for value in event.summary.value
    ]
