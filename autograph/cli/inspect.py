"""`autograph inspect`: show the contents of a saved directory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from autograph.cli import display
from autograph.cli.loading import DIRECTORY, described, reported

if TYPE_CHECKING:
    from autograph.saving.contents import Contents, SavedCall, SavedFunction


@click.command("inspect", short_help="Show the contents of a saved directory.")
@click.argument("directory", metavar="DIR", type=DIRECTORY)
@click.option("--ops", is_flag=True, help="Show the graph of each signature, too.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(directory: Path, ops: bool, form: str) -> None:
    """Show the functions, variables and sizes of a directory that ag.save has written.

    The signatures of a function are the calls that it takes: the type of each argument, or its value where this is part
    of the signature, and the types of the results. Nothing is imported or run, so DIR may come from anywhere; callbacks
    are Python functions that ag.load imports only if you allow them.

    It needs the extra: pip install 'autograph-py[save]'.

    \b
    Examples:
      autograph inspect model
      autograph inspect model --ops                  the graphs, too
      autograph inspect model --format json | jq '.functions[].path'
    """
    found = described(directory)
    if form == "json":
        display.code(json.dumps(_facts(found, directory, ops), indent=2, ensure_ascii=False) + "\n", "json")
        return
    display.facts(str(directory), [(name, _cell(value)) for name, value in _about(found)])
    for function in found.functions:
        _show_function(function, directory, ops)
    _table("variables", ("path", "dtype", "shape", "trainable", "bytes"), [*map(vars, found.variables)])
    _table("other arrays", ("path", "dtype", "shape", "bytes"), [*map(vars, found.arrays)])
    counts = found.operations.most_common()
    _table("operations", ("op", "count"), [{"op": op, "count": count} for op, count in counts])


def _about(found: Contents) -> list[tuple[str, str]]:
    by = {**found.saved_by}
    time = by.pop("time", "an unknown time")
    arrays = [*found.variables, *found.arrays]
    total, trainable = sum(each.bytes for each in arrays), sum(each.bytes for each in found.variables if each.trainable)
    facts = [
        ("object", found.kind),
        ("saved", f"at {time} by {', '.join(f'{name} {version}' for name, version in by.items())}"),
        ("format", f"autograph-saved, version {found.version}"),
        ("files", ", ".join(f"{name} ({decimal(size)})" for name, size in found.files.items())),
        ("variables", f"{len(found.variables)}; {decimal(trainable)} of {decimal(total)} of arrays are trainable"),
    ]
    return facts + [("callback", f"{name}, which ag.load must allow") for name in found.callbacks]


def _show_function(function: SavedFunction, directory: Path, ops: bool) -> None:
    place = _cell("{}:{}".format(*function.place)) if function.place else ""
    click.echo()
    head = click.style(_cell(f"{function.path}({function.parameters})"), bold=True)
    click.echo(head, nl=False, color=display.in_color())
    click.echo(f"    # {place}" if place else "")
    if function.doc and function.doc.strip():
        click.echo(f"    {_cell(function.doc.strip().splitlines()[0])}")
    graphs = _graphs(function, directory) if ops else iter(())
    for number, call in enumerate(function.calls, 1):
        click.echo(f"  {click.style(f'signature {number}', fg='magenta')}", color=display.in_color())
        for name, value in _lines(call):
            click.echo(f"    {click.style(f'{_cell(name):<20}', fg='cyan')}{_cell(value)}", color=display.in_color())
        for graph in (next(graphs),) if ops else ():
            _print_graph(graph)


def _lines(call: SavedCall) -> Iterator[tuple[str, str]]:
    yield from call.arguments.items()
    yield "->", _written(call.result)


def _written(result: Any) -> str:
    """The types of the results as one text."""
    if isinstance(result, dict):
        return f"{{{', '.join(f'{name}: {_written(part)}' for name, part in result.items())}}}"
    if isinstance(result, list):
        return f"({', '.join(map(_written, result))})"
    return "nothing, as it always raises" if result is None else str(result)


def _graphs(function: SavedFunction, directory: Path) -> Iterator[Any]:
    """The graphs of the signatures of a function."""
    from autograph.saving.contents import graphs_of, signatures_of

    with reported():
        loaded = graphs_of(directory, function.number)
        for saved in signatures_of(loaded):
            yield saved.fresh


def _print_graph(graph: Any) -> None:
    from autograph.runtime.graph_text.printer import Line, Piece, lines

    click.echo()
    display.graph(Line(line.indent + 4, [Piece(*piece) for piece in line.pieces], line.node) for line in lines(graph))
    click.echo()


def _table(title: str, columns: Iterable[str], records: list[dict[str, Any]]) -> None:
    """Print a table of some columns of records, if there are any."""
    if not records:
        return
    columns = [*columns]
    rows = [[_cell(record[column]) for column in columns] for record in records]
    click.echo()
    if display.in_color():
        table = Table(title=title, title_style="bold", title_justify="left")
        for place, column in enumerate(columns):
            table.add_column(column, style="cyan" if place == 0 else "", overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        Console().print(table)
        return
    click.echo(title)
    widths = [max(len(row[place]) for row in [columns, *rows]) for place in range(len(columns))]
    for row in [columns, *rows]:
        click.echo("  " + "  ".join(map(str.ljust, row, widths)).rstrip())


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(str, value))}{',' if len(value) == 1 else ''})"
    """The text of a fact; names in files from elsewhere may have characters that terminals obey."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _facts(found: Contents, directory: Path, ops: bool) -> dict[str, Any]:
    """All facts, for other programs."""
    from autograph.runtime.graph_text.printer import to_text

    functions = []
    for function in found.functions:
        calls = [{**vars(call), "operations": dict(call.operations.most_common())} for call in function.calls]
        for call, graph in zip(calls, _graphs(function, directory) if ops else ()):
            call["graph"] = to_text(graph)
        functions.append({**vars(function), "calls": calls})
        del functions[-1]["number"]
    facts = {**vars(found), "functions": functions, "operations": dict(found.operations.most_common())}
    return facts | {name: [*map(vars, facts[name])] for name in ("variables", "arrays")}
