"""`autograph to-code`: show code as it becomes by conversion."""

from __future__ import annotations

import os
from pathlib import Path

import click

from autograph.cli import display, files


@click.command("to-code", cls=files.TargetCommand, short_help="Print converted code, or how it differs.")
@click.argument("target", metavar="FILE[:QUALNAME]", type=files.TargetType())
@click.option("--diff", is_flag=True, help="Show the difference, as diff -u does.")
@click.option("--side-by-side", is_flag=True, help="Show the original on the left, the converted code on the right.")
@click.option("-o", "--output", metavar="OUT", type=files.OUTPUT, help="Write to a file.")
def command(target: files.Target, diff: bool, side_by_side: bool, output: Path | None) -> int:
    """Print the converted source of a file, or of one function or class in it.

    FILE may be - for standard input, or a folder, all of whose Python files are then converted one after the other.
    Files of a folder that cannot be read or parsed are reported, the others are still converted, and the exit status is
    then 1. QUALNAME is a dotted name such as Model.step or outer.inner. Output to a terminal is colored (NO_COLOR and
    FORCE_COLOR are heeded); what is piped or written to a file is plain.

    \b
    Examples:
      autograph to-code model.py
      autograph to-code model.py:Model.step --diff
      autograph to-code model.py --side-by-side
      cat model.py | autograph to-code - -o converted.py
    """
    if diff and side_by_side:
        raise click.UsageError("--diff and --side-by-side exclude each other", click.get_current_context())
    batch = files.batch_for(target, quiet=output is None)
    if output is not None:
        _write(target, batch, output, diff, side_by_side)
        return batch.status
    for piece in files.pieces(target, batch):
        if os.path.isdir(target.path) and not diff:
            display.code(f"# {piece.filename}\n")
        if side_by_side:
            display.side_by_side(piece.before.content, piece.after.content)
        elif diff:
            display.code(_unified(piece), "diff")
        else:
            display.code(piece.after.content)
    return batch.status


def _write(target: files.Target, batch: files.Batch, output: Path, diff: bool, side_by_side: bool) -> None:
    files.check_output(output, target.path)
    parts, written = [], files.Text("")
    for piece in files.pieces(target, batch):
        written = piece.after
        if side_by_side:
            parts.append(display.in_columns(piece.before.content, piece.after.content))
        else:
            parts.append(_unified(piece) if diff else piece.after.content)
    if parts or not batch.failed:
        files.Text("".join(parts), written.encoding, written.newline).write(output)


def _unified(piece: files.Piece) -> str:
    return display.unified(piece.before.content, piece.after.content, piece.filename)
