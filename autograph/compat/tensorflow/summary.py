"""`tf.summary`: numbers and graphs, written to a folder as text: `scalars.jsonl`, and a `.pbtxt` for each graph."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.tensor import effect


class _State(threading.local):
    def __init__(self) -> None:
        self.writer: Writer | None = None


_state = _State()


class Writer:
    """Writes to a folder."""

    def __init__(self, logdir: str) -> None:
        self.folder = Path(logdir)
        self.folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[Writer]:
        """A context in which summaries go to this folder."""
        before, _state.writer = _state.writer, self
        try:
            yield self
        finally:
            _state.writer = before

    def flush(self) -> None:
        """Does nothing: all is written at once."""

    def close(self) -> None:
        """Does nothing: no file stays open."""


def create_file_writer(logdir: str, **_: Any) -> Writer:
    """Make a writer to a folder, and the folder."""
    return Writer(str(logdir))


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Write a number when the graph runs."""
    writer = _state.writer
    if writer is None:
        return False

    def write(value: Any, at: Any) -> None:
        line = {"name": name, "step": None if at is None else int(at), "value": float(value)}
        with (writer.folder / "scalars.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    effect(write, convert_to_tensor(data)._value, None if step is None else convert_to_tensor(step)._value)
    return True


def trace_on(graph: bool = True, profiler: bool = False, **_: Any) -> None:
    """Begin to remember the graphs that are traced."""
    graphs.remember([] if graph else None)


def trace_off() -> None:
    """Stop remembering graphs."""
    graphs.remember(None)


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Write the graphs that were traced since `trace_on`."""
    made, writer = graphs.remembered(), _state.writer
    if made is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    if writer is None:
        raise ValueError("No default writer: use trace_export within `with writer.as_default():`")
    texts = [f"# {graph.name}\n{graph.as_graph_def()}" for graph in made]
    (writer.folder / f"{name}.pbtxt").write_text("\n".join(texts))
    trace_off()
