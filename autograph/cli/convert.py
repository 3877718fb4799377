"""`autograph convert`: write converted modules that can be imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from autograph.cli.failure import Failure, attempt
from autograph.cli.files import Batch, ExistingPath, convert, read, walk


class Job(NamedTuple):
    """A file, and where its conversion or copy goes."""

    source: Path
    destination: Path
    is_python: bool


@click.command("convert", short_help="Write converted modules that can be imported.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=ExistingPath())
@click.option("--out-dir", metavar="DIR", required=True, type=click.Path(file_okay=False, path_type=Path),
              help="Where to write; made if need be.")  # fmt: skip
def command(paths: tuple[Path, ...], out_dir: Path) -> int:
    """Write converted modules into DIR, from where they can be imported as the originals can.

    A file keeps its name. A folder keeps its name and structure, as with cp -r; what is in it besides Python files
    (data, extension modules) is copied, but no hidden files and caches. Links to folders, and to files outside of the
    folder, are left out, which is reported. Converted modules need this library to run.

    A source is never overwritten, and nothing is written through a link. Files that cannot be converted are reported,
    the others are still written, and the exit status is then 1.

    \b
    Examples:
      autograph convert src/model --out-dir converted     writes converted/model/...
      autograph convert a.py b.py --out-dir converted
    """
    batch = Batch()
    jobs = _checked([job for path in paths for job in _jobs(path, out_dir, batch)], out_dir)
    _report(list(batch.each(_do, jobs)), batch.failed, out_dir)
    return batch.status


def _jobs(path: Path, out_dir: Path, batch: Batch) -> Iterator[Job]:
    if not path.is_dir():
        yield Job(path, out_dir / path.name, True)
        return
    name = "" if path.name == ".." else path.name  # the contents of `.` and `..` go directly into the folder
    for source in walk(path, batch, without=os.path.realpath(out_dir)):
        yield Job(source, out_dir / name / source.relative_to(path), source.suffix == ".py")


def _checked(jobs: list[Job], out_dir: Path) -> list[Job]:
    """The jobs, if none of them would overwrite a source or the file of another one, or write through a link."""
    sources = {os.path.realpath(job.source) for job in jobs} | {*map(_identity, (job.source for job in jobs))}
    planned: dict[str, Path] = {}
    for job in jobs:
        for place in (job.destination, *job.destination.parents):
            if place == out_dir:
                break
            if place.is_symlink():
                raise Failure(f"'{place}' is a link, through which nothing is written: choose another --out-dir")
        destination = os.path.realpath(job.destination)
        if destination in sources or _identity(job.destination) in sources:
            raise Failure(f"{str(job.destination)!r} is a source, which is not overwritten: choose another --out-dir")
        if destination in planned:
            raise Failure(f"'{planned[destination]}' and '{job.source}' would both be written to '{job.destination}'")
        planned[destination] = job.source
    return jobs


def _identity(path: Path) -> tuple[int, int] | None:
    """A key that two names of one file share; None if there is no such file."""
    return (found.st_dev, found.st_ino) if path.exists() and (found := path.stat()) else None


def _do(job: Job) -> Job:
    with attempt("write", job.destination):
        if job.is_python:
            convert(read(str(job.source)), str(job.source)).after.write(job.destination)
            shutil.copymode(job.source, job.destination)
        else:
            job.destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(job.source, job.destination)
    return job


def _report(done: list[Job], failed: int, out_dir: Path) -> None:
    kinds = [job.is_python for job in done]
    converted, copied = kinds.count(True), kinds.count(False)
    parts = [f"{converted} converted", f"{copied} copied" if copied else "", f"{failed} failed" if failed else ""]
    click.echo(f"{', '.join(filter(None, parts))}, in {out_dir}")
