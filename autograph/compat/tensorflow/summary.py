"""`tf.summary`: events for TensorBoard, and the graphs and run times of functions.

Functions that are traced record their summaries, with the writer and the step that are the default then. Their graphs
write them at each run.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.graph_def import op_of
from autograph.compat.tensorflow.core.graphs import FuncGraph, prefixed
from autograph.compat.tensorflow.core.kernels import kernel_name
from autograph.compat.tensorflow.core.tensor import Tensor, effect
from autograph.compat.tensorflow.ops.variables import Variable
from autograph.runtime.graph.graph import Constant, Node
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.profiling.profile import Profile
from autograph.summary import protos
from autograph.summary.graph_def import Calls, Drawing
from autograph.summary.graphs import graph_summary
from autograph.summary.writer import Writer


class _State(threading.local):
    """The defaults of a thread.

    Attributes:
        writer: None if nothing is written.
        step: an integer, or a variable, which is read when a graph runs.
        recorded: whether summaries are written: a bool, or a function that gives one.
        trace: the graphs since `trace_on`.
    """

    writer: SummaryWriter | None = None
    step: Any = None
    recorded: Any = True
    trace: _Trace | None = None


_state = _State()


class SummaryWriter:
    """Writes events to a folder.

    Args:
        writer: that of `ag.summary`; None if it writes nothing.
    """

    def __init__(self, writer: Writer | None) -> None:
        self._writer = writer

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """A context in which this is the default writer, and `step`, if it is given, the default step."""
        before, before_step = _state.writer, _state.step
        _state.writer = self
        _state.step = before_step if step is None else step
        try:
            yield self
        finally:
            _state.writer, _state.step = before, before_step
            if self._writer is not None and not self._writer.closed:
                self.flush()

    def set_as_default(self, step: Any = None) -> None:
        """Make this the default writer of the thread."""
        _state.writer = self
        if step is not None:
            _state.step = step

    def init(self) -> None:
        """Do nothing: the file is made with the writer."""

    def flush(self) -> None:
        """Wait until all events are on disk."""
        if self._writer is not None:
            effect(self._writer.flush)

    def close(self) -> None:
        """Write what is left, and close the file."""
        if self._writer is not None:
            self._writer.close()


def create_file_writer(
    logdir: Any, max_queue: int | None = None, flush_millis: int | None = None, filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """Make a writer to a folder, and the folder."""
    folder = logdir.numpy().decode() if isinstance(logdir, Tensor) else logdir
    options: dict[str, Any] = {} if max_queue is None else {"max_queue": int(max_queue)}
    options |= {} if flush_millis is None else {"flush_seconds": int(flush_millis) / 1000}
    return SummaryWriter(Writer(folder, filename_suffix=filename_suffix or "", **options))


def create_noop_writer() -> SummaryWriter:
    """Make a writer that writes nothing."""
    return SummaryWriter(None)


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Wait until all events of a writer, or of the default writer, are on disk."""
    writer = writer or _state.writer
    if writer is not None:
        writer.flush()


# Conditions and steps -------------------------------------------------------------------------------------------------


def _writer() -> Writer | None:
    """The default writer, if there is one that writes something."""
    return None if _state.writer is None else _state.writer._writer


def should_record_summaries() -> Tensor:
    """Whether summaries are written: there is a default writer, and no `record_if` says no."""
    if _writer() is None:
        return convert_to_tensor(False)
    return convert_to_tensor(_state.recorded() if callable(_state.recorded) else _state.recorded)


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A context in which summaries are written on a condition: a bool, a tensor, or a function that gives one."""
    before, _state.recorded = _state.recorded, condition
    try:
        yield
    finally:
        _state.recorded = before


def _set_step(step: Any) -> None:
    """Set the default step: an integer, or a variable."""
    _state.step = step


def _get_step() -> Any:
    """The default step; None if there is none."""
    return _state.step


experimental = SimpleNamespace(set_step=_set_step, get_step=_get_step)


# Summaries ------------------------------------------------------------------------------------------------------------


def _record(name: str, step: Any, make: Callable[..., Any], *values: Any) -> Tensor:
    """Write the summary that `make` gives for a tag and values, when the graph runs. Returns whether it is written."""
    recorded, writer = should_record_summaries(), _writer()
    if writer is None or recorded._value is np.False_:
        return convert_to_tensor(False)
    step = _state.step if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    tag = prefixed(name)

    def write(is_wanted: Any, at: Any, *arrays: Any) -> None:
        if is_wanted:
            writer.add(make(tag, *arrays), at)

    at = step if isinstance(step, int) else convert_to_tensor(step)._value
    effect(write, recorded._value, at, *(convert_to_tensor(each)._value for each in values))
    return recorded


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write a number."""
    return _record(name, step, lambda tag, value: protos.scalar(tag, value, description), data)


def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None
) -> Tensor:
    """Write how the elements of a tensor are distributed."""
    return _record(name, step, lambda tag, values: protos.histogram(tag, values, buckets, description), data)


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None) -> Tensor:
    """Write pictures, of shape (count, height, width, channels). Floats go from 0 to 1, integers to the largest one."""

    def make(tag: str, images: Any, count: Any) -> Any:
        if images.ndim != 4:
            raise ValueError(f"tf.summary.image {name!r}: images have 4 dimensions, not the shape {images.shape}")
        if images.dtype.kind in "iu":
            images = np.clip(images // ((int(np.iinfo(images.dtype).max) + 1) // 256), 0, 255)
        return protos.image(tag, images, int(count), description)

    return _record(name, step, make, data, max_outputs)


def audio(
    name: str, data: Any, sample_rate: Any, step: Any = None, max_outputs: int = 3, encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Write sounds, of shape (count, frames, channels), with values from -1 to 1."""
    if encoding not in (None, "wav"):
        raise ValueError(f"tf.summary.audio {name!r}: the encoding is 'wav', not {encoding!r}")

    def make(tag: str, waves: Any, rate: Any, count: Any) -> Any:
        return protos.audio(tag, waves, int(rate), int(count), description)

    return _record(name, step, make, data, sample_rate, max_outputs)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write a text in Markdown, or a table of texts."""
    return _record(name, step, lambda tag, texts: protos.text(tag, texts, description), data)


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Tensor:
    """Write a tensor, with metadata that say which plugin of TensorBoard shows it."""
    return _record(tag, step, lambda tag, array: protos.tensor(tag, array, metadata), tensor)


# Graphs ---------------------------------------------------------------------------------------------------------------


class _Trace:
    """The graphs that were traced since `trace_on`, and the run times."""

    def __init__(self, graph: bool, profile: Profile | None, folder: str | None) -> None:
        self.graphs: list[FuncGraph] | None = [] if graph else None
        self.profile = profile
        self.folder = folder


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None) -> None:
    """Begin to remember the graphs that are traced.

    Args:
        graph: whether to remember them.
        profiler: whether to measure run times.
        profiler_outdir: the folder for a file with these, unless `trace_export` names one.
    """
    trace_off()
    profile = Profile() if profiler else None
    _state.trace = _Trace(graph, profile, profiler_outdir)
    graphs.remember(_state.trace.graphs)
    if profile is not None:
        profile.__enter__()


def trace_off() -> None:
    """Stop remembering and measuring."""
    if _state.trace is not None and _state.trace.profile is not None:
        _state.trace.profile.__exit__()
    _state.trace = None
    graphs.remember(None)


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Write the graphs that were traced since `trace_on`, with the run times of nodes if these were measured.

    Args:
        name: under which the page Graphs shows them.
        step: an integer; by default the default step.
        profiler_outdir: the folder for a Chrome trace of all calls, below `plugins/profile`.
    """
    if _state.trace is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    if _state.writer is None:
        raise ValueError("No default writer: use trace_export within `with writer.as_default():`")
    found, writer = _state.trace, _writer()
    step = _state.step if step is None else step
    if step is None:
        raise ValueError("No step set: say trace_export(…, step=0), or use tf.summary.experimental.set_step()")
    trace_off()
    if writer is not None and found.graphs:
        drawings = [drawn(graph, f"{graph.name}_{at}" if at else "") for at, graph in enumerate(found.graphs)]
        writer.add(graph_summary(name, drawings, found.profile), step)
    folder = profiler_outdir or found.folder
    if found.profile is not None and folder is not None:
        target = Path(folder) / "plugins" / "profile" / time.strftime("%Y_%m_%d_%H_%M_%S")
        target.mkdir(parents=True, exist_ok=True)
        found.profile.save(target / f"{socket.gethostname()}.trace.json")


def graph(graph_data: FuncGraph) -> Tensor:
    """Write a graph of a concrete function, as that of the run."""
    writer = _writer()
    if writer is None:
        return convert_to_tensor(False)
    writer.add(graph_def=drawn(graph_data).graph_def.SerializeToString())
    return convert_to_tensor(True)


def drawn(graph: FuncGraph, scope: str = "") -> Drawing:
    """A graph for TensorBoard, in the scopes that `tf.name_scope` has made."""
    names = {id(each._storage): each._name for each in graph.accessed.values() if isinstance(each, Variable)}

    def calls(node: Node) -> Calls:
        path = graph.scopes.get(node, ())
        return tuple((path[: number + 1], part) for number, part in enumerate(path))

    return Drawing(graph.trace.graph, scope, calls, _title_of, names)


def _title_of(node: Node) -> tuple[str, str]:
    """The name of TensorFlow's for a node; none for what only keeps tapes away."""
    if lookup(node.op).template == "{}":    # it passes its argument on
        return "", ""
    function = node.args[0].value if node.op == "call" and isinstance(node.args[0], Constant) else None
    name = kernel_name(function.func if isinstance(function, partial) else function)
    if getattr(function, "__module__", "") == __name__:
        name = "write_summary"
    op = op_of(node) if name is None else _KERNELS.get(name) or "".join(map(str.capitalize, name.split("_")))
    return op, op


_KERNELS = {"read": "ReadVariableOp", "write": "AssignVariableOp", "show": "PrintV2", "show_plainly": "PrintV2"}
