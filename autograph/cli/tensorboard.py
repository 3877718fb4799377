"""`autograph tensorboard`: show a folder of events in the browser."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import click

from autograph.cli.failure import Failure


@click.command("tensorboard", short_help="Show a folder of events in the browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), help="0 for any that is free.  [default: 6006, or the next]")
@click.option("--reload", "seconds", type=click.IntRange(min=1), default=5, show_default=True, help="In seconds.")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("options", metavar="[-- OPTIONS]...", nargs=-1, type=click.UNPROCESSED)
def command(host: str, port: int | None, seconds: int, folder: Path, options: tuple[str, ...]) -> None:
    """Start TensorBoard on a folder, print its address, and run until Ctrl+C.

    DIR is the folder of a writer (ag.summary.create_file_writer, or tf.summary), or one above those of several runs,
    which are then shown together. New events appear while a program writes them. Only this machine can reach the
    address, unless --host says otherwise. OPTIONS are TensorBoard's own.

    It needs the extra: pip install 'autograph-py[tensorboard]'. TensorFlow is not needed.

    \b
    Pages:
      Time series, Scalars   ag.summary.scalar
      Histograms             ag.summary.histogram; also in Distributions
      Images, Audio, Text    ag.summary.image, audio, text
      Graphs                 ag.summary.graph; with the run times of nodes: ag.summary.trace

    \b
    Examples:
      autograph tensorboard logs
      autograph tensorboard --port 7007 logs/run1
      autograph tensorboard logs -- --samples_per_plugin images=100
    """
    place = ["--logdir", str(folder), "--host", host]
    place += ["--port", str(port)] if port is not None else []
    # Forks write files of their own into the folder of a run; see `summary/writer.py`.
    board = _configured([*place, "--reload_interval", str(seconds), "--reload_multifile", "true", *options])
    click.echo(f"TensorBoard shows {folder} at {_launched(board)} (Ctrl+C ends it)")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        click.echo()


def _configured(options: list[str]) -> Any:
    try:
        from tensorboard import program
    except ImportError as error:
        if error.name == "pkg_resources":
            raise Failure(
                "this version of TensorBoard needs pkg_resources, which setuptools does not have any more: "
                "pip install 'tensorboard>=2.21'"
            ) from error
        raise Failure("TensorBoard is not installed: pip install 'autograph-py[tensorboard]'") from error
    board = program.TensorBoard()
    board.configure(argv=["autograph tensorboard", *options])
    return board


def _launched(board: Any) -> str:
    """Start the server in a thread; returns its address."""
    from tensorboard.program import TensorBoardServerException

    try:
        return str(board.launch())
    except TensorBoardServerException as error:
        raise Failure(f"TensorBoard cannot start: {str(error).strip()}") from error
