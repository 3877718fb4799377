"""Output for the terminal: code, and code before and after conversion. What is piped is plain text, without colors."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autograph.conversion.explain import Explanation

if TYPE_CHECKING:
    from autograph.runtime.dispatch.explain import Line as ReportLine  # which imports NumPy, and that takes long
    from autograph.runtime.graph_text.printer import Line

_THEME = "ansi_dark"  # colors of the terminal's own palette, on its own background


def in_color(file: IO[str] | None = None) -> bool:
    """Whether to color a file, or standard output: it is a terminal, or FORCE_COLOR is set."""
    return (file or sys.stdout).isatty() or bool(os.environ.get("FORCE_COLOR"))


def code(text: str, language: str = "python") -> None:
    """Print source code, or a diff."""
    if in_color():
        Console().print(_highlighted(text, language), soft_wrap=True, end="")
    else:
        click.echo(text, nl=False)


def side_by_side(before: str, after: str) -> None:
    """Print two versions of some code in two columns."""
    if not in_color():
        click.echo(in_columns(before, after), nl=False)
        return
    left, right = (list(_highlighted(text, "python").split("\n", allow_blank=True)) for text in (before, after))
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(style="yellow")
    table.add_column(ratio=1, overflow="fold")
    for row in rows(before, after):
        table.add_row(line_of(left, row.left), row.mark, line_of(right, row.right))
    Console().print(table)


def explanation(found: Explanation) -> None:
    """Print the constructs of a piece of code: converted, or plain and why."""
    if not in_color():
        click.echo(str(found))
        return
    text = Text()
    for filename, rows in found.tables():
        text.append(f"{filename}\n", "bold")
        for row in rows:
            text.append(f"{row.lineno}  ", "cyan").append(f"{row.function}  {row.construct}  ")
            text.append(f"{row.outcome}\n", "green" if row.converted else "yellow")
        text.append("\n")
    Console().print(text.append(found.summary()), soft_wrap=True)


def facts(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Print facts, each with its name."""
    if not in_color():
        click.echo("".join(f"{name:<24}{value}\n" for name, value in rows), nl=False)
        return
    table = Table(title=title, show_header=False, title_style="bold")
    table.add_column(style="cyan")
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def section(title: str, rows: Collection[tuple[str, str]]) -> None:
    """Print a title, and below it some facts, if there are any."""
    if not rows:
        return
    click.secho(title, bold=True, color=in_color())
    for name, value in rows:
        click.echo(f"  {click.style(f'{name:<22}', fg='cyan')}{value}", color=in_color())
    click.echo()


_STATUSES = {"OK": "green", "FAILED": "red", "SKIPPED": "yellow"}


def check(status: str, name: str, detail: str) -> None:
    """Print the status of a check, and below it the reason."""
    click.echo(f"{click.style(f'{status:<8}', fg=_STATUSES[status])}{name}", color=in_color())
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
        _styled(str(line), line.indent, [(piece.text, _PIECES.get(piece.kind, "")) for piece in line.pieces])


# The styles of the kinds of pieces of a report.
_PARTS = {"title": "bold", "heading": "bold magenta", "place": "cyan", "remedy": "green", "summary": "bold"}


def report(lines: Iterable[ReportLine]) -> None:
    """Print the report on a call."""
    for line in lines:
        _styled(str(line), line.indent, [(text, _PARTS.get(kind, "")) for kind, text in line.pieces])


def _styled(plain: str, indent: int, pieces: Iterable[tuple[str, str]]) -> None:
    """Print a line, or its pieces with their styles."""
    if in_color():
        Console().print(Text.assemble(" " * indent, *pieces), soft_wrap=True)
    else:
        click.echo(plain)


def _highlighted(text: str, language: str) -> Text:
    # A Syntax by itself would be cut or padded to the width of the terminal, and lose blank lines at its ends.
    return Syntax("", language, theme=_THEME).highlight(text)


T = TypeVar("T")


class Row(NamedTuple):
    """A line of each side, counted from 0, or None where the other side has nothing like it."""

    left: int | None
    right: int | None
    changed: bool

    @property
    def mark(self) -> str:
        if self.left is None or self.right is None:
            return ">" if self.left is None else "<"
        return "|" if self.changed else " "


def unified(before: str, after: str, filename: str) -> str:
    """The output of `diff -u`."""
    sides = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(*sides, filename, f"{filename} (converted)"))


def rows(before: str, after: str) -> Iterator[Row]:
    """Align the lines; those that differ in nothing but indentation count as equal."""
    left, right = ([line.strip() for line in text.splitlines()] for text in (before, after))
    for tag, *span in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for pair in zip_longest(range(*span[:2]), range(*span[2:])):
            yield Row(*pair, tag != "equal")


def in_columns(before: str, after: str) -> str:
    """The output of `diff -y`, with columns as wide as necessary."""
    left, right = before.splitlines(), after.splitlines()
    width = max(map(len, left), default=0)
    lines = (f"{line_of(left, row.left):{width}} {row.mark} {line_of(right, row.right)}" for row in rows(before, after))
    return "".join(f"{text.rstrip()}\n" for text in lines)


def line_of(lines: Sequence[T], number: int | None) -> T | str:
    """A line, or nothing where there is none."""
    return "" if number is None else lines[number]
