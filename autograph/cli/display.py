"""Colours for the terminal. What is piped stays plain text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autograph.cli import comparison
from autograph.conversion.explain import Explanation

if TYPE_CHECKING:
    from autograph.runtime.graph_text.printer import Line  # which imports NumPy, and that takes long

_THEME = "ansi_dark"  # colours of the terminal's own palette, on its own background


def in_colour() -> bool:
    """Whether standard output is to be coloured: a terminal, or FORCE_COLOR is set."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def code(text: str, language: str = "python") -> None:
    """Print source code, or a diff."""
    if in_colour():
        Console().print(_highlighted(text, language), soft_wrap=True, end="")
    else:
        click.echo(text, nl=False)


def side_by_side(before: str, after: str) -> None:
    """Print two versions of some code in two columns."""
    if not in_colour():
        click.echo(comparison.side_by_side(before, after), nl=False)
        return
    left, right = (list(_highlighted(text, "python").split("\n", allow_blank=True)) for text in (before, after))
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(style="yellow")
    table.add_column(ratio=1, overflow="fold")
    for row in comparison.rows(before, after):
        table.add_row(comparison.line(left, row.left), row.mark, comparison.line(right, row.right))
    Console().print(table)


def explanation(told: Explanation) -> None:
    """Print what became of a piece of code."""
    if not in_colour():
        click.echo(str(told))
        return
    text = Text()
    for filename, rows in told.tables():
        text.append(f"{filename}\n", "bold")
        for row in rows:
            text.append(f"{row.lineno}  ", "cyan").append(f"{row.function}  {row.construct}  ")
            text.append(f"{row.outcome}\n", "green" if row.converted else "yellow")
        text.append("\n")
    Console().print(text.append(told.summary()), soft_wrap=True)


def facts(title: str, told: Iterable[tuple[str, str]]) -> None:
    """Print what is known, each with its name."""
    if not in_colour():
        click.echo("".join(f"{name:<24}{value}\n" for name, value in told), nl=False)
        return
    table = Table(title=title, show_header=False, title_style="bold")
    table.add_column(style="cyan")
    table.add_column(overflow="fold")
    for row in told:
        table.add_row(*map(Text, row))
    Console().print(table)


def section(title: str, told: Iterable[tuple[str, str]]) -> None:
    """Print a title, and below it what is known, if anything."""
    if not (told := [*told]):
        return
    click.secho(title, bold=True, color=in_colour())
    for name, value in told:
        click.echo(f"  {click.style(f'{name:<22}', fg='cyan')}{value}", color=in_colour())
    click.echo()


_STATUSES = {"OK": "green", "FAILED": "red", "SKIPPED": "yellow"}


def check(status: str, name: str, detail: str) -> None:
    """Print what a check gave, and below it why."""
    click.echo(f"{click.style(f'{status:<8}', fg=_STATUSES[status])}{name}", color=in_colour())
    for line in detail.splitlines():
        click.echo(f"        {line}")


# The styles of the kinds of pieces that a printed graph consists of.
_PIECES = {
    "keyword": "bold magenta", "label": "magenta", "definition": "bold", "type": "bright_black", "op": "yellow",
    "constant": "cyan", "object": "italic cyan", "comment": "bright_black",
}  # fmt: skip


def graph(lines: Iterable[Line]) -> None:
    """Print the text of a graph."""
    for line in lines:
        if not in_colour():
            click.echo(str(line))
            continue
        pieces = ((piece.text, _PIECES.get(piece.kind, "")) for piece in line.pieces)
        Console().print(Text.assemble(" " * line.indent, *pieces), soft_wrap=True)


def _highlighted(text: str, language: str) -> Text:
    # A Syntax by itself would be cut or padded to the width of the terminal, and lose blank lines at its ends.
    return Syntax("", language, theme=_THEME).highlight(text)
