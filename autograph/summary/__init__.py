"""Events for TensorBoard: numbers, distributions, images, sounds and texts by step, and graphs with run times.

    with ag.summary.create_file_writer("logs/run1") as writer:
        writer.scalar("loss", loss, step)           # or ag.summary.scalar(...), which writes to the default writer

`autograph tensorboard logs` shows them. In staged functions, each call is made when the graph runs, in order, also in
branches and loops. All this needs the extra `tensorboard`; TensorFlow is not needed.

Read `writer.py` first; `default.py` has the default writer, `functions.py` writes to it. `protos.py` makes
TensorBoard's protocol buffers from arrays, `graph_def.py` makes them from graphs.
"""

from autograph.summary.default import default_writer
from autograph.summary.functions import audio, create_file_writer, flush, graph, histogram, image, scalar, text, trace
from autograph.summary.writer import Writer

__all__ = [
    "Writer",
    "audio",
    "create_file_writer",
    "default_writer",
    "flush",
    "graph",
    "histogram",
    "image",
    "scalar",
    "text",
    "trace",
]
