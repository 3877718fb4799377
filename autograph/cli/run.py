"""`autograph run`: run a program with modules converted as they are imported."""

from __future__ import annotations

import click

from autograph.cli.program import MAIN, Program, ProgramType


@click.command(
    "run",
    short_help="Run a program with modules converted on import.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--convert", "patterns", metavar="PATTERN", multiple=True, help="Convert these modules. Repeatable.")
@click.option("-m", "is_module", is_flag=True, help="The first argument is the name of a module.")
@click.argument("target", metavar="SCRIPT|MODULE", type=ProgramType())
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(patterns: tuple[str, ...], is_module: bool, target: str, arguments: tuple[str, ...]) -> Program:
    """Run a program with modules converted as they are imported.

    SCRIPT is a file, a folder or zip archive with a __main__.py, or - for standard input; with -m, the first argument
    is the name of a module instead, as for python -m. What follows it is handed to the program. Arguments, standard
    input, exit status and tracebacks are the program's own. Flags of the interpreter go where they belong: python -O -m
    autograph run ...

    A PATTERN is the name of a module, which stands for the module and all below it (toolz: toolz, toolz.dicttoolz,
    ...), or a glob over full names (json.*: json.decoder, json.encoder, ..., but not json). __main__ is the program
    itself. Without --convert it alone is converted; with --convert, it is converted if a pattern matches it.

    Modules that were imported before the program starts are imported afresh if they match. What is no Python source
    file (builtin and extension modules, zip archives) is left as it is. The limit of recursion is raised by a factor of
    4, since converted code takes more frames.

    \b
    Examples:
      autograph run train.py --epochs 3
      autograph run --convert __main__ --convert toolz train.py
      autograph run --convert heapq -m test test_heapq
    """
    # `main` runs it, when no frame of click is on the stack any more.
    return Program(target, is_module, arguments, patterns or (MAIN,))
