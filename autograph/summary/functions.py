"""The methods of the default writer as functions.

Without a default writer, they write nothing. So a function that reports its progress also runs without TensorBoard.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from autograph.api import do_not_convert
from autograph.summary.default import default_writer, effect
from autograph.summary.writer import Writer


@do_not_convert
def create_file_writer(logdir: str | PathLike[str], max_queue: int = 1000, flush_seconds: float = 10) -> Writer:
    """Make a writer of events for TensorBoard.

    Args:
        logdir: the folder; it is made if it does not exist. Each run of a program takes a folder of its own.
        max_queue: how many events may wait for the thread that writes them; then a call waits.
        flush_seconds: how often events go to disk, where TensorBoard sees them.

    Returns:
        the writer. `with writer:` makes it the default writer, and closes it at the end.

    Raises:
        ImportError: TensorBoard is not installed.
        OSError: the folder cannot be made or written to.

    Example:
        >>> import tempfile
        >>> with ag.summary.create_file_writer(tempfile.mkdtemp()):
        ...     for step in range(3):
        ...         _ = ag.summary.scalar("loss", 0.5**step, step)
    """
    return Writer(logdir, max_queue, flush_seconds)


@effect
def scalar(name: str, value: Any, step: Any, description: str | None = None) -> bool:
    """Write a number to the default writer.

    Args:
        name: of the chart; `/` puts it into a group.
        value: a number, or an array with one element.
        step: an integer, or an array or variable with one: the place on the x-axis.
        description: a text in Markdown.

    Returns:
        whether there is a default writer.

    Raises:
        ValueError: the value is no real number.

    Example:
        >>> ag.summary.scalar("loss", 0.5, step=0)
        False
    """
    writer = default_writer()
    if writer is not None:
        writer.scalar(name, value, step, description)
    return writer is not None


@effect
def histogram(name: str, values: Any, step: Any, buckets: int | None = None, description: str | None = None) -> bool:
    """Write to the default writer how values are distributed.

    Args:
        name: of the chart.
        values: an array of numbers; those that are not finite are left out.
        step: an integer, or an array or variable with one.
        buckets: their number, 30 by default.
        description: a text in Markdown.

    Returns:
        whether there is a default writer.

    Raises:
        ValueError: the values are no real numbers.

    Example:
        >>> ag.summary.histogram("weights", np.linspace(-1, 1, 100), step=0)
        False
    """
    writer = default_writer()
    if writer is not None:
        writer.histogram(name, values, step, buckets, description)
    return writer is not None


@effect
def image(name: str, images: Any, step: Any, max_outputs: int = 3, description: str | None = None) -> bool:
    """Write pictures to the default writer.

    Args:
        name: of the pictures.
        images: an array of shape (height, width), (height, width, channels) or (count, height, width, channels);
            floats from 0 to 1, or integers from 0 to 255; with 1 to 4 channels: gray or colors, with alpha or not.
        step: an integer, or an array or variable with one.
        max_outputs: how many of them to write.
        description: a text in Markdown.

    Returns:
        whether there is a default writer.

    Raises:
        ValueError: the array has another shape.

    Example:
        >>> ag.summary.image("ramp", np.linspace(0, 1, 64).reshape(8, 8), step=0)
        False
    """
    writer = default_writer()
    if writer is not None:
        writer.image(name, images, step, max_outputs, description)
    return writer is not None


@effect
def audio(
    name: str, waves: Any, sample_rate: int, step: Any, max_outputs: int = 3, description: str | None = None
) -> bool:
    """Write sounds to the default writer.

    Args:
        name: of the sounds.
        waves: an array of shape (count, frames, channels), of floats from -1 to 1.
        sample_rate: frames per second.
        step: an integer, or an array or variable with one.
        max_outputs: how many of them to write.
        description: a text in Markdown.

    Returns:
        whether there is a default writer.

    Raises:
        ValueError: the array has another shape or dtype.

    Example:
        >>> ag.summary.audio("a", np.sin(np.arange(800) * 0.345).reshape(1, 800, 1), 8000, step=0)
        False
    """
    writer = default_writer()
    if writer is not None:
        writer.audio(name, waves, sample_rate, step, max_outputs, description)
    return writer is not None


@effect
def text(name: str, data: Any, step: Any, description: str | None = None) -> bool:
    """Write a text to the default writer.

    Args:
        name: of the text.
        data: a text in Markdown; or an array or list of texts, which is shown as a table.
        step: an integer, or an array or variable with one.
        description: a text in Markdown.

    Returns:
        whether there is a default writer.

    Raises:
        ValueError: the data are no texts.

    Example:
        >>> ag.summary.text("settings", "rate **0.1**", step=0)
        False
    """
    writer = default_writer()
    if writer is not None:
        writer.text(name, data, step, description)
    return writer is not None


@effect
def graph(function: Any, *args: Any, **kwargs: Any) -> bool:
    """Write the graph of a function to the default writer, for the page Graphs.

    Args:
        function: a staged function; or another one, which is staged for that; or a graph that `graph` of a staged
            function gives, or a concrete function.
        args: of a call, as for `graph` of a staged function: values, or specs of arrays.
        kwargs: of the call.

    Returns:
        whether there is a default writer.

    Raises:
        TracingError: such a call runs as plain Python.

    Example:
        >>> ag.summary.graph(lambda x: x * 2, 1.0)
        False
    """
    writer = default_writer()
    if writer is not None:
        writer.graph(function, *args, **kwargs)
    return writer is not None


@effect
def trace(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function, and write its graph with the run time of each node to the default writer, for the page Graphs.

    Args:
        function: a staged function; or another one, which is staged for that.
        args: of the call.
        kwargs: of the call.

    Returns:
        the result of the call.

    Raises:
        TracingError: there is a default writer, and such a call runs as plain Python.

    Example:
        >>> ag.summary.trace(lambda x: x * 2, 1.0)
        2.0
    """
    writer = default_writer()
    return function(*args, **kwargs) if writer is None else writer.trace(function, *args, **kwargs)


@effect
def flush() -> None:
    """Wait until all events of the default writer are on disk.

    Example:
        >>> ag.summary.flush()
    """
    writer = default_writer()
    if writer is not None:
        writer.flush()
