"""`autograph graph`: show the graph that a function becomes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import autograph as ag
from autograph.cli import display
from autograph.cli.examples import arguments
from autograph.cli.failure import Failure
from autograph.cli.files import STDIN, Target, TargetCommand, TargetType
from autograph.cli.loading import load
from autograph.errors import AutographError
from autograph.runtime.printing import lines
from autograph.runtime.view import GraphView

HELP = """Show the graph that a function becomes for some arguments.

FILE is imported, and the function is traced, but not run. FUNCTION is a dotted name such as model.step; it may be
decorated with ag.function, or be plain. An argument, behind FUNCTION or behind --arg, is written as

\b
  a type          f64[3,4]  f32[?,8]  i64  py.int  py.float     any such array, scalar or Python number
  a Python value  5  0.5  'text'  None  [1, 2]
  a structure     [f64[3], {'w': f64[3,?]}]
  a file          weights.npy

and as NAME=VALUE if it is to be passed by name. A ? is a dimension of any length.

\b
Examples:
  autograph graph model.py:collatz py.int
  autograph graph model.py:step 'f64[3,4]' rate=0.1 --places
  autograph graph model.py:step 'f64[?]' --raw
  autograph graph model.py:step 'f64[?]' -o step.svg
"""

FORMATS: dict[str, str] = {
    ".svg": "svg", ".dot": "dot", ".gv": "dot", ".html": "html", ".json": "json", ".py": "source",
}  # fmt: skip


@click.command("graph", cls=TargetCommand, help=HELP, short_help="Show the graph that a function becomes.")
@click.argument("target", metavar="FILE:FUNCTION", type=TargetType())
@click.argument("values", metavar="[[NAME=]VALUE]...", nargs=-1)
@click.option("--arg", "texts", metavar="[NAME=]VALUE", multiple=True, help="An argument, or its type. Repeatable.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "dot", "svg", "html", "json", "source"]),
    help="`source` is the Python code that runs; `svg` needs Graphviz.  [default: as OUT ends, or text]",
)
@click.option("--optimized/--raw", default=True, show_default=True, help="Show what runs, or what was traced.")
@click.option("--places", is_flag=True, help="Add each node's line in your files to the text.")
@click.option("-o", "--output", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
def command(
    target: Target,
    values: tuple[str, ...],
    texts: tuple[str, ...],
    form: str | None,
    optimized: bool,
    places: bool,
    output: Path | None,
) -> None:
    if target.path == STDIN or target.qualname is None:
        raise click.UsageError("name a function, as in model.py:step", click.get_current_context())
    form = form or FORMATS.get(output.suffix if output else "", "text")
    args, kwargs = arguments((*values, *texts))
    function = staged(target, optimized)
    view: GraphView = traced(target.qualname, function.graph, args, kwargs)
    if form == "text" and output is None:
        display.graph(lines(view.graph, places))
        return
    if form == "source":
        text = str(traced(target.qualname, function.lower, args, kwargs)).rstrip("\n")
    else:
        text = _written(view, form, places)
    if output is None:
        display.code(f"{text}\n", {"source": "python", "svg": "xml"}.get(form, form))
    else:
        _write(output, f"{text}\n")


def staged(target: Target, optimized: bool = True) -> Any:
    """The function, staged."""
    found = load(target.path, str(target.qualname))
    try:
        return ag.function(found) if optimized else ag.function(found, passes=False)
    except (TypeError, AutographError) as error:
        raise Failure(f"{target.qualname}: {error}") from error


def traced(name: str, ask: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What the function says of these arguments; what it prints while it is traced goes to stderr."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return ask(*args, **kwargs)
    except AutographError as error:
        raise Failure(str(error)) from error
    except TypeError as error:
        missing = "" if args or kwargs else "; say what it is called with, such as py.int or 'f64[?]'"
        raise Failure(f"{name} cannot be called so: {error}{missing}") from error


def _written(view: GraphView, form: str, places: bool) -> str:
    if form == "text":
        return view.to_text(places)
    write: Callable[[], str] = getattr(view, f"to_{form}")
    try:
        return write().rstrip("\n")
    except AutographError as error:
        raise Failure(str(error)) from error


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {str(path)!r}: {error.strerror}") from error
