"""The user's files: naming them on the command line, reading, converting and writing them."""

from __future__ import annotations

import difflib
import io
import os
import sys
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import gast
from click.shell_completion import CompletionItem

from autograph.cli.failure import BadSyntax, Failure
from autograph.conversions import convert_source
from autograph.explanation import Explanation
from autograph.syntax import reprint

STDIN = "<stdin>"
_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


@dataclass(frozen=True)
class Target:
    """What the user named: a file, a folder or standard input, and perhaps a function or class in it."""

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
            raise click.UsageError(f"there is no file {path if colon else value!r}", ctx)
        if os.path.isdir(path):
            raise click.UsageError(f"{path!r} is a folder: name the file that defines {qualname!r}", ctx)
        return Target(path, qualname)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class TargetCommand(click.Command):
    """A command with a target, which may be written `-:QUALNAME` although that looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f"{STDIN}{arg[1:]}" if arg.startswith("-:") else arg for arg in args])


@dataclass(frozen=True)
class Text:
    """The contents of a file, and how it is written down."""

    content: str
    encoding: str = "utf-8"
    newline: str = "\n"

    def write(self, path: Path) -> None:
        """Write it to a file, whose folder is made if need be."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding=self.encoding, newline=self.newline) as file:
            file.write(self.content)


@dataclass(frozen=True)
class Piece:
    """A file, or a function or class of it, before and after conversion."""

    filename: str
    before: Text
    after: Text
    explanation: Explanation


def python_files(path: str) -> list[str]:
    """The file itself, or all Python files below a folder, in order."""
    if not os.path.isdir(path):
        return [path]
    return [str(file) for file in walk(Path(path)) if file.suffix == ".py"]


def walk(folder: Path, without: Path | None = None) -> Iterator[Path]:
    """All files below a folder, in order; hidden ones, caches and one folder left out."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name == "__pycache__" or entry.resolve() == without:
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from walk(entry, without)
        elif entry.is_file():
            yield entry


def read(path: str) -> Text:
    """Read a Python file as Python does, or standard input.

    Raises:
        Failure: it cannot be read, or is no text in the encoding it declares.
    """
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                data = file.read()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        content = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise Failure(f"cannot read {path!r}: {error.strerror}") from error
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Failure(f"cannot read {path!r}: {error}") from error
    return Text(content, encoding, "\r\n" if b"\r\n" in data else "\n")


def pieces(target: Target) -> Iterator[Piece]:
    """Convert what the user named, file by file.

    Raises:
        Failure: as soon as something cannot be read or parsed, or is not there.
    """
    for path in python_files(target.path):
        yield convert(read(path), path, target.qualname)


def convert(text: Text, filename: str, qualname: str | None = None) -> Piece:
    """Convert a file, and take from it what is asked for."""
    try:
        converted = convert_source(text.content, filename)
    except SyntaxError as error:
        raise BadSyntax(error) from error
    explanation = Explanation(converted.decisions)
    if qualname is None:
        return Piece(filename, text, replace(text, content=converted.text), explanation)
    source = converted.source
    nodes = _named(converted.tree, qualname, filename)
    before = "\n".join(textwrap.dedent("".join(source.lines[_start(node) - 1 : node.end_lineno])) for node in nodes)
    after = "\n".join(reprint.to_text(node, source) for node in nodes)
    told = explanation.within(_plain(qualname))
    return Piece(filename, replace(text, content=before), replace(text, content=after), told)


def _plain(qualname: str) -> str:
    return qualname.replace(".<locals>", "")


def _start(node: Any) -> int:
    return int((*node.decorator_list, node)[0].lineno)


def _named(tree: gast.Module, qualname: str, filename: str) -> list[Any]:
    """The functions and classes of this name; there may be several, as with a property and its setter."""
    definitions = list(_definitions(tree))
    found = [node for name, node in definitions if name == _plain(qualname)]
    if not found:
        close = difflib.get_close_matches(qualname, [name for name, _ in definitions], n=1)
        hint = f". Did you mean {close[0]}?" if close else ""
        raise Failure(f"{filename}: there is no function or class {qualname!r}{hint}")
    return found


def _definitions(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The functions and classes that the user defines in a converted tree; generated ones are seen through."""
    for child in _statements(node):
        if isinstance(child, _DEFINITIONS) and hasattr(child, "origin"):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.")
        else:
            yield from _definitions(child, prefix)


def _statements(node: Any) -> Iterable[Any]:
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        children = getattr(node, field, None)
        if isinstance(children, list):
            yield from children

