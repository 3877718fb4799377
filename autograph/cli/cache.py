"""`autograph cache`: show what is kept on disk, and clear it."""

from __future__ import annotations

import os
from datetime import datetime

import click
from rich.filesize import decimal

from autograph.cli import display
from autograph.cli.failure import Failure
from autograph.common import disk_cache


@click.command("cache", short_help="Show what is kept on disk, and clear it.")
@click.option("--clear", is_flag=True, help="Remove all files of the cache, and reset its statistics.")
def command(clear: bool) -> None:
    """Show the folder and size of the cache of conversions, traces and machine code, and how often it was used.

    Conversions, traces of ag.function, and machine code of engine="native" are saved in files, so that the next process
    that runs the same function need not make them again. The name of a file is a hash of all that its contents depend
    on: files are never out of date, and you can remove them at any time.

    \b
      AUTOGRAPH_CACHE_DIR    the folder; by default one among your caches
      AUTOGRAPH_CACHE_SIZE   megabytes that the files may take (256); files that were used longest ago are removed first
      AUTOGRAPH_CACHE=0      turns the cache off

    \b
    Examples:
      autograph cache
      autograph cache --clear
      AUTOGRAPH_CACHE=0 python model.py
    """
    place = disk_cache.folder()
    if place is None:
        off = os.environ.get("AUTOGRAPH_CACHE") == "0"
        why = "AUTOGRAPH_CACHE is 0" if off else "there is no folder for caches here; AUTOGRAPH_CACHE_DIR may name one"
        click.echo(f"nothing is kept: {why}")
        return
    try:
        found = disk_cache.clear(place) if clear else disk_cache.contents(place)
    except OSError as error:
        raise Failure(f"cannot {'clear' if clear else 'read'} {error.filename or place!r}: {error.strerror}") from error
    if clear:
        files = _times(len(found.files), "file")
        click.echo(f"removed {files} ({decimal(found.size)}) from {place}")
    else:
        display.facts("What is kept on disk", _facts(place, found))


def _facts(place: str, found: disk_cache.Contents) -> list[tuple[str, str]]:
    facts = [
        ("folder", place),
        ("size", f"{decimal(found.size)} of {decimal(disk_cache.size_limit())}"),
        ("conversions", _use(found, disk_cache.CONVERSION)),
        ("traces", _use(found, disk_cache.TRACE)),
        ("machine code", _use(found, disk_cache.CODE)),
    ]
    if found.files:
        first, last = (datetime.fromtimestamp(file.used) for file in (found.files[0], found.files[-1]))
        facts += [("used longest ago", f"{first:%Y-%m-%d %H:%M:%S}"), ("used last", f"{last:%Y-%m-%d %H:%M:%S}")]
    return facts


def _use(found: disk_cache.Contents, kind: disk_cache.Kind) -> str:
    """How much there is of a kind, and how often it was found and made."""
    files, history = _times(len(found.of(kind)), "file"), found.history
    damaged = f", {history[kind.damaged]} as a file was damaged" * (history[kind.damaged] > 0)
    return f"{files}; found {_times(history[kind.found])}, made {_times(history[kind.written])}{damaged}"


def _times(count: int, what: str = "time") -> str:
    return f"{count} {what}{'s' * (count != 1)}"
