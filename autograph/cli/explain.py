"""`autograph explain`: report which constructs are converted, which stay plain, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from autograph.cli import display
from autograph.cli.files import ENGINES, STDIN, Target, TargetCommand, TargetType, batch_for, pieces
from autograph.conversion.explain import Explanation

if TYPE_CHECKING:
    from autograph.runtime.dispatch.explain import Report  # which imports NumPy, and that takes long


@click.command("explain", cls=TargetCommand, short_help="Report what is converted or plain, and why.")
@click.argument("target", metavar="FILE[:QUALNAME]", type=TargetType())
@click.argument("values", metavar="[[NAME=]VALUE]...", nargs=-1)
@click.option("--arg", "texts", metavar="[NAME=]VALUE", multiple=True, help="An argument, or its type. Repeatable.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--engine", type=click.Choice(ENGINES), help="What runs the call.  [default: as it says]")
def command(target: Target, values: tuple[str, ...], texts: tuple[str, ...], form: str, engine: str | None) -> int:
    """Report whether each if, loop, assert and call is converted, or stays plain and why.

    FILE may be - for standard input, or a folder. QUALNAME is a dotted name such as Model.step; what is defined inside
    it belongs to it. Files of a folder that cannot be read or parsed are reported, the others are still explained, and
    the exit status is then 1.

    With arguments, FILE is imported, and the report covers such a call of the staged function: what is staged,
    optimized, unrolled, called back or left to Python. Arguments are written as for `autograph graph`.

    \b
    Examples:
      autograph explain model.py:Model.step
      autograph explain src --format json
      autograph explain model.py:step 'f64[?]' rate=0.1 --engine native
    """
    if values or texts:
        found = _of_call(target, (*values, *texts), engine)
        if form == "json":
            click.echo(found.to_json())
        else:
            display.report(found.lines())
        return 0
    if engine:
        raise click.UsageError("--engine is for a call: name its arguments, too", click.get_current_context())
    batch = batch_for(target)
    explanation = Explanation(decision for piece in pieces(target, batch) for decision in piece.explanation.decisions)
    if form == "json":
        click.echo(explanation.to_json())
    else:
        display.explanation(explanation)
    return batch.status


def _of_call(target: Target, texts: tuple[str, ...], engine: str | None) -> Report:
    """A report on a call of a staged function."""
    from autograph.cli.examples import arguments  # only now: these import NumPy
    from autograph.cli.graph import staged, traced

    if target.path == STDIN or target.qualname is None:
        raise click.UsageError("name a function, as in model.py:step", click.get_current_context())
    args, kwargs = arguments(texts)
    report: Report = traced(target.qualname, staged(target, engine=engine).explain, args, kwargs)
    return report
