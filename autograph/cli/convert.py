"""`autograph convert`: write converted modules that can be imported."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from autograph.cli.failure import Failure
from autograph.cli.files import convert, read, walk

HELP = """Write converted modules into DIR, from where they can be imported as the originals can.

A file keeps its name. A folder keeps its name and structure, as with cp -r; what is in it besides Python files (data,
extension modules) is copied, but no hidden files and caches. Converted modules need this library to run.

A source is never overwritten. Files that cannot be converted are told, the others are still written, and the exit
status is then 1.

\b
Examples:
  autograph convert src/model --out-dir converted     writes converted/model/...
  autograph convert a.py b.py --out-dir converted
"""


class Job(NamedTuple):
    """A file, and where its conversion or copy goes."""

    source: Path
    destination: Path
    is_python: bool


@click.command("convert", help=HELP, short_help="Write converted modules that can be imported.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out-dir", metavar="DIR", required=True, type=click.Path(file_okay=False, path_type=Path),
              help="Where to write; made if need be.")  # fmt: skip
def command(paths: tuple[Path, ...], out_dir: Path) -> int:
    jobs = _checked([job for path in paths for job in _jobs(path, out_dir)])
    failed = 0
    with _progress() as progress:
        for job in progress.track(jobs, description="Converting"):
            try:
                _do(job)
            except click.ClickException as error:
                failed += 1
                error.show()
    _report(jobs, failed, out_dir)
    return 1 if failed else 0


def _jobs(path: Path, out_dir: Path) -> Iterator[Job]:
    if not path.is_dir():
        yield Job(path, out_dir / path.name, True)
        return
    kept = "" if path.name == ".." else path.name  # of `.`, too, what is written is its contents
    for source in walk(path, without=out_dir.resolve()):
        yield Job(source, out_dir / kept / source.relative_to(path), source.suffix == ".py")


def _checked(jobs: list[Job]) -> list[Job]:
    """The jobs, if none of them would overwrite a source or what another one writes."""
    sources = {job.source.resolve() for job in jobs}
    taken: dict[Path, Path] = {}
    for job in jobs:
        destination = job.destination.resolve()
        if destination in sources:
            raise Failure(f"{str(job.destination)!r} is a source, which is not overwritten: choose another --out-dir")
        if destination in taken:
            raise Failure(f"'{taken[destination]}' and '{job.source}' would both be written to '{job.destination}'")
        taken[destination] = job.source
    return jobs


def _do(job: Job) -> None:
    try:
        if job.is_python:
            convert(read(str(job.source)), str(job.source)).after.write(job.destination)
            shutil.copymode(job.source, job.destination)
        else:
            job.destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(job.source, job.destination)
    except OSError as error:
        raise Failure(f"cannot write '{job.destination}': {error.strerror}") from error


def _progress() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _report(jobs: Iterable[Job], failed: int, out_dir: Path) -> None:
    kinds = [job.is_python for job in jobs]
    converted, copied = kinds.count(True) - failed, kinds.count(False)
    parts = [f"{converted} converted", f"{copied} copied" if copied else "", f"{failed} failed" if failed else ""]
    click.echo(f"{', '.join(filter(None, parts))}, in {out_dir}")
