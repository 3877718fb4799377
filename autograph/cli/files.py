"""The user's files: naming them on the command line, reading, converting and writing them.

Of many files (`Batch`), what fails in one is reported, the others are still done, and progress is shown.
"""

from __future__ import annotations

import io
import itertools
import os
import sys
import textwrap
import tokenize
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click
import gast
from click.shell_completion import CompletionItem
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from autograph.cli import display
from autograph.cli.failure import BadSyntax, Failure, TooDeep, attempt, did_you_mean, similar_file
from autograph.conversion.conversions import convert_source
from autograph.conversion.explain import Explanation
from autograph.syntax import trees
from autograph.syntax.printing import reprint

STDIN = "<stdin>"
ENGINES = ("auto", "numpy", "native")  # as `runtime.options` has them, which imports NumPy, and that takes long
_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


@dataclass(frozen=True)
class Target:
    """The target that the user named: a file, a folder or standard input, and perhaps a function or class in it."""

    path: str
    qualname: str | None = None


class TargetType(click.ParamType):  # type: ignore[type-arg]  # has a parameter since click 8.4
    """FILE[:QUALNAME]"""

    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Target:
        if isinstance(value, Target):
            return value
        if value == "-" or os.path.exists(value):
            return Target(STDIN if value == "-" else value)
        path, colon, qualname = value.rpartition(":")
        if not colon or not (path == STDIN or os.path.exists(path)):
            missing = path if colon else value
            raise click.UsageError(f"there is no file {missing!r}{similar_file(missing)}", ctx)
        if os.path.isdir(path):
            raise click.UsageError(f"{path!r} is a folder: name the file that defines {qualname!r}", ctx)
        return Target(path, qualname)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class ExistingPath(click.Path):
    """A file or folder that is there."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not os.path.exists(value):
            self.fail(f"Path {value!r} does not exist{similar_file(value)}", param, ctx)
        return Path(value)


class TargetCommand(click.Command):
    """A command with a target, which may be written `-:QUALNAME` although that looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f"{STDIN}{arg[1:]}" if arg.startswith("-:") else arg for arg in args])


OUTPUT = click.Path(dir_okay=False, path_type=Path)  # of -o


@dataclass(frozen=True)
class Text:
    """The contents of a file, its encoding and its line ends."""

    content: str
    encoding: str = "utf-8"
    newline: str = "\n"

    def write(self, path: Path) -> None:
        """Write it to a file, see `write_bytes`."""
        try:
            data = self.content.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise Failure(f"cannot write '{path}' in the encoding of its source: {error}") from error
        write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Write to a file, whose folder is made if need be.

    Raises:
        Failure: it cannot be written, or is a link to a file.
    """
    if path.is_symlink() and (path.is_file() or not path.exists()):
        raise Failure(f"{str(path)!r} is a link, through which nothing is written: remove it, or choose another file")
    with attempt("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def check_output(output: Path | None, source: str) -> None:
    """Refuse to write over the source.

    Raises:
        Failure: the output is that file.
    """
    if output is not None and output.exists() and os.path.exists(source) and output.samefile(source):
        raise Failure(f"{str(output)!r} is the source, which is not overwritten: choose another file for -o")


@dataclass(frozen=True)
class Piece:
    """A file, or a function or class of it, before and after conversion."""

    filename: str
    before: Text
    after: Text
    explanation: Explanation


def python_files(path: str, batch: Batch) -> list[str]:
    """The file itself, or all Python files below a folder, in order."""
    if not os.path.isdir(path):
        return [path]
    return [str(file) for file in walk(Path(path), batch) if file.suffix == ".py"]


def walk(folder: Path, batch: Batch, without: str | None = None) -> Iterator[Path]:
    """All files below a folder, in order; hidden ones, caches and one folder left out.

    Links to folders, and out of the folder, are not followed; those left out are reported on stderr.
    """
    yield from _walk(folder, os.path.realpath(folder), batch, without)


def _walk(folder: Path, top: str, batch: Batch, without: str | None) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        batch.fail(Failure(f"cannot read {str(folder)!r}: {error.strerror}"))
        return
    for entry in entries:
        target = os.path.realpath(entry)
        if entry.name.startswith(".") or entry.name == "__pycache__" or target == without:
            continue
        if entry.is_symlink() and not (os.path.isfile(target) and os.path.commonpath([top, target]) == top):
            click.echo(f"autograph: left out '{entry}': a link to {target!r}", err=True)
        elif entry.is_dir():
            yield from _walk(entry, top, batch, without)
        elif entry.is_file():
            yield entry


def read(path: str) -> Text:
    """Read a Python file as Python does, or standard input.

    Raises:
        Failure: it cannot be read, or is no text in the encoding it declares.
    """
    try:
        with attempt("read", path):
            data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        content = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise Failure(f"cannot read {path!r}: {error}") from error
    return Text(content, encoding, "\r\n" if b"\r\n" in data else "\n")


def pieces(target: Target, batch: Batch) -> Iterator[Piece]:
    """Convert the target, file by file. Files of a folder that fail are reported, and counted by the batch.

    Raises:
        Failure: the file that the user named cannot be read or parsed, or does not define what the user named.
    """
    return batch.each(lambda path: convert(read(path), path, target.qualname), python_files(target.path, batch))


def batch_for(target: Target, quiet: bool = False) -> Batch:
    """Goes through the files that the user named."""
    return Batch(not os.path.isdir(target.path), quiet)


def convert(text: Text, filename: str, qualname: str | None = None) -> Piece:
    """Convert a file, and take from it the function or class that the user named, if any.

    Raises:
        Failure: it cannot be parsed, or does not define what the user named.
    """
    try:
        return _converted(text, filename, qualname)
    except SyntaxError as error:
        raise BadSyntax(error) from error
    except UnicodeError as error:  # its encoding makes half characters
        raise Failure(f"cannot read {filename!r}: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise TooDeep(filename) from error


def _converted(text: Text, filename: str, qualname: str | None) -> Piece:
    converted = convert_source(text.content, filename)
    explanation = Explanation(converted.decisions)
    if qualname is None:
        return Piece(filename, text, replace(text, content=converted.text), explanation)
    source = converted.source
    nodes = _named(converted.tree, qualname, filename)
    before = "\n".join(textwrap.dedent("".join(source.lines[_start(node) - 1 : node.end_lineno])) for node in nodes)
    after = "\n".join(reprint.to_text(node, source) for node in nodes)
    within = explanation.within(_plain(qualname))
    return Piece(filename, replace(text, content=before), replace(text, content=after), within)


def _plain(qualname: str) -> str:
    return qualname.replace(".<locals>", "")


def _start(node: Any) -> int:
    return int((*node.decorator_list, node)[0].lineno)


def _named(tree: gast.Module, qualname: str, filename: str) -> list[Any]:
    """The functions and classes of this name; there may be several, as with a property and its setter."""
    definitions = list(_definitions(tree))
    found = [node for name, node in definitions if name == _plain(qualname)]
    if not found:
        hint = did_you_mean(qualname, [name for name, _ in definitions])
        raise Failure(f"{filename}: there is no function or class {qualname!r}{hint}")
    return found


def _definitions(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The functions and classes that the user defines in a converted tree; generated ones are seen through."""
    for child in itertools.chain(*trees.blocks(node)):
        if isinstance(child, _DEFINITIONS) and hasattr(child, "origin"):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.")
        else:
            yield from _definitions(child, prefix)


T = TypeVar("T")
R = TypeVar("R")


class Batch:
    """The files of one command, and how many of them failed.

    Args:
        alone: whether the user named one file only, so that its failure is the command's.
        quiet: whether the command prints to standard output while it works, so that a bar would be in the way there.
    """

    def __init__(self, alone: bool = False, quiet: bool = False) -> None:
        self.alone = alone
        self.failed = 0
        console = Console(stderr=True)
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        hidden = alone or not console.is_terminal or (quiet and display.in_color())
        self._progress = Progress(*columns, console=console, transient=True, disable=hidden)

    def each(self, work: Callable[[T], R], items: Collection[T], description: str = "Converting") -> Iterator[R]:
        """The results of `work` for the items that do not fail.

        Raises:
            click.ClickException: the only item fails.
        """
        with self._progress:
            for item in self._progress.track(items, description=description):
                try:
                    result = work(item)
                except click.ClickException as error:
                    if self.alone:
                        raise
                    self.fail(error)
                    continue
                yield result

    def fail(self, error: click.ClickException) -> None:
        """Report a failure, and go on."""
        self.failed += 1
        error.show()

    @property
    def status(self) -> int:
        """The exit status of the command."""
        return 1 if self.failed else 0
