"""Writers of event files.

For the tracer, writers are objects of TensorBoard's, whose methods are called when the graph runs; see
`common/packages.py`.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from typing import TYPE_CHECKING, Any

from autograph.summary import graphs, protos
from autograph.summary.graph_def import Drawing

if TYPE_CHECKING:
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from typing_extensions import Self


class Writer:
    """Writes events for TensorBoard into a folder; see `create_file_writer`, which makes it.

    As a context, it is the default writer, and is closed at the end; `as_default` does not close it. Threads may share
    it. A thread of TensorBoard's writes the file, and the process writes what is left when it ends.

    Args:
        logdir: the folder; it is made if it does not exist. Each run of a program takes a folder of its own.
        max_queue: how many events may wait for the thread; then a call waits.
        flush_seconds: how often events go to disk, where TensorBoard sees them.
        filename_suffix: the end of the names of files.

    Attributes:
        logdir: the folder.
        closed: whether it writes nothing any more.

    Raises:
        ImportError: TensorBoard is not installed.
        OSError: the folder cannot be made or written to.

    Example:
        >>> import tempfile
        >>> with ag.summary.Writer(tempfile.mkdtemp()) as writer:
        ...     writer.scalar("loss", 0.5, step=0)
        ...     ag.summary.default_writer() is writer
        True
    """

    def __init__(
        self, logdir: str | PathLike[str], max_queue: int = 1000, flush_seconds: float = 10, filename_suffix: str = ""
    ) -> None:
        self.logdir = os.fspath(logdir)
        self._options = max_queue, flush_seconds, filename_suffix
        self._lock = threading.Lock()
        self.closed = False
        self._contexts: list[Any] = []
        self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._file = _event_file(self.logdir, *self._options)
        self._finalize = weakref.finalize(self, _close, self._file, self._process)

    def add(self, summary: Any = None, step: Any = 0, **event: Any) -> None:
        """Write an event of TensorBoard's.

        Args:
            summary: a `Summary` of `tensorboard.compat.proto`.
            step: an integer, or an array or variable with one.
            event: other fields of `Event`.

        Raises:
            ValueError: the writer is closed.
            OSError: the file cannot be written to.
        """
        from tensorboard.compat.proto.event_pb2 import Event

        made = Event(wall_time=time.time(), step=int(step), summary=summary, **event)
        self._write(lambda file: file.add_event(made))

    def _write(self, write: Callable[[EventFileWriter], None]) -> None:
        with self._lock:
            if self.closed:
                raise ValueError(
                    f"the writer of {self.logdir!r} is closed: write within its `with`, or use `with "
                    "writer.as_default():`, which does not close it"
                )
            if self._process != os.getpid():  # a fork has no thread that writes
                self._open()
            write(self._file)

    def scalar(self, name: str, value: Any, step: Any, description: str | None = None) -> None:
        """Write a number.

        Args:
            name: of the chart; `/` puts it into a group.
            value: a number, or an array with one element.
            step: an integer: the place on the x-axis.
            description: a text in Markdown.
        """
        self.add(protos.scalar(name, value, description), step)

    def histogram(
        self, name: str, values: Any, step: Any, buckets: int | None = None, description: str | None = None
    ) -> None:
        """Write how values are distributed.

        Args:
            name: of the chart.
            values: an array of numbers; those that are not finite are left out.
            step: an integer.
            buckets: their number, 30 by default.
            description: a text in Markdown.
        """
        self.add(protos.histogram(name, values, buckets, description), step)

    def image(
        self, name: str, images: Any, step: Any, max_outputs: int = 3, description: str | None = None
    ) -> None:
        """Write pictures.

        Args:
            name: of the pictures.
            images: an array of shape (height, width), (height, width, channels) or (count, height, width, channels);
                floats from 0 to 1, or integers from 0 to 255; with 1 to 4 channels: gray or colors, with alpha or not.
            step: an integer.
            max_outputs: how many of them to write.
            description: a text in Markdown.
        """
        self.add(protos.image(name, images, max_outputs, description), step)

    def audio(
        self, name: str, waves: Any, sample_rate: int, step: Any, max_outputs: int = 3, description: str | None = None
    ) -> None:
        """Write sounds.

        Args:
            name: of the sounds.
            waves: an array of shape (count, frames, channels), of floats from -1 to 1.
            sample_rate: frames per second.
            step: an integer.
            max_outputs: how many of them to write.
            description: a text in Markdown.
        """
        self.add(protos.audio(name, waves, sample_rate, max_outputs, description), step)

    def text(self, name: str, data: Any, step: Any, description: str | None = None) -> None:
        """Write a text.

        Args:
            name: of the text.
            data: a text in Markdown; or an array or list of texts, which is shown as a table.
            step: an integer.
            description: a text in Markdown.
        """
        self.add(protos.text(name, data, description), step)

    def graph(self, function: Any, *args: Any, **kwargs: Any) -> None:
        """Write the graph of a function, for the page Graphs.

        Args:
            function: a staged function; or another one, which is staged for that; or a graph that `graph` of a staged
                function gives, or a concrete function.
            args: of a call, as for `graph` of a staged function: values, or specs of arrays.
            kwargs: of the call.

        Raises:
            TracingError: such a call runs as plain Python.
        """
        graph = graphs.graph_of(function, args, kwargs)
        self.add(graphs.graph_summary(graph.name, [Drawing(graph)]))

    def trace(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function, and write its graph with the run time of each node, for the page Graphs.

        The call is timed as by `ag.profile`: a node that NumPy or Python runs by itself, loops and groups of nodes that
        are machine code as a whole.

        Args:
            function: a staged function; or another one, which is staged for that.
            args: of the call.
            kwargs: of the call.

        Returns:
            the result of the call.

        Raises:
            TracingError: such a call runs as plain Python.
        """
        result, graph, profile = graphs.timed_call(function, args, kwargs)
        self.add(graphs.graph_summary(graph.name, [Drawing(graph)], profile))
        return result

    def flush(self) -> None:
        """Wait until all events are on disk."""
        self._write(lambda file: file.flush())

    def close(self) -> None:
        """Write what is left, and close the file. Closing twice does nothing."""
        with self._lock:
            self.closed = True
            self._finalize()

    # Default ----------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._contexts.append(HERE.set(self))
        return self

    def __exit__(self, *raised: object) -> None:
        HERE.reset(self._contexts.pop())
        self.close()

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """A context in which this is the default writer; at the end, events go to disk, and the file stays open."""
        token = HERE.set(self)
        try:
            yield self
        finally:
            HERE.reset(token)
            if not self.closed:
                self.flush()

    def set_as_default(self) -> None:
        """Make this the default writer of all threads, where no context says otherwise."""
        EVERYWHERE[:] = [self]

    def __repr__(self) -> str:
        return f"<writer of {self.logdir!r}{', closed' * self.closed}>"


HERE: ContextVar[Writer | None] = ContextVar("default writer", default=None)
EVERYWHERE: list[Writer] = []  # where HERE is None; at most one


def _event_file(logdir: str, max_queue: int, flush_seconds: float, suffix: str) -> EventFileWriter:
    try:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        raise ImportError(
            "writing events needs TensorBoard, which is not installed: pip install 'autograph-py[tensorboard]'"
        ) from error
    return EventFileWriter(logdir, max_queue, flush_seconds, suffix)


def _close(file: EventFileWriter, process: int) -> None:
    if os.getpid() == process:  # what a fork has of it belongs to the process that made it
        file.close()
