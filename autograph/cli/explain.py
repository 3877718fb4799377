"""`autograph explain`: tell what is converted, what stays plain, and why."""

from __future__ import annotations

import click

from autograph.cli import display
from autograph.cli.files import Target, TargetCommand, TargetType, pieces
from autograph.explanation import Explanation

HELP = """Tell what becomes of each if, loop, assert and call: converted, or plain and why.

FILE may be - for standard input, or a folder. QUALNAME is a dotted name such as Model.step; what is defined inside it
belongs to it.

\b
Examples:
  autograph explain model.py:Model.step
  autograph explain src --format json
"""


@click.command("explain", cls=TargetCommand, help=HELP, short_help="Tell what is converted, what stays plain, and why.")
@click.argument("target", metavar="FILE[:QUALNAME]", type=TargetType())
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(target: Target, form: str) -> None:
    told = Explanation(decision for piece in pieces(target) for decision in piece.explanation.decisions)
    if form == "json":
        click.echo(told.to_json())
    else:
        display.explanation(told)
