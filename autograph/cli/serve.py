"""`autograph serve`: answer requests to a saved model over HTTP."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from autograph.cli.failure import Failure
from autograph.cli.files import ENGINES
from autograph.cli.loading import DIRECTORY, check_callbacks, described, reported


@click.command("serve", short_help="Answer requests to a saved model over HTTP.")
@click.argument("directory", metavar="DIR", type=DIRECTORY)
@click.option("--name", help="In the address.  [default: the name of DIR]")
@click.option("--port", type=click.IntRange(0, 65535), default=8501, show_default=True, help="0 for any that is free.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all.")
@click.option("--threads", type=click.IntRange(min=1), help="Calls that run at the same time.  [default: one a core]")
@click.option("--max-bytes", type=click.IntRange(min=1), default=64 * 2**20, show_default=True, help="Of a body.")
@click.option("--timeout", type=click.FloatRange(min=0.001), default=30.0, show_default=True, help="Seconds of a call.")
@click.option("--allow-callbacks", "allowed", metavar="MODULE:NAME", multiple=True, help="As for ag.load. Repeatable.")
@click.option("--engine", type=click.Choice(ENGINES), help="What runs the graphs.  [default: auto]")
def command(
    directory: Path,
    name: str | None,
    port: int,
    host: str,
    threads: int | None,
    max_bytes: int,
    timeout: float,
    allowed: tuple[str, ...],
    engine: str | None,
) -> None:
    """Serve a directory that ag.save has written, in the shape of TensorFlow Serving's REST interface.

    Only this machine can reach the address, unless --host says otherwise. SIGTERM or Ctrl+C ends the server when all
    requests in flight are answered. If functions of the model change variables or print, calls run one at a time.

    It needs the extras: pip install 'autograph-py[save,serve]'. docs/serving.md has more.

    \b
    Requests:
      POST /v1/models/NAME:predict    {"instances": [...]} or {"inputs": ...}, or an array in the format .npy
      GET  /v1/models/NAME            the status of the model
      GET  /v1/models/NAME/metadata   its signatures
      GET  /healthz                   200, or 503 while the server stops

    \b
    Examples:
      autograph serve model
      autograph serve model --name digits --port 0 --threads 4
      curl -d '{"instances": [[1, 2, 3]]}' localhost:8501/v1/models/model:predict
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if "numpy" not in sys.modules:      # else threads of BLAS and those of the server wait for each other
        for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
    check_callbacks(described(directory), allowed)
    with reported():
        from autograph.serving.model import Model

        model = Model(directory, allowed, engine)
        model.compile()
    _serve(model, name or directory.resolve().name, host, port, (max_bytes, timeout, threads or cores))


def _serve(model: object, name: str, host: str, port: int, limits: tuple[int, float, int]) -> None:
    try:
        from autograph.serving.app import Limits, Service
        from autograph.serving.server import listen, serve
    except ImportError as error:
        raise Failure(f"{error.name} is not installed: pip install 'autograph-py[serve]'") from error
    service = Service(model, name, Limits(*limits))  # type: ignore[arg-type]
    try:
        listening = listen(host, port)
    except OSError as error:
        raise Failure(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"serving {name} at http://{shown}:{port}/v1/models/{name} (Ctrl+C ends it)")
    serve(service, listening)
    click.echo(f"stopped; {service.answered:,} of {service.begun:,} calls were answered")
    if service.calls:
        click.echo(f"{len(service.calls)} calls, which have passed their time limit, are given up", err=True)
        sys.stdout.flush()
        os._exit(0)
