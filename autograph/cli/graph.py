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
from autograph.cli.files import ENGINES, OUTPUT, STDIN, Target, TargetCommand, check_output, write_bytes
from autograph.cli.loading import SourceOrSaved, described, is_saved, load, named, reported
from autograph.errors import AutographError
from autograph.runtime.dispatch.options import FunctionOptions
from autograph.runtime.graph_text.graphviz import PICTURES, to_picture
from autograph.runtime.graph_text.printer import lines
from autograph.runtime.graph_text.view import GraphView

FORMATS: dict[str, str] = {
    "": "text", ".txt": "text", ".dot": "dot", ".gv": "dot", ".html": "html", ".json": "json", ".py": "source",
    ".ll": "llvm", ".s": "asm", **{f".{form}": form for form in PICTURES},
}  # fmt: skip
CODE = {"source": "python", "llvm": "llvm", "asm": "gas"}     # and their languages


@click.command("graph", cls=TargetCommand, short_help="Show the graph that a function becomes.")
@click.argument("target", metavar="FILE:FUNCTION", type=SourceOrSaved())
@click.argument("values", metavar="[[NAME=]VALUE]...", nargs=-1)
@click.option("--arg", "texts", metavar="[NAME=]VALUE", multiple=True, help="An argument, or its type. Repeatable.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "dot", *PICTURES, "html", "json", *CODE]),
    help="`source` is the Python code that runs, `llvm` and `asm` are the machine code of its loops; pictures need "
    "Graphviz.  [default: as OUT ends, or text]",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="What runs the graph.  [default: native for `llvm` and `asm`, else as the function says]",
)
@click.option("--optimized/--raw", default=True, show_default=True, help="Show what runs, or what was traced.")
@click.option("--places", is_flag=True, help="Tell of each node, or instruction, its line in your files.")
@click.option("-o", "--output", metavar="OUT", type=OUTPUT, help="Write to a file.")
def command(
    target: Target,
    values: tuple[str, ...],
    texts: tuple[str, ...],
    form: str | None,
    engine: str | None,
    optimized: bool,
    places: bool,
    output: Path | None,
) -> None:
    """Show the graph that a function becomes for some arguments.

    FILE is imported, and the function is traced, but not run. FUNCTION is a dotted name such as model.step; it may be
    decorated with ag.function, or be plain. An argument, behind FUNCTION or behind --arg, is written as

    \b
      a type          f64[3,4]  f32[?,8]  i64  py.int  py.float     any such array, scalar or Python number
      a Python value  5  0.5  'text'  None  [1, 2]
      a structure     [f64[3], {'w': f64[3,?]}]
      a file          weights.npy

    and as NAME=VALUE to pass it by name. A ? is a dimension of any length.

    FILE may be a directory of ag.save; a function with one signature needs no arguments then, and nothing is imported.

    \b
    Examples:
      autograph graph model.py:collatz py.int
      autograph graph model.py:step 'f64[3,4]' rate=0.1 --places
      autograph graph model.py:step 'f64[?]' --raw
      autograph graph model.py:step 'f64[?]' -o step.png
      autograph graph model.py:collatz py.int --format asm --places
      autograph graph saved:step -o step.svg
    """
    if target.path == STDIN or (target.qualname is None and not is_saved(target.path)):
        raise click.UsageError("name a function, as in model.py:step", click.get_current_context())
    check_output(output, target.path)
    form = form or _format_of(output)
    args, kwargs = arguments((*values, *texts))
    engine = engine or ("native" if form in ("llvm", "asm") else None)
    name, function, args, kwargs = _function(target, optimized, engine, args, kwargs)
    view: GraphView = traced(name, function.graph, args, kwargs)
    if form == "text" and output is None:
        display.graph(lines(view.graph, places))
        return
    if form in PICTURES:
        _show(view, form, output)
        return
    lower = form in CODE and traced(name, function.lower, args, kwargs)
    _put(f"{_lowered(name, lower, form, places) if lower else _written(view, form, places)}\n", form, output)


def _put(text: str, form: str, output: Path | None) -> None:
    """Print a text, or write it to a file."""
    if output is None:
        display.code(text, CODE.get(form, form))
    else:
        write_bytes(output, text.encode())


def _format_of(output: Path | None) -> str:
    """The format that the name of a file asks for."""
    suffix = output.suffix.lower() if output else ""
    if suffix not in FORMATS:
        raise Failure(f"{str(output)!r} does not tell its format: let it end in {', '.join(filter(None, FORMATS))}, or "
                      "say --format")  # fmt: skip
    return FORMATS[suffix]


def _show(view: GraphView, form: str, output: Path | None) -> None:
    """Write a picture, by Graphviz."""
    picture = _drawn(lambda: to_picture(view.graph, form))
    if output is not None:
        write_bytes(output, picture)
    elif form == "svg":
        display.code(picture.decode(), "xml")
    elif sys.stdout.isatty():
        raise Failure(f"a {form} is no text for a terminal: name a file with -o")
    else:
        click.echo(picture, nl=False)


def staged(target: Target, optimized: bool = True, engine: str | None = None) -> Any:
    """The function, staged."""
    found = load(target.path, str(target.qualname))
    options: FunctionOptions = {} if optimized else {"passes": False}
    if engine:
        options["engine"] = engine
    try:
        return ag.function(found, **options)
    except (TypeError, AutographError) as error:
        raise Failure(f"{target.qualname}: {error}") from error


def _function(
    target: Target, optimized: bool, engine: str | None, args: list[Any], kwargs: dict[str, Any]
) -> tuple[str, Any, Any, Any]:
    """The function, its name, and the arguments: those of the only signature of a saved one if there are none."""
    if not is_saved(target.path):
        return str(target.qualname), staged(target, optimized, engine), args, kwargs
    found = named(described(target.path), target)
    with reported():
        from autograph.saving.contents import example_of, graphs_of, signatures_of

        function = graphs_of(target.path, found.number, optimized, engine)
        if args or kwargs or not found.parameters:
            return found.path, function, args, kwargs
        if len(found.calls) != 1:
            calls = "; ".join(str(each.signature) for each in signatures_of(function))
            raise Failure(f"{found.path} takes several kinds of calls: give the arguments of one, out of ({calls})")
        return found.path, function, *example_of(function, 0)


def traced(name: str, ask: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A view or report of a call with these arguments; output of the program during the trace goes to stderr."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return ask(*args, **kwargs)
    except AutographError as error:
        raise Failure(str(error)) from error
    except TypeError as error:
        missing = "" if args or kwargs else "; say what it is called with, such as py.int or 'f64[?]'"
        raise Failure(f"{name} cannot be called so: {error}{missing}") from error


def _lowered(name: str, lowered: Any, form: str, places: bool) -> str:
    """The code that runs."""
    if form == "source":
        return str(lowered.source).rstrip("\n")
    text = lowered.to_llvm(places) if form == "llvm" else lowered.to_asm(places)
    if not text:
        why = "" if lowered.engine == "native" else f"; the engine {lowered.engine} makes none"
        raise Failure(f"{name} has no loop of which there is machine code for such a call{why}: see autograph explain")
    return str(text).rstrip("\n")


def _written(view: GraphView, form: str, places: bool) -> str:
    if form == "text":
        return view.to_text(places)
    text: str = _drawn(getattr(view, f"to_{form}"))
    return text.rstrip("\n")


def _drawn(draw: Callable[[], Any]) -> Any:
    try:
        return draw()
    except AutographError as error:
        raise Failure(str(error)) from error
