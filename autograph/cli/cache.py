"""`autograph cache`: show what is kept of machine code, and clear it."""

from __future__ import annotations

import os
from datetime import datetime

import click
from rich.filesize import decimal

from autograph.cli import display
from autograph.cli.failure import Failure
from autograph.runtime.engines.native import cache as disk

HELP = """Show where machine code is kept, how much there is, and how often it was of use.

What engine="native" compiles is kept in files, so that the next process to run the same function need not compile it.
The key to a file is made of the code itself, the CPU and the version of LLVM: files are never out of date, and it does
no harm to remove them.

\b
  AUTOGRAPH_CACHE_DIR    the folder; by default one among your caches
  AUTOGRAPH_CACHE_SIZE   megabytes that the files may take (256); what was used longest ago goes first
  AUTOGRAPH_CACHE=0      keeps and looks up nothing

\b
Examples:
  autograph cache
  autograph cache --clear
  AUTOGRAPH_CACHE=0 python model.py
"""


@click.command("cache", help=HELP, short_help="Show what is kept of machine code, and clear it.")
@click.option("--clear", is_flag=True, help="Remove all files of the cache, and forget how often it was used.")
def command(clear: bool) -> None:
    place = disk.folder()
    if place is None:
        off = os.environ.get("AUTOGRAPH_CACHE") == "0"
        why = "AUTOGRAPH_CACHE is 0" if off else "there is no folder for caches here; AUTOGRAPH_CACHE_DIR may name one"
        click.echo(f"nothing is kept: {why}")
        return
    try:
        found = disk.clear(place) if clear else disk.contents(place)
    except OSError as error:
        raise Failure(f"cannot {'clear' if clear else 'read'} {error.filename or place!r}: {error.strerror}") from error
    if clear:
        files = _times(len(found.files), "file")
        click.echo(f"removed {files} ({decimal(found.size)}) from {place}")
    else:
        display.facts("Machine code that is kept", _facts(place, found))


def _facts(place: str, found: disk.Contents) -> list[tuple[str, str]]:
    history = found.history
    told = [
        ("folder", place),
        ("files", f"{len(found.files)}"),
        ("size", f"{decimal(found.size)} of {decimal(disk.size_limit())}"),
        ("found", _times(history["h"])),
        ("compiled", _times(history["w"]) + f", {history['d']} as a file was damaged" * (history["d"] > 0)),
    ]
    if found.files:
        first, last = (datetime.fromtimestamp(file.used) for file in (found.files[0], found.files[-1]))
        told += [("used longest ago", f"{first:%Y-%m-%d %H:%M:%S}"), ("used last", f"{last:%Y-%m-%d %H:%M:%S}")]
    return told


def _times(count: int, what: str = "time") -> str:
    return f"{count} {what}{'s' * (count != 1)}"
